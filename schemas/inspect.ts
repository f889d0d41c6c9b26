// What POST /inspect takes and answers. Knows only the wire format.
import { Type, type Static } from 'typebox'
import { answeredPath, count, hash, line, lossy, named, ref, requestPath, resolvedPath, word } from './common.ts'
import { StructureItem } from './structure.ts'

export const InspectRequestSchema = named(
  'InspectRequest',
  'Look at a file: its facts, a window of its lines or the matches of a text if you ask for them. Or list a directory.',
  {
    path: Type.Unsafe<string>({
      ...requestPath,
      description:
        'The file or directory, relative to the workspace root, such as src/app.ts; . is the root itself. An absolute path is accepted if it lies in the root.'
    }),
    start_line: Type.Optional(
      line('First line of the window to read, counted from 1. Alone: read from there up to the limit.')
    ),
    end_line: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Last line of the window, inclusive. Past the end of the file: read to the end.'
      })
    ),
    start_column: Type.Optional(
      line('Where in start_line to begin, for lines too long for one answer: the next_column of the answer before.')
    ),
    numbered: Type.Optional(
      Type.Boolean({
        description:
          'true: put the line number and a tab before each line of content (false if left out). Remove them before you use the text as old_text.'
      })
    ),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 10_000,
        description:
          'Text to find in the file, literally: every match is answered with its line and columns. The whole file is searched, also when a window is asked for.'
      })
    ),
    regex: Type.Optional(
      Type.Boolean({
        description:
          'true: search is a regular expression in RE2 syntax, which has no lookaround and no backreferences; it is matched line by line (false if left out).'
      })
    ),
    ignore_case: Type.Optional(
      Type.Boolean({ description: 'true: search finds upper and lower case alike (false if left out).' })
    ),
    structure: Type.Optional(
      Type.Boolean({
        description:
          'true: list what the file is made of: headings with their sections and code blocks of Markdown, functions, classes and other symbols of source code, each with its lines (false if left out).'
      })
    ),
    after: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Of a directory: list the entries after this name, the next_entry of the answer before.'
      })
    )
  }
)

const Indentation = named('Indentation', 'How the lines are indented.', {
  style: word(['tabs', 'spaces', 'mixed', 'none'], 'What most indented lines begin with.'),
  width: Type.Optional(line('Spaces for each level.'))
})

const LineEndingCounts = named('LineEndingCounts', 'How many line breaks of each kind there are.', {
  lf: count('\\n'),
  crlf: count('\\r\\n'),
  cr: count('A lone \\r')
})

const SearchMatch = named('SearchMatch', 'One place where the text was found.', {
  line_number: line('Line, counted from 1.'),
  column_start: line('Column, counted from 1 in UTF-16 units.'),
  column_end: line('Column after the last character, of a match over several lines after that of this line.'),
  line_content: Type.String({ description: 'The line; a long one is cut.' }),
  lossy: Type.Optional(lossy)
})

const Entry = named('Entry', 'One name in a directory.', {
  name: Type.String({ description: 'Its name.' }),
  type: word(['file', 'directory', 'symlink', 'other'], 'What it is.'),
  file_size: Type.Optional(count('Bytes of a file.'))
})

export const InspectResultSchema = named(
  'InspectResult',
  'The facts of a file with the window and the matches that were asked for, or the entries of a directory.',
  {
    path: answeredPath,
    resolved_path: Type.Optional(resolvedPath),
    message: Type.String({ description: 'What was found, in one sentence.' }),
    type: word(['file', 'directory'], 'What the path leads to.'),
    file_size: Type.Optional(count('Bytes; absent for directories, as the next fields are.')),
    file_hash: Type.Optional(hash('Of the file as it is now. Send it as expected_hash with your edit.')),
    encoding: Type.Optional(
      word(
        ['ascii', 'utf-8', 'unknown-8bit', 'utf-16le', 'utf-16be', 'binary'],
        'binary and utf-16 files have no lines and cannot be edited.'
      )
    ),
    modified_at: Type.Optional(Type.String({ format: 'date-time', description: 'RFC 3339.' })),
    total_lines: Type.Optional(count('Lines; absent for binary files, as the next fields are.')),
    bom: Type.Optional(
      Type.Boolean({
        description: 'Whether the file begins with a byte-order mark. It belongs to no line and is kept.'
      })
    ),
    line_ending: Type.Optional(word(['lf', 'crlf', 'cr', 'mixed', 'none'], 'The kind of line break.')),
    line_ending_counts: Type.Optional(ref(LineEndingCounts)),
    ends_with_newline: Type.Optional(Type.Boolean({ description: 'Whether the last line is terminated.' })),
    indentation: Type.Optional(ref(Indentation)),
    language: Type.Optional(Type.String({ description: 'By the name of the file, or by what it begins with.' })),
    content: Type.Optional(
      Type.String({ description: 'The exact text of the window, with the break of its last line.' })
    ),
    start_line: Type.Optional(line('First line in content.')),
    end_line: Type.Optional(count('Last line in content.')),
    start_column: Type.Optional(line('Column in start_line at which content begins.')),
    next_column: Type.Optional(line('The last line goes on: ask for next_line with this start_column.')),
    truncated: Type.Optional(
      Type.Boolean({
        description:
          'Whether content, matches, structure or entries were cut at a limit: next_line, total_matches, total_items and next_entry tell which.'
      })
    ),
    next_line: Type.Optional(line('Where to read on.')),
    lossy: Type.Optional(lossy),
    matches: Type.Optional(
      Type.Array(ref(SearchMatch), { maxItems: 200, description: 'Where search was found, at most 200 places.' })
    ),
    total_matches: Type.Optional(count('How often search was found.')),
    stopped_at_line: Type.Optional(line('The search took too long: lines from this one on were not searched.')),
    structure: Type.Optional(
      Type.Array(ref(StructureItem), {
        maxItems: 2000,
        description: 'What the file is made of, in the order of first lines, at most 2,000 items.'
      })
    ),
    total_items: Type.Optional(count('Of how many items structure lists the first.')),
    syntax_error_lines: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1 }), {
        maxItems: 20,
        description: 'The first lines with syntax errors: structure has what was understood all the same.'
      })
    ),
    entries: Type.Optional(
      Type.Array(ref(Entry), { maxItems: 500, description: 'What is in the directory, by name in byte order.' })
    ),
    next_entry: Type.Optional(Type.String({ description: 'There are more entries: send this as after.' })),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'Fields that were taken by another name.' }))
  }
)

export const INSPECT_COMPONENTS = [
  InspectResultSchema,
  Indentation,
  LineEndingCounts,
  SearchMatch,
  StructureItem,
  Entry
]
export type InspectRequest = Static<typeof InspectRequestSchema>
export type InspectResult = Static<typeof InspectResultSchema>
