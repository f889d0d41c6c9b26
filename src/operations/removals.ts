// After a failure: how a missing file was removed, where it is now, and which call brings it back. Does not know why
// anything is in conflict, or sentences.
import { basename } from 'node:path/posix'
import { editIdsOf } from '../engine/undo/change.ts'
import { fail, ok, type Result } from '../result.ts'
import { MOST_MOVES, type EditRecord, type PastEdit, type Workspace } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { onlyOwnOf } from './access.ts'
import type { CallContext, ConflictAt, Failed, Removal, Removals, RemovedFile } from './operation.ts'
import { findByIds, findEdits, isOrdinary, otherHalfOf, pathOf } from './past-edits.ts'

/** Adds to the conflicts of a file how it was removed, if that is known. No lock may be held. */
export async function withRemovals(workspace: Workspace, failed: Failed): Promise<Failed> {
  const { failure } = failed
  if (failure.code !== 'UNDO_CONFLICT') return failed
  // All conflicts of one file have the same cause.
  const by = failure.conflicts.find(isGone)?.by
  if (by === undefined) return failed
  const removal = await removalOf(workspace, by)
  if (!removal.ok) return { ...failed, failure: removal.failure }
  if (removal.value === undefined) return failed
  const { moved_to } = removal.value
  const newest = moved_to === undefined ? undefined : await lastChangeOf(workspace, moved_to)
  const later = newest === undefined ? [] : await removalsFrom(workspace, newest)
  const removals = [{ ...removal.value, by }, ...later]
  const conflicts = failure.conflicts.map(one => (isGone(one) ? { ...one, removals } : one))
  return { ...failed, failure: { ...failure, conflicts } }
}

const isGone = ({ kind, replaced }: ConflictAt): boolean => kind === 'removed' && replaced !== true

/** The caller who would undo a removal. */
type Undoer = Pick<CallContext, 'subject'>

/**
 * Adds to the failure of a call that found no file how the file was removed, if the history knows it and the caller may
 * see it. Reads the history only after the failure, when no lock is held any more.
 */
export async function withHowRemoved(
  workspace: Workspace,
  failed: Failed,
  undoing: Undoer | 'no_undo'
): Promise<Failed> {
  const { failure, path } = failed
  if (failure.code !== 'FILE_NOT_FOUND' || path === undefined) return failed
  // Something else is missing, not the file.
  if (failure.missing !== undefined && failure.missing !== 'expected') return failed
  const newest = await lastChangeOf(workspace, path)
  if (newest === undefined) return failed
  const removals = await removalsFrom(workspace, newest)
  const last = removals.at(-1)
  if (last === undefined) return { ...failed, failure: notAnother(failure, path, newest.record) }
  const isBack = last.moved_to !== undefined && (await isFile(workspace, last.moved_to))
  const mayUndo = last.moved_to === undefined && undoing !== 'no_undo' && (await canUndo(workspace, last, undoing))
  const found: RemovedFile = {
    ...notAnother(failure, path, newest.record),
    removals,
    ...(isBack && { did_you_mean: [last.moved_to!], now_at: last.moved_to! }),
    ...(mayUndo && { undo: last.back.edit_id })
  }
  return { ...failed, failure: found }
}

type MissingFile = Extract<FileFailure, { code: 'FILE_NOT_FOUND' }>

/**
 * A path that the history knows isn't a typo, so similar paths aren't suggested. But another program may have moved the
 * file, so paths with the same file name still are.
 */
function notAnother(failure: MissingFile, path: string, last: EditRecord): MissingFile {
  const { did_you_mean = [], ...others } = failure
  const name = basename(path)
  const moved = last.hash_after === null ? [] : did_you_mean.filter(other => basename(other) === name)
  return { ...others, ...(moved.length > 0 && { did_you_mean: moved }) }
}

/** The last change of a path that the history knows. */
async function lastChangeOf(workspace: Workspace, path: string): Promise<PastEdit | undefined> {
  const found = await findEdits(workspace, { path }, ({ record }) => !isOfNothing(record), 1)
  return found.ok ? found.value.edits[0] : undefined
}

/** The removals from this change on, following the file's moves; empty if the change didn't remove the file. */
async function removalsFrom(workspace: Workspace, newest: PastEdit): Promise<Removals> {
  const removals: (Removal & { by: string })[] = []
  for (let last: PastEdit | undefined = newest; last !== undefined && removals.length < MOST_MOVES;) {
    if (last.record.hash_after !== null || last.state === 'uncertain') break
    const removal = await removalOf(workspace, last.record.edit_id)
    if (!removal.ok || removal.value === undefined) break
    const { moved_to } = removal.value
    removals.push({ ...removal.value, by: last.record.edit_id })
    last = moved_to === undefined ? undefined : await lastChangeOf(workspace, moved_to)
  }
  return removals
}

/** An undo or redo with no file before and after it. */
const isOfNothing = ({ hash_before, hash_after }: EditRecord): boolean => hash_before === null && hash_after === null

async function isFile(workspace: Workspace, path: string): Promise<boolean> {
  const looked = await workspace.look(
    { path },
    { file: () => ({ push: () => {}, finish: () => null }), directory: { limit: 1 } }
  )
  return looked.ok && looked.value.type === 'file'
}

/** Whether an edit removed the file (not an undo by someone who wanted it gone) and the caller may undo that edit. */
async function canUndo(workspace: Workspace, { back }: Removal, { subject }: Undoer): Promise<boolean> {
  // A token that may delete may also undo the work of others.
  if (back.verb !== 'undo' || onlyOwnOf(subject).token !== undefined) return false
  const found = await findByIds(workspace, [back.edit_id])
  return found.ok && found.value.edits[0]?.texts !== 'none'
}

async function removalOf(workspace: Workspace, edit_id: string): Promise<Result<Removal | undefined, FileFailure>> {
  const found = await findByIds(workspace, [edit_id])
  if (!found.ok) return fail(found.failure)
  const remover = found.value.edits[0]?.record
  const toggled = await findByIds(workspace, editIdsOf(remover?.toggles ?? []))
  if (!toggled.ok) return fail(toggled.failure)
  const records = toggled.value.edits.map(({ record }) => record)
  if (remover?.operation === 'undo') {
    const arrival = records.find(({ moved, hash_before }) => moved !== undefined && hash_before === null)
    const from = arrival === undefined ? ok(undefined) : await otherHalfOf(workspace, arrival)
    if (!from.ok) return from
    return ok({ operation: 'undo', moved_to: from.value && pathOf(from.value), back: { verb: 'redo', edit_id } })
  }
  const made = [remover, ...records].find(isDeletion)
  if (made === undefined) return ok(undefined)
  const other = await otherHalfOf(workspace, made)
  if (!other.ok) return other
  // A caller who may not see where the file went can't undo the move.
  if (made.moved !== undefined && other.value === undefined) return ok(undefined)
  return ok({
    operation: made === remover ? 'edit' : 'redo',
    moved_to: other.value && pathOf(other.value),
    back: { verb: 'undo', edit_id: made.edit_id }
  })
}

const isDeletion = (record: EditRecord | undefined): record is EditRecord =>
  record !== undefined && record.hash_after === null && isOrdinary(record)
