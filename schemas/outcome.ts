// What an editing operation answers when it succeeds. Knows only the wire format.
import type { Static, TProperties } from 'typebox'
import { Type } from './type.ts'
import { MAX_FOLDER_FILES } from './delete.ts'
import { answeredPath, count, hash, line, lossy, named, ref, resolvedPath, sha256, word } from './common.ts'

/** The most changes by others that an answer lists. Chosen, not measured. */
export const MAX_OTHERS = 10

const lines = (description: string) => Type.Array(Type.String(), { maxItems: 20, description })

const ChangeContext = named('ChangeContext', 'Unchanged lines of the result around a change.', {
  before_lines: lines('Lines before it.'),
  after_lines: lines('Lines after it.'),
  lossy: Type.Optional(lossy)
})

const Change = named('Change', 'One changed place. Check that this is what you meant.', {
  edit_index: count('Which edit, counted from 0.'),
  operation: word(['replace', 'insert', 'delete', 'append'], 'What was done.'),
  start_line: line('First line of the change in the file before the request.'),
  end_line: count('Last line of the change in that file.'),
  new_start_line: line('First line of the change in the result.'),
  new_end_line: count('Last line of the change in the result; new_start_line - 1 if nothing is left.'),
  lines_removed: count('Lines removed.'),
  lines_added: count('Lines added.'),
  net_change: Type.Integer({ description: 'lines_added - lines_removed.' }),
  change_index: count(
    'Which change of edit_id, in the order of the file, counted from 0: what change_indexes of an undo takes.'
  ),
  inserted_by_edit: Type.Optional(
    count('The earlier edit, counted from 0, that wrote the text in which this place lies.')
  ),
  context: Type.Optional(ref(ChangeContext)),
  old_content: Type.Optional(Type.String({ description: 'In a dry run: what would be replaced, at most 4 KiB.' })),
  new_content: Type.Optional(Type.String({ description: 'In a dry run: what would be put in, at most 4 KiB.' })),
  lossy: Type.Optional(lossy)
})

const EditApplied = named('EditApplied', 'What one edit found and replaced.', {
  edit_index: count('Which edit, counted from 0.'),
  occurrences_found: count('How many matches old_text has.'),
  occurrences_replaced: count('How many of them were replaced.'),
  matched_with: word(
    ['exact', 'line_endings'],
    'exact: byte for byte. line_endings: the match differs only in the kind of line breaks.'
  )
})

const hashes = {
  hash_before: hash('The hash of the file before the request.'),
  file_hash: hash('The hash of the file now. Send it as expected_hash with your next edit.'),
  sha256
}
const replaced = {
  total_replacements: count('Places replaced by all edits together.'),
  edits_applied: Type.Array(ref(EditApplied), { description: 'One for each edit, in order.' })
}
const OtherChange = named('OtherChange', 'A change that was made to the file since the version that was expected.', {
  edit_id: Type.Optional(Type.String({ description: 'Its id; absent if it is not recorded yet.' })),
  agent: Type.Optional(Type.String({ description: 'Who made it.' })),
  outside: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'true: another program made it.' })),
  start_line: Type.Optional(line('Its first line in the result; absent if nothing of it is left.')),
  end_line: Type.Optional(count('Its last line in the result; start_line - 1 if it only removed lines.'))
})
const rebased = {
  rebased: Type.Optional(
    Type.Object(
      {
        from: hash('The hash of the version that the edit was made for.'),
        others: Type.Array(ref(OtherChange), {
          maxItems: MAX_OTHERS,
          description: `What was changed since, newest first; at most ${MAX_OTHERS}.`
        }),
        more_others: Type.Optional(count('How many older ones there are.'))
      },
      {
        additionalProperties: false,
        description: 'The file had changed since expected_hash, but not the lines of the edit: it was made there.'
      }
    )
  )
}
const FolderFile = named('FolderFile', 'One file of a directory that was deleted or moved.', {
  path: answeredPath,
  moved_from: Type.Optional({ ...answeredPath, description: 'Where it was.' }),
  hash_before: Type.Optional(hash('Its hash before the request.')),
  file_hash: Type.Optional(hash('Its hash now; absent if it is gone.')),
  edit_id: Type.Optional(Type.String({ description: 'The id of its change. Absent if nothing was written.' }))
})
const ofFolder = {
  files: Type.Optional(
    Type.Array(ref(FolderFile), {
      maxItems: MAX_FOLDER_FILES,
      description: 'Of a directory: its files. The members beside it are the sums of all.'
    })
  )
}
const inBatch = {
  batch_id: Type.Optional(
    Type.String({ description: 'The id of all of it in the history, to undo it by. Absent if nothing was written.' })
  )
}
const moved = { moved_from: Type.Optional({ ...answeredPath, description: 'Of what was moved: where it was.' }) }
const removed = {
  removed: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'true: the file is gone.' }))
}
const made = { created: Type.Boolean({ description: 'true: the file is new. false: it replaced an existing one.' }) }

/** The result of a change: the common members, those that only this operation has (`own`), and its hashes. */
const result = <P extends TProperties, H extends TProperties>(id: string, description: string, own: P, hashed: H) =>
  named(id, description, {
    path: answeredPath,
    resolved_path: Type.Optional(resolvedPath),
    message: Type.String({ description: 'What was done, in one sentence.' }),
    changed: Type.Boolean({ description: 'false: the file already had this content.' }),
    dry_run: Type.Boolean({ description: 'true: nothing was written.' }),
    ...own,
    changes: Type.Array(ref(Change), {
      maxItems: 1000,
      description: 'The changes in the order of the edits, at most 20; in a dry run at most 1,000.'
    }),
    changes_truncated: Type.Optional(
      Type.Literal(true, { type: 'boolean', description: 'true: there are more changes than are listed.' })
    ),
    total_lines_before: count('Lines in the file before the request.'),
    total_lines_after: count('Lines in the result.'),
    file_size: count('Bytes in the result.'),
    ...hashed,
    new_hash: Type.Optional(hash('In a dry run: the hash of the result.')),
    edit_id: Type.Optional(
      Type.String({
        description: 'The id of this change, to undo it by. Absent if nothing was written.'
      })
    ),
    write_strategy: Type.Optional(
      word(['in_place'], 'in_place: written in place, since a rename could not keep what the file is.')
    ),
    diff: Type.Optional(Type.String({ description: 'A unified diff for git apply or patch -p1.' })),
    diff_truncated: Type.Optional(Type.Boolean({ description: 'Whether the diff was cut.' })),
    diff_unavailable: Type.Optional(Type.String({ description: 'Why there is no diff.' })),
    note: Type.Optional(Type.String({ description: 'Worth knowing, such as matches that were not chosen.' })),
    warnings: Type.Array(Type.String(), {
      description: 'What may not be as you expect.'
    })
  })

const UNTOUCHED = 'Everything outside the changes is unchanged, byte for byte.'
const ofANewFile = {
  hash_before: Type.Optional(hashes.hash_before),
  file_hash: Type.Optional(hashes.file_hash),
  sha256
}

export const EditResultSchema = result(
  'EditResult',
  `What was changed. ${UNTOUCHED}`,
  { ...replaced, ...rebased },
  hashes
)
export const EditLinesResultSchema = result(
  'EditLinesResult',
  `What was changed, and where the lines are now. ${UNTOUCHED}`,
  rebased,
  hashes
)
export const EditSectionResultSchema = result(
  'EditSectionResult',
  `What was changed, and where the lines are now. ${UNTOUCHED}`,
  rebased,
  hashes
)
export const CreateResultSchema = result(
  'CreateResult',
  'The file that was created. A file that did not exist before has no hash_before.',
  made,
  ofANewFile
)
export const DeleteResultSchema = result(
  'DeleteResult',
  'What was deleted. It has no file_hash, except in a dry run.',
  { ...removed, ...ofFolder, ...inBatch },
  ofANewFile
)
export const MoveResultSchema = result(
  'MoveResult',
  'What was moved: the file at its new path, or all files of the directory.',
  { ...moved, ...ofFolder, ...inBatch },
  ofANewFile
)
export const PreviewResultSchema = result(
  'PreviewResult',
  'What would change: the answer of the operation itself, and the new content of each place.',
  {
    total_replacements: Type.Optional(replaced.total_replacements),
    edits_applied: Type.Optional(replaced.edits_applied),
    ...rebased,
    created: Type.Optional(made.created),
    ...moved,
    ...ofFolder
  },
  ofANewFile
)
const { dry_run: _, ...ofOne } = PreviewResultSchema.properties
export const BatchedResultSchema = named(
  'BatchedResult',
  'What one operation of a batch did. Lines are those right after it; hashes and file_size are of the whole batch.',
  {
    operation: word(['edit', 'edit_lines', 'edit_section', 'create', 'delete', 'move'], 'Which operation.'),
    ...removed,
    ...ofOne
  }
)
export const TakenBackSchema = result(
  'TakenBack',
  'One file in which edits were taken back or made again.',
  {
    created: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'true: the file is there again.' })),
    removed: Type.Optional(
      Type.Literal(true, {
        type: 'boolean',
        description:
          'true: the file is gone, since its creation and all that was done to it are undone; with changed: false, it ' +
          'was gone before, and stays so.'
      })
    )
  },
  ofANewFile
)

export const OUTCOME_COMPONENTS = [
  ChangeContext,
  Change,
  OtherChange,
  FolderFile,
  EditApplied,
  EditResultSchema,
  EditLinesResultSchema,
  EditSectionResultSchema,
  CreateResultSchema,
  DeleteResultSchema,
  MoveResultSchema,
  PreviewResultSchema,
  BatchedResultSchema,
  TakenBackSchema
]
/** The result of any change. */
export type ChangeResult = Static<typeof PreviewResultSchema> &
  Pick<Static<typeof DeleteResultSchema>, 'removed' | 'batch_id'>
export type BatchedResult = Static<typeof BatchedResultSchema>
export type TakenBack = Static<typeof TakenBackSchema>
