// After a miss: finds the edit that already made the requested change, and whether someone else undid the caller's edit
// in that file, so that the caller doesn't make it again. Does not know why an edit missed, or sentences.
import { changeThatMade, type ResentEdit } from '../engine/undo/made-by.ts'
import { ok } from '../result.ts'
import type { Author, Workspace } from '../workspace/api.ts'
import { decodedPast } from './decoding.ts'
import type { CallFailure, EarlierEdit, Failed, TakenBackEdit } from './operation.ts'
import { isOwn, ownQuery } from './past-edits.ts'

/** Failures of an edit that was made for a different text than the file has. */
const MISSES = ['STALE_FILE', 'NO_MATCH', 'ALREADY_APPLIED']

/** How many of the caller's last edits of the file are checked; an undo before those is no news. */
const LOOKED_AT = 50

/**
 * Adds to the failure of a call which of the caller's edits of that file was undone. Reads the history only after a
 * miss, when no lock is held any more.
 */
export async function withUndoneEdit(workspace: Workspace, caller: Author = {}, failed: Failed): Promise<Failed> {
  const { failure, path } = failed
  const { agent, token = agent } = caller
  if (token === undefined || path === undefined || !MISSES.includes(failure.code)) return failed
  const taken_back = await undoneEdit(workspace, path, caller)
  return taken_back === undefined ? failed : { ...failed, taken_back }
}

/** The caller's edit that was undone last, if someone else undid it and it hasn't been redone. */
async function undoneEdit(workspace: Workspace, path: string, caller: Author): Promise<TakenBackEdit | undefined> {
  const own = await workspace.history({ ...ownQuery(caller), path, limit: LOOKED_AT })
  const undone = own.ok ? own.value.edits.filter(({ undone_by }) => undone_by !== undefined) : []
  const edit_ids = [...new Set(undone.map(({ undone_by = '' }) => undone_by))]
  if (edit_ids.length === 0) return undefined
  const undos = await workspace.history({ edit_ids, limit: LOOKED_AT })
  const known = new Map(undos.ok ? undos.value.edits.map(({ record }) => [record.edit_id, record]) : [])
  for (const { record, undone_by = '' } of undone) {
    const undo = known.get(undone_by)
    if (undo?.operation !== 'undo' || isOwn(undo, caller)) continue
    const { agent, reason: note } = undo
    return {
      edit_id: record.edit_id,
      undone_by,
      agent,
      note
    }
  }
  return undefined
}

/**
 * Adds to the failure of a call the edit that made what it asks for, if the history knows that for certain. Looks only
 * if new_text is in the file, when no lock is held any more.
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
