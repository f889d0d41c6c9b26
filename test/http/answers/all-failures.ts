// Every failure in each form with its own sentence: data for the tests of answers. The answers are in all-failures.txt,
// which all-failures.test.ts writes.
import type {
  ClearFix,
  DiffFix,
  FilePreview,
  Fix,
  LaterEdit,
  HunkAmbiguous,
  HunkNotFound,
  HunkPosition,
  NoMatch,
  SimilarContent
} from '../../../src/engine/failure.ts'
import type { LineRange } from '../../../src/engine/edit/request.ts'
import type { ProblemCode } from '../../../schemas/problem.ts'
import { PROBLEMS } from '../../../src/http/answers/problems/table.ts'
import type { PatchFaultReason } from '../../../src/engine/patch/fault.ts'
import type { Context } from '../../../src/http/answers/problem.ts'
import type { Failure } from '../../../src/http/request-failure.ts'
import type { FileWithPlaces } from '../../../src/operations/operation.ts'

export interface Described {
  failure: Failure
  context?: Partial<Context>
}

/** The members of a failure without its code, and the context of its answer. */
type Members<F> = F extends Failure ? Omit<F, 'code'> & { context?: Partial<Context> } : never
/** At least one form of every code. */
type AllFailures = {
  [C in Failure['code']]: [Members<Extract<Failure, { code: C }>>, ...Members<Extract<Failure, { code: C }>>[]]
}

const hashed = { file_hash: '60303ae22b998861' }
const alone = { edit_index: 0, total_edits: 1 }
/** The third of four edits. */
const AT_2 = { edit_index: 2, total_edits: 4 }

/** The example of each code. */
export const EXAMPLES = Object.fromEntries(Object.entries(PROBLEMS).map(([code, { example }]) => [code, example])) as {
  [C in ProblemCode]: (typeof PROBLEMS)[C]['example']
}

const {
  NO_MATCH,
  WRONG_COUNT,
  OCCURRENCE_OUT_OF_RANGE,
  EXPECTED_TEXT_MISMATCH,
  STALE_FILE,
  TARGET_NOT_FOUND,
  AMBIGUOUS_TARGET,
  UNSUPPORTED_TARGET,
  SYNTAX_ERROR
} = EXAMPLES

type Refused = Extract<Failure, { code: 'UNDO_CONFLICT' }>
type Nothing = Extract<Failure, { code: 'NOTHING_TO_UNDO' }>

/** One conflict of edit E1 with E2, or with an unknown edit. */
const conflict = (more: Partial<Refused['conflicts'][number]>, known = true): Refused => ({
  code: 'UNDO_CONFLICT',
  verb: 'undo',
  edit_ids: ['E1'],
  ...(known && more.kind !== 'removed' && { together: [{ edit_id: 'E1' }, { edit_id: 'E2' }] }),
  conflicts: [
    {
      path: 'src/app.ts',
      edit_id: 'E1',
      change_index: 0,
      ...(known && { by: 'E2' }),
      kind: 'overlap',
      start_line: 12,
      end_line: 12,
      current_text: 'b\n',
      would_restore: 'a\n',
      ...more
    }
  ]
})
// Each reason has members of its own.
const nothing = (because: { reason: Nothing['reason']; [member: string]: unknown }): Nothing =>
  ({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: ['E1'], ...because }) as unknown as Nothing

const lastEdit = { edit_ids: ['E1'], path: 'a.ts', lines_added: 1, lines_removed: 2, is_own: false }

const empty: FilePreview = {
  total_lines: 0,
  preview_start_line: 0,
  preview_end_line: 0,
  content: '',
  highlights: []
}
const missed = (more: Partial<NoMatch>): NoMatch => ({ ...NO_MATCH, ...alone, ...more })
const similar: SimilarContent = {
  line_number: 4,
  end_line: 5,
  content: 'foo( 1 )',
  similarity_score: 0.95,
  confidence: 'high',
  differences: []
}
const oneLine: SimilarContent = { ...similar, end_line: 4 }
/** A corrected diff for a line. */
const diffFor = (line: number, corrected = [0]): DiffFix => ({
  type: 'USE_EXACT_TEXT',
  diff: '@@\n-a\n+b\n',
  lines: [line, line],
  corrected
})
/** A hunk whose lines are nowhere in the file. */
const unplaced = (edit_index: number, diff_line: number): HunkPosition => ({ edit_index, total_edits: 4, diff_line })
const hunk = (what: HunkNotFound['what'], more: Partial<HunkNotFound> = {}): HunkNotFound => ({
  code: 'NO_MATCH',
  ...alone,
  diff_line: 1,
  what,
  search_text: 'foo(1)',
  similar_content: [],
  diffs: [],
  file_preview: NO_MATCH.file_preview,
  ...more
})
/** A hunk whose lines are in two places. */
const hunkTwice = (what: HunkAmbiguous['what'], more: Partial<HunkAmbiguous> = {}): HunkAmbiguous => ({
  code: 'WRONG_COUNT',
  ...alone,
  diff_line: 1,
  what,
  search_text: 'foo(1)',
  expected_occurrences: 1,
  actual_occurrences: 2,
  match_lines: [4, 9],
  match_locations: WRONG_COUNT.match_locations,
  diffs: [diffFor(4), diffFor(9)],
  ...more
})
/** A line of a diff for each fault that it can have. */
const PATCH_LINES: Record<PatchFaultReason, string> = {
  no_marker: 'foo',
  not_added: 'foo',
  no_space_after_marker: 'foo',
  empty_hunk: 'foo',
  no_change: 'foo',
  after_end_of_file: 'foo',
  git_header: 'foo',
  newline_note: 'foo',
  envelope_line: 'foo',
  fence: 'foo',
  too_many_lines: 'foo',
  no_begin: 'foo',
  no_end: '',
  after_end: 'foo',
  no_files: 'foo',
  no_file_line: 'foo',
  unknown_line: 'foo',
  misplaced_move: 'foo',
  no_path: 'foo',
  same_path: 'foo',
  no_update: 'foo',
  lines_of_deleted: 'foo'
}
const patchFaults = Object.entries(PATCH_LINES).map(([reason, text], index) => {
  const fault = { reason: reason as PatchFaultReason, line: index + 1, text }
  return { faults: [{ pointer: '/diff', reason: 'unreadable_patch' as const, fault }] }
})
const read: Fix = { type: 'READ_FILE', lines: [4, 5] }
const complete = (line: number): Fix => ({
  type: 'USE_EXACT_TEXT',
  lines: [line, line],
  edit: { old_text: 'foo( 1 )', new_text: 'bar' }
})
const later = (edit_index: number): LaterEdit => ({
  failure: missed({ edit_index, total_edits: 4, cause: { type: 'spacing', expected: '"baz(1"', found: '"baz( 1"' } }),
  fix: {
    type: 'USE_EXACT_TEXT',
    lines: [edit_index + 7, edit_index + 7],
    edit: { old_text: 'baz( 1 )', new_text: 'qux' }
  }
})
const withoutNewText: ClearFix = {
  type: 'USE_EXACT_TEXT',
  lines: [4, 5],
  edit: { old_text: 'foo( 1 )' },
  conflict: { reason: 'same_words', changed: 'foo', found: 'bar' }
}

/** Files with places of a text. */
const IN_FILES: FileWithPlaces[] = [
  {
    path: 'src/app.ts',
    file_hash: '60303ae22b998861',
    occurrences: 42,
    matches: [{ line_number: 3, column_start: 7, column_end: 17, line_content: 'const loadConfig = 1' }]
  },
  {
    path: 'src/b.ts',
    file_hash: '0f2b998861603034',
    occurrences: 1,
    matches: [{ line_number: 9, column_start: 1, column_end: 11, line_content: 'loadConfig()' }]
  }
]

/** Edits after the first of four that can't be corrected for the caller. */
const LEFT_TO_CALLER: LaterEdit[][] = [
  [later(1), { failure: missed(AT_2), fix: withoutNewText }],
  [{ failure: missed(AT_2), fix: withoutNewText }],
  [later(1), { failure: { ...WRONG_COUNT, ...AT_2 } }],
  [{ failure: { ...WRONG_COUNT, ...AT_2, expected_occurrences: 3, undone_by_edit: 0 } }],
  [{ failure: { ...OCCURRENCE_OUT_OF_RANGE, ...AT_2 } }],
  [{ failure: { ...EXAMPLES.ALREADY_APPLIED, ...AT_2, lines: [3, 4] } }],
  [{ failure: { code: 'RESULT_TOO_LARGE', ...AT_2, what: 'bytes', limit: 100, actual: 130 } }],
  [{ failure: { code: 'RESULT_TOO_LARGE', ...AT_2, what: 'replacements', limit: 10, actual: 11 } }],
  [{ failure: missed({ ...AT_2, undone_by_edit: 1 }) }],
  [{ failure: missed({ ...AT_2, similar_content: [], cause: { type: 'never_there' }, missing_tokens: ['alpha'] }) }],
  [{ failure: missed({ ...AT_2, similar_content: [], applied_lines: [7, 7] }) }],
  [{ failure: missed({ ...AT_2, similar_content: [{ ...oneLine, confidence: 'low' }] }) }],
  [{ failure: missed({ ...AT_2, similar_content: [oneLine], applied_lines: [7, 7] }) }],
  [{ failure: missed({ ...AT_2, similar_content: [oneLine, similar], cause: { type: 'near_duplicate' } }) }]
]
const leftToCaller = LEFT_TO_CALLER.map(later =>
  missed({ edit_index: 0, total_edits: 4, similar_content: [oneLine], fixes: [{ ...complete(4), later }] })
)

const outside = { code: 'LINE_OUT_OF_RANGE', total_lines: 9 } as const
const { meant: __, ...likeOnly } = TARGET_NOT_FOUND
const { found_at: _, ...notFound } = { ...EXPECTED_TEXT_MISMATCH, fixes: [] }
const differs = { type: 'tabs', expected: '  x', found: '\tx' } as const
const constant = { kind: 'constant', name: 'LIMIT', start_line: 9, end_line: 9 } as const
const method = { kind: 'method', name: 'parse', parent: 'Parser', start_line: 12, end_line: 15 } as const
const section = { kind: 'heading', name: 'Setup', level: 2, start_line: 3, end_line: 9 } as const
const block = { kind: 'code_block', start_line: 11, end_line: 13 } as const
const shell = { kind: 'code_block', language: 'sh', start_line: 11, end_line: 13 } as const
const frontMatter = { kind: 'front_matter', start_line: 1, end_line: 3 } as const
const languages = ['markdown', 'typescript']
const nothingLike = { ...likeOnly, target: { heading: 'Setup' }, nearest: [] }
const noneSupported = { code: 'UNSUPPORTED_TARGET', languages } as const

const fits = { fits: true, places: [], total: 0, file_preview: NO_MATCH.file_preview } as const
const now = (places: [number, number][], total = places.length) =>
  ({ ...STALE_FILE, now: { ...fits, places, total } }) as const
const movedTo = (...moved: LineRange[]) => {
  const places = moved.map(({ start_line, end_line }): [number, number] => [start_line, end_line])
  return { ...STALE_FILE, now: { ...fits, places, total: places.length, moved } } as const
}

const ALL: AllFailures = {
  INVALID_JSON: [
    { reason: 'empty' },
    { reason: 'syntax' },
    { reason: 'syntax', where: 'at character 17' },
    { reason: 'duplicate_key', key: 'path', pointer: '' },
    { reason: 'duplicate_key', key: 'new_text', pointer: '/edits/0' },
    { reason: 'too_deep', limit: 32 }
  ],
  INVALID_UNICODE: [{}, { pointer: '' }, { pointer: '/new_text' }],
  INVALID_REQUEST: [
    { errors: [{ pointer: '', message: 'must be a JSON object' }] },
    { errors: Array.from({ length: 30 }, (_, i) => ({ pointer: `/${i}`, message: 'is wrong' })) },
    {
      faults: [
        { pointer: '/occurrence', reason: 'replace_all_too' },
        { pointer: '', reason: 'no_target' },
        { pointer: '/code_block', reason: 'empty_target' }
      ]
    },
    {
      faults: [
        { pointer: '/new_text', reason: 'text_to_delete' },
        { pointer: '/include_heading', reason: 'heading_not_replaced' },
        { pointer: '/include_comment', reason: 'comment_not_replaced' }
      ]
    },
    {
      faults: [
        { pointer: '/regex', reason: 'without_search' },
        { pointer: '/after', reason: 'for_directories' },
        { pointer: '/search', reason: 'for_files' }
      ]
    },
    { faults: [{ pointer: '/search', reason: 'slow_regex' }] },
    {
      faults: [
        { pointer: '', reason: 'no_selector', selectors: ['edit_id', 'path'] },
        { pointer: '/change_indexes', reason: 'changes_of_undo' },
        { pointer: '/changes/0/change_indexes', reason: 'changes_not_kept' }
      ]
    },
    {
      faults: [
        { pointer: '/new_text', reason: 'missing' },
        { pointer: '/symbol', reason: 'second_target', other: 'heading' },
        { pointer: '/search', reason: 'no_regex', syntax: 'missing closing )' }
      ]
    },
    { faults: [{ pointer: '/include', reason: 'no_glob', syntax: 'unclosed character class' }] },
    { faults: [{ pointer: '/new_text', reason: 'closes_fence', line: 7 }] },
    {
      pointer: '/new_text',
      stray: { reason: 'lost', entry: { kind: 'heading', name: 'Use', start_line: 11, end_line: 13 } }
    },
    { pointer: '/new_text', stray: { reason: 'made', entry: { kind: 'code_block', start_line: 11, end_line: 13 } } },
    ...patchFaults
  ],
  MIXED_MODES: [{ fields: ['old_text', 'new_text'] }],
  NO_EDITS: [{ fields: ['old_text', 'new_text'] }, { none_of: 'operations' }],
  EMPTY_OLD_TEXT: [
    {},
    { edit_index: 1, total_edits: 3 },
    { new_text: 'x\n', there: 'no_file' },
    { new_text: 'x\n', there: 'empty_file' }
  ],
  TOO_MANY_EDITS: [{ limit: 1000, actual: 1200 }],
  TOO_MANY_OPERATIONS: [
    { what: 'operations', limit: 1000, actual: 1200 },
    { what: 'paths', limit: 100, actual: 120 },
    { what: 'files', limit: 1000, actual: 1200 },
    { what: 'found_files', limit: 500, actual: 812 }
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    { reason: 'type', given: 'text/plain' },
    { reason: 'type', given: '' },
    { reason: 'charset', given: 'utf-16' },
    { reason: 'encoding', given: 'gzip' }
  ],
  UNAUTHORIZED: [
    { reason: 'missing' },
    { reason: 'malformed' },
    { reason: 'expired' },
    { reason: 'wrong' },
    { reason: 'jwt', fault: 'audience' },
    { reason: 'jwt', fault: 'claims', claim: 'sub' }
  ],
  RATE_LIMITED: [
    { of: 'token', rate: { requests: 600, per: 'min' }, retry_after: 0.1 },
    { of: 'address', rate: { requests: 1, per: 's' }, retry_after: 1.5 },
    { of: 'wrong_tokens', rate: { requests: 60, per: 'min' }, retry_after: 1 }
  ],
  ROUTE_NOT_FOUND: [
    { workspace: 'other' },
    { tool: 'edit', meant: 'edit_file', tools: ['edit_file', 'inspect_file'] },
    { method: 'POST', routes: ['POST /edit', 'POST /inspect'] }
  ],
  FORBIDDEN_SCOPE: [
    { lacks: 'scope', ask: 'read' },
    { lacks: 'workspace' },
    { needs: 'edit', has: 'read', for: 'operation' },
    { needs: 'review', has: 'edit', for: 'operation' },
    { needs: 'review', has: 'edit', for: 'others_edits' },
    { needs: 'review', has: 'edit', for: 'delete' }
  ],
  FORBIDDEN_HOST: [{ host: 'editd.example' }],
  FORBIDDEN_ORIGIN: [{ origin: 'https://page.example' }],
  METHOD_NOT_ALLOWED: [{ method: 'DELETE', allow: ['GET', 'HEAD'] }],
  REQUEST_TIMEOUT: [{}],
  HEADERS_TOO_LARGE: [{ limit: 16_384 }],
  REQUEST_TOO_LARGE: [{ limit: 32_000_000 }],
  INTERNAL_ERROR: [{}],
  INVALID_PATH: [{ reason: 'empty' }, { reason: 'nul' }, { reason: 'too_long' }, { reason: 'not_utf8' }],
  PATH_NOT_ALLOWED: [
    { reason: 'outside' },
    { reason: 'outside', did_you_mean: ['app.ts', 'src'] },
    { reason: 'extension', allowed_extensions: ['.ts', '.md'] },
    { reason: 'token', allowed_paths: ['docs/**', '*.md'] },
    { reason: 'token', allowed_paths: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    { reason: 'token', allowed_paths: [] }
  ],
  PROTECTED_PATH: [{ pattern: '.git' }, { pattern: '*.lock' }, { pattern: null }],
  PERMISSION_DENIED: [
    { reason: 'read_only_file' },
    { reason: 'not_permitted' },
    { reason: 'several_names' },
    { reason: 'names_kept' },
    { reason: 'store_denies' }
  ],
  READ_ONLY: [{}],
  DELETE_NOT_ALLOWED: [
    { reason: 'setting' },
    { reason: 'history_off' },
    { reason: 'texts_not_kept' },
    { reason: 'bucket' }
  ],
  BATCH_NOT_SUPPORTED: [{}],
  FIND_NOT_SUPPORTED: [{}],
  FILE_NOT_FOUND: [
    {},
    { folder: 'src' },
    { missing: 'link_target' },
    { did_you_mean: ['a.ts', 'b.ts'] },
    {
      did_you_mean: ['src/new.ts'],
      removals: [{ by: 'E1', operation: 'edit', moved_to: 'src/new.ts', back: { verb: 'undo', edit_id: 'E1' } }],
      now_at: 'src/new.ts'
    },
    { removals: [{ by: 'E1', operation: 'edit', back: { verb: 'undo', edit_id: 'E1' } }], undo: 'E1' },
    { missing: 'parent', did_you_mean: ['srv/x.ts'] },
    { missing: 'expected' },
    { missing: 'removed' },
    { missing: 'removed', moved_to: 'src/new.ts' }
  ],
  NOT_A_FILE: [
    { type: 'link' },
    { type: 'link', context: { resolved_path: 'lib/app.ts' } },
    { type: 'directory' },
    { type: 'fifo' },
    { type: 'socket' },
    { type: 'device' },
    { type: 'not_a_directory' },
    { type: 'file_as_directory' },
    { type: 'trailing_slash' },
    { type: 'link_now', leads_to: 'b.txt' },
    { type: 'folder', files: 0 },
    { type: 'folder', files: 1 },
    { type: 'folder', files: 12 },
    { type: 'empty_folder', verb: 'delete' },
    { type: 'empty_folder', verb: 'move' },
    { type: 'empty_folder', verb: 'move', emptied: true },
    { type: 'link_inside' },
    { type: 'into_folder', meant: 'src/app.ts/b.txt' }
  ],
  ALREADY_EXISTS: [
    { reason: 'exists' },
    { reason: 'made' },
    { reason: 'exists', context: hashed },
    { reason: 'exists', if_none_match: true, context: hashed },
    { reason: 'needs_overwrite', context: hashed },
    { reason: 'needs_expected_hash', context: hashed },
    { reason: 'move_target', from: 'src/b.ts', context: hashed },
    { reason: 'move_target', from: 'src/App.ts' }
  ],
  FILE_TOO_LARGE: [
    { limit: 100_000_000, actual: 250_000_000 },
    { limit: 100_000_000, actual: 250_000_000, together: true }
  ],
  BINARY_FILE: [
    { encoding: 'binary', file_size: 2210 },
    { encoding: 'utf-16le', file_size: 2210 }
  ],
  UNENCODABLE_TEXT: [
    { encoding: 'windows-1252', character: '✓' },
    { encoding: 'unknown-8bit', character: 'é' },
    { encoding: 'utf-16be', character: '\ufeff' }
  ],
  PRECONDITION_REQUIRED: [{}],
  FILE_LOCKED: [
    { reason: 'timeout', retry_after: 1.2 },
    { reason: 'queue_full', retry_after: 1 },
    { reason: 'client_gone', retry_after: 1 },
    { reason: 'lost', retry_after: 0 },
    { reason: 'in_place', retry_after: 2 }
  ],
  NO_SPACE: [{}],
  NOT_READY: [
    { reason: 'root_gone', retry_after: 5 },
    { reason: 'root_hangs', retry_after: 5 },
    { reason: 'root_unwritable', retry_after: 5 },
    { reason: 'state_unwritable', retry_after: 5 },
    { reason: 'state_replaced', retry_after: 5 },
    { reason: 'no_descriptors', retry_after: 1 },
    { reason: 'draining', retry_after: 5 },
    { reason: 'searching', retry_after: 1 },
    { reason: 'large_files', retry_after: 1 },
    { reason: 'bodies', retry_after: 2 },
    { reason: 'issuer_unreachable', retry_after: 5 },
    { reason: 'parsing', retry_after: 1 },
    { reason: 'store_refused', retry_after: 5 },
    { reason: 'store_unsafe', retry_after: 5 }
  ],
  IDEMPOTENCY_KEY_REUSED: [
    { reason: 'another_request' },
    { reason: 'uncertain' },
    { reason: 'damaged' },
    { reason: 'forgotten' }
  ],
  CURSOR_GONE: [{}],
  REQUEST_IN_FLIGHT: [{ retry_after: 1 }],
  HISTORY_GONE: [
    { reason: 'off', keyed: true },
    { reason: 'swept', edit_ids: ['E1'], to: 'undo' },
    { reason: 'swept', edit_ids: ['E1', 'E2'], to: 'review', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: ['E1'], to: 'blame', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: [], of: { selector: 'batch_id', name: 'B1' }, to: 'redo', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: [], of: { selector: 'session', name: 's1' }, to: 'undo' },
    { reason: 'swept', edit_ids: [], of: { selector: 'agent', name: 'ann' }, to: 'undo', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: [], of: { selector: 'path', name: 'a.ts' }, to: 'undo', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: [], of: { selector: 'under', name: 'src' }, to: 'review', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: [], of: { selector: 'caller', name: 'ann' }, to: 'undo', oldest_kept_at: 0 },
    { reason: 'swept', edit_ids: [], of: { selector: 'caller' }, to: 'redo', oldest_kept_at: 0 },
    { reason: 'no_texts', edit_ids: ['E1', 'E2'] },
    { reason: 'inconsistent', edit_ids: ['E1'] },
    { reason: 'no_texts', edit_ids: ['E2', 'E3'], goal: { to: 'undo', edit_ids: ['E1'] } },
    { reason: 'no_texts', edit_ids: [], goal: { to: 'state_after', edit_ids: ['E1'] }, unrecorded: true },
    { reason: 'inconsistent', edit_ids: ['E2'], goal: { to: 'redo', edit_ids: ['E1'] } },
    { reason: 'inconsistent', edit_ids: ['E2'], goal: { to: 'pending', edit_ids: [] } },
    { reason: 'inconsistent', edit_ids: ['E2'], goal: { to: 'blame', edit_ids: [] } },
    { reason: 'no_texts', edit_ids: ['E2', 'E3'], goal: { to: 'blame', edit_ids: ['E1'] } },
    { reason: 'off' }
  ],
  UNDO_CONFLICT: [
    conflict({}),
    { ...conflict({ kind: 'same_line', end_line: 14 }), verb: 'redo', more_conflicts: 2 },
    conflict({ kind: 'outside', end_line: 11 }),
    conflict({ kind: 'outside' }, false),
    conflict({ kind: 'removed', removals: [{ by: 'E2', operation: 'undo', back: { verb: 'redo', edit_id: 'E2' } }] }),
    conflict({ kind: 'removed', removals: [{ by: 'E2', operation: 'edit', back: { verb: 'undo', edit_id: 'E2' } }] }),
    conflict({
      kind: 'removed',
      removals: [{ by: 'E2', operation: 'redo', moved_to: 'b.ts', back: { verb: 'undo', edit_id: 'E0' } }]
    }),
    conflict({ kind: 'removed' }, false)
  ],
  NOTHING_TO_UNDO: [
    nothing({ reason: 'unknown' }),
    { ...nothing({ reason: 'unknown', oldest_kept_at: 0 }), edit_ids: ['E1', 'E2'] },
    nothing({ reason: 'done_already' }),
    { ...nothing({ reason: 'done_already' }), verb: 'redo', edit_ids: ['E1', 'E2', 'E3', 'E4'] },
    nothing({ reason: 'half_of_move' }),
    nothing({ reason: 'is_undo', undoes: ['E0', 'E9'] }),
    nothing({ reason: 'is_undo', undoes: ['E0', 'E9'], batch_id: 'B1' }),
    nothing({ reason: 'none' }),
    nothing({ reason: 'none', verb: 'review' }),
    nothing({ reason: 'none_of_caller', agent: 'ann' }),
    { ...nothing({ reason: 'none_of_caller' }), verb: 'redo' },
    nothing({
      reason: 'several_clients',
      token: 'ci',
      last: [
        { ...lastEdit, change: { line: 4, removed: 'b', added: 'B' } },
        { ...lastEdit, edit_ids: ['E2', 'E3'], is_own: true, change: null }
      ]
    }),
    nothing({ reason: 'several_clients', last: [{ ...lastEdit, edit_ids: ['E1', 'E2', 'E3', 'E4'], change: null }] }),
    nothing({ reason: 'several_clients', verb: 'redo', last: [{ ...lastEdit, change: null }] }),
    nothing({
      reason: 'same_result',
      last: [
        { ...lastEdit, change: null },
        { ...lastEdit, edit_ids: ['E2'], change: null }
      ]
    }),
    nothing({ reason: 'same_state' }),
    nothing({ reason: 'all_in_conflict' }),
    { verb: 'undo', edit_ids: ['E1'], reason: 'not_of_file' },
    { verb: 'undo', edit_ids: ['E1'], reason: 'file_removed' }
  ],
  NO_MATCH: [
    missed({ similar_content: [], fixes: [read] }),
    missed({ similar_content: [], fixes: [read], missing_tokens: ['alpha', 'beta', 'gamma', 'delta'] }),
    missed({ similar_content: [], applied_lines: [7, 7] }),
    missed({ similar_content: [], file_preview: empty }),
    missed({ similar_content: [similar], fixes: [complete(4), read] }),
    missed({ similar_content: [oneLine], fixes: [read] }),
    missed({ similar_content: [{ ...oneLine, confidence: 'low' }], fixes: [read, withoutNewText] }),
    missed({
      similar_content: [oneLine],
      fixes: [withoutNewText, { type: 'USE_SECTION', lines: [4, 9], section: { symbol: 'Disk.sync' } }, read]
    }),
    missed({
      similar_content: [similar],
      fixes: [complete(4)],
      applied_lines: [7, 7]
    }),
    missed({
      similar_content: [oneLine, { ...similar, line_number: 9, end_line: 9 }],
      fixes: [complete(4), complete(9), read],
      cause: { type: 'near_duplicate' }
    }),
    missed({
      similar_content: [similar, { ...similar, line_number: 9, end_line: 9 }],
      fixes: [complete(9), read],
      cause: { type: 'near_duplicate', expected: 'area' }
    }),
    missed({
      similar_content: [oneLine, { ...similar, line_number: 9, end_line: 9 }],
      fixes: [read],
      cause: { type: 'near_duplicate' }
    }),
    missed({ similar_content: [oneLine], fixes: [withoutNewText, withoutNewText] }),
    missed({ edit_index: 1, total_edits: 3, undone_by_edit: 0, fixes: [complete(4)] }),
    missed({
      edit_index: 1,
      total_edits: 4,
      undone_by_edit: 0,
      fixes: [{ ...complete(4), later: [later(2)] }]
    }),
    missed({
      edit_index: 0,
      total_edits: 4,
      similar_content: [oneLine],
      fixes: [{ ...complete(4), later: [later(1), later(3)] }]
    }),
    missed({
      edit_index: 0,
      total_edits: 4,
      similar_content: [oneLine],
      untried_from: 2,
      fixes: [{ ...complete(4), later: [later(1)] }]
    }),
    ...leftToCaller,
    missed({ edit_index: 2, total_edits: 3, undone_by_edit: 0, fixes: [read] }),
    hunk('anchor', { search_text: 'def f():' }),
    hunk('anchor', {
      edit_index: 1,
      total_edits: 3,
      diff_line: 14,
      search_text: 'def f():',
      below: 7,
      similar_content: [oneLine],
      cause: { type: 'typo', expected: 'f', found: 'g' },
      diffs: [diffFor(5, [1])]
    }),
    hunk('lines', {
      similar_content: [oneLine],
      cause: { type: 'indentation', expected: '', found: '  ' },
      diffs: [diffFor(4, [0, 2])]
    }),
    hunk('lines', { total_edits: 2, also_unplaced: [unplaced(1, 9)] }),
    hunk('lines', { similar_content: [{ ...similar, confidence: 'low' }], suggestions_truncated: true }),
    hunk('lines', { similar_content: [oneLine], cause: { type: 'markdown_fence' }, too_long: true }),
    hunk('lines', {
      similar_content: [oneLine, { ...oneLine, line_number: 9, end_line: 9 }],
      cause: { type: 'near_duplicate' },
      diffs: [diffFor(4), diffFor(9)]
    }),
    hunk('lines', { applied_lines: [4, 5] }),
    hunk('lines', { file_preview: empty }),
    hunk('place', { search_text: '', diffs: [diffFor(91), diffFor(1)] }),
    hunk('order', { edit_index: 1, total_edits: 2, diff_line: 5, diffs: [diffFor(3, [1])] }),
    hunk('end', { diffs: [diffFor(4)] })
  ],
  ALREADY_APPLIED: [
    EXAMPLES.ALREADY_APPLIED,
    { ...EXAMPLES.ALREADY_APPLIED, lines: [3, 3], edit_index: 1, total_edits: 2 }
  ],
  WRONG_COUNT: [
    WRONG_COUNT,
    { ...WRONG_COUNT, edit_index: 0, total_edits: 3, untried_from: 1 },
    { ...WRONG_COUNT, edit_index: 1, total_edits: 2, undone_by_edit: 0 },
    hunkTwice('lines', { total_edits: 4, also_unplaced: [unplaced(1, 9), unplaced(3, 20)], diffs: [] }),
    hunkTwice('lines'),
    hunkTwice('lines', { below: 3, actual_occurrences: 62, more_matches: 60, diffs: [] }),
    hunkTwice('anchor', { search_text: 'def f():' }),
    { ...WRONG_COUNT, overlapping: true },
    { ...WRONG_COUNT, overlapping: true, expected_occurrences: 3 },
    { ...WRONG_COUNT, expected_occurrences: 3 },
    { ...WRONG_COUNT, expected_occurrences: 3, similar_content: [similar] },
    { ...WRONG_COUNT, expected_occurrences: 3, actual_occurrences: 1, match_lines: [12] },
    {
      ...WRONG_COUNT,
      expected_occurrences: 3,
      actual_occurrences: 1,
      match_lines: [12],
      similar_content: [oneLine]
    },
    { ...WRONG_COUNT, actual_occurrences: 14, match_lines: Array.from({ length: 14 }, (_, i) => i + 1) },
    ...[1, 40].map(expected_occurrences => ({
      code: 'WRONG_COUNT' as const,
      in_files: IN_FILES,
      search_text: 'loadConfig',
      expected_occurrences,
      actual_occurrences: 43,
      again: { old_text: 'loadConfig', new_text: 'readConfig', occurrences: 43 }
    }))
  ],
  NOTHING_TO_REPLACE: [
    { reason: 'none', search_text: 'loadConfig', searched_files: 1, otherwise: [] },
    {
      reason: 'none',
      search_text: 'loadConfig',
      searched_files: 212,
      new_text_in: { total_files: 2, total_matches: 3, stopped: false },
      otherwise: [
        { change: { ignore_case: true }, total_files: 1, total_matches: 1, stopped: false },
        { change: { whole_word: undefined }, total_files: 2, total_matches: 4, stopped: false },
        { change: { include: undefined, exclude: undefined }, total_files: 2, total_matches: 4, stopped: true }
      ]
    },
    { reason: 'repeated', search_text: 'log(', in_files: IN_FILES }
  ],
  SEARCH_INCOMPLETE: [
    { reason: 'time', searched_files: 180_000 },
    { reason: 'size', searched_files: 1000 }
  ],
  OCCURRENCE_OUT_OF_RANGE: [
    OCCURRENCE_OUT_OF_RANGE,
    { ...OCCURRENCE_OUT_OF_RANGE, actual_occurrences: 1, match_lines: [12] }
  ],
  RESULT_TOO_LARGE: [
    { ...alone, what: 'bytes', limit: 100, actual: 130 },
    { edit_index: 0, total_edits: 2, what: 'replacements', limit: 10, actual: 11 }
  ],
  LINE_OUT_OF_RANGE: [
    { ...outside, start_line: 12 },
    { ...outside, total_lines: 1, start_line: 3 },
    { ...outside, start_line: 3, end_line: 2 },
    { ...outside, start_line: 3, start_column: 9, total_columns: 4 },
    { ...outside, ...alone, start_line: 0, end_line: 0 },
    { ...outside, ...alone, start_line: 4, end_line: 2 },
    { ...outside, ...alone, start_line: 12, end_line: 12 },
    { ...outside, edit_index: 1, total_edits: 2, start_line: 9, end_line: 10 }
  ],
  OVERLAPPING_EDITS: [EXAMPLES.OVERLAPPING_EDITS, { ...EXAMPLES.OVERLAPPING_EDITS, other_lines: [45, 44] }],
  EXPECTED_TEXT_MISMATCH: [
    EXPECTED_TEXT_MISMATCH,
    { ...EXPECTED_TEXT_MISMATCH, fixes: [] },
    { ...EXPECTED_TEXT_MISMATCH, fixes: [], found_at: [47, 48] },
    { ...EXPECTED_TEXT_MISMATCH, start_line: 46, end_line: 45 },
    { ...EXPECTED_TEXT_MISMATCH, cause: differs },
    { ...EXPECTED_TEXT_MISMATCH, edit_index: 0, total_edits: 2, cause: differs },
    { ...EXPECTED_TEXT_MISMATCH, found_at: [45, 45], cause: differs },
    {
      ...EXPECTED_TEXT_MISMATCH,
      end_line: 46,
      cause: differs,
      fixes: [
        {
          type: 'USE_EXACT_TEXT',
          edit: { start_line: 47, end_line: 47 },
          conflict: { reason: 'same_words', changed: 'foo', found: 'bar' }
        }
      ]
    },
    notFound,
    { ...notFound, similar_content: [similar, { ...similar, line_number: 9, end_line: 9 }] }
  ],
  TARGET_NOT_FOUND: [
    TARGET_NOT_FOUND,
    likeOnly,
    { ...likeOnly, nearest: ['Parser.parse', 'parseAll'], syntax_error_lines: [4] },
    nothingLike,
    { ...nothingLike, total: 300 },
    { ...nothingLike, target: { code_block: {} }, outline: [], total: 0 },
    { ...nothingLike, target: { code_block: { index: 2, language: 'sh', under_heading: 'Setup' } } },
    { ...nothingLike, at_line: 1, elsewhere: [section, method] },
    { ...nothingLike, at_line: 1, elsewhere: [section] },
    { ...nothingLike, at_line: 2, elsewhere: [section, method, section, method, section, method] }
  ],
  AMBIGUOUS_TARGET: [AMBIGUOUS_TARGET, { ...AMBIGUOUS_TARGET, at_line: 12, syntax_error_lines: [4, 7] }],
  UNSUPPORTED_TARGET: [
    UNSUPPORTED_TARGET,
    { ...noneSupported, reason: 'not_markdown', language: 'json' },
    { ...noneSupported, reason: 'not_markdown' },
    { ...noneSupported, reason: 'no_grammar', language: 'markdown' },
    { ...noneSupported, reason: 'no_grammar', language: 'json' },
    { ...noneSupported, reason: 'no_grammar' },
    { ...noneSupported, reason: 'no_grammar', language: 'yaml', to_read: true },
    { ...noneSupported, reason: 'too_slow', limit: 2000, to_read: true },
    { ...noneSupported, reason: 'too_large', limit: 8_388_608, actual: 9_437_184 },
    { ...noneSupported, reason: 'too_slow', limit: 2000 },
    { ...noneSupported, reason: 'too_much_memory', limit: 192 * 1024 * 1024 },
    { ...noneSupported, reason: 'parser_failed' },
    { ...noneSupported, reason: 'not_alone', entry: constant },
    { ...noneSupported, reason: 'cramped', entry: method },
    { ...noneSupported, reason: 'no_body', entry: constant },
    { ...noneSupported, reason: 'no_body', entry: frontMatter },
    { ...noneSupported, reason: 'unclosed', entry: block },
    { ...noneSupported, reason: 'unclosed', entry: shell }
  ],
  SYNTAX_ERROR: [
    SYNTAX_ERROR,
    { ...SYNTAX_ERROR, fault: { line: 3, column: 5, end_line: 9, text: 'if (a {' } },
    { ...SYNTAX_ERROR, is_new: true, fault: { line: 4, column: 1, text: '', reason: '} is missing' } }
  ],
  STALE_FILE: [
    { reason: 'changed_meanwhile' },
    { reason: 'overwritten' },
    STALE_FILE,
    { ...STALE_FILE, context: hashed },
    { ...now([]), context: hashed },
    now([[4, 4]]),
    { ...now([[4, 4]]), context: hashed },
    {
      ...now(
        [
          [3, 5],
          [9, 8],
          [9, 8]
        ],
        14
      ),
      context: hashed
    },
    { ...movedTo({ start_line: 7, end_line: 8 }), context: hashed },
    { ...movedTo({ start_line: 7, end_line: 6 }, { start_line: 9, end_line: 9 }), context: hashed },
    { ...STALE_FILE, now: { ...fits, places: [[4, 4]], total: 1, unchecked: 'occurrence' }, context: hashed },
    { ...STALE_FILE, now: { ...fits, places: [[4, 6]], total: 1, unchecked: 'changed_lines' }, context: hashed },
    { ...STALE_FILE, now: { fits: false, failure: { ...outside, ...alone, start_line: 12 } } },
    { ...STALE_FILE, now: { fits: false, failure: WRONG_COUNT }, context: hashed },
    { ...STALE_FILE, now: { fits: false, failure: EXAMPLES.ALREADY_APPLIED }, context: hashed },
    {
      ...STALE_FILE,
      now: { fits: false, failure: missed({ similar_content: [], applied_lines: [7, 7] }) },
      context: hashed
    },
    { ...STALE_FILE, now: { fits: false, failure: TARGET_NOT_FOUND }, context: hashed }
  ]
}

export const FAILURES: Described[] = Object.entries(ALL).flatMap(([code, forms]) =>
  forms.map(({ context, ...members }) => ({
    failure: { code, ...members } as Failure,
    ...(context !== undefined && { context })
  }))
)
