// Plans changes: small ones on the event loop, large or slow ones in a thread. Does not know who asks.
import type { ResourceLimits } from 'node:worker_threads'
import type { CurrentOutcome } from '../engine/failure.ts'
import type { RecordedChange } from '../engine/history/change.ts'
import { planTakeBack, type TextTakenBack, type TakeBackTask, type TakeBackTaskFailure } from '../engine/take-back.ts'
import {
  planTask,
  replanOnCurrent,
  type StaleTask,
  type Task,
  type TaskFailure,
  type TaskResult
} from '../engine/task.ts'
import { ok, type Result } from '../result.ts'
import { bufferOf, transferable } from './thread.ts'
import type { Job, PlannedInThread, Results, TakenBackInThread } from './job.ts'
import { Threads } from './threads.ts'
import { withChanges } from './with-changes.ts'

/** Bytes up to which a file is planned on the event loop. */
export const INLINE_PLAN_BYTES = 256 * 1024
/**
 * Work (see `fitsWorkBudget`) up to which a plan is made there: that of replacing two thousand places, for instance.
 */
const INLINE_PLAN_WORK = 2_000_000
/** What replaying one splice costs, as bytes of a text. Chosen, not measured. */
const SPLICE_WORK = 128
/** While one plan takes long, another needn't wait. */
const THREADS = 2

export class PlanMaker {
  readonly #threads: Threads<Job, Results>

  constructor(options: { limits?: ResourceLimits } = {}) {
    this.#threads = new Threads('worker', { size: THREADS, ...options })
  }

  /**
   * Plans a change of `original`. Where it returns a promise, these bytes have moved away and must not be used any
   * more: they come back as `original` of the plan, or not at all. Rejects where the thread fails.
   */
  plan(
    original: Buffer,
    task: Task,
    file: { path: string; exists: boolean }
  ): Result<TaskResult, TaskFailure> | Promise<Result<PlannedInThread, TaskFailure>> {
    if (original.length > INLINE_PLAN_BYTES) return this.#planInThread(original, task, file)
    const planned = planTask(original, task, file, INLINE_PLAN_WORK)
    if (planned.ok) return planned
    const { failure } = planned
    return failure.code === 'TAKES_LONG' ? this.#planInThread(original, task, file) : { ok: false, failure }
  }

  /**
   * What a change that was made for another state would do in `original`, whose bytes must not be used afterwards.
   * Rejects where the thread fails.
   */
  replan(original: Buffer, task: StaleTask): CurrentOutcome | Promise<CurrentOutcome> {
    const { earlier, ...others } = task
    const replanned = isShort(original, earlier?.changes ?? [])
      ? replanOnCurrent(original, task, INLINE_PLAN_WORK)
      : undefined
    if (replanned !== undefined && 'fits' in replanned) return replanned
    const bytes = transferable(original)
    const own = { ...others, ...(earlier && { earlier: withChanges(earlier, text => Uint8Array.from(text)) }) }
    return this.#threads.run({ type: 'replan', bytes, task: own }, { transfer: [bytes.buffer] })
  }

  /**
   * Plans to take changes back. Where it returns a promise, `original` has moved away as in `plan`. Rejects where the
   * thread fails.
   */
  takeBack(
    original: Buffer,
    task: TakeBackTask,
    file: { path: string; exists: boolean }
  ): Result<TextTakenBack, TakeBackTaskFailure> | Promise<Result<TakenBackInThread, TakeBackTaskFailure>> {
    return isShort(original, task.changes)
      ? planTakeBack(original, task, file)
      : this.#takeBackInThread(original, task, file)
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  async #planInThread(
    original: Buffer,
    task: Task,
    file: { path: string; exists: boolean }
  ): Promise<Result<PlannedInThread, TaskFailure>> {
    const bytes = transferable(original)
    const planned = await this.#threads.run({ type: 'plan', bytes, task, file }, { transfer: [bytes.buffer] })
    return planned.ok ? ok(withBuffers(planned.value)) : planned
  }

  async #takeBackInThread(
    original: Buffer,
    task: TakeBackTask,
    file: { path: string; exists: boolean }
  ): Promise<Result<TakenBackInThread, TakeBackTaskFailure>> {
    const bytes = transferable(original)
    const own = withChanges(task, text => Uint8Array.from(text))
    const planned = await this.#threads.run({ type: 'take_back', bytes, task: own, file }, { transfer: [bytes.buffer] })
    return planned.ok ? ok(withBuffers(planned.value)) : planned
  }
}

/** Buffers arrive as plain arrays of bytes. */
const withBuffers = <P extends PlannedInThread>(planned: P): P => ({
  ...planned,
  original: bufferOf(planned.original),
  pieces: planned.pieces.map(bufferOf),
  splices: planned.splices.map(splice => ({ ...splice, insert: bufferOf(splice.insert) }))
})

/** Whether changes that end in `present` are replayed on the event loop. */
export function isShort(present: Buffer, changes: readonly RecordedChange[]): boolean {
  const workOf = ({ splices }: RecordedChange): number =>
    (splices ?? []).reduce((sum, { old, insert }) => sum + SPLICE_WORK + old.length + insert.length, 0)
  return changes.reduce((sum, change) => sum + workOf(change), present.length) <= INLINE_PLAN_BYTES
}
