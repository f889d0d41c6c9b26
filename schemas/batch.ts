// What POST /batch accepts and answers: operations on many files, all or nothing. Knows only the wire format.
import type { Static, TSchema } from 'typebox'
import { Type } from './type.ts'
import { expectedHash, named, ref, requestPath, word, madeOnce } from './common.ts'
import { CALL_FIELDS, changeFields, keyField, callerFields } from './change-fields.ts'
import { editId } from './history.ts'
import { BatchedResultSchema } from './outcome.ts'
import { PREVIEWED, PreviewEdit, previewRequest } from './preview.ts'

/** The most operations in one batch, and the most paths they may name together. */
export const MAX_OPERATIONS = 1000
export const MAX_BATCH_FILES = 100

/** The fields that belong to the batch as a whole. */
const BATCH_FIELDS: readonly string[] = ['dry_run', ...CALL_FIELDS]

/** One operation of a batch; `edits_max` bounds the edits in it. */
export const batchOperation = madeOnce((edits_max: number) => {
  const { properties } = previewRequest(edits_max)
  const { operation: _, path: _path, edits: _edits, ...fields } = properties as Record<string, TSchema>
  const own = Object.entries(fields).filter(([name]) => !BATCH_FIELDS.includes(name))
  return named('BatchOperation', 'One operation with its fields.', {
    operation: word([...PREVIEWED], 'Which operation.'),
    path: requestPath,
    edits: Type.Optional(
      Type.Array(ref(PreviewEdit), { minItems: 1, maxItems: edits_max, description: 'As in edit, edit_lines.' })
    ),
    ...(Object.fromEntries(own) as Record<string, TSchema>),
    expected_hash: Type.Optional(expectedHash('The hash of its file before the whole batch.')),
    show_diff: Type.Optional(Type.Boolean({ description: 'Default: that of the batch.' })),
    line_endings: Type.Optional(word(['adapt', 'exact'], 'As in edit, edit_lines, edit_section.')),
    new_text: Type.Optional(Type.String({ description: 'As in edit, edit_lines, edit_section.' }))
  })
})

/** The request of /batch; its operations have this schema. */
export const batchRequest = madeOnce((operation: ReturnType<typeof batchOperation>) =>
  named('BatchRequest', 'Operations on one file or many, in order: all of them, or none.', {
    operations: Type.Array(ref(operation), {
      minItems: 1,
      maxItems: MAX_OPERATIONS,
      description: `The operations, on at most ${MAX_BATCH_FILES} paths.`
    }),
    dry_run: changeFields.dry_run,
    show_diff: Type.Optional(
      Type.Boolean({ description: 'For operations without show_diff of their own (default: false).' })
    ),
    ...callerFields,
    ...keyField
  })
)

export const BatchResultSchema = named('BatchResult', 'What was changed, in all files or in none.', {
  message: Type.String({ description: 'What was done, in one sentence.' }),
  dry_run: Type.Boolean({ description: 'true: nothing was written.' }),
  batch_id: Type.Optional(
    editId('Its id in the history, by which all of it can be taken back. Absent if nothing was written.')
  ),
  results: Type.Array(ref(BatchedResultSchema), {
    maxItems: MAX_OPERATIONS,
    description: 'What each operation did, in their order.'
  }),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export const BATCH_COMPONENTS = [BatchResultSchema]

/** A batch whose operations have each passed the schema for the operation it names. */
export interface BatchedRequest {
  operations: { operation: (typeof PREVIEWED)[number]; path: string; [field: string]: unknown }[]
  dry_run?: boolean
  show_diff?: boolean
}
export type BatchResult = Static<typeof BatchResultSchema>
