// For a request that may mean one of several edits or undos: refuses, and lists them. So if it means the caller's last
// one without naming it, and several clients edit under one name. Does not know what is done with the edit.
import { fail, ok, type Result } from '../result.ts'
import type { EditRecord, PastEdit } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'
import { readableTexts } from './decoding.ts'
import type { CallContext, HistoryFailure, LastEdit, UndoVerb } from './operation.ts'
import { findEdits, ownQuery, pathOf } from './past-edits.ts'
/** How long ago edits of other clients count, in ms, and how many edits are listed then. */
const LATELY = 3_600_000
const LISTED = 5

/**
 * Why it isn't known which edit is meant, if another client lately made one under the caller's name for which `isLeft`
 * holds; else null.
 */
export async function severalClients(
  workspace: Workspace,
  { caller = {}, is_named = true }: CallContext,
  verb: UndoVerb,
  isLeft: (edit: PastEdit) => boolean | Promise<boolean>
): Promise<{ ok: false; failure: HistoryFailure | FileFailure } | null> {
  const { token, sender } = caller
  if (is_named) return null
  const isOther = ({ record }: PastEdit): boolean => record.sender !== undefined && record.sender !== sender
  const found = await findEdits(workspace, { ...ownQuery(caller), since: Date.now() - LATELY })
  if (!found.ok) return found
  const { edits } = found.value
  if (!edits.some(isOther)) return null
  const left: PastEdit[] = []
  for (const edit of edits) if (await isLeft(edit)) left.push(edit)
  if (!left.some(isOther)) return null
  const batches = new Map<string, [EditRecord, ...EditRecord[]]>()
  for (const { record } of left) {
    const id = record.batch_id ?? record.edit_id
    const batch = batches.get(id)
    if (batch === undefined) batches.set(id, [record])
    else batch.push(record)
  }
  const last = await listed(workspace, [...batches.values()], sender)
  if (!last.ok) return last
  const named = token !== undefined && { token }
  return fail({ code: 'NOTHING_TO_UNDO', verb, edit_ids: [], reason: 'several_clients', ...named, last: last.value })
}

/** Why it isn't known which of several edits with one result is meant. */
export async function sameResult(
  workspace: Workspace,
  edits: readonly PastEdit[],
  { caller = {} }: CallContext
): Promise<{ ok: false; failure: HistoryFailure | FileFailure }> {
  const each = edits.map(({ record }): [EditRecord] => [record])
  const last = await listed(workspace, each, caller.sender)
  if (!last.ok) return last
  return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: [], reason: 'same_result', last: last.value })
}

/** The first of these batches, each with its first change. */
async function listed(
  workspace: Workspace,
  batches: readonly [EditRecord, ...EditRecord[]][],
  sender: string | undefined
): Promise<Result<LastEdit[], FileFailure>> {
  const newest = batches.slice(0, LISTED)
  const texts = await findEdits(workspace, { edit_ids: newest.map(([{ edit_id }]) => edit_id), texts: true })
  if (!texts.ok) return texts
  const withTexts = new Map(texts.value.edits.map(({ record }) => [record.edit_id, record]))
  return ok(await Promise.all(newest.map(batch => lastOf(batch, withTexts, sender))))
}

async function lastOf(
  batch: readonly [EditRecord, ...EditRecord[]],
  withTexts: ReadonlyMap<string, EditRecord>,
  sender: string | undefined
): Promise<LastEdit> {
  const [record] = batch
  const { splices, places, encodings } = withTexts.get(record.edit_id) ?? record
  const [first, place] = [splices?.[0], places?.[0]]
  const splice = first && place && (await readableTexts({ splices: [first], places: [place], encodings })).splices[0]
  return {
    edit_ids: batch.map(({ edit_id }) => edit_id),
    path: pathOf(record),
    lines_added: record.lines_added,
    lines_removed: record.lines_removed,
    is_own: record.sender === sender,
    change:
      splice === undefined || place === undefined
        ? null
        : { line: place.new_start_line, removed: splice.old.toString(), added: splice.insert.toString() }
  }
}
