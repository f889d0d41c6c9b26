// The steps that the undo worker does with each line, and that the test expects.

/** A line is inserted into one file or, as a batch, into both; then undone; then perhaps redone. */
const STEPS = [
  ['edit', 'undo'],
  ['edit', 'undo', 'redo'],
  ['batch', 'undo'],
  ['batch', 'undo', 'redo']
] as const

export const FILES = ['f0', 'f1'] as const
/** The steps of a line; see `isKeyed` for their idempotency keys. */
export const stepsOf = (line: number): readonly string[] => STEPS[line % STEPS.length]!
export const isKeyed = (line: number): boolean => Math.floor(line / STEPS.length) % 2 === 0
/** The file of a line that is inserted into one only. */
export const fileOf = (line: number): string => FILES[Math.floor(line / STEPS.length) % FILES.length]!
