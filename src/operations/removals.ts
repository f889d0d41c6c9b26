// After a conflict: how a file that is gone was removed, and which call brings it back. Does not know why anything is in
// conflict, or sentences.
import { editIdsOf } from '../engine/history/change.ts'
import { fail, ok, type Result } from '../result.ts'
import type { EditRecord } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { ConflictAt, Failed, Removal } from './operation.ts'
import { findByIds, isOrdinary, otherHalfOf } from './past-edits.ts'

/** Adds to the conflicts of a file what has removed it, where that is known. Nothing may be locked. */
export async function withRemovals(workspace: Workspace, failed: Failed): Promise<Failed> {
  const { failure } = failed
  if (failure.code !== 'UNDO_CONFLICT') return failed
  // All conflicts of one file have the same.
  const by = failure.conflicts.find(isGone)?.by
  if (by === undefined) return failed
  const removal = await removalOf(workspace, by)
  if (!removal.ok) return { ...failed, failure: removal.failure }
  if (removal.value === undefined) return failed
  const conflicts = failure.conflicts.map(one => (isGone(one) ? { ...one, removal: removal.value! } : one))
  return { ...failed, failure: { ...failure, conflicts } }
}

const isGone = ({ kind, replaced }: ConflictAt): boolean => kind === 'removed' && replaced !== true

async function removalOf(workspace: Workspace, edit_id: string): Promise<Result<Removal | undefined, FileFailure>> {
  const found = await findByIds(workspace, [edit_id])
  if (!found.ok) return fail(found.failure)
  const remover = found.value.edits[0]?.record
  if (remover?.operation === 'undo') return ok({ operation: 'undo', back: { verb: 'redo', edit_id } })
  const again = await findByIds(workspace, editIdsOf(remover?.toggles ?? []))
  if (!again.ok) return fail(again.failure)
  const made = [remover, ...again.value.edits.map(({ record }) => record)].find(isDeletion)
  if (made === undefined) return ok(undefined)
  const other = await otherHalfOf(workspace, made)
  if (!other.ok) return other
  // Who may not see where it went can't take the move back.
  if (made.moved !== undefined && other.value === undefined) return ok(undefined)
  return ok({
    operation: made === remover ? 'edit' : 'redo',
    ...(other.value !== undefined && { moved_to: other.value.path.toString() }),
    back: { verb: 'undo', edit_id: made.edit_id }
  })
}

const isDeletion = (record: EditRecord | undefined): record is EditRecord =>
  record !== undefined && record.hash_after === null && isOrdinary(record)
