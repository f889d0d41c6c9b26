// What POST /redo accepts; its answer is in undo.ts. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { named } from './common.ts'
import { editId } from './history.ts'
import { editIds, namedChanges, undoFields } from './undo.ts'

export const RedoRequestSchema = named(
  'RedoRequest',
  'Make again what an undo took back. Give edit_id, edit_ids, changes or batch_id; none: the last undo of the caller.',
  {
    edit_id: Type.Optional(editId('An undo, or an edit that was undone.')),
    edit_ids: Type.Optional(editIds('Several of these, of one file or more: all are made again, or none.')),
    changes: Type.Optional(namedChanges('Some changes of several edits, of one file or more: all, or none.')),
    batch_id: Type.Optional(editId('An undo of several files, or a batch that was undone.')),
    ...undoFields
  }
)

export type RedoRequest = Static<typeof RedoRequestSchema>
