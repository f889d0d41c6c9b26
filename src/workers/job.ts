// The jobs of a worker thread, and how each is done. Does not know threads.
import { searchText } from '../engine/inspect/search.ts'
import type { SearchRequest, SearchResult } from '../engine/inspect/search-literal.ts'
import type { CurrentOutcome } from '../engine/failure.ts'
import { planTask, replanOnCurrent, type Task, type TaskFailure, type TaskResult } from '../engine/task.ts'
import { ok, type Result } from '../result.ts'
import { bufferOf } from './thread.ts'

/** `time` in milliseconds. */
export interface SearchJob {
  type: 'search'
  bytes: Uint8Array
  request: SearchRequest
  time: number
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
  task: Task
}
export type Job = SearchJob | PlanJob | ReplanJob

/** A plan, with the bytes that it is of. */
export interface PlannedInThread extends TaskResult {
  original: Buffer
}

/** The result of each. */
export interface Results {
  search: SearchResult
  plan: Result<PlannedInThread, TaskFailure>
  replan: CurrentOutcome
}

/** The result, and the buffers that go along instead of being copied. */
export function runJob(job: Job): { result: Results[Job['type']]; transfer: ArrayBuffer[] } {
  const original = bufferOf(job.bytes)
  if (job.type === 'search') return { result: searchText(original, job.request, within(job.time)), transfer: [] }
  if (job.type === 'replan') return { result: replanOnCurrent(original, job.task), transfer: [] }
  const planned = planTask(original, job.task, job.file)
  if (!planned.ok) return { result: planned, transfer: [] }
  // Short inserted texts are copied: they may lie in the memory that Node shares out, which can't be given away.
  return { result: ok({ ...planned.value, original }), transfer: buffersOf([original, ...planned.value.pieces]) }
}

/** What lies under views. */
const buffersOf = (views: readonly Buffer[]): ArrayBuffer[] => [
  ...new Set(views.map(view => view.buffer as ArrayBuffer))
]

/** Returns whether the time is over. */
function within(time: number): () => boolean {
  const end = performance.now() + time
  return () => performance.now() > end
}
