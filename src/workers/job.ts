// The jobs of a worker thread, and how each is done. Does not know threads.
import { blameOf, type BlamedText, type BlameTask } from '../engine/blame.ts'
import type { InvalidRegex, SearchRequest, SearchResult } from '../engine/inspect/search-literal.ts'
import type { CurrentOutcome, HistoryGone, LineOutOfRange } from '../engine/failure.ts'
import { pendingOf, type PendingTask, type PendingText } from '../engine/pending.ts'
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
import { bufferOf } from './thread.ts'
import { withChanges } from './with-changes.ts'

/** `time` in milliseconds. */
export interface SearchJob {
  type: 'search'
  bytes: Uint8Array
  request: SearchRequest
  time: number
}
export interface CheckSearchJob {
  type: 'check_search'
  request: SearchRequest
}
export interface PlanJob {
  type: 'plan'
  bytes: Uint8Array
  task: Task
  file: { path: string; exists: boolean }
}
export interface ReplanJob {
  type: 'replan'
  bytes: Uint8Array
  task: StaleTask
}
export interface TakeBackJob {
  type: 'take_back'
  bytes: Uint8Array
  task: TakeBackTask
  file: { path: string; exists: boolean }
}
export interface PendingJob {
  type: 'pending'
  bytes: Uint8Array
  task: PendingTask
}
export interface BlameJob {
  type: 'blame'
  bytes: Uint8Array
  task: BlameTask
}
export type Job = SearchJob | CheckSearchJob | PlanJob | ReplanJob | TakeBackJob | PendingJob | BlameJob

/** A plan, with the bytes that it is of. */
export interface PlannedInThread extends TaskResult {
  original: Buffer
}

export interface TakenBackInThread extends TextTakenBack {
  original: Buffer
}

/** The result of each. */
export interface Results {
  search: SearchResult
  check_search: Result<null, InvalidRegex>
  plan: Result<PlannedInThread, TaskFailure>
  replan: CurrentOutcome
  take_back: Result<TakenBackInThread, TakeBackTaskFailure>
  pending: Result<PendingText, HistoryGone>
  blame: Result<BlamedText, HistoryGone | LineOutOfRange>
}

/** The result, and the buffers that go along instead of being copied. */
export async function runJob(job: Job): Promise<{ result: Results[Job['type']]; transfer: ArrayBuffer[] }> {
  // Regular expressions are 260 KB of code.
  if (job.type === 'check_search') {
    const { checkSearch } = await import('../engine/inspect/search.ts')
    return { result: checkSearch(job.request), transfer: [] }
  }
  const original = bufferOf(job.bytes)
  if (job.type === 'search') {
    const { searchText } = await import('../engine/inspect/search.ts')
    return { result: searchText(original, job.request, within(job.time)), transfer: [] }
  }
  if (job.type === 'replan') {
    const { earlier, ...task } = job.task
    const known = earlier && { earlier: withChanges(earlier, bufferOf) }
    return { result: replanOnCurrent(original, { ...task, ...known }), transfer: [] }
  }
  if (job.type === 'take_back') {
    return withOriginal(original, planTakeBack(original, withChanges(job.task, bufferOf), job.file))
  }
  if (job.type === 'pending') return { result: pendingOf(original, withChanges(job.task, bufferOf)), transfer: [] }
  if (job.type === 'blame') return { result: blameOf(original, withChanges(job.task, bufferOf)), transfer: [] }
  return withOriginal(original, planTask(original, job.task, job.file))
}

function withOriginal<P extends TaskResult, F>(
  original: Buffer,
  planned: Result<P, F>
): { result: Result<P & { original: Buffer }, F>; transfer: ArrayBuffer[] } {
  if (!planned.ok) return { result: planned, transfer: [] }
  return { result: ok({ ...planned.value, original }), transfer: buffersOf([original, ...planned.value.pieces]) }
}

/**
 * What lies under views, but for the pool of small buffers: Node refuses to move that, so that it is copied. A buffer of
 * less than half the pool is in it: 8 KiB on Node 20 and 22, 64 KiB on Node 24.21.
 */
const buffersOf = (views: readonly Buffer[]): ArrayBuffer[] => [
  ...new Set(views.map(view => view.buffer as ArrayBuffer).filter(({ byteLength }) => byteLength !== Buffer.poolSize))
]

/** Returns whether the time is over. */
function within(time: number): () => boolean {
  const end = performance.now() + time
  return () => performance.now() > end
}
