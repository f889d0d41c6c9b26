// What an editing operation answers when it succeeds. Knows only the wire format.
import { Type, type Static } from 'typebox'
import { answeredPath, count, hash, line, lossy, named, ref, resolvedPath, word } from './common.ts'

const lines = (description: string) => Type.Array(Type.String(), { maxItems: 20, description })

export const ChangeContext = named('ChangeContext', 'Unchanged lines of the result around a change.', {
  before_lines: lines('Lines before it.'),
  after_lines: lines('Lines after it.'),
  lossy: Type.Optional(lossy)
})

export const Change = named('Change', 'One changed place. Look at it: is this what you meant?', {
  edit_index: count('Which of the edits, counted from 0.'),
  operation: word(['replace', 'insert', 'delete', 'append'], 'What was done.'),
  start_line: line('First line of the change in the file before the request.'),
  end_line: count('Last line of it.'),
  new_start_line: line('First line of it in the result.'),
  new_end_line: count('Last line of it in the result; new_start_line - 1 where nothing is left.'),
  lines_removed: count('Lines taken away.'),
  lines_added: count('Lines put in.'),
  net_change: Type.Integer({ description: 'lines_added - lines_removed.' }),
  inserted_by_edit: Type.Optional(count('The place lies in text that this earlier edit wrote.')),
  context: Type.Optional(ref(ChangeContext)),
  old_content: Type.Optional(Type.String({ description: 'In a dry run: what would be replaced, at most 4 KiB.' })),
  new_content: Type.Optional(Type.String({ description: 'In a dry run: what would be put in, at most 4 KiB.' })),
  lossy: Type.Optional(lossy)
})

export const EditApplied = named('EditApplied', 'What one edit found and replaced.', {
  edit_index: count('Which of the edits, counted from 0.'),
  occurrences_found: count('Matches of old_text.'),
  occurrences_replaced: count('How many of them were replaced.'),
  matched_with: word(['exact', 'line_endings'], 'line_endings: line breaks of another kind were taken as equal.')
})

export const EditResultSchema = named('EditResult', 'What was changed. Everything outside the changes is byte for byte as before.', {
  path: answeredPath,
  resolved_path: Type.Optional(resolvedPath),
  message: Type.String({ description: 'What was done, in one sentence.' }),
  changed: Type.Boolean({ description: 'false: the file already had exactly this content.' }),
  dry_run: Type.Boolean({ description: 'true: nothing was written.' }),
  total_replacements: count('Places replaced by all edits together.'),
  edits_applied: Type.Array(ref(EditApplied), { description: 'One for each edit, in order.' }),
  changes: Type.Array(ref(Change), { maxItems: 1000, description: 'At most 20 changes; 1,000 in a dry run.' }),
  changes_truncated: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'There are more changes than are listed.' })),
  total_lines_before: count('Lines before the request.'),
  total_lines_after: count('Lines of the result.'),
  file_size: count('Bytes of the result.'),
  hash_before: hash('Of the file before the request.'),
  file_hash: hash('Of the file as it is on disk now. Send it as expected_hash with your next edit.'),
  new_hash: Type.Optional(hash('In a dry run: the hash that the file would have.')),
  write_strategy: Type.Optional(word(['in_place'], 'The file was written in place, guarded by a journal, because a rename could not keep its identity.')),
  diff: Type.Optional(Type.String({ description: 'Unified diff; applies with git apply and patch -p1.' })),
  diff_truncated: Type.Optional(Type.Boolean({ description: 'Whether the diff was cut.' })),
  diff_unavailable: Type.Optional(Type.String({ description: 'Why there is no diff.' })),
  note: Type.Optional(Type.String({ description: 'Something to know, such as the matches that were not chosen.' })),
  warnings: Type.Array(Type.String(), { description: 'What may not be as you expect.' })
})

export const OUTCOME_COMPONENTS = [ChangeContext, Change, EditApplied, EditResultSchema]
export type EditResult = Static<typeof EditResultSchema>
