// The edits that an undo or redo means, by their ids, and the files in which they are. Does not know how they are taken
// back.
import type { Selection } from '../engine/history/change.ts'
import { fail, ok, type Result } from '../result.ts'
import type { EditRecord, FileHistory, PastEdit } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { HistoryFailure, OperationFailure, TakeBackVerb } from './operation.ts'
import { findByIds, pathOf } from './past-edits.ts'
import type { Chosen, FileToTakeBack } from './take-back-file.ts'

export type MeantFailure = HistoryFailure | OperationFailure | FileFailure

/** The files that one request may change. */
const MAX_FILES = 100

/** The edits with these ids; NOTHING_TO_UNDO if one of them isn't known. */
export async function namedEdits(
  workspace: Workspace,
  verb: TakeBackVerb,
  ids: readonly string[]
): Promise<Result<PastEdit[], HistoryFailure | FileFailure>> {
  const found = await findByIds(workspace, ids)
  if (!found.ok) return found
  const { edits, unknown: edit_ids, oldest_kept_at } = found.value
  if (edit_ids.length === 0) return ok(edits)
  const oldest = oldest_kept_at === undefined ? {} : { oldest_kept_at }
  return fail({ code: 'NOTHING_TO_UNDO', verb, reason: 'unknown', edit_ids, ...oldest })
}

/** An edit of one file that is meant, or some of its changes. */
export interface Meant {
  path: string
  selection: Selection
}

/** The edit of a record; of an undo or redo, what it took back or made again. */
export function meantBy(record: EditRecord, change_indexes?: readonly number[]): Meant[] {
  const path = pathOf(record)
  const of = (selection: Selection): Meant => ({ path, selection })
  if (record.toggles !== undefined) return record.toggles.map(of)
  return [of({ edit_id: record.edit_id, ...(change_indexes !== undefined && { change_indexes }) })]
}

/** One entry for each file; of each, the selections are judged against its history under the lock. */
export function filesFor(
  meant: readonly Meant[],
  { expected_hash }: { expected_hash?: string },
  goalOf: (set: readonly Selection[]) => Chosen['goal']
): Result<FileToTakeBack[], MeantFailure> {
  const byPath = new Map<string, Selection[]>()
  for (const { path, selection } of meant) byPath.set(path, [...(byPath.get(path) ?? []), selection])
  if (byPath.size > 1 && expected_hash !== undefined) {
    return fail({ code: 'INVALID_REQUEST', faults: [{ pointer: '/expected_hash', reason: 'several_files' }] })
  }
  if (byPath.size > MAX_FILES) {
    const fault = { pointer: '', reason: 'too_many_files', limit: MAX_FILES, actual: byPath.size } as const
    return fail({ code: 'INVALID_REQUEST', faults: [fault] })
  }
  return ok(
    [...byPath].map(([path, set]) => ({
      path,
      recorded: true,
      choose: history => chosenFrom(history, set, goalOf(set))
    }))
  )
}

/** The set, unless the texts of one of its edits aren't kept, or it names a change that the edit doesn't have. */
export function chosenFrom(
  { records }: Pick<FileHistory, 'records'>,
  set: readonly Selection[],
  goal: Chosen['goal']
): Result<Chosen, HistoryFailure | OperationFailure> {
  const edit_ids = [...new Set(set.map(({ edit_id }) => edit_id))]
  const known = new Map(records.map(record => [record.edit_id, record]))
  const withoutTexts = edit_ids.filter(id => known.get(id)?.splices === null)
  if (withoutTexts.length > 0) return fail({ code: 'HISTORY_GONE', reason: 'no_texts', edit_ids: withoutTexts })
  for (const { edit_id, change_indexes = [] } of set) {
    const total = known.get(edit_id)?.splices?.length
    const at = change_indexes.findIndex(index => total !== undefined && index >= total)
    if (total === undefined || at === -1) continue
    const fault = {
      pointer: `/change_indexes/${at}`,
      reason: 'no_such_change',
      index: change_indexes[at]!,
      total
    } as const
    return fail({ code: 'INVALID_REQUEST', faults: [fault] })
  }
  return ok({ goal, edit_ids })
}
