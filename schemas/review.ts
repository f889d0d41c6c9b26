// What POST /review accepts and answers: a person's verdict on changes. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { named, requestPath, word } from './common.ts'
import { keyField } from './change-fields.ts'
import { claimed, editId } from './history.ts'
import { changeIndexes, editIds, namedChanges } from './undo.ts'

export const ReviewRequestSchema = named(
  'ReviewRequest',
  'Say of changes that they are kept, or pending again; no file is changed. Give one selector: edit_id, edit_ids, ' +
    'changes, batch_id, session, agent, path or under.',
  {
    verdict: word(
      ['keep', 'pending'],
      'keep: these changes should stay as they are now, applied or undone. ' + 'pending: nobody has kept them.'
    ),
    edit_id: Type.Optional(
      editId('The edit: the edit_id of an answer; of an undo or redo: the edits that it changed.')
    ),
    change_indexes: changeIndexes,
    edit_ids: Type.Optional(editIds('Several edits, of one file or more.')),
    changes: Type.Optional(namedChanges('Some changes of several edits.')),
    batch_id: Type.Optional(editId('All edits of this batch.')),
    session: Type.Optional(claimed('All edits of this session.')),
    agent: Type.Optional(claimed('All edits of this agent.')),
    path: Type.Optional(
      Type.Unsafe<string>({ ...requestPath, description: 'All changes of this file, also by other programs.' })
    ),
    under: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'All changes of the files in this directory or below.'
      })
    ),
    ...keyField
  }
)

const ids = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))

export const ReviewResultSchema = named('ReviewResult', 'The edits whose verdict has changed.', {
  message: Type.String({ description: 'What was decided, in one sentence.' }),
  kept: ids('With keep: the edits that had pending changes, newest first.'),
  pending: ids('With pending: the edits that had kept changes, newest first.'),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export const REVIEW_COMPONENTS = [ReviewResultSchema]
export type ReviewRequest = Static<typeof ReviewRequestSchema>
export type ReviewResult = Static<typeof ReviewResultSchema>
