// What a patch asks for and what we answer: files that are created, updated, moved and deleted, all or nothing. It has
// no route: the adapters translate what models produce into it. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { MAX_BATCH_FILES } from './batch.ts'
import { callerFields, changeFields, keyField } from './change-fields.ts'
import { answeredPath, line, named, ref, requestPath, word } from './common.ts'
import { editId } from './history.ts'
import { BatchedResultSchema } from './outcome.ts'

const fields = {
  content: Type.Optional(Type.String({ description: 'The whole content, written exactly as given.' })),
  diff: Type.Optional(Type.String({ description: 'A V4A diff; of a new file, all its lines with + in front.' })),
  first_line: Type.Optional(line('The line of the whole patch that is the first of diff (default: 1).')),
  move_to: Type.Optional(Type.String({ minLength: 1, description: 'The new path, where nothing may be yet.' }))
}

export const PatchCreateSchema = named('PatchCreate', 'A new file: content or diff.', {
  path: requestPath,
  content: fields.content,
  diff: fields.diff,
  first_line: fields.first_line
})
export const PatchUpdateSchema = named('PatchUpdate', 'A change of a file, a new path for it, or both.', {
  path: requestPath,
  diff: fields.diff,
  first_line: fields.first_line,
  move_to: fields.move_to
})
export const PatchDeleteSchema = named('PatchDelete', 'A file that is deleted.', { path: requestPath })

/** Any of these file operations, as one flat object. */
export const PatchFileSchema = named('PatchFile', 'What is done to one file.', {
  operation: word(['create', 'update', 'delete'], 'Which of them.'),
  path: requestPath,
  ...fields
})

export const ApplyPatchRequestSchema = named('ApplyPatchRequest', 'Changes of files, in order: all of them, or none.', {
  files: Type.Array(ref(PatchFileSchema), { minItems: 1, maxItems: MAX_BATCH_FILES, description: 'The files.' }),
  dry_run: changeFields.dry_run,
  show_diff: changeFields.show_diff,
  syntax: changeFields.syntax,
  ...callerFields,
  ...keyField
})

const {
  operation: _,
  edits_applied: _edits,
  total_replacements: _total,
  files: _files,
  moved_from: _from,
  removed: _removed,
  ...ofOne
} = BatchedResultSchema.properties

export const PatchedFileSchema = named(
  'PatchedFile',
  'What was done to one file. Lines are those right after it; hashes and file_size are of the whole patch.',
  {
    operation: word(['create', 'update', 'delete', 'move'], 'What was done.'),
    moved_from: Type.Optional({ ...answeredPath, description: 'Of a file that was moved: where it was.' }),
    removed: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'true: the file is gone.' })),
    ...ofOne
  }
)

export const ApplyPatchResultSchema = named('ApplyPatchResult', 'What was changed, in all files or in none.', {
  message: Type.String({ description: 'What was done, in one sentence.' }),
  dry_run: Type.Boolean({ description: 'true: nothing was written.' }),
  batch_id: Type.Optional(
    editId('Its id in the history, by which all of it can be taken back. Absent if nothing was written.')
  ),
  results: Type.Array(ref(PatchedFileSchema), {
    maxItems: MAX_BATCH_FILES,
    description: 'What was done to each file, in their order.'
  }),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export type PatchFile =
  | ({ operation: 'create' } & Static<typeof PatchCreateSchema>)
  | ({ operation: 'update' } & Static<typeof PatchUpdateSchema>)
  | ({ operation: 'delete' } & Static<typeof PatchDeleteSchema>)
/** A patch whose files have each passed the schema for its operation. */
export interface ApplyPatchRequest {
  files: PatchFile[]
  dry_run?: boolean
  show_diff?: boolean
  syntax?: 'ignore' | 'warn' | 'refuse'
}
export type ApplyPatchResult = Static<typeof ApplyPatchResultSchema>
