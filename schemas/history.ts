// What POST /history accepts and answers. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { answeredPath, count, hash, line, lossy, named, nextEdit, ref, time, word } from './common.ts'
import { globs } from './find.ts'

/** The most edits on one page, and the default. */
const MAX_EDITS_LISTED = 200
export const DEFAULT_LISTED = 50

/** The id of an edit. Any other text is valid too, but matches no edit. */
export const editId = (description: string) => Type.String({ minLength: 1, maxLength: 100, description })
/** A caller's name, as the caller states it. */
export const claimed = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

const state = word(
  ['applied', 'undone', 'partly_undone', 'uncertain'],
  'applied: it stands. undone: it was taken back. partly_undone: some of its changes were. ' +
    'uncertain: the server stopped while it was written, and the file has changed since.'
)

const review = word(
  ['pending', 'kept'],
  'pending: a change of it stands and nobody has kept it, or was kept and is undone since. ' +
    'kept: all of it that stands was kept.'
)

export const HistoryRequestSchema = named(
  'HistoryRequest',
  'Which edits to list, newest first. All fields that are given must hold; with none, all edits are listed.',
  {
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'Edits of this file, also at paths that it was moved from; relative to the workspace root.'
      })
    ),
    under: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Edits of files in this directory or below it.' })
    ),
    include: Type.Optional(
      globs(
        'Edits of files whose paths one of these globs fits: *.ts in every directory, src/** from the workspace root.'
      )
    ),
    words: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'Edits with all of these words, in any case, in the path, the token, the agent, the session or the reason.'
      })
    ),
    edit_id: Type.Optional(editId('The edit with this id.')),
    batch_id: Type.Optional(editId('Edits of this batch.')),
    token: Type.Optional(claimed('Edits made with the token of this name.')),
    agent: Type.Optional(claimed('Edits of the agent that gave this name.')),
    session: Type.Optional(claimed('Edits of the session that was given this name.')),
    since: Type.Optional(time('Edits made then or later, such as 2026-11-22T12:40:00Z.')),
    until: Type.Optional(time('Edits made then or earlier.')),
    state: Type.Optional(state),
    review: Type.Optional(review),
    show_diff: Type.Optional(
      Type.Boolean({ description: 'true: add a unified diff to each edit whose texts are kept (default: false).' })
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_EDITS_LISTED,
        description: `Edits to list at most (default: ${DEFAULT_LISTED}).`
      })
    ),
    before: Type.Optional(nextEdit('Only older edits than this one: the next_before of the last answer.'))
  }
)

const PastChange = named('PastChange', 'One place that an edit changed.', {
  change_index: count('Which change of the edit, counted from 0: what change_indexes takes.'),
  start_line: line('First line of the change in the file before the edit.'),
  new_start_line: line('First line of the change in the file after the edit.'),
  lines_removed: count('Lines removed.'),
  lines_added: count('Lines added.'),
  undone: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'true: it was taken back.' })),
  kept: Type.Optional(Type.Literal(true, { type: 'boolean', description: 'true: a person kept it as it stood.' }))
})

const PastEdit = named('PastEdit', 'One edit of one file.', {
  edit_id: editId('Its id, by which it can be taken back.'),
  batch_id: Type.Optional(editId('The batch that it is of.')),
  operation: word(
    [
      'edit',
      'edit_lines',
      'edit_section',
      'create',
      'delete',
      'move',
      'batch',
      'replace',
      'apply_patch',
      'undo',
      'redo',
      'outside'
    ],
    'What made it. outside: another program than editd, seen afterwards.'
  ),
  at: Type.String({ description: 'When it was made, in UTC.' }),
  path: answeredPath,
  lossy: Type.Optional(lossy),
  moved_from: Type.Optional(Type.String({ description: 'Of a file that was moved here: where it was.' })),
  moved_to: Type.Optional(Type.String({ description: 'Of a file that was moved from here: where to.' })),
  token: Type.Optional(Type.String({ description: 'By whose token; set by the server.' })),
  agent: Type.Optional(Type.String({ description: 'Who made it, as the caller said.' })),
  session: Type.Optional(Type.String({ description: 'In which session, as the caller said.' })),
  reason: Type.Optional(Type.String({ description: 'Why, as the caller said.' })),
  hash_before: Type.Optional(hash('The hash of the file before; left out where there was no file.')),
  file_hash: Type.Optional(hash('The hash of the file after; left out where it was removed.')),
  lines_added: count('Lines added.'),
  lines_removed: count('Lines removed.'),
  state,
  review: Type.Optional(review),
  undone_by: Type.Optional(editId('The undo that took it back last.')),
  undoes: Type.Optional(
    Type.Array(Type.String(), { description: 'Of an undo or redo: the edits that it took back or made again.' })
  ),
  metadata_only: Type.Optional(
    Type.Literal(true, { type: 'boolean', description: "true: its texts aren't kept, so it can't be undone." })
  ),
  texts_lost: Type.Optional(
    Type.Literal(true, {
      type: 'boolean',
      description: "true: its texts were kept, but are missing or damaged, so it can't be undone."
    })
  ),
  changes: Type.Array(ref(PastChange), { description: 'Its places, from top to bottom, at most 1,000.' }),
  changes_truncated: Type.Optional(
    Type.Literal(true, {
      type: 'boolean',
      description:
        'true: there are more changes than are listed, or the texts of the newer edits of this answer were so many ' +
        'that none is. Send its edit_id alone then.'
    })
  ),
  diff: Type.Optional(Type.String({ description: 'A unified diff for git apply or patch -p1.' })),
  diff_truncated: Type.Optional(Type.Boolean({ description: 'Whether the diff was cut.' })),
  diff_unavailable: Type.Optional(Type.String({ description: 'Why there is no diff.' }))
})

export const HistoryResultSchema = named('HistoryResult', 'Edits, newest first.', {
  message: Type.String({ description: 'What was found, in one sentence.' }),
  edits: Type.Array(ref(PastEdit), { maxItems: MAX_EDITS_LISTED, description: 'The edits, newest first.' }),
  next_before: Type.Optional(nextEdit('There may be more: send it as before.')),
  oldest_kept_at: Type.Optional(Type.String({ description: 'When the oldest edit that is still kept was made.' })),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

/** The members that every answer has about an edit. */
export const editFacts = PastEdit.properties
const { edit_id, batch_id, operation, at, token, agent, session, reason } = editFacts

/** An edit that an answer mentions besides its subject. */
export const NamedEdit = named('NamedEdit', 'An edit that is named in this answer.', {
  edit_id,
  batch_id,
  operation,
  at,
  token,
  agent,
  session,
  reason,
  state,
  review: Type.Optional(review)
})

export const HISTORY_COMPONENTS = [PastChange, PastEdit, NamedEdit, HistoryResultSchema]
export type HistoryRequest = Static<typeof HistoryRequestSchema>
export type HistoryResult = Static<typeof HistoryResultSchema>
export type NamedEditOnWire = Static<typeof NamedEdit>
export type ListedEdit = Static<typeof PastEdit>
