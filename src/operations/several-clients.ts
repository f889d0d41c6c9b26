// For a request that means the caller's last edit or undo without naming it: refuses if several clients edit under one
// name, since then it isn't known which one is meant. Does not know what is done with the edit.
import { fail } from '../result.ts'
import type { EditRecord, PastEdit } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'
import { readableTexts } from './decoding.ts'
import type { CallContext, HistoryFailure, LastEdit, UndoVerb } from './operation.ts'
import { findEdits, ownQuery, pathOf } from './past-edits.ts'
/** How long ago other clients' edits count, in ms, and how many edits are then listed. */
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
  const newest = [...batches.values()].slice(0, LISTED)
  const texts = await findEdits(workspace, { edit_ids: newest.map(([{ edit_id }]) => edit_id), texts: true })
  if (!texts.ok) return texts
  const withTexts = new Map(texts.value.edits.map(({ record }) => [record.edit_id, record]))
  const last = await Promise.all(newest.map(batch => lastOf(batch, withTexts, sender)))
  const named = token !== undefined && { token }
  return fail({ code: 'NOTHING_TO_UNDO', verb, edit_ids: [], reason: 'several_clients', ...named, last })
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
