// What the service answers when it can't do what was asked (RFC 9457). Knows only the wire format.
import { Type, type Static } from 'typebox'
import { count, hash, line, lossy, named, ref, word } from './common.ts'
import { StructureItem } from './structure.ts'

/** Every code that an answer may carry. */
export const PROBLEM_CODES = [
  'INVALID_JSON',
  'INVALID_REQUEST',
  'INVALID_PATH',
  'INVALID_UNICODE',
  'MIXED_MODES',
  'NO_EDITS',
  'EMPTY_OLD_TEXT',
  'TOO_MANY_EDITS',
  'UNAUTHORIZED',
  'PATH_NOT_ALLOWED',
  'PROTECTED_PATH',
  'PERMISSION_DENIED',
  'READ_ONLY',
  'FORBIDDEN_HOST',
  'FORBIDDEN_ORIGIN',
  'FILE_NOT_FOUND',
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'STALE_FILE',
  'ALREADY_EXISTS',
  'REQUEST_TOO_LARGE',
  'FILE_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'BINARY_FILE',
  'NO_MATCH',
  'WRONG_COUNT',
  'OCCURRENCE_OUT_OF_RANGE',
  'OVERLAPPING_EDITS',
  'LINE_OUT_OF_RANGE',
  'EXPECTED_TEXT_MISMATCH',
  'TARGET_NOT_FOUND',
  'AMBIGUOUS_TARGET',
  'UNSUPPORTED_TARGET',
  'NOT_A_FILE',
  'RESULT_TOO_LARGE',
  'FILE_LOCKED',
  'PRECONDITION_REQUIRED',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'NOT_READY',
  'NO_SPACE'
] as const
export type ProblemCode = (typeof PROBLEM_CODES)[number]

const text = (description: string) => Type.String({ description })

const Difference = named('Difference', 'How old_text and the file differ in one respect.', {
  type: word(
    [
      'whitespace',
      'case',
      'punctuation',
      'content',
      'line_endings',
      'quotes',
      'unicode',
      'escape',
      'line_number_prefix',
      'indentation'
    ],
    'The kind of difference.'
  ),
  expected: text('In old_text.'),
  found: text('In the file.')
})

const SimilarContent = named('SimilarContent', 'A place of the file that may be what you meant.', {
  line_number: line('First line.'),
  end_line: line('Last line.'),
  content: text('The exact text of the file there.'),
  similarity_score: Type.Number({ minimum: 0, maximum: 1, description: '1 is equal.' }),
  confidence: word(['high', 'medium', 'low'], 'How sure it is that this was meant.'),
  differences: Type.Array(ref(Difference), { description: 'What differs.' }),
  lossy: Type.Optional(lossy)
})

const context = (description: string) => Type.Array(Type.String(), { maxItems: 20, description })
const MatchLocation = named('MatchLocation', 'One place where old_text is.', {
  line_number: line('Line, counted from 1.'),
  column_start: line('Column, counted from 1 in UTF-16 units.'),
  column_end: line('Column after the last character.'),
  line_content: text('The line.'),
  context_before: context('Lines before it.'),
  context_after: context('Lines after it.'),
  inserted_by_edit: Type.Optional(count('The place lies in text that this earlier edit wrote.')),
  lossy: Type.Optional(lossy)
})

const SuggestedEdit = named(
  'SuggestedEdit',
  'Fields of an edit, ready to be sent. Without new_text: give your own, brought up to date with what is in the file.',
  {
    old_text: Type.Optional(text('As in /edit.')),
    new_text: Type.Optional(text('As in /edit or /edit-lines.')),
    occurrences: Type.Optional(line('As in /edit.')),
    replace_all: Type.Optional(Type.Boolean({ description: 'As in /edit.' })),
    occurrence: Type.Optional(
      Type.Unsafe<'first' | 'last' | 'all' | number>({
        anyOf: [
          { type: 'string', enum: ['first', 'last', 'all'] },
          { type: 'integer', minimum: 1 }
        ],
        description: 'As in /edit.'
      })
    ),
    start_line: Type.Optional(line('As in /edit-lines.')),
    end_line: Type.Optional(count('As in /edit-lines.')),
    expected_text: Type.Optional(text('As in /edit-lines.'))
  }
)

const SuggestedFixSchema = named('SuggestedFix', 'One way to go on.', {
  type: word(
    [
      'USE_EXACT_TEXT',
      'ADJUST_COUNT',
      'ESCAPE_SPECIAL',
      'CHECK_WHITESPACE',
      'ADD_CONTEXT',
      'ALREADY_APPLIED',
      'READ_FILE',
      'CHOOSE_OCCURRENCE',
      'FIX_PATH'
    ],
    'The kind of fix.'
  ),
  suggestion: text('What to do, in one sentence.'),
  example: Type.Optional(text('What it may look like.')),
  edit: Type.Optional(ref(SuggestedEdit))
})

const Highlight = named('Highlight', 'A line to look at.', { line: line('Line, counted from 1.') })
const FilePreview = named('FilePreview', 'The file around the place in question.', {
  total_lines: count('Lines of the file.'),
  preview_start_line: count('First line shown.'),
  preview_end_line: count('Last line shown.'),
  content: text('The lines, at most 2 KiB.'),
  highlights: Type.Array(ref(Highlight), { description: 'The lines to look at.' }),
  lossy: Type.Optional(lossy)
})

const FieldErrorSchema = named('FieldError', 'What is wrong with one field of the request.', {
  pointer: text('JSON pointer to it; empty for the request as a whole.'),
  message: text('What is wrong with it.')
})

export const ProblemSchema = named(
  'Problem',
  'Why nothing was done, and what to do next. detail alone is enough to act on.',
  {
    type: text('Names the kind of problem.'),
    title: text('The kind of problem in a few words.'),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status.' }),
    code: Type.Unsafe<ProblemCode>({
      type: 'string',
      enum: [...PROBLEM_CODES],
      description: 'The kind of problem, for programs.'
    }),
    detail: text('What went wrong, what is there, what to do next.'),
    instance: text('The route that was called.'),
    request_id: text('Names this request in the log of the server.'),
    retry: word(
      ['never', 'after_read', 'after_delay'],
      'never: change the request. after_read: look again, then decide. after_delay: send it again.'
    ),
    path: Type.Optional(text('The file.')),
    resolved_path: Type.Optional(text('Where the symlink in path leads to.')),
    file_hash: Type.Optional(hash('Of the file as it is on disk now.')),
    expected_hash: Type.Optional(hash('The hash that the request expected.')),
    edit_index: Type.Optional(count('Which edit failed, counted from 0.')),
    total_edits: Type.Optional(count('How many edits the request has.')),
    other_edit_index: Type.Optional(count('The edit with which it overlaps, counted from 0.')),
    search_text: Type.Optional(text('The old_text that was searched for; a long one is cut in the middle.')),
    expected_occurrences: Type.Optional(count('How many matches the request asked for.')),
    actual_occurrences: Type.Optional(count('How many matches there are.')),
    match_locations: Type.Optional(Type.Array(ref(MatchLocation), { maxItems: 10, description: 'The first matches.' })),
    match_lines: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 1000, description: 'The lines of all matches.' })
    ),
    similar_content: Type.Optional(
      Type.Array(ref(SimilarContent), {
        maxItems: 3,
        description: 'Places that may have been meant, the likeliest first.'
      })
    ),
    suggested_fixes: Type.Optional(Type.Array(ref(SuggestedFixSchema), { description: 'Ways to go on.' })),
    suggestions_truncated: Type.Optional(
      Type.Literal(true, { type: 'boolean', description: 'The search for similar text was ended early.' })
    ),
    missing_tokens: Type.Optional(
      Type.Array(Type.String(), { maxItems: 10, description: 'Names in old_text that are nowhere in the file.' })
    ),
    already_applied: Type.Optional(
      Type.Literal(true, { type: 'boolean', description: 'new_text is there and old_text is not.' })
    ),
    file_preview: Type.Optional(ref(FilePreview)),
    actual_text: Type.Optional(text('What the lines hold instead of expected_text; long text is cut in the middle.')),
    lossy: Type.Optional(lossy),
    total_lines: Type.Optional(count('Lines of the file.')),
    limit: Type.Optional(count('The limit that was exceeded.')),
    actual: Type.Optional(count('By what.')),
    errors: Type.Optional(
      Type.Array(ref(FieldErrorSchema), { maxItems: 20, description: 'What is wrong with which field.' })
    ),
    did_you_mean: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 10,
        description: 'Paths that exist, or of a target the names of some that do.'
      })
    ),
    targets: Type.Optional(
      Type.Array(ref(StructureItem), {
        maxItems: 100,
        description: 'What fits the target: send at_line with a line of the one that is meant.'
      })
    ),
    outline: Type.Optional(
      Type.Array(ref(StructureItem), { maxItems: 100, description: 'What the file is made of; its first 100 items.' })
    ),
    syntax_error_lines: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1 }), {
        maxItems: 20,
        description: 'Lines with syntax errors: what is there may not have been understood.'
      })
    )
  }
)

export const PROBLEM_COMPONENTS = [
  Difference,
  SimilarContent,
  MatchLocation,
  SuggestedEdit,
  SuggestedFixSchema,
  Highlight,
  FilePreview,
  FieldErrorSchema,
  ProblemSchema
]
export type Problem = Static<typeof ProblemSchema>
export type SuggestedFix = Static<typeof SuggestedFixSchema>
export type FieldError = Static<typeof FieldErrorSchema>
