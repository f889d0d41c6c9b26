// The cost of planning an undo in a file with many changes. Does not know files, or how records are read.
import { recordedSplices } from '../src/engine/undo/refine.ts'
import type { RecordedChange } from '../src/engine/undo/change.ts'
import { planUndo } from '../src/engine/undo-redo.ts'
import { cpuTime } from './cpu-time.ts'
import { makeRandom } from './random.ts'
import { time, type Row } from './row.ts'
import { quartiles } from './statistics.ts'

const LINES = 20_000

/** The plans are measured in turn, so that the machine's other load affects all of them. */
export function undo(quick: boolean, progress: (line: string) => void): Row[] {
  const plans = [100, 1000].flatMap(count => {
    progress(`undo, ${count} changes`)
    const made = changed(count)
    return Object.entries(SETS).map(([variant, chosen]) => ({
      count,
      variant,
      cpu: [] as number[],
      work: () => plan(made, made.changes.filter(chosen))
    }))
  })
  const rounds = quick ? 5 : 30
  for (let round = -3; round < rounds; round++) {
    for (const { cpu, work } of plans) {
      const ms = cpuTime(work)
      if (round >= 0) cpu.push(ms)
    }
  }
  return plans.map(({ count, variant, cpu }): Row => {
    const { low, median, high } = quartiles(cpu)
    const figure = `CPU ${time(median)} (${time(low)}–${time(high)})`
    return { what: 'undo in 20,000 lines', edits: count, variant, figure, value: median, pairs: rounds }
  })
}

const SETS: Record<string, (change: RecordedChange, index: number) => boolean> = {
  'the first edit': (_, index) => index === 0,
  'every second edit, on_conflict skip': (_, index) => index % 2 === 0
}

interface Changed {
  text: Buffer
  changes: RecordedChange[]
}

/** A text with random lines replaced one after the other, each by a longer or shorter one. */
function changed(count: number): Changed {
  const random = makeRandom(1)
  const lines = Array.from({ length: LINES }, (_, i) => `line ${i} of some text that is about as long as code is\n`)
  const changes = Array.from({ length: count }, (_, i): RecordedChange => {
    const at = random(LINES)
    const start = Buffer.byteLength(lines.slice(0, at).join(''))
    const before = Buffer.from(lines[at]!)
    lines[at] = `line ${at} as edit ${i} has it\n`
    const [splice] = recordedSplices(before, [{ start: 0, end: before.length, insert: Buffer.from(lines[at]) }])
    return { edit_id: `E${i}`, splices: [{ ...splice!, start: splice!.start + start }] }
  })
  return { text: Buffer.from(lines.join('')), changes }
}

function plan({ text, changes }: Changed, set: readonly RecordedChange[]): void {
  const goal = { set: set.map(({ edit_id }) => ({ edit_id })), to: 'undone', on_conflict: 'skip' } as const
  const task = { changes, goal, max_result_size: 1e9, context_lines: 3, dry_run: false }
  const planned = planUndo(text, task, { path: 'a.txt', exists: true })
  if (!planned.ok) throw new Error(`the plan failed: ${planned.failure.code}`)
}
