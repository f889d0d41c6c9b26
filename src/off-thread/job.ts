// What a worker thread is asked to do, and does. Knows no threads.
import { createHash } from 'node:crypto'
import { searchText, type SearchRequest, type SearchResult } from '../engine/search.ts'
import type { Present } from '../engine/failure.ts'
import { planTask, presentOf, type Task, type TaskFailure, type Told } from '../engine/task.ts'
import { sharedStart } from '../engine/text.ts'
import { ok, type Result } from '../result.ts'
import { bufferOf } from './bytes.ts'

/** `time` in milliseconds. */
export interface SearchJob { type: 'search', bytes: Uint8Array, request: SearchRequest, time: number }
export interface PlanJob { type: 'plan', bytes: Uint8Array, task: Task, file: { path: string, exists: boolean } }
export interface PresentJob { type: 'present', bytes: Uint8Array, task: Task }
export type Job = SearchJob | PlanJob | PresentJob

/** A plan, with the bytes that it is of, and the SHA-256 of its result, 64 hex digits; without that where most of the result begins as the original does, whose sum is known up to there. */
export interface PlannedOff extends Told { original: Buffer, digest?: string }

/** What comes of each. */
export interface Results { search: SearchResult, plan: Result<PlannedOff, TaskFailure>, present: Present }

/** The result, and the buffers that go along instead of being copied. */
export function runJob (job: Job): { result: Results[Job['type']], transfer: ArrayBuffer[] } {
  const original = bufferOf(job.bytes)
  if (job.type === 'search') return { result: searchText(original, job.request, within(job.time)), transfer: [] }
  if (job.type === 'present') return { result: presentOf(original, job.task), transfer: [] }
  const planned = planTask(original, job.task, job.file)
  if (!planned.ok) return { result: planned, transfer: [] }
  const { pieces } = planned.value
  const digest = beginsAlike(pieces, original) ? {} : { digest: digestOf(pieces) }
  return { result: ok({ ...planned.value, original, ...digest }), transfer: buffersOf([original, ...pieces]) }
}

/** Whether at least half of the result is the beginning of the original. */
const beginsAlike = (pieces: readonly Buffer[], original: Buffer): boolean =>
  sharedStart(pieces, original) * 2 >= pieces.reduce((sum, piece) => sum + piece.length, 0)

function digestOf (pieces: readonly Buffer[]): string {
  const sum = createHash('sha256')
  for (const piece of pieces) sum.update(piece)
  return sum.digest('hex')
}

/** What lies under views. */
const buffersOf = (views: readonly Buffer[]): ArrayBuffer[] => [...new Set(views.map(view => view.buffer as ArrayBuffer))]

/** Says when the time is over. */
function within (time: number): () => boolean {
  const end = performance.now() + time
  return () => performance.now() > end
}
