// What POST /inspect accepts and answers. Knows only the wire format.
import type { Static, TSchema } from 'typebox'
import { Type } from './type.ts'
import {
  answeredPath,
  byDiscriminator,
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
import { contextLines, found, SearchMatch } from './find.ts'
import { StructureItem } from './structure.ts'

export const InspectRequestSchema = named(
  'InspectRequest',
  'Look at a file: its facts and its content, or instead of the content a range of its lines, matches of a search, ' +
    'or its structure. Or list a directory, or search its files.',
  {
    path: Type.Unsafe<string>({
      ...requestPath,
      description:
        'The file or directory, relative to the workspace root, such as src/app.ts; . is the root itself. ' +
        'An absolute path inside it is accepted.'
    }),
    start_line: Type.Optional(
      line('First line to read, counted from 1. Without end_line: up to 16 KiB are read from there.')
    ),
    end_line: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Last line to read, inclusive; up to 2,000 lines or 64 KiB are read. ' +
          'Past the end of the file: read to the end.'
      })
    ),
    start_column: Type.Optional(
      line('Column of start_line to begin at, for lines too long for one answer: the next_column of the last answer.')
    ),
    numbered: Type.Optional(
      Type.Boolean({
        description:
          'true: put the line number and a tab before each line of content (default: false). ' +
          'Remove them before you use the text as old_text.'
      })
    ),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 10_000,
        description:
          'Text to find, taken literally: the answer has the line and columns of every match. ' +
          'The whole file is searched, even if you ask for a range of lines; in a directory, all files below it.'
      })
    ),
    regex: Type.Optional(
      Type.Boolean({
        description:
          'true: search is a regular expression in RE2 syntax (no lookaround, no backreferences), ' +
          'matched line by line (default: false).'
      })
    ),
    ignore_case: Type.Optional(
      Type.Boolean({ description: 'true: search ignores upper and lower case (default: false).' })
    ),
    context_lines: Type.Optional(contextLines),
    structure: Type.Optional(
      Type.Boolean({
        description:
          'true: list the structure of the file, each item with its lines: sections and code blocks of Markdown; ' +
          'functions, classes and other symbols of source code (default: false).'
      })
    ),
    start_item: Type.Optional(
      line('With structure: the first item to list, counted from 1 (default: 1); the next_item of the last answer.')
    ),
    max_items: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2000,
        description: 'With structure: how many items to list at most (default: 200).'
      })
    ),
    facts: Type.Optional(
      Type.Boolean({ description: 'true: only the facts of a file, without its content (default: false).' })
    ),
    after: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'For a directory: list the entries after this name, the next_entry of the last answer; ' +
          'with search, the files after its next_after.'
      })
    )
  }
)

const Indentation = named('Indentation', 'How the lines are indented.', {
  style: word(['tabs', 'spaces', 'mixed', 'none'], 'What most indented lines begin with.'),
  width: Type.Optional(line('Spaces per level.'))
})

const LineEndingCounts = named('LineEndingCounts', 'How many line breaks of each kind there are.', {
  lf: count('\\n'),
  crlf: count('\\r\\n'),
  cr: count('A lone \\r')
})

const Entry = named('Entry', 'One entry of a directory.', {
  name: Type.String({ description: 'Its name.' }),
  type: word(['file', 'directory', 'symlink', 'other'], 'What it is.'),
  file_size: Type.Optional(count('Bytes in a file.'))
})

const FACTS = 'The facts of a file with the lines, matches and structure that were asked for'
const ENTRIES = 'the entries of a directory, or the files in it that hold a text'

export const InspectResultSchema = named('InspectResult', `${FACTS}, or ${ENTRIES}.`, {
  path: answeredPath,
  resolved_path: Type.Optional(resolvedPath),
  message: Type.String({ description: 'What was found, in one sentence.' }),
  type: word(['file', 'directory'], 'What the path leads to.'),
  file_size: Type.Optional(count('Bytes in the file; absent for directories, as are the fields that follow.')),
  file_hash: Type.Optional(hash('The hash of the file now. Send it as expected_hash with your edit.')),
  sha256,
  encoding: Type.Optional(
    word(
      [
        'ascii',
        'utf-8',
        'utf-16le',
        'utf-16be',
        'windows-1250',
        'windows-1251',
        'windows-1252',
        'windows-1253',
        'windows-1256',
        'koi8-r',
        'shift_jis',
        'euc-kr',
        'euc-jp',
        'gb18030',
        'big5',
        'unknown-8bit',
        'binary'
      ],
      'But for ascii, utf-8 and utf-16, the likely one. binary files have no lines and cannot be edited.'
    )
  ),
  modified_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the file was last modified (RFC 3339).' })
  ),
  total_lines: Type.Optional(count('Lines in the file; absent for binary files, as are the fields that follow.')),
  bom: Type.Optional(
    Type.Boolean({
      description: 'Whether the file begins with a byte-order mark. It is not part of any line and is kept.'
    })
  ),
  line_ending: Type.Optional(word(['lf', 'crlf', 'cr', 'mixed', 'none'], 'The kind of line break.')),
  line_ending_counts: Type.Optional(ref(LineEndingCounts)),
  ends_with_newline: Type.Optional(Type.Boolean({ description: 'Whether the last line ends with a line break.' })),
  indentation: Type.Optional(ref(Indentation)),
  language: Type.Optional(Type.String({ description: 'The language, by the name of the file or its first line.' })),
  content: Type.Optional(
    Type.String({ description: 'The exact text of the lines, with the line break of the last one.' })
  ),
  start_line: Type.Optional(line('First line in content.')),
  end_line: Type.Optional(count('Last line in content.')),
  start_column: Type.Optional(line('Column of start_line at which content begins.')),
  next_column: Type.Optional(line('The last line continues: ask for next_line with this start_column.')),
  truncated: Type.Optional(
    Type.Boolean({
      description:
        'Whether content, matches, structure or entries were cut at a limit; ' +
        'next_line, total_matches, next_item and next_entry show which.'
    })
  ),
  next_line: Type.Optional(line('The line to continue reading from.')),
  lossy: Type.Optional(lossy),
  matches: Type.Optional(
    Type.Array(ref(SearchMatch), { maxItems: 200, description: 'The matches of search, at most 200.' })
  ),
  total_matches: Type.Optional(count('How many matches there are.')),
  stopped_at_line: Type.Optional(line('The search took too long; lines from this one on were not searched.')),
  structure: Type.Optional(
    Type.Array(ref(StructureItem), {
      maxItems: 2000,
      description: 'The structure of the file, ordered by first line, from start_item on.'
    })
  ),
  total_items: Type.Optional(count('How many items there are.')),
  next_item: Type.Optional(line('There are more items: send this as start_item.')),
  syntax_error_lines: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      maxItems: 20,
      description: 'The first lines with syntax errors; structure lists what could still be parsed.'
    })
  ),
  entries: Type.Optional(
    Type.Array(ref(Entry), { maxItems: 500, description: 'The entries of the directory, by name in byte order.' })
  ),
  next_entry: Type.Optional(Type.String({ description: 'There are more entries: send this as after.' })),
  files: Type.Optional(found.files),
  total_files: Type.Optional(found.total_files),
  searched_files: Type.Optional(found.searched_files),
  skipped: Type.Optional(found.skipped),
  next_after: found.next_after,
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'Fields that were accepted under another name.' }))
})

/** `files` and what follows: in place of the entries, if they were searched. */
const DIRECTORY_ONLY = ['entries', 'next_entry', 'files', 'total_files', 'searched_files', 'skipped', 'next_after']
const OF_DIRECTORY = [
  ...['path', 'resolved_path', 'message', 'type', 'truncated', 'total_matches', 'warnings'],
  ...DIRECTORY_ONLY
]

/** The result for one kind of thing at `path`: its fields, and which of them are always present. */
const inspected = (
  id: string,
  type: InspectResult['type'],
  description: string,
  names: string[],
  always: (keyof InspectResult)[]
): TSchema => {
  const fields = Object.entries(InspectResultSchema.properties).filter(([name]) => names.includes(name))
  return Type.Unsafe({
    $id: id,
    description,
    type: 'object',
    properties: { ...Object.fromEntries(fields), type: word([type], 'What the path leads to.') },
    required: ['path', 'message', 'type', ...always],
    additionalProperties: false
  })
}

const BY_TYPE = byDiscriminator('InspectResult', `${FACTS}, or ${ENTRIES}.`, 'type', {
  file: inspected(
    'InspectedFile',
    'file',
    `${FACTS}.`,
    Object.keys(InspectResultSchema.properties).filter(name => !DIRECTORY_ONLY.includes(name)),
    ['file_size', 'file_hash', 'encoding', 'modified_at']
  ),
  directory: inspected(
    'InspectedDirectory',
    'directory',
    'The entries of a directory, or the files in it that hold a text.',
    OF_DIRECTORY,
    []
  )
})

/** The published form. Tool hosts get the flat one. */
export const INSPECT_COMPONENTS = [
  BY_TYPE.union,
  ...BY_TYPE.members,
  Indentation,
  LineEndingCounts,
  SearchMatch,
  StructureItem,
  Entry
]
export type InspectRequest = Static<typeof InspectRequestSchema>
export type InspectResult = Static<typeof InspectResultSchema>
