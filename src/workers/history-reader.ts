// What the changes of a file come to, and who wrote its lines: short ones on the event loop, others in a thread, one after
// the other. Does not know who asks.
import { blameOf, type BlamedText, type BlameTask } from '../engine/blame.ts'
import type { HistoryGone, LineOutOfRange } from '../engine/failure.ts'
import { pendingOf, type PendingTask, type PendingText } from '../engine/pending.ts'
import type { Result } from '../result.ts'
import type { Job, Results } from './job.ts'
import { isShort } from './plan.ts'
import { transferable } from './thread.ts'
import { Threads } from './threads.ts'
import { withChanges } from './with-changes.ts'

export class HistoryReader {
  readonly #threads = new Threads<Job, Results>('worker', { size: 1 })

  /** What is pending of `present`, which must not be used afterwards. Rejects where the thread fails. */
  async pending(present: Buffer, task: PendingTask): Promise<Result<PendingText, HistoryGone>> {
    if (isShort(present, task.changes)) return pendingOf(present, task)
    const bytes = transferable(present)
    return this.#threads.run({ type: 'pending', bytes, task: sendable(task) }, { transfer: [bytes.buffer] })
  }

  /** Who wrote its lines; the same holds. */
  async blame(present: Buffer, task: BlameTask): Promise<Result<BlamedText, HistoryGone | LineOutOfRange>> {
    if (isShort(present, task.changes)) return blameOf(present, task)
    const bytes = transferable(present)
    return this.#threads.run({ type: 'blame', bytes, task: sendable(task) }, { transfer: [bytes.buffer] })
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}

const sendable = <T extends PendingTask | BlameTask>(task: T): T => withChanges(task, text => Uint8Array.from(text))
