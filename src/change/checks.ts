// Checks that every change needs, in any store: whether the file is the expected one, and may be replaced. Doesn't
// touch files.
import type { CommonOptions, CreateTarget, FileHistory, FileTarget } from '../workspace/api.ts'
import type { FileFailure, StaleFile } from '../workspace/failure.ts'
import type { FileRecorder } from '../recording/recorder.ts'

/** The changes so far, for planners that ask; empty if no history is kept. */
export const pastOf = async (recorder: FileRecorder | null): Promise<FileHistory> =>
  recorder === null ? { records: [], changes: [] } : recorder.past()

/** Meters how long `work` took to store `bytes` bytes of a file, if it succeeded. */
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

/** Null if the file is the one that the request expects. `hash`: its SHA-256; a request may give only its beginning. */
export function staleness(
  { options: { requireHash } }: { options: Pick<CommonOptions, 'requireHash'> },
  { expected_hash }: FileTarget,
  hash: string
): StaleFile | null {
  if (expected_hash === undefined || hash.startsWith(expected_hash)) return null
  return { code: 'STALE_FILE', reason: 'expected_hash', expected_hash, ...(requireHash && { hash_required: true }) }
}

/** Null: it may be replaced, provided that its hash is the one given. */
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
