// What POST /pending accepts and answers: the changes to a file that nobody has kept yet, in hunks. Knows only the wire
// format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import {
  answeredPath,
  count,
  hash,
  line,
  lossy,
  named,
  ref,
  requestPath,
  resolvedPath,
  sha256,
  word
} from './common.ts'
import { editId, NamedEdit } from './history.ts'
import { NamedChangesSchema } from './undo.ts'

/** The most lines in one answer, and the default. */
const MAX_PENDING_LINES = 20_000
export const DEFAULT_PENDING_LINES = 2000
export const DEFAULT_PENDING_CONTEXT = 3

export const PendingRequestSchema = named(
  'PendingRequest',
  'What all changes of a file come to that nobody has kept: the lines in which it differs from what was kept of it.',
  {
    path: requestPath,
    context_lines: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        description: `Unchanged lines around each hunk (default: ${DEFAULT_PENDING_CONTEXT}).`
      })
    ),
    max_lines: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PENDING_LINES,
        description: `Lines to list at most (default: ${DEFAULT_PENDING_LINES}).`
      })
    )
  }
)

const isTrue = (description: string) => Type.Optional(Type.Literal(true, { type: 'boolean', description }))

/** Members shared by the lines in answers about the past. */
export const shownLine = {
  text: Type.String({ description: 'The line without its break; a long one is cut in the middle.' }),
  lossy: Type.Optional(lossy),
  cut: isTrue('true: text is not the whole line.'),
  line_ending: Type.Optional(word(['crlf', 'cr'], 'How it ends; left out where it ends with \\n.')),
  no_break: isTrue('true: it is the last line, and no line break ends it.'),
  outside: isTrue('true: another program wrote in it, and there is no edit of that yet.')
}

/** How far back an answer reaches. */
export const reach = {
  incomplete: isTrue(
    'true: older changes are not known, as their texts are not kept, or another program changed the file and it is ' +
      "not known how. Lines that only they wrote or replaced count as unchanged, and as nobody's."
  ),
  reaches_back_to: Type.Optional(editId('With incomplete: the oldest edit that is known; left out where none is.'))
}

const PendingLine = named('PendingLine', 'A line of a hunk.', {
  kind: word(['same', 'added', 'removed'], 'added: only in the file as it is. removed: only in what was kept of it.'),
  ...shownLine,
  line: Type.Optional(line('Its number in the file as it is.')),
  base_line: Type.Optional(line('Its number in what was kept.')),
  edit_ids: Type.Optional(
    Type.Array(Type.String(), { description: 'The edits whose bytes make the difference, newest last.' })
  )
})

const changes = (description: string) => Type.Array(ref(NamedChangesSchema), { description })

const PendingHunk = named('PendingHunk', 'Lines that differ, with the changes that made them.', {
  start_line: line('First line of it in the file as it is.'),
  end_line: count('Last line of it; start_line - 1 where lines were only removed.'),
  base_start_line: line('First line of it in what was kept.'),
  base_end_line: count('Last line of it there; base_start_line - 1 where lines were only added.'),
  lines: Type.Array(ref(PendingLine), {
    description: 'Its lines, those that were removed first, between unchanged ones.'
  }),
  truncated: isTrue('true: not all of its lines are listed.'),
  changes: changes('What makes it up: what changes of /undo and /review takes.'),
  undone: Type.Optional(
    changes('Of these, what was kept and is undone since: what changes of /redo takes to make it stand again.')
  )
})

export const PendingResultSchema = named('PendingResult', 'What is pending of a file.', {
  message: Type.String({ description: 'What is pending, in one sentence.' }),
  path: answeredPath,
  resolved_path: Type.Optional(resolvedPath),
  exists: Type.Boolean({ description: 'false: the file was removed.' }),
  file_hash: Type.Optional(hash('The hash of the file as it is now; left out where there is none.')),
  sha256,
  ...reach,
  hunks: Type.Array(ref(PendingHunk), { description: 'From top to bottom.' }),
  total_hunks: count('How many there are, those included that are not listed.'),
  truncated: isTrue('true: hunks, or lines of the last one, are left out.'),
  unseen: changes('What is pending and of no hunk: nothing is to be seen of it, such as of lines that are gone again.'),
  edits: Type.Array(ref(NamedEdit), { description: 'The edits that hunks and unseen name, newest first.' }),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export const PENDING_COMPONENTS = [PendingLine, PendingHunk, PendingResultSchema]
export type PendingRequest = Static<typeof PendingRequestSchema>
export type PendingResult = Static<typeof PendingResultSchema>
