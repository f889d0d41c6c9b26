// Plans changes: small ones on the event loop, large or slow ones in a thread. Does not know who asks.
import type { ResourceLimits } from 'node:worker_threads'
import type { CurrentOutcome, UnencodableText } from '../engine/failure.ts'
import type { RecordedChange, RecordedSplice } from '../engine/undo/change.ts'
import { planUndo, type ToggledText, type UndoTask, type UndoTaskFailure } from '../engine/undo-redo.ts'
import {
  type NotRebased,
  planTask,
  type RebasedResult,
  type RebaseTask,
  rebaseTask,
  replanOnCurrent,
  type StaleTask,
  type Task,
  type TaskFailure,
  type TaskResult,
  textLength
} from '../engine/task.ts'
import { ok, type Result } from '../result.ts'
import { memoryOf, packChanges, packTask, unpackSplices } from './packed-splices.ts'
import { bufferOf, transferable } from './thread.ts'
import type { Job, Results, SentPlan } from './job.ts'
import { Threads } from './threads.ts'

/** The most bytes of a file, and of the texts of its change, to plan on the event loop. */
const INLINE_PLAN_BYTES = 256 * 1024
/**
 * The most work (see `fitsWorkBudget`) to plan on the event loop: that of replacing two thousand places, for example.
 */
const INLINE_PLAN_WORK = 2_000_000
/** The cost of replaying one splice, as bytes of text. Chosen, not measured. */
const SPLICE_WORK = 128
/** Two, so that a second plan needn't wait for a slow one. */
const THREADS = 2

/** A plan with the bytes that it was made for, which had moved to the thread. */
type InThread<P extends TaskResult> = P & { original: Buffer }

export class PlanMaker {
  readonly #threads: Threads<Job, Results>

  constructor(options: { limits?: ResourceLimits } = {}) {
    this.#threads = new Threads('worker', { size: THREADS, ...options })
  }

  /**
   * Plans a change of `original`. If it returns a promise, these bytes have moved away and must not be used any more:
   * they come back as `original` of the plan, or not at all. Rejects if the thread fails.
   */
  plan(
    original: Buffer,
    task: Task,
    file: { path: string; exists: boolean }
  ): Result<TaskResult, TaskFailure> | Promise<Result<InThread<TaskResult>, TaskFailure>> {
    if (original.length + textLength(task.change) > INLINE_PLAN_BYTES) return this.#planInThread(original, task, file)
    const planned = planTask(original, task, file, INLINE_PLAN_WORK)
    if (planned.ok) return planned
    const { failure } = planned
    return failure.code === 'TAKES_LONG' ? this.#planInThread(original, task, file) : { ok: false, failure }
  }

  /**
   * What a change for an earlier state would do in `original`, whose bytes must not be used afterwards. Rejects if the
   * thread fails.
   */
  replan(original: Buffer, task: StaleTask): CurrentOutcome | Promise<CurrentOutcome> {
    const { earlier, ...others } = task
    const isInline = textLength(task.change) <= INLINE_PLAN_BYTES && isShort(original, earlier?.changes ?? [])
    const replanned = isInline ? replanOnCurrent(original, task, INLINE_PLAN_WORK) : undefined
    if (replanned !== undefined && 'fits' in replanned) return replanned
    const bytes = transferable(original)
    const packed = earlier && packChanges(earlier)
    const transfer = [bytes.buffer, ...(packed ? memoryOf(packed.changes.splices) : [])]
    return this.#threads.run({ type: 'replan', bytes, task: others, earlier: packed }, { transfer })
  }

  /**
   * Plans a change that was made for an earlier state of `original`. If it returns a promise, `original` has moved away
   * as in `plan`. Rejects if the thread fails.
   */
  rebase(
    original: Buffer,
    task: RebaseTask,
    file: { path: string; exists: boolean }
  ):
    | Result<RebasedResult, NotRebased | UnencodableText>
    | Promise<Result<InThread<RebasedResult>, NotRebased | UnencodableText>> {
    const { earlier, ...others } = task
    const isKnown = 'changes' in earlier
    const isInline =
      textLength(task.change) <= INLINE_PLAN_BYTES &&
      (isKnown ? isShort(original, earlier.changes) : original.length + earlier.text.length <= INLINE_PLAN_BYTES)
    const rebased = isInline ? rebaseTask(original, task, file, INLINE_PLAN_WORK) : undefined
    if (rebased !== undefined && (rebased.ok || rebased.failure.code !== 'TAKES_LONG')) {
      return rebased as Result<RebasedResult, NotRebased | UnencodableText>
    }
    const bytes = transferable(original)
    const packed = isKnown ? packChanges(earlier) : undefined
    const transfer = [bytes.buffer, ...(packed ? memoryOf(packed.changes.splices) : [])]
    const job = { type: 'rebase' as const, bytes, task: others, file }
    return this.#threads
      .run({ ...job, ...(isKnown ? { earlier: packed! } : { text: earlier.text }) }, { transfer })
      .then(planned => (planned.ok ? ok(arrived(planned.value)) : planned))
  }

  /**
   * Plans an undo or redo of changes. If it returns a promise, `original` has moved away as in `plan`. Rejects if the
   * thread fails.
   */
  undo(
    original: Buffer,
    task: UndoTask,
    file: { path: string; exists: boolean }
  ): Result<ToggledText, UndoTaskFailure> | Promise<Result<InThread<ToggledText>, UndoTaskFailure>> {
    return isShort(original, task.changes) ? planUndo(original, task, file) : this.#undoInThread(original, task, file)
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  async #planInThread(
    original: Buffer,
    task: Task,
    file: { path: string; exists: boolean }
  ): Promise<Result<InThread<TaskResult>, TaskFailure>> {
    const bytes = transferable(original)
    const planned = await this.#threads.run({ type: 'plan', bytes, task, file }, { transfer: [bytes.buffer] })
    return planned.ok ? ok(arrived(planned.value)) : planned
  }

  async #undoInThread(
    original: Buffer,
    task: UndoTask,
    file: { path: string; exists: boolean }
  ): Promise<Result<InThread<ToggledText>, UndoTaskFailure>> {
    const { job, transfer } = packTask(original, task)
    const planned = await this.#threads.run({ type: 'undo', ...job, file }, { transfer })
    return planned.ok ? ok(arrived(planned.value)) : planned
  }
}

/** Restores buffers, which arrive as plain arrays of bytes. */
function arrived<P extends TaskResult>({ original, pieces, splices, ...others }: SentPlan<P>): InThread<P> {
  const buffers = {
    original: bufferOf(original),
    pieces: pieces.map(bufferOf),
    ...('earlier' in others && { earlier: bufferOf(others.earlier as Uint8Array) })
  }
  return { ...others, ...buffers, ...(splices && { splices: unpackSplices(splices) }) } as unknown as InThread<P>
}

/** Whether changes that end in `present` are replayed on the event loop. */
export const isShort = (present: Buffer, changes: readonly RecordedChange[]): boolean =>
  changes.reduce((sum, { splices }) => sum + workOf(splices ?? []), present.length) <= INLINE_PLAN_BYTES

/** Whether one change is short enough to be read on the event loop. */
export const isShortChange = (splices: readonly RecordedSplice[]): boolean => workOf(splices) <= INLINE_PLAN_BYTES

const workOf = (splices: readonly RecordedSplice[]): number =>
  splices.reduce((sum, { old, insert }) => sum + SPLICE_WORK + old.length + insert.length, 0)
