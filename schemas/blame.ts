// What POST /blame accepts and answers: who wrote the lines of a file. Knows only the wire format.
import type { Static } from 'typebox'
import { Type } from './type.ts'
import { answeredPath, count, hash, line, named, ref, requestPath, resolvedPath, sha256 } from './common.ts'
import { editId, NamedEdit } from './history.ts'
import { reach, shownLine } from './pending.ts'

/** The most lines in one answer, and the default. */
const MAX_BLAMED_LINES = 5000
export const DEFAULT_BLAMED_LINES = 1000

export const BlameRequestSchema = named(
  'BlameRequest',
  'Which edits wrote the lines of a file, now or as it once was.',
  {
    path: requestPath,
    at: Type.Optional(editId('The file as it was right after this edit of it (default: as it is now).')),
    start_line: Type.Optional(line('First line to list, counted from 1 (default: 1).')),
    end_line: Type.Optional(line('Last line to list, inclusive (default: the last of the file).')),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_BLAMED_LINES,
        description: `Lines to list at most (default: ${DEFAULT_BLAMED_LINES}).`
      })
    )
  }
)

const BlamedLine = named('BlamedLine', 'A line, and who wrote it.', {
  line: line('Its number.'),
  ...shownLine,
  edit_ids: Type.Array(Type.String(), {
    description: 'The edits that wrote bytes of it, newest last; none: it was there before all edits that are known.'
  })
})

export const BlameResultSchema = named('BlameResult', 'The lines of a file, and the edits that wrote them.', {
  message: Type.String({ description: 'What is listed, in one sentence.' }),
  path: answeredPath,
  resolved_path: Type.Optional(resolvedPath),
  file_hash: Type.Optional(hash('The hash of the file as it is now, also with at; left out where there is none.')),
  sha256,
  at: Type.Optional(editId('The edit right after which the file was so.')),
  ...reach,
  total_lines: count('Lines in the file, as it was then.'),
  start_line: line('The first line that was asked for.'),
  lines: Type.Array(ref(BlamedLine), { maxItems: MAX_BLAMED_LINES, description: 'The lines, from start_line on.' }),
  truncated: Type.Optional(
    Type.Literal(true, { type: 'boolean', description: 'true: there are more lines; send next_line as start_line.' })
  ),
  next_line: Type.Optional(line('The line to go on with.')),
  edits: Type.Array(ref(NamedEdit), { description: 'The edits that lines name, newest first.' }),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'How the request was understood.' }))
})

export const BLAME_COMPONENTS = [BlamedLine, BlameResultSchema]
export type BlameRequest = Static<typeof BlameRequestSchema>
export type BlameResult = Static<typeof BlameResultSchema>
