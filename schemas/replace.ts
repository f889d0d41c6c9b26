// What POST /replace accepts and answers: exact text, replaced in many files, all or nothing. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { answeredPath, count, named, ref } from './common.ts'
import { callerFields, changeFields, keyField } from './change-fields.ts'
import { FindRequestSchema, SearchMatch, SkippedFiles } from './find.ts'
import { editId } from './history.ts'
import { EditResultSchema } from './outcome.ts'

/** The most files that one request changes. Chosen. */
export const MAX_REPLACED_FILES = 500
/** The most UTF-16 units in the text to replace; /find has this limit too. */
export const MAX_OLD_TEXT = 10_000
/** The most places of one file that an answer shows. */
export const MAX_SHOWN_PLACES = 3

const { whole_word, path, include, exclude, ignored } = FindRequestSchema.properties

export const ReplaceRequestSchema = named(
  'ReplaceRequest',
  'Replace exact text in all files that hold it, below a directory or in one file: in all of them, or in none.',
  {
    old_text: Type.String({
      minLength: 1,
      maxLength: MAX_OLD_TEXT,
      description: 'The exact text to replace, wherever it is. A line break matches any kind.'
    }),
    new_text: Type.String({ description: 'The replacement, taken literally. An empty string deletes the text.' }),
    whole_word,
    path,
    include,
    exclude,
    ignored,
    occurrences: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'How many places you expect, in all files together. If there are so many, they are replaced. ' +
          'Without it nothing is written, and the answer says how many there are.'
      })
    ),
    dry_run: changeFields.dry_run,
    show_diff: changeFields.show_diff,
    syntax: changeFields.syntax,
    ...callerFields,
    ...keyField
  }
)

const { resolved_path, changed, hash_before, file_hash, sha256, new_hash, file_size } = EditResultSchema.properties
const { edit_id, write_strategy, diff, diff_truncated, diff_unavailable, warnings } = EditResultSchema.properties

const ReplacedFileSchema = named('ReplacedFile', 'One file in which text was replaced, or would be.', {
  path: answeredPath,
  resolved_path,
  occurrences: count('How many places were replaced in it.'),
  changed,
  matches: Type.Optional(
    Type.Array(ref(SearchMatch), {
      maxItems: MAX_SHOWN_PLACES,
      description: 'Some of these places, spread over the file, if nothing was written.'
    })
  ),
  hash_before,
  file_hash,
  sha256,
  new_hash,
  file_size,
  edit_id,
  write_strategy,
  diff,
  diff_truncated,
  diff_unavailable,
  warnings
})

export const ReplaceResultSchema = named('ReplaceResult', 'What was replaced, in all files or in none.', {
  message: Type.String({ description: 'What was done, and what to send next if nothing was written.' }),
  dry_run: Type.Boolean({ description: 'true: nothing was written.' }),
  batch_id: Type.Optional(
    editId('Its id in the history, by which all of it can be taken back. Absent if nothing was written.')
  ),
  occurrences: count(
    'How many places were replaced in all files. If nothing was written: what to send to replace them.'
  ),
  results: Type.Array(ref(ReplacedFileSchema), {
    maxItems: MAX_REPLACED_FILES,
    description: 'The files, by path.'
  }),
  skipped: ref(SkippedFiles),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export const REPLACE_COMPONENTS = [ReplacedFileSchema, ReplaceResultSchema]
export type ReplaceRequest = Static<typeof ReplaceRequestSchema>
export type ReplaceResult = Static<typeof ReplaceResultSchema>
