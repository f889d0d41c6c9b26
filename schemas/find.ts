// What POST /find accepts and answers. Knows only the wire format.
import type { Static } from 'typebox'
import { SYMBOL_WORDS } from './structure.ts'
import { Type } from './type.ts'
import { count, hash, line, lossy, named, ref, resolvedPath, word } from './common.ts'

/** The most matches in one answer, and the default; of files, likewise. */
export const MAX_LINES = 1000
export const DEFAULT_LINES = 100
const MAX_FILES = 1000
export const DEFAULT_FILES = 200
/** The most lines around a match. */
export const MAX_CONTEXT_LINES = 10

const glob = Type.String({ minLength: 1, maxLength: 1000 })
export const globs = (description: string) => Type.Union([glob, Type.Array(glob, { maxItems: 100 })], { description })

/** The lines around each match of a search. */
export const contextLines = Type.Integer({
  minimum: 0,
  maximum: MAX_CONTEXT_LINES,
  description: 'How many lines to show before and after each match (default: 0).'
})

export const FindRequestSchema = named(
  'FindRequest',
  'Find files by exact text, an expression or the name of a definition, one of the three, or by their names alone.',
  {
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 10_000, description: 'Text to find, taken literally.' })
    ),
    regex: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 10_000,
        description:
          'Regular expression in RE2 syntax (no lookaround, no backreferences) to find, matched line by line.'
      })
    ),
    symbol: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Function, class or other definition to find, by its name or path, such as Parser.parse.'
      })
    ),
    path: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'Directory or file to look in, relative to the workspace root (default: the root).'
      })
    ),
    include: Type.Optional(
      globs('Only files that one of these globs fits: *.ts in every directory, src/** from the workspace root.')
    ),
    exclude: Type.Optional(globs('No files that one of these globs fits.')),
    ignore_case: Type.Optional(
      Type.Boolean({ description: 'true: upper and lower case are the same (default: false).' })
    ),
    whole_word: Type.Optional(Type.Boolean({ description: 'true: no match inside a longer word (default: false).' })),
    ignored: Type.Optional(
      Type.Boolean({ description: 'true: also files that .gitignore and .ignore exclude (default: false).' })
    ),
    show: Type.Optional(
      word(
        ['lines', 'files', 'counts'],
        'lines (default): each match with its line. files: only the files. counts: files with their number of matches.'
      )
    ),
    context_lines: Type.Optional(contextLines),
    max_files: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_FILES,
        description: `Files to list at most (default: ${DEFAULT_FILES}).`
      })
    ),
    max_lines: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LINES,
        description: `Matches to list at most, in all files together (default: ${DEFAULT_LINES}).`
      })
    ),
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16_384,
        description: 'List the files after this one: the next_after of the last answer.'
      })
    ),
    sort: Type.Optional(
      word(['path', 'modified'], 'path (default): by path. modified: newest first, only for files by name alone.')
    )
  }
)

const context = (description: string) => Type.Optional(Type.Array(Type.String(), { maxItems: 10, description }))

/** One match of a search, in one file or many. */
export const SearchMatch = named('SearchMatch', 'One match of a search.', {
  line_number: line('Line, counted from 1.'),
  column_start: line('Column, counted from 1 in UTF-16 units.'),
  column_end: line(
    'Column after the last character; if the match spans several lines, after the last one on this line.'
  ),
  line_content: Type.String({ description: 'The line; a long one is cut.' }),
  context_before: context('The lines before it, if context_lines was sent.'),
  context_after: context('The lines after it.'),
  lossy: Type.Optional(lossy)
})

const Definition = named('Definition', 'One definition with the name that was sought.', {
  kind: word([...SYMBOL_WORDS], 'What it is.'),
  symbol: Type.String({ description: 'Its path, such as Parser.parse.' }),
  start_line: line('First line.'),
  end_line: line('Last line.'),
  line_content: Type.String({ description: 'Its first line; a long one is cut.' }),
  lossy: Type.Optional(lossy)
})

export const FoundFileSchema = named('FoundFile', 'One file that was found.', {
  path: Type.String({ description: 'The file, relative to the workspace root.' }),
  file_hash: hash('Its hash now. Send it as expected_hash with your edit.'),
  file_size: count('Bytes in it.'),
  modified_at: Type.String({ format: 'date-time', description: 'When it was last modified (RFC 3339).' }),
  count: Type.Optional(count('How many matches or definitions it has; more than are listed if the answer was cut.')),
  after: Type.Optional(Type.String({ description: 'Send it as after to go on after this file, if path is lossy.' })),
  lossy: Type.Optional(lossy),
  matches: Type.Optional(
    Type.Array(ref(SearchMatch), { maxItems: MAX_LINES, description: 'The matches, with show: lines.' })
  ),
  definitions: Type.Optional(
    Type.Array(ref(Definition), { maxItems: MAX_LINES, description: 'The definitions, with show: lines.' })
  )
})

export const SkippedFiles = named(
  'SkippedFiles',
  'Files that hold what was sought, or have the name, but could not be looked at.',
  {
    binary: count('Binary files.'),
    too_large: count('Files over the size limit.'),
    unreadable: count('Files that could not be read.'),
    unparsed: Type.Optional(count('With symbol: files that hold the name, but could not be parsed.'))
  }
)

/** What an answer about files that were found has, whichever request asked. */
export const found = {
  files: Type.Array(ref(FoundFileSchema), {
    maxItems: MAX_FILES,
    description: 'The files, by path, or newest first.'
  }),
  total_files: count('How many files were found, also those that are not listed; at least so many if it was stopped.'),
  total_matches: count('How many matches or definitions they have together.'),
  searched_files: count('How many files were looked at.'),
  next_after: Type.Optional(Type.String({ description: 'There may be more files: send this as after.' })),
  skipped: ref(SkippedFiles)
}

export const FindResultSchema = named('FindResult', 'The files that were found.', {
  path: Type.String({ description: 'Where it was looked, relative to the workspace root.' }),
  resolved_path: Type.Optional(resolvedPath),
  message: Type.String({ description: 'What was found, or what would find something, in a few sentences.' }),
  ...found,
  truncated: Type.Optional(
    word(
      ['limit', 'time', 'size'],
      'Why the answer is not complete. limit: of max_files or max_lines. time: it took too long. ' +
        'size: there was too much to read.'
    )
  ),
  warnings: Type.Optional(Type.Array(Type.String(), { description: 'Fields that were accepted under another name.' }))
})

export const FIND_COMPONENTS = [Definition, FoundFileSchema, SkippedFiles, FindResultSchema]
export type FindRequest = Static<typeof FindRequestSchema>
export type FindResult = Static<typeof FindResultSchema>
export type FoundFileOnWire = Static<typeof FoundFileSchema>
export type FoundDefinition = Static<typeof Definition>
