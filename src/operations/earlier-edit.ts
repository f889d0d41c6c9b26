// After a miss whose new_text is there already: which edit made it. Does not know why an edit missed, or sentences.
import { changeThatMade, type ResentEdit } from '../engine/history/made-by.ts'
import { ok } from '../result.ts'
import type { Workspace } from '../workspace/api.ts'
import { decodedPast } from './decoding.ts'
import type { CallFailure, EarlierEdit, Failed } from './operation.ts'

/**
 * Adds to the failure of a call the edit that made what it asks for, if the history has it for certain. It is asked only
 * where new_text stands in the file, when nothing is locked any more.
 */
export async function withEarlierEdit(workspace: Workspace, failed: Failed): Promise<Failed> {
  const { failure, path, file_hash } = failed
  const resent = resentIn(failure)
  if (resent === undefined || path === undefined) return failed
  const made_by = await workspace.recall<EarlierEdit | undefined, never>({ path }, async read => {
    const { bytes, changes, records, file_hash: hash_now } = await decodedPast(read)
    const made = hash_now === file_hash ? changeThatMade(bytes, resent, changes) : undefined
    const record = records.find(({ edit_id }) => edit_id === made?.edit_id)
    if (record === undefined) return ok(undefined)
    const { edit_id, at, agent } = record
    return ok({ edit_id, at, agent })
  })
  return made_by.ok && made_by.value !== undefined ? { ...failed, made_by: made_by.value } : failed
}

function resentIn(failure: CallFailure): ResentEdit | undefined {
  if (failure.code === 'STALE_FILE' && failure.now?.fits === false) return resentIn(failure.now.failure)
  return 'resent' in failure ? failure.resent : undefined
}
