// What POST /inspect takes and answers. Knows only the wire format.
import { Type, type Static } from 'typebox'
import { answeredPath, count, hash, line, lossy, named, ref, requestPath, resolvedPath, word } from './common.ts'

export const InspectRequestSchema = named('InspectRequest', 'Look at a file: its facts, and a window of its lines if you ask for one.', {
  path: requestPath,
  start_line: Type.Optional(line('First line of the window to read, counted from 1. Alone: read from there up to the limit.')),
  end_line: Type.Optional(Type.Integer({ minimum: 0, description: 'Last line of the window, inclusive. Past the end of the file: read to the end.' })),
  start_column: Type.Optional(line('Where in start_line to begin, for lines too long for one answer: the next_column of the answer before.')),
  numbered: Type.Optional(Type.Boolean({ description: 'true: put the line number and a tab before each line of content (false if left out). Remove them before you use the text as old_text.' }))
})

const Indentation = named('Indentation', 'How the lines are indented.', {
  style: word(['tabs', 'spaces', 'mixed', 'none'], 'What most indented lines begin with.'),
  width: Type.Optional(line('Spaces for each level.'))
})

const LineEndingCounts = named('LineEndingCounts', 'How many line breaks of each kind there are.', {
  lf: count('\\n'), crlf: count('\\r\\n'), cr: count('A lone \\r')
})

export const InspectResultSchema = named('InspectResult', 'The facts of a file, and the window of lines that was asked for.', {
  path: answeredPath,
  resolved_path: Type.Optional(resolvedPath),
  message: Type.String({ description: 'What was found, in one sentence.' }),
  type: word(['file'], 'What the path leads to.'),
  file_size: count('Bytes.'),
  file_hash: hash('Of the file as it is now. Send it as expected_hash with your edit.'),
  encoding: word(['ascii', 'utf-8', 'unknown-8bit', 'utf-16le', 'utf-16be', 'binary'], 'binary and utf-16 files have no lines and cannot be edited.'),
  modified_at: Type.String({ format: 'date-time', description: 'RFC 3339.' }),
  total_lines: Type.Optional(count('Lines; absent for binary files, as the next fields are.')),
  bom: Type.Optional(Type.Boolean({ description: 'Whether the file begins with a byte-order mark. It belongs to no line and is kept.' })),
  line_ending: Type.Optional(word(['lf', 'crlf', 'cr', 'mixed', 'none'], 'The kind of line break.')),
  line_ending_counts: Type.Optional(ref(LineEndingCounts)),
  ends_with_newline: Type.Optional(Type.Boolean({ description: 'Whether the last line is terminated.' })),
  indentation: Type.Optional(ref(Indentation)),
  language: Type.Optional(Type.String({ description: 'By the name of the file.' })),
  content: Type.Optional(Type.String({ description: 'The exact text of the window, with the break of its last line.' })),
  start_line: Type.Optional(line('First line in content.')),
  end_line: Type.Optional(count('Last line in content.')),
  start_column: Type.Optional(line('Column in start_line at which content begins.')),
  next_column: Type.Optional(line('The last line goes on: ask for next_line with this start_column.')),
  truncated: Type.Optional(Type.Boolean({ description: 'Whether the window was cut at the limit.' })),
  next_line: Type.Optional(line('Where to read on.')),
  lossy: Type.Optional(lossy)
})

export const INSPECT_COMPONENTS = [InspectRequestSchema, InspectResultSchema, Indentation, LineEndingCounts]
export type InspectRequest = Static<typeof InspectRequestSchema>
export type InspectResult = Static<typeof InspectResultSchema>
