// What POST /undo accepts, and what it and /redo answer. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { count, named, ref, requestPath, word } from './common.ts'
import { changeFields, keyField } from './change-fields.ts'
import { claimed, editId } from './history.ts'
import { TakenBackSchema } from './outcome.ts'

/** The most edits one request may name. */
export const MAX_EDIT_IDS = 1000

export const editIds = (description: string) =>
  Type.Array(editId('The edit_id of an answer.'), { minItems: 1, maxItems: MAX_EDIT_IDS, description })

const changesOfEdit = (description: string) =>
  Type.Optional(Type.Array(count('The change_index of a change.'), { minItems: 1, maxItems: 1000, description }))

export const changeIndexes = changesOfEdit('With edit_id: only these of its changes.')

export const NamedChangesSchema = named('NamedChanges', 'An edit, or some of its changes.', {
  edit_id: editId('The edit.'),
  change_indexes: changesOfEdit('Only these of its changes.')
})

export const namedChanges = (description: string) =>
  Type.Array(ref(NamedChangesSchema), { minItems: 1, maxItems: MAX_EDIT_IDS, description })

const { expected_hash, dry_run, show_diff, max_diff_lines, context_lines } = changeFields

/** The fields that undo and redo accept besides the selector. */
export const undoFields = {
  expected_hash,
  dry_run,
  show_diff,
  max_diff_lines,
  context_lines,
  note: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Why: kept in the history, and told to the agent whose edit it was.'
    })
  ),
  ...keyField
}

export const UndoRequestSchema = named(
  'UndoRequest',
  'Take edits back. Give one selector: edit_id, edit_ids, changes, batch_id, session, agent, path, or path with ' +
    'to; none: the last edit of the caller that stands, with its whole batch. ' +
    'With a path beside edit_id or edit_ids, all of them must be edits of that file.',
  {
    edit_id: Type.Optional(
      editId('The edit to take back: the edit_id of an answer, or its file_hash. Half of a move stands for all of it.')
    ),
    edit_ids: Type.Optional(editIds('Several edits, of one file or more: all are taken back, or none.')),
    changes: Type.Optional(namedChanges('Some changes of several edits, of one file or more: all, or none.')),
    batch_id: Type.Optional(editId('All edits of this batch that stand.')),
    session: Type.Optional(claimed('All edits of this session that stand.')),
    agent: Type.Optional(claimed('All edits of this agent that stand.')),
    path: Type.Optional(
      Type.Unsafe<string>({
        ...requestPath,
        description: 'The last edit of this file that is not undone, by anyone; of a move, all of it.'
      })
    ),
    to: Type.Optional(editId('With path: the file gets the content that it had right after this edit.')),
    change_indexes: changeIndexes,
    on_conflict: Type.Optional(
      word(
        ['refuse', 'skip'],
        'If a later change stands on one that is to be taken back: refuse (default), or leave that one as it is.'
      )
    ),
    ...undoFields
  }
)

const results = Type.Array(ref(TakenBackSchema), { description: 'What was changed, one for each file.' })
const common = {
  message: Type.String({ description: 'What was done, in one sentence.' }),
  dry_run: Type.Boolean({ description: 'true: nothing was written.' }),
  batch_id: Type.Optional(
    Type.String({ description: 'Of several files: the id of their batch, by which a redo makes them all again.' })
  ),
  results
}
const warnings = Type.Optional(
  Type.Array(Type.String(), { description: 'How the request was understood, and whether more of a batch stands.' })
)
const ids = (description: string) => Type.Array(Type.String(), { description })

export const UndoResultSchema = named('UndoResult', 'What was taken back. Changes of others stay as they are.', {
  ...common,
  undone: ids('The edits that were taken back, each at least in part.'),
  skipped: ids('With on_conflict skip: the edits that were left, each at least in part.'),
  warnings
})

export const RedoResultSchema = named('RedoResult', 'What was made again. Changes of others stay as they are.', {
  ...common,
  redone: ids('The edits that were made again, each at least in part.'),
  warnings
})

export const UNDO_COMPONENTS = [UndoResultSchema, RedoResultSchema]
export type UndoRequest = Static<typeof UndoRequestSchema>
export type UndoResult = Static<typeof UndoResultSchema>
export type RedoResult = Static<typeof RedoResultSchema>
