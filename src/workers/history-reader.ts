// What the changes of a file come to, who wrote its lines, and what a change looks like: short ones on the event loop,
// others in a thread, one after the other. Does not know who asks.
import { blameOf, type BlamedText, type BlameTask } from '../engine/blame.ts'
import type { HistoryGone, LineOutOfRange } from '../engine/failure.ts'
import type { RecordedSplice } from '../engine/history/change.ts'
import { pendingOf, type PendingTask, type PendingText } from '../engine/pending.ts'
import type { Diff } from '../engine/report/diff.ts'
import { recordedDiff, type RecordedDiffOptions, type Surroundings } from '../engine/report/recorded-diff.ts'
import type { Result } from '../result.ts'
import type { Job, Results } from './job.ts'
import { memoryOf, packChanges, packSplices } from './packed-splices.ts'
import { isShort, isShortChange } from './plan.ts'
import { transferable } from './thread.ts'
import { Threads } from './threads.ts'

export class HistoryReader {
  readonly #threads = new Threads<Job, Results>('worker', { size: 1 })

  /** What is pending of `present`, which must not be used afterwards. Rejects where the thread fails. */
  async pending(present: Buffer, task: PendingTask): Promise<Result<PendingText, HistoryGone>> {
    if (isShort(present, task.changes)) return pendingOf(present, task)
    const bytes = transferable(present)
    const packed = packChanges(task)
    const transfer = [bytes.buffer, ...memoryOf(packed.changes.splices)]
    return this.#threads.run({ type: 'pending', bytes, task: packed }, { transfer })
  }

  /** Who wrote its lines; the same holds. */
  async blame(present: Buffer, task: BlameTask): Promise<Result<BlamedText, HistoryGone | LineOutOfRange>> {
    if (isShort(present, task.changes)) return blameOf(present, task)
    const bytes = transferable(present)
    const packed = packChanges(task)
    const transfer = [bytes.buffer, ...memoryOf(packed.changes.splices)]
    return this.#threads.run({ type: 'blame', bytes, task: packed }, { transfer })
  }

  /** The diff of a recorded change. Rejects where the thread fails. */
  async diff(
    splices: readonly RecordedSplice[],
    around: readonly Surroundings[],
    options: RecordedDiffOptions
  ): Promise<Diff> {
    if (isShortChange(splices)) return recordedDiff(splices, around, options)
    const packed = packSplices(splices)
    const surroundings = packSplices(
      around.map(({ start_line, before, after }) => ({ start: start_line, old: before, insert: after }))
    )
    const transfer = [...memoryOf(packed), ...memoryOf(surroundings)]
    return this.#threads.run({ type: 'recorded_diff', splices: packed, around: surroundings, options }, { transfer })
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
