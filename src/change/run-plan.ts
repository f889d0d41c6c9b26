// What every change does with a plan, wherever the file is: whether it is the file that is expected, what the plan comes
// to, what an answer says of the record. Does not touch the disk.
import { ok, type Result } from '../result.ts'
import type {
  CommonOptions,
  CreateTarget,
  FileHistory,
  FileTarget,
  Planned,
  PlannedFile,
  Planner
} from '../workspace/api.ts'
import { digestOf, type Content, type HashCheckpoint } from '../workspace/content.ts'
import type { FileFailure, FileWarning, StaleFile } from '../workspace/failure.ts'
import type { FileRecorder } from '../recording/recorder.ts'

/** The changes so far, for planners that ask; empty where no history is kept. */
export const pastOf = async (recorder: FileRecorder | null): Promise<FileHistory> =>
  recorder === null ? { records: [], changes: [] } : recorder.past()

/** What an answer says of a change's record. */
export const recordedBy = (
  recorder: FileRecorder | null,
  warnings: readonly FileWarning[]
): { edit_id?: string; warnings: FileWarning[] } => {
  const all: FileWarning[] = recorder?.unrecorded === true ? [...warnings, 'unrecorded'] : [...warnings]
  return recorder?.edit_id === undefined ? { warnings: all } : { edit_id: recorder.edit_id, warnings: all }
}

/** A plan with what it comes to on disk. The digest may still be in the making. */
interface PlanOutput<T> {
  planned: Planned<T>
  content: Content
  digest: Promise<string>
}

/** `before`: what is there now; nothing for a new file. */
export async function runPlan<T, F>(
  plan: Planner<T, F>,
  file: PlannedFile,
  before: { bytes: Buffer; marks: readonly HashCheckpoint[] } = { bytes: Buffer.alloc(0), marks: [] }
): Promise<Result<PlanOutput<T>, F>> {
  const { bytes, marks } = before
  const planned = await plan(bytes, file)
  if (!planned.ok) return planned
  const { pieces, original = bytes } = planned.value
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const digest = digestOf(pieces, size, original, marks)
  // It is awaited after the writing, which reports its failure. One that comes before that, or beside a failure of the
  // writing, must not count as an unhandled rejection.
  digest.catch(() => {})
  return ok({ planned: planned.value, content: { pieces, size }, digest })
}

/** Tells how long it took to put so many bytes of a file where they are kept, if that was done. */
export async function measured<R extends { ok: boolean }>(
  { options: { meter } }: { options: Pick<CommonOptions, 'meter'> },
  bytes: number,
  work: () => Promise<R>
): Promise<R> {
  if (meter === undefined) return work()
  const start = performance.now()
  const done = await work()
  if (done.ok) meter.committed((performance.now() - start) / 1000, bytes)
  return done
}

/** Null if the file is what the request expects. `hash`: its SHA-256, of which a request may name the beginning. */
export function staleness({ expected_hash }: FileTarget, hash: string): StaleFile | null {
  return expected_hash === undefined || hash.startsWith(expected_hash)
    ? null
    : { code: 'STALE_FILE', reason: 'expected_hash', expected_hash }
}

/** Null: it may be replaced if its hash is the one that was given. */
export function refusalToReplace({ overwrite, expected_hash, if_none_match }: CreateTarget): FileFailure | null {
  if (if_none_match === true) return alreadyThere(true)
  if (overwrite && expected_hash !== undefined) return null
  if (overwrite) return { code: 'ALREADY_EXISTS', reason: 'needs_expected_hash' }
  return expected_hash === undefined ? alreadyThere() : { code: 'ALREADY_EXISTS', reason: 'needs_overwrite' }
}

export const alreadyThere = (if_none_match?: boolean): FileFailure => ({
  code: 'ALREADY_EXISTS',
  reason: 'exists',
  ...(if_none_match === true && { if_none_match })
})
