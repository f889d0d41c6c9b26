// The jobs of a worker thread, and how each is done. Does not know threads.
import { getHeapStatistics } from 'node:v8'
import { blameOf, type BlamedText, type BlameTask, type BroughtText } from '../engine/blame.ts'
import type { InvalidRegex, SearchRequest, SearchResult } from '../engine/inspect/search-literal.ts'
import type { RangesFound, RangesRequest } from '../engine/inspect/search-ranges.ts'
import type { EarlierState } from '../engine/undo/earlier-text.ts'
import type { CurrentOutcome, HistoryGone, LineOutOfRange, UnencodableText } from '../engine/failure.ts'
import { pendingOf, type PendingTask, type PendingText } from '../engine/pending.ts'
import type { Diff } from '../engine/report/diff.ts'
import { recordedDiff, type RecordedDiffOptions } from '../engine/report/recorded-diff.ts'
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
  type TaskResult
} from '../engine/task.ts'
import { MAX_REPLACEMENTS } from '../engine/plan/replace-text.ts'
import { ok, type Result } from '../result.ts'
import {
  memoryOf,
  type Packed,
  type PackedSplices,
  packSplices,
  unpackChanges,
  unpackSplices,
  unpackSurroundings
} from './packed-splices.ts'
import { bufferOf } from './thread.ts'

/** `time` in milliseconds. */
interface SearchJob {
  type: 'search'
  bytes: Uint8Array
  request: SearchRequest
  time: number
}
interface SearchRangesJob {
  type: 'search_ranges'
  bytes: Uint8Array
  request: RangesRequest
  time: number
}
interface CheckSearchJob {
  type: 'check_search'
  request: Pick<SearchRequest, 'text' | 'regex' | 'ignore_case'>
}
interface PlanJob {
  type: 'plan'
  bytes: Uint8Array
  task: Task
  file: { path: string; exists: boolean }
}
interface ReplanJob {
  type: 'replan'
  bytes: Uint8Array
  task: Omit<StaleTask, 'earlier'>
  earlier?: Packed<EarlierState>
}
interface RebaseJob {
  type: 'rebase'
  bytes: Uint8Array
  task: Omit<RebaseTask, 'earlier'>
  /** As in the task: one of them. */
  earlier?: Packed<EarlierState>
  text?: Uint8Array
  file: { path: string; exists: boolean }
}
interface UndoJob {
  type: 'undo'
  bytes: Uint8Array
  task: Packed<UndoTask>
  file: { path: string; exists: boolean }
}
interface PendingJob {
  type: 'pending'
  bytes: Uint8Array
  task: Packed<PendingTask>
}
interface BlameJob {
  type: 'blame'
  bytes: Uint8Array
  task: Packed<Omit<BlameTask, 'moved'>>
  /** As in the task. */
  moved: { bytes: Uint8Array; task: Packed<Omit<BroughtText, 'bytes'>> }[]
}
interface RecordedDiffJob {
  type: 'recorded_diff'
  splices: PackedSplices
  around: PackedSplices
  options: RecordedDiffOptions
}
export type Job =
  | SearchJob
  | SearchRangesJob
  | CheckSearchJob
  | PlanJob
  | ReplanJob
  | RebaseJob
  | UndoJob
  | PendingJob
  | BlameJob
  | RecordedDiffJob

/** A plan as a thread sends it, with the bytes that it was made for. */
export type SentPlan<P extends TaskResult> = Omit<P, 'splices'> & { original: Buffer; splices?: PackedSplices }

/** The result of each type of job. */
export interface Results {
  search: SearchResult
  /** The text as it came, and what was found in it. */
  search_ranges: { bytes: Uint8Array; found: RangesFound }
  check_search: Result<null, InvalidRegex>
  plan: Result<SentPlan<TaskResult>, TaskFailure>
  replan: CurrentOutcome
  rebase: Result<SentPlan<RebasedResult>, NotRebased | UnencodableText>
  undo: Result<SentPlan<ToggledText>, UndoTaskFailure>
  pending: Result<PendingText, HistoryGone>
  blame: Result<BlamedText, HistoryGone | LineOutOfRange>
  recorded_diff: Diff
}

/** The most heap that one replaced place takes in a thread, in bytes; 800 to 1,000 were measured. */
const PLACE_MEMORY = 1250
const MOST_PLACES = Math.min(MAX_REPLACEMENTS, Math.floor(getHeapStatistics().heap_size_limit / PLACE_MEMORY))

/** The result of a job, and the buffers that are moved with it instead of being copied. */
export async function runJob(job: Job): Promise<{ result: Results[Job['type']]; transfer: ArrayBuffer[] }> {
  // Regular expressions are 260 KB of code, so load them only here.
  if (job.type === 'check_search') {
    const { checkSearch } = await import('../engine/inspect/search.ts')
    return { result: checkSearch(job.request), transfer: [] }
  }
  if (job.type === 'recorded_diff') {
    const { splices, around, options } = job
    return { result: recordedDiff(unpackSplices(splices), unpackSurroundings(around), options), transfer: [] }
  }
  const original = bufferOf(job.bytes)
  if (job.type === 'search_ranges') {
    const { searchRanges } = await import('../engine/inspect/search-ranges.ts')
    const found = searchRanges(original, job.request, within(job.time))
    return { result: { bytes: job.bytes, found }, transfer: [job.bytes.buffer as ArrayBuffer] }
  }
  if (job.type === 'search') {
    const { searchText } = await import('../engine/inspect/search.ts')
    return { result: searchText(original, job.request, within(job.time)), transfer: [] }
  }
  if (job.type === 'replan') {
    const { task, earlier } = job
    const known = earlier && { earlier: unpackChanges(earlier) }
    return { result: replanOnCurrent(original, { ...task, ...known }), transfer: [] }
  }
  if (job.type === 'rebase') {
    const { task, earlier, text, file } = job
    const known = earlier === undefined ? { text: bufferOf(text!) } : unpackChanges(earlier)
    return sent(original, rebaseTask(original, { ...task, earlier: known }, file))
  }
  if (job.type === 'undo') {
    return sent(original, planUndo(original, unpackChanges(job.task), job.file))
  }
  if (job.type === 'pending') return { result: pendingOf(original, unpackChanges(job.task)), transfer: [] }
  if (job.type === 'blame') {
    const moved = job.moved.map(({ bytes, task }) => ({ bytes: bufferOf(bytes), ...unpackChanges(task) }))
    return { result: blameOf(original, { ...unpackChanges(job.task), moved }), transfer: [] }
  }
  return sent(original, planTask(original, { ...job.task, max_replacements: MOST_PLACES }, job.file))
}

function sent<P extends TaskResult, F>(
  original: Buffer,
  planned: Result<P, F>
): { result: Result<SentPlan<P>, F>; transfer: ArrayBuffer[] } {
  if (!planned.ok) return { result: planned, transfer: [] }
  const { splices, ...plan } = planned.value
  const packed = splices && packSplices(splices)
  return {
    result: ok({ ...plan, original, ...(packed && { splices: packed }) }),
    transfer: [...buffersOf([original, ...plan.pieces]), ...(packed ? memoryOf(packed) : [])]
  }
}

/**
 * The memory under views, except the pool of small buffers: Node refuses to move it, so it is copied. A buffer smaller
 * than half the pool lies in it: 8 KiB on Node 20 and 22, 64 KiB on Node 24.21.
 */
const buffersOf = (views: readonly Buffer[]): ArrayBuffer[] => [
  ...new Set(views.map(view => view.buffer as ArrayBuffer).filter(({ byteLength }) => byteLength !== Buffer.poolSize))
]

/** Returns a function that says whether the time is over. */
function within(time: number): () => boolean {
  const end = performance.now() + time
  return () => performance.now() > end
}
