// One failure of each kind, for the published document and for tests. Does not know any route.
import type { ProblemCode } from '../../../schemas/problem.ts'
import type { HunkFailure, OutlineEntry } from '../../engine/failure.ts'
import type { Failure } from '../failure.ts'
import { BY_ROUTE, BY_TOOL } from './call-names.ts'
import { toProblem, type Context } from './problem.ts'

const preview = {
  total_lines: 90,
  preview_start_line: 44,
  preview_end_line: 46,
  content: 'export {}\nconst  foo = 1;\nrun()\n',
  highlights: [{ start_line: 45, end_line: 45 }]
}
const found = (line_number: number) => ({
  line_number,
  column_start: 1,
  column_end: 15,
  line_content: 'const foo = 1;',
  context_before: ['{'],
  context_after: ['}']
})

const ENTRIES: OutlineEntry[] = [12, 16].map(start_line => ({
  kind: 'method',
  name: 'parse',
  parent: 'Parser',
  start_line,
  end_line: start_line
}))

const EDIT_IDS = ['01KASMCX2G0000000000000000', '01KASMD3QY0000000000000000'] as const

/** A failure of each kind. */
export const EXAMPLES: { [C in ProblemCode]: Extract<Exclude<Failure, HunkFailure>, { code: C }> } = {
  INVALID_JSON: { code: 'INVALID_JSON', reason: 'syntax', where: 'at character 17' },
  INVALID_REQUEST: {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/old_txt', message: 'is an unknown field (did you mean old_text?)' }]
  },
  INVALID_PATH: { code: 'INVALID_PATH', reason: 'empty' },
  INVALID_UNICODE: { code: 'INVALID_UNICODE', pointer: '/new_text' },
  MIXED_MODES: { code: 'MIXED_MODES', fields: ['old_text', 'new_text'] },
  NO_EDITS: { code: 'NO_EDITS', fields: ['old_text', 'new_text'] },
  EMPTY_OLD_TEXT: { code: 'EMPTY_OLD_TEXT', edit_index: 1, total_edits: 3 },
  TOO_MANY_EDITS: { code: 'TOO_MANY_EDITS', limit: 1000, actual: 1200 },
  TOO_MANY_OPERATIONS: { code: 'TOO_MANY_OPERATIONS', what: 'operations', limit: 1000, actual: 1200 },
  UNAUTHORIZED: { code: 'UNAUTHORIZED', reason: 'missing' },
  PATH_NOT_ALLOWED: { code: 'PATH_NOT_ALLOWED', reason: 'outside' },
  PROTECTED_PATH: { code: 'PROTECTED_PATH', pattern: '.git' },
  PERMISSION_DENIED: { code: 'PERMISSION_DENIED', reason: 'read_only_file' },
  READ_ONLY: { code: 'READ_ONLY' },
  DELETE_NOT_ALLOWED: { code: 'DELETE_NOT_ALLOWED', reason: 'setting' },
  BATCH_NOT_SUPPORTED: { code: 'BATCH_NOT_SUPPORTED' },
  FORBIDDEN_SCOPE: { code: 'FORBIDDEN_SCOPE', needs: 'edit', has: 'read', for: 'operation' },
  FORBIDDEN_HOST: { code: 'FORBIDDEN_HOST', host: 'editd.example' },
  FORBIDDEN_ORIGIN: { code: 'FORBIDDEN_ORIGIN', origin: 'https://page.example' },
  FILE_NOT_FOUND: { code: 'FILE_NOT_FOUND', did_you_mean: ['src/app.ts'] },
  ROUTE_NOT_FOUND: { code: 'ROUTE_NOT_FOUND', method: 'POST', routes: ['POST /edit', 'POST /inspect'] },
  METHOD_NOT_ALLOWED: { code: 'METHOD_NOT_ALLOWED', method: 'DELETE', allow: ['POST'] },
  REQUEST_TIMEOUT: { code: 'REQUEST_TIMEOUT' },
  STALE_FILE: { code: 'STALE_FILE', reason: 'expected_hash', expected_hash: '9f86d081884c7d65' },
  ALREADY_EXISTS: { code: 'ALREADY_EXISTS', reason: 'exists' },
  UNDO_CONFLICT: {
    code: 'UNDO_CONFLICT',
    verb: 'undo',
    edit_ids: [EDIT_IDS[0]],
    together: [{ edit_id: EDIT_IDS[0] }, { edit_id: EDIT_IDS[1] }],
    conflicts: [
      {
        path: 'src/app.ts',
        edit_id: EDIT_IDS[0],
        change_index: 0,
        by: EDIT_IDS[1],
        kind: 'overlap',
        start_line: 12,
        end_line: 12,
        current_text: 'const port = 9091\n',
        would_restore: 'const port = 8080\n',
        restores: { old_text: 'const port = 9091\n', new_text: 'const port = 8080\n' }
      }
    ]
  },
  NOTHING_TO_UNDO: { code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: [EDIT_IDS[0]], reason: 'done_already' },
  REQUEST_IN_FLIGHT: { code: 'REQUEST_IN_FLIGHT', retry_after: 1 },
  HISTORY_GONE: { code: 'HISTORY_GONE', reason: 'off', keyed: true },
  CURSOR_GONE: { code: 'CURSOR_GONE' },
  REQUEST_TOO_LARGE: { code: 'REQUEST_TOO_LARGE', limit: 32_000_000 },
  FILE_TOO_LARGE: { code: 'FILE_TOO_LARGE', limit: 100_000_000, actual: 250_000_000 },
  UNSUPPORTED_MEDIA_TYPE: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'type', given: 'text/plain' },
  BINARY_FILE: { code: 'BINARY_FILE', encoding: 'binary', file_size: 2210 },
  NO_MATCH: {
    code: 'NO_MATCH',
    edit_index: 0,
    total_edits: 3,
    search_text: 'const foo = 1;',
    similar_content: [
      {
        line_number: 45,
        end_line: 45,
        content: 'const  foo = 1;',
        similarity_score: 0.93,
        confidence: 'high',
        differences: [{ type: 'whitespace', expected: 'const foo', found: 'const  foo' }]
      }
    ],
    fixes: [
      { type: 'USE_EXACT_TEXT', lines: [45, 45], edit: { old_text: 'const  foo = 1;', new_text: 'const foo = 2;' } },
      { type: 'READ_FILE', lines: [35, 55] }
    ],
    file_preview: preview,
    cause: { type: 'spacing', expected: 'const foo', found: 'const  foo' }
  },
  ALREADY_APPLIED: {
    code: 'ALREADY_APPLIED',
    edit_index: 0,
    total_edits: 1,
    search_text: 'import os',
    lines: [3, 4],
    fixes: [{ type: 'ALREADY_APPLIED', lines: [3, 4] }],
    file_preview: preview
  },
  WRONG_COUNT: {
    code: 'WRONG_COUNT',
    edit_index: 0,
    total_edits: 1,
    search_text: 'const foo = 1;',
    expected_occurrences: 1,
    actual_occurrences: 2,
    overlapping: false,
    match_locations: [found(12), found(40)],
    match_lines: [12, 40],
    fixes: [
      { type: 'ADD_CONTEXT', lines: [12, 12], edit: { old_text: 'one() {\nconst foo = 1;' } },
      { type: 'ADJUST_COUNT', edit: { old_text: 'const foo = 1;', new_text: 'const foo = 2;', occurrences: 2 } },
      { type: 'CHOOSE_OCCURRENCE', edit: { old_text: 'const foo = 1;', new_text: 'const foo = 2;', occurrence: 1 } }
    ]
  },
  OCCURRENCE_OUT_OF_RANGE: {
    code: 'OCCURRENCE_OUT_OF_RANGE',
    edit_index: 0,
    total_edits: 1,
    search_text: 'const foo = 1;',
    occurrence: 3,
    actual_occurrences: 2,
    match_locations: [found(12), found(40)],
    match_lines: [12, 40],
    fixes: [
      { type: 'CHOOSE_OCCURRENCE', edit: { old_text: 'const foo = 1;', new_text: 'const foo = 2;', occurrence: 2 } }
    ]
  },
  OVERLAPPING_EDITS: {
    code: 'OVERLAPPING_EDITS',
    edit_index: 1,
    total_edits: 2,
    other_edit_index: 0,
    lines: [44, 46],
    other_lines: [40, 45]
  },
  EXPECTED_TEXT_MISMATCH: {
    code: 'EXPECTED_TEXT_MISMATCH',
    edit_index: 0,
    total_edits: 1,
    start_line: 45,
    end_line: 45,
    actual_text: 'const  foo = 1;\n',
    similar_content: [],
    found_at: [47, 47],
    fixes: [
      {
        type: 'USE_EXACT_TEXT',
        lines: [47, 47],
        edit: { start_line: 47, end_line: 47, expected_text: 'const bar = 2;', new_text: 'const bar = 3;' }
      }
    ],
    file_preview: preview
  },
  LINE_OUT_OF_RANGE: { code: 'LINE_OUT_OF_RANGE', total_lines: 90, start_line: 95 },
  TARGET_NOT_FOUND: {
    code: 'TARGET_NOT_FOUND',
    target: { symbol: 'Parser.prase' },
    outline: ENTRIES,
    total: 2,
    elsewhere: [],
    nearest: ['Parser.parse'],
    meant: 'Parser.parse'
  },
  AMBIGUOUS_TARGET: {
    code: 'AMBIGUOUS_TARGET',
    target: { symbol: 'Parser.parse' },
    outline: ENTRIES,
    total: 2,
    targets: ENTRIES,
    fitting: 2
  },
  UNSUPPORTED_TARGET: {
    code: 'UNSUPPORTED_TARGET',
    reason: 'not_markdown',
    language: 'typescript',
    languages: ['markdown', 'typescript']
  },
  SYNTAX_ERROR: {
    code: 'SYNTAX_ERROR',
    fault: { line: 12, column: 17, text: 'const total = 1 +', reason: 'identifier is missing' },
    is_new: false
  },
  UNENCODABLE_TEXT: { code: 'UNENCODABLE_TEXT', encoding: 'windows-1252', character: '✓' },
  NOT_A_FILE: { code: 'NOT_A_FILE', type: 'directory' },
  RESULT_TOO_LARGE: {
    code: 'RESULT_TOO_LARGE',
    what: 'bytes',
    edit_index: 0,
    total_edits: 1,
    limit: 100_000_000,
    actual: 130_000_000
  },
  IDEMPOTENCY_KEY_REUSED: { code: 'IDEMPOTENCY_KEY_REUSED', reason: 'another_request' },
  FILE_LOCKED: { code: 'FILE_LOCKED', reason: 'timeout', retry_after: 2 },
  PRECONDITION_REQUIRED: { code: 'PRECONDITION_REQUIRED' },
  RATE_LIMITED: { code: 'RATE_LIMITED', of: 'token', rate: { requests: 600, per: 'min' }, retry_after: 2 },
  HEADERS_TOO_LARGE: { code: 'HEADERS_TOO_LARGE', limit: 16_384 },
  INTERNAL_ERROR: { code: 'INTERNAL_ERROR' },
  NOT_READY: { code: 'NOT_READY', reason: 'draining', retry_after: 5 },
  NO_SPACE: { code: 'NO_SPACE' }
}

/** Codes of problems that concern no file, or none that may be revealed. */
const WITHOUT_FILE = new Set<ProblemCode>([
  'INVALID_JSON',
  'INVALID_UNICODE',
  'TOO_MANY_OPERATIONS',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'FORBIDDEN_HOST',
  'FORBIDDEN_ORIGIN',
  'ROUTE_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'REQUEST_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'NOT_READY'
])
/** Codes of problems of a file that was read. */
const WITH_HASH = new Set<ProblemCode>([
  'STALE_FILE',
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
  'RESULT_TOO_LARGE',
  'PRECONDITION_REQUIRED',
  'ALREADY_EXISTS',
  'UNDO_CONFLICT',
  'NOTHING_TO_UNDO'
])

const NO_SUCH_TOOL: Failure = {
  code: 'ROUTE_NOT_FOUND',
  tool: 'edit',
  meant: 'edit_file',
  tools: ['edit_file', 'inspect_file']
}

/** The problem of a kind, as whoever made this call is answered. */
export function exampleOf(code: ProblemCode, call: Pick<Context, 'instance' | 'by_header' | 'naming'>) {
  const { instance, by_header = false, naming = BY_ROUTE } = call
  const context: Context = {
    instance,
    request_id: '5f6b2c0e-8d5e-4f60-9a6e-0c8d2b7a9f11',
    by_header,
    naming,
    ...(!WITHOUT_FILE.has(code) && { path: code === 'INVALID_PATH' ? '' : 'src/app.ts' }),
    ...(WITH_HASH.has(code) && { file_hash: '60303ae22b998861' })
  }
  const failure = naming === BY_TOOL && code === 'ROUTE_NOT_FOUND' ? NO_SUCH_TOOL : EXAMPLES[code]
  return toProblem(
    by_header && failure.code === 'ALREADY_EXISTS' ? { ...failure, if_none_match: true } : failure,
    context
  ).body
}
