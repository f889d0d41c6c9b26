// The steps that the undo worker does with each line, and that the test expects. Does not know either.

/** What is done with each line: it is made in one file or, as a batch, in both; taken back; made again. */
const STEPS = [
  ['edit', 'undo'],
  ['edit', 'undo', 'redo'],
  ['batch', 'undo'],
  ['batch', 'undo', 'redo']
] as const

export const FILES = ['f0', 'f1'] as const
/** The steps of a line; every other four lines they have idempotency keys. */
export const stepsOf = (line: number): readonly string[] => STEPS[line % STEPS.length]!
export const isKeyed = (line: number): boolean => Math.floor(line / STEPS.length) % 2 === 0
/** The file of a line that is made in one alone. */
export const fileOf = (line: number): string => FILES[Math.floor(line / STEPS.length) % FILES.length]!
