// What the service answers when a request fails (RFC 9457). Knows only the wire format.
import type { Static, TObject, TSchema, TUnsafe } from 'typebox'
import { Type } from './type.ts'
import { byDiscriminator, count, expectedHash, hash, line, lossy, named, ref, word } from './common.ts'
import { globs, SearchMatch } from './find.ts'
import { StructureItem } from './structure.ts'
import { MAX_REPLACED_FILES, MAX_SHOWN_PLACES } from './replace.ts'
import { MAX_EDIT_IDS } from './undo.ts'

const text = (description: string) => Type.String({ description })

const Difference = named('Difference', 'One difference between old_text and the file.', {
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
  expected: text('What old_text has.'),
  found: text('What the file has.')
})

const SimilarContent = named('SimilarContent', 'A place in the file that may be what you meant.', {
  line_number: line('First line.'),
  end_line: line('Last line.'),
  content: text('The exact text there.'),
  similarity_score: Type.Number({ minimum: 0, maximum: 1, description: 'From 0 to 1; 1 is equal.' }),
  confidence: word(['high', 'medium', 'low'], 'How likely it is that you meant this.'),
  differences: Type.Array(ref(Difference), { maxItems: 20, description: 'What differs.' }),
  more_differences: Type.Optional(count('How many more differences there are.')),
  lossy: Type.Optional(lossy)
})

const context = (description: string) => Type.Array(Type.String(), { maxItems: 20, description })
const MatchLocation = named('MatchLocation', 'One match of old_text.', {
  path: Type.Optional(text('With /replace: the file.')),
  line_number: line('Line, counted from 1.'),
  column_start: line('Column, counted from 1 in UTF-16 units.'),
  column_end: line('Column after the last character.'),
  line_content: text('The line.'),
  context_before: context('Lines before it.'),
  context_after: context('Lines after it.'),
  inserted_by_edit: Type.Optional(
    count('The earlier edit, counted from 0, that wrote the text in which this place lies.')
  ),
  lossy: Type.Optional(lossy)
})

const SuggestedEdit = named(
  'SuggestedEdit',
  'Fields of an edit, ready to send. If new_text is missing, add your own; suggestion says why it is left to you.',
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

const LaterEdit = named('LaterEdit', 'A later edit of the same request that fails too.', {
  edit_index: count('Which edit of the request, counted from 0.'),
  suggestion: text('Which lines it was most likely meant for, why it fails, and what is left to do about it.'),
  edit: Type.Optional(ref(SuggestedEdit))
})

const SuggestedCall = named(
  'SuggestedCall',
  'Another call. One of /edit-section has no new_text: add your own. Others are ready to send.',
  {
    name: text('What to call: the tool, or the route for callers of routes.'),
    arguments: Type.Object(
      {
        path: Type.Optional(text('As in /edit-section or /replace.')),
        action: Type.Optional(word(['replace'], 'As in /edit-section.')),
        symbol: Type.Optional(text('As in /edit-section.')),
        at_line: Type.Optional(line('As in /edit-section.')),
        edit_id: Type.Optional(text('As in /undo or /redo.')),
        edit_ids: Type.Optional(Type.Array(Type.String(), { description: 'As in /undo.' })),
        batch_id: Type.Optional(text('As in /redo.')),
        old_text: Type.Optional(text('As in /replace.')),
        new_text: Type.Optional(text('As in /replace.')),
        whole_word: Type.Optional(Type.Boolean({ description: 'As in /replace.' })),
        include: Type.Optional(globs('As in /replace.')),
        exclude: Type.Optional(globs('As in /replace.')),
        ignored: Type.Optional(Type.Boolean({ description: 'As in /replace.' })),
        occurrences: Type.Optional(line('As in /replace.')),
        show_diff: Type.Optional(Type.Boolean({ description: 'As in /replace.' })),
        syntax: Type.Optional(word(['ignore', 'warn', 'refuse'], 'As in /replace.'))
      },
      { additionalProperties: false, description: 'Its arguments.' }
    )
  }
)

const SuggestedFixSchema = named('SuggestedFix', 'One way to continue.', {
  type: word(
    [
      'USE_EXACT_TEXT',
      'ADJUST_COUNT',
      'ADJUST_LINES',
      'ESCAPE_SPECIAL',
      'CHECK_WHITESPACE',
      'ADD_CONTEXT',
      'ALREADY_APPLIED',
      'USE_SECTION',
      'READ_FILE',
      'CHOOSE_OCCURRENCE',
      'FIX_PATH',
      'UNDO_LATER_TOO',
      'RESTORE_TEXT',
      'USE_UNDO',
      'USE_REDO',
      'LEAVE_OUT_FILES'
    ],
    'The kind of fix.'
  ),
  suggestion: text('What to do, in one sentence.'),
  example: Type.Optional(text('An example.')),
  edit: Type.Optional(ref(SuggestedEdit)),
  later_edits: Type.Optional(
    Type.Array(ref(LaterEdit), {
      maxItems: 20,
      description:
        'Later edits of the request that fail too, and what to send in their place, besides edit. All but the last ' +
        'have an edit that is ready to send.'
    })
  ),
  call: Type.Optional(ref(SuggestedCall)),
  diff: Type.Optional(text('A corrected diff of the whole file, ready to send.'))
})

const FileWithPlaces = named('FileWithPlaces', 'A file that holds old_text.', {
  path: text('The file.'),
  file_hash: hash('Its hash now.'),
  occurrences: line('How many places it has.'),
  matches: Type.Array(ref(SearchMatch), {
    maxItems: MAX_SHOWN_PLACES,
    description: 'Some of them, spread over the file.'
  })
})

const Highlight = named('Highlight', 'Lines to check.', {
  start_line: line('First line, counted from 1.'),
  end_line: line('Last line.')
})
const FilePreview = named('FilePreview', 'The lines around the place in question.', {
  total_lines: count('Lines in the file.'),
  preview_start_line: count('First line shown.'),
  preview_end_line: count('Last line shown.'),
  content: text('The lines, at most 2 KiB.'),
  highlights: Type.Array(ref(Highlight), { description: 'The lines to check.' }),
  lossy: Type.Optional(lossy)
})

const UndoConflict = named(
  'UndoConflict',
  'A change that stands in the way of one that is to be taken back or made again.',
  {
    path: text('The file.'),
    edit_id: text('The edit to be taken back or made again.'),
    change_index: count('Which of its changes, counted from 0.'),
    by: Type.Optional(text('The later edit that stands in its way; left out where it is not known.')),
    kind: word(
      ['overlap', 'same_line', 'outside', 'removed'],
      'overlap: a later edit changed the same text. same_line: or another part of the same line. ' +
        'outside: another program changed the file, and it is not known what. ' +
        'removed: the file is gone, or another one was made in its place.'
    ),
    start_line: Type.Optional(line('First line in question, in the file as it is now.')),
    end_line: Type.Optional(count('Last line in question; start_line - 1 if there is none.')),
    current_text: Type.Optional(text('The text of these lines now; long text is cut in the middle.')),
    would_restore: Type.Optional(text('The text that would stand there instead; long text is cut in the middle.')),
    lossy: Type.Optional(lossy)
  }
)

const TakenBackEdit = named('TakenBackEdit', 'An edit of yours that was taken back. Do not make it again.', {
  edit_id: text('The edit.'),
  undone_by: text('The undo that took it back.'),
  agent: Type.Optional(text('Who took it back, as the caller said.')),
  note: Type.Optional(text('Why, as the caller said.'))
})

const FieldErrorSchema = named('FieldError', 'An error in one field of the request.', {
  pointer: text('JSON pointer to the field; empty for the request as a whole.'),
  message: text('What is wrong with it.')
})

/** How many further failing operations a problem lists. */
export const MAX_OTHER_FAILURES = 4

const OtherFailureSchema = named('OtherFailure', 'A later operation of the same batch that fails too.', {
  operation_index: count('Which operation, counted from 0.'),
  path: Type.Optional(text('The file.')),
  resolved_path: Type.Optional(text('Where the link in path leads.')),
  code: text('The code that its problem would have alone.'),
  detail: text('What went wrong, what is there instead, and what to do next.'),
  suggested_fixes: Type.Optional(Type.Array(ref(SuggestedFixSchema), { description: 'Ways to continue.' })),
  file_preview: Type.Optional(ref(FilePreview)),
  targets: Type.Optional(Type.Array(ref(StructureItem), { maxItems: 100, description: 'The targets that match.' })),
  outline: Type.Optional(
    Type.Array(ref(StructureItem), { maxItems: 100, description: 'The structure of the file, its first 100 items.' })
  ),
  taken_back: Type.Optional(ref(TakenBackEdit)),
  file_hash: Type.Optional(hash('The hash of the file as it is on disk now.'))
})

/** The members of every problem, except its code. */
const COMMON = {
  type: text('A URI reference that identifies the kind of problem.'),
  title: text('The kind of problem, in a few words.'),
  status: Type.Integer({ minimum: 400, maximum: 599, description: 'The HTTP status.' }),
  detail: text('What went wrong, what is there instead, and what to do next.'),
  instance: text('The route that was called.'),
  request_id: text('Identifies this request in the server log.'),
  retry: word(
    ['change_request', 'after_read', 'after_delay', 'never'],
    'change_request: as it is, it fails again. after_read: read the file again, then decide. ' +
      'after_delay: send it again later. never: no edit of this file can be made.'
  ),
  path: Type.Optional(text('The file.')),
  resolved_path: Type.Optional(text('Where the link in path leads.')),
  file_hash: Type.Optional(hash('The hash of the file as it is on disk now.')),
  operation_index: Type.Optional(count('Of a batch: which operation failed, counted from 0.')),
  suggested_fixes: Type.Optional(Type.Array(ref(SuggestedFixSchema), { description: 'Ways to continue.' })),
  other_failures: Type.Optional(
    Type.Array(ref(OtherFailureSchema), {
      maxItems: MAX_OTHER_FAILURES,
      description: 'Of a batch: later operations that fail too, as far as they were tried.'
    })
  )
}

/** The further members that problems of some codes have. */
const MEMBERS = {
  expected_hash: Type.Optional(expectedHash('The hash that the request expected.')),
  edit_index: Type.Optional(count('Which edit failed, counted from 0.')),
  total_edits: Type.Optional(count('How many edits the request has.')),
  other_edit_index: Type.Optional(count('The edit that the failed one overlaps, counted from 0.')),
  search_text: Type.Optional(text('The old_text that was sought; a long one is cut.')),
  expected_occurrences: Type.Optional(count('How many matches the request expected.')),
  actual_occurrences: Type.Optional(count('How many matches there are.')),
  match_locations: Type.Optional(Type.Array(ref(MatchLocation), { maxItems: 10, description: 'The first matches.' })),
  match_lines: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 50, description: 'The lines with matches, each once.' })
  ),
  more_matches: Type.Optional(count('Matches on other lines, or after the first thousand.')),
  similar_content: Type.Optional(
    Type.Array(ref(SimilarContent), {
      maxItems: 3,
      description: 'Places that you may have meant, most likely first.'
    })
  ),
  suggested_fixes: Type.Optional(Type.Array(ref(SuggestedFixSchema), { description: 'Ways to continue.' })),
  suggestions_truncated: Type.Optional(
    Type.Literal(true, { type: 'boolean', description: 'true: the search for similar text was stopped early.' })
  ),
  files: Type.Optional(
    Type.Array(ref(FileWithPlaces), { maxItems: MAX_REPLACED_FILES, description: 'The files that hold old_text.' })
  ),
  searched_files: Type.Optional(count('How many files were searched.')),
  missing_tokens: Type.Optional(
    Type.Array(Type.String(), { maxItems: 10, description: 'Names in old_text that occur nowhere in the file.' })
  ),
  already_applied: Type.Optional(
    Type.Literal(true, { type: 'boolean', description: 'true: the file already contains new_text and not old_text.' })
  ),
  file_preview: Type.Optional(ref(FilePreview)),
  actual_text: Type.Optional(
    text('The text of the lines, which differs from expected_text; long text is cut in the middle.')
  ),
  lossy: Type.Optional(lossy),
  total_lines: Type.Optional(count('Lines in the file.')),
  limit: Type.Optional(count('The limit that was exceeded.')),
  actual: Type.Optional(count('The value that exceeded it.')),
  errors: Type.Optional(Type.Array(ref(FieldErrorSchema), { maxItems: 20, description: 'The fields that are wrong.' })),
  did_you_mean: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 10,
      description: 'Similar paths that exist; for a target, the name that was most likely meant.'
    })
  ),
  targets: Type.Optional(
    Type.Array(ref(StructureItem), {
      maxItems: 100,
      description: 'The targets that match: send at_line with a line of the one you mean.'
    })
  ),
  outline: Type.Optional(
    Type.Array(ref(StructureItem), { maxItems: 100, description: 'The structure of the file, its first 100 items.' })
  ),
  syntax_error_lines: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      maxItems: 20,
      description:
        'Lines with syntax errors; what is there may not have been parsed. With SYNTAX_ERROR: the line in the result.'
    })
  ),
  conflicts: Type.Optional(
    Type.Array(ref(UndoConflict), { maxItems: 100, description: 'The conflicts, the first 100.' })
  ),
  more_conflicts: Type.Optional(count('How many more conflicts there are.')),
  edit_ids: Type.Optional(
    Type.Array(Type.String(), { maxItems: MAX_EDIT_IDS, description: 'The edits in question, the first 1,000.' })
  ),
  oldest_kept_at: Type.Optional(text('When the oldest edit was made that is still kept.')),
  taken_back: Type.Optional(ref(TakenBackEdit))
}
type Member = keyof typeof MEMBERS

const has = (always: Member[], sometimes: Member[] = []) => ({ always, sometimes })

const POSITION: Member[] = ['edit_index', 'total_edits']
const MATCHES: Member[] = ['search_text', 'actual_occurrences', 'match_locations', 'match_lines', 'suggested_fixes']
const OUTLINE: Member[] = ['suggested_fixes', 'outline']

/** Every code that an answer can have, with the members that its problems have beyond the common ones. */
const MEMBERS_BY_CODE = {
  INVALID_JSON: has([], ['errors', 'limit']),
  INVALID_REQUEST: has(['errors']),
  INVALID_PATH: has(['errors'], ['did_you_mean', 'suggested_fixes']),
  INVALID_UNICODE: has([], ['errors']),
  MIXED_MODES: has([]),
  NO_EDITS: has([]),
  EMPTY_OLD_TEXT: has([], POSITION),
  TOO_MANY_EDITS: has(['limit', 'actual']),
  TOO_MANY_OPERATIONS: has(['limit', 'actual']),
  UNAUTHORIZED: has([]),
  PATH_NOT_ALLOWED: has([], ['did_you_mean', 'suggested_fixes']),
  PROTECTED_PATH: has([]),
  PERMISSION_DENIED: has([]),
  READ_ONLY: has([]),
  DELETE_NOT_ALLOWED: has([]),
  BATCH_NOT_SUPPORTED: has([]),
  FIND_NOT_SUPPORTED: has([]),
  FORBIDDEN_SCOPE: has([]),
  FORBIDDEN_HOST: has([]),
  FORBIDDEN_ORIGIN: has([]),
  FILE_NOT_FOUND: has([], ['did_you_mean', 'suggested_fixes']),
  ROUTE_NOT_FOUND: has([]),
  METHOD_NOT_ALLOWED: has([]),
  REQUEST_TIMEOUT: has([]),
  // Also what the edit would run into in the current file: any member of an edit's problem.
  STALE_FILE: has([], Object.keys(MEMBERS) as Member[]),
  ALREADY_EXISTS: has([], ['suggested_fixes']),
  REQUEST_IN_FLIGHT: has([]),
  REQUEST_TOO_LARGE: has(['limit']),
  FILE_TOO_LARGE: has(['limit', 'actual']),
  UNSUPPORTED_MEDIA_TYPE: has([]),
  BINARY_FILE: has([]),
  NO_MATCH: has(
    [...POSITION, 'search_text', 'similar_content', 'suggested_fixes', 'file_preview'],
    ['suggestions_truncated', 'missing_tokens', 'already_applied', 'taken_back']
  ),
  ALREADY_APPLIED: has(
    [...POSITION, 'search_text', 'already_applied', 'suggested_fixes', 'file_preview'],
    ['taken_back']
  ),
  WRONG_COUNT: has(
    [...POSITION, ...MATCHES, 'expected_occurrences'],
    ['more_matches', 'similar_content', 'suggestions_truncated', 'files']
  ),
  NOTHING_TO_REPLACE: has(['search_text'], ['searched_files', 'files', 'suggested_fixes']),
  SEARCH_INCOMPLETE: has(['searched_files']),
  OCCURRENCE_OUT_OF_RANGE: has([...POSITION, ...MATCHES], ['more_matches']),
  OVERLAPPING_EDITS: has([...POSITION, 'other_edit_index']),
  LINE_OUT_OF_RANGE: has(['total_lines'], POSITION),
  EXPECTED_TEXT_MISMATCH: has(
    [...POSITION, 'actual_text', 'similar_content', 'suggested_fixes', 'file_preview'],
    ['lossy', 'suggestions_truncated']
  ),
  TARGET_NOT_FOUND: has(OUTLINE, ['targets', 'did_you_mean', 'syntax_error_lines']),
  AMBIGUOUS_TARGET: has(['targets', ...OUTLINE], ['syntax_error_lines']),
  UNSUPPORTED_TARGET: has([], ['limit', 'actual']),
  NOT_A_FILE: has([], ['did_you_mean', 'suggested_fixes']),
  RESULT_TOO_LARGE: has([...POSITION, 'limit', 'actual']),
  SYNTAX_ERROR: has(['syntax_error_lines']),
  UNENCODABLE_TEXT: has([]),
  IDEMPOTENCY_KEY_REUSED: has([]),
  UNDO_CONFLICT: has(['conflicts', 'suggested_fixes'], ['more_conflicts']),
  NOTHING_TO_UNDO: has([], ['edit_ids', 'conflicts', 'more_conflicts', 'suggested_fixes', 'oldest_kept_at']),
  HISTORY_GONE: has([], ['edit_ids', 'oldest_kept_at']),
  CURSOR_GONE: has([]),
  FILE_LOCKED: has([]),
  PRECONDITION_REQUIRED: has(['suggested_fixes'], ['file_preview']),
  RATE_LIMITED: has([]),
  HEADERS_TOO_LARGE: has(['limit']),
  INTERNAL_ERROR: has([]),
  NOT_READY: has([]),
  NO_SPACE: has([])
}
export type ProblemCode = keyof typeof MEMBERS_BY_CODE
const PROBLEM_CODES = Object.keys(MEMBERS_BY_CODE) as ProblemCode[]

const code = (codes: ProblemCode[]) => Type.Unsafe<ProblemCode>({ type: 'string', enum: codes })

// Open, since each schema that includes it is closed.
const ProblemBase = Type.Object(COMMON, { $id: 'ProblemBase', description: 'What every problem has.' })

/** The name that a generated client gives the problems of a code. */
const nameOf = (of: ProblemCode) =>
  `${of.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Problem`

/** The closed schema of a problem with one of these codes. */
const problemOf = (
  id: string,
  description: string,
  codes: ProblemCode[],
  { always, sometimes }: { always: Member[]; sometimes: Member[] }
): TSchema =>
  Type.Unsafe({
    $id: id,
    description,
    type: 'object',
    allOf: [ref(ProblemBase)],
    properties: {
      code: code(codes),
      ...Object.fromEntries([...always, ...sometimes].map(name => [name, MEMBERS[name]]))
    },
    required: ['code', ...always],
    unevaluatedProperties: false
  })

const isPlain = (of: ProblemCode) => [...MEMBERS_BY_CODE[of].always, ...MEMBERS_BY_CODE[of].sometimes].length === 0
const PLAIN_CODES = PROBLEM_CODES.filter(isPlain)
const PlainProblem = problemOf(
  'PlainProblem',
  'A problem that has no members but those that all have.',
  PLAIN_CODES,
  has([])
)
const ofCode = (of: ProblemCode): TSchema =>
  isPlain(of) ? PlainProblem : problemOf(nameOf(of), `A problem with the code ${of}.`, [of], MEMBERS_BY_CODE[of])

const PROBLEM = byDiscriminator(
  'Problem',
  'Why nothing was done, and what to do next. detail alone is enough to act on.',
  'code',
  Object.fromEntries(PROBLEM_CODES.map(of => [of, ofCode(of)]))
)

export const ProblemSchema = PROBLEM.union

export const PROBLEM_COMPONENTS = [
  Difference,
  SimilarContent,
  MatchLocation,
  SuggestedEdit,
  LaterEdit,
  SuggestedCall,
  SuggestedFixSchema,
  FileWithPlaces,
  Highlight,
  FilePreview,
  FieldErrorSchema,
  UndoConflict,
  TakenBackEdit,
  OtherFailureSchema,
  ProblemBase,
  ...PROBLEM.members,
  ProblemSchema
]
/** A problem of any code, flat: the type the server produces. */
export type Problem = Static<TObject<typeof COMMON & typeof MEMBERS & { code: TUnsafe<ProblemCode> }>>
export type SuggestedFix = Static<typeof SuggestedFixSchema>
export type OtherFailure = Static<typeof OtherFailureSchema>
export type ConflictOnWire = Static<typeof UndoConflict>
