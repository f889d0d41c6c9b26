// A person's verdicts on changes of files: written as records, and read from them. Does not know which changes are
// meant, or how verdicts combine.
import type { Verdict } from '../engine/undo/baseline.ts'
import type { History } from '../log/api.ts'
import type { EditRecord, Stored } from '../log/record.ts'
import { fail, ok, type Result } from '../result.ts'
import type { ReviewTarget } from '../workspace/api.ts'
import { codeOf, failureOf } from '../workspace/errno.ts'
import type { FileFailure, RequestInFlight } from '../workspace/failure.ts'

/** The verdicts on one file's changes that took effect, in the order of its records, as `baselineOf` takes them. */
export const verdictsOf = (stored: readonly Pick<Stored, 'record' | 'settled'>[]): Verdict[] =>
  stored.flatMap(({ record, settled }) => (settled === 'done' && record.review !== undefined ? [record.review] : []))

interface GivingVerdict {
  history: History
  durable: boolean
  report: (event: { event: string; [key: string]: unknown }) => void
}

/**
 * Writes a verdict, one record for each file; the last record holds the key. If one can't be written, none counts.
 * Takes no lock: a verdict is about changes already made, and later changes of the files don't affect it.
 */
export async function giveVerdict(
  { history, durable, report }: GivingVerdict,
  { verdict, files, key, outcome, audit, ...author }: ReviewTarget
): Promise<Result<null, FileFailure | RequestInFlight>> {
  // The new ids must be later than those of the changes they are about, whichever server wrote them.
  await history.refresh()
  if (key?.held() === false) return fail({ code: 'REQUEST_IN_FLIGHT', retry_after: 1 })
  const records = files.map(({ path, of }): EditRecord => ({
    edit_id: history.nextId(),
    operation: 'review',
    ...author,
    at: Date.now(),
    path,
    hash_before: null,
    hash_after: null,
    size_before: 0,
    size_after: 0,
    lines_added: 0,
    lines_removed: 0,
    splices: null,
    places: null,
    review: { verdict, of }
  }))
  const last = records.at(-1)
  if (key !== undefined && last !== undefined) {
    last.key = { digest: key.digest, fingerprint: key.fingerprint, outcome: outcome ?? null }
  }
  const audited = records.map(({ path, edit_id }) => ({ edit_id, change: audit?.verdict(path, verdict) }))
  try {
    await Promise.all(audited.map(({ edit_id, change }) => change?.intend({ edit_id })))
  } catch (error) {
    for (const { change } of audited) change?.notDone()
    return fail(failureOf(error)!)
  }
  const written = await Promise.allSettled(records.map(record => history.append(record, { durable })))
  const failed = written.find(result => result.status === 'rejected')
  if (failed === undefined) {
    for (const { edit_id, change } of audited) change?.done(edit_id)
    return ok(null)
  }
  for (const { change } of audited) change?.notDone()
  for (const { edit_id } of records) history.settle(edit_id, 'void')
  report({ event: 'review_unrecorded', reason: codeOf(failed.reason) })
  return fail({ code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 })
}
