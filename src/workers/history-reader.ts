// Computes the net effect of a file's changes, who wrote its lines, and diffs of changes: short ones on the event loop,
// others in a thread, one after the other. Does not know who asks.
import { blameOf, type BlamedText, type BlameTask } from '../engine/blame.ts'
import type { HistoryGone, LineOutOfRange } from '../engine/failure.ts'
import type { RecordedSplice } from '../engine/undo/change.ts'
import { pendingOf, type PendingTask, type PendingText } from '../engine/pending.ts'
import type { Diff } from '../engine/report/diff.ts'
import { recordedDiff, type RecordedDiffOptions, type Surroundings } from '../engine/report/recorded-diff.ts'
import type { Result } from '../result.ts'
import type { Job, Results } from './job.ts'
import { memoryOf, packSplices, packSurroundings, packTask } from './packed-splices.ts'
import { isShort, isShortChange } from './plan.ts'
import { Threads } from './threads.ts'

export class HistoryReader {
  readonly #threads = new Threads<Job, Results>('worker', { size: 1 })

  /** What is pending in `present`, which must not be used afterwards. Rejects if the thread fails. */
  async pending(present: Buffer, task: PendingTask): Promise<Result<PendingText, HistoryGone>> {
    if (isShort(present, task.changes)) return pendingOf(present, task)
    const { job, transfer } = packTask(present, task)
    return this.#threads.run({ type: 'pending', ...job }, { transfer })
  }

  /** Who wrote the lines of `present`, which must not be used afterwards. Rejects if the thread fails. */
  async blame(present: Buffer, task: BlameTask): Promise<Result<BlamedText, HistoryGone | LineOutOfRange>> {
    const { moved = [], ...own } = task
    if ([{ bytes: present, ...own }, ...moved].every(({ bytes, changes }) => isShort(bytes, changes))) {
      return blameOf(present, task)
    }
    const { job, transfer } = packTask(present, own)
    const brought = moved.map(({ bytes, ...text }) => packTask(bytes, text))
    const all = [...transfer, ...brought.flatMap(text => text.transfer)]
    return this.#threads.run({ type: 'blame', ...job, moved: brought.map(text => text.job) }, { transfer: all })
  }

  /** The diff of a recorded change. Rejects if the thread fails. */
  async diff(
    splices: readonly RecordedSplice[],
    around: readonly Surroundings[],
    options: RecordedDiffOptions
  ): Promise<Diff> {
    if (isShortChange(splices)) return recordedDiff(splices, around, options)
    const packed = { splices: packSplices(splices), around: packSurroundings(around) }
    const transfer = [...memoryOf(packed.splices), ...memoryOf(packed.around)]
    return this.#threads.run({ type: 'recorded_diff', ...packed, options }, { transfer })
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
