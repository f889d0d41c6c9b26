// failure → problem: the only place that knows status codes and titles. Does not know sentences: those are in the files
// named after a kind of failure, and in stale-file.ts.
import type { OtherFailure, Problem, ProblemCode } from '../../../schemas/problem.ts'
import { hashesOf } from '../../operations/file-hash.ts'
import type { EarlierEdit, FailedPart, TakenBackEdit, PartWithPath } from '../../operations/operation.ts'
import type { Failure } from '../failure.ts'
import { briefProblem, type DescribedFailure } from './brief/problem.ts'
import { BY_ROUTE, type CallSyntax, pathShown, type ToolCall } from './call-names.ts'
import { below } from './brief/layout.ts'
import { describeBy, type Descriptions } from './problems/entry.ts'
import { cut, quote, sentences } from './phrases.ts'
import { FILE_FAILURES } from './problems/paths.ts'
import { HISTORY_FAILURES } from './problems/past.ts'
import { membersIn, ofPart, operationsFailToo, operationsNotTried } from './part.ts'
import { sendable } from './sendable.ts'
import { REQUEST_FAILURES } from './problems/request.ts'
import { EDIT_FAILURES } from './edit-failure.ts'
import { ENCODING_FAILURES } from './encoding-failure.ts'
import { SYNTAX_FAILURES } from './problems/results.ts'

/** The status of every success. */
export const SUCCESS = 200

/** The status where a client has what it asks for already. */
export const NOT_MODIFIED = 304

/** The status where a condition in a header failed; where the same condition is in the body, that of the code. */
export const PRECONDITION_FAILED = 412

type Retry = Problem['retry']

/** Every code with its status, title and whether sending it again can help. */
export const KINDS: Record<ProblemCode, readonly [status: number, title: string, retry: Retry]> = {
  INVALID_JSON: [400, 'Body is not valid JSON', 'change_request'],
  INVALID_REQUEST: [400, 'Request is not valid', 'change_request'],
  INVALID_PATH: [400, 'Path is not valid', 'change_request'],
  INVALID_UNICODE: [400, 'Text is not valid Unicode', 'change_request'],
  MIXED_MODES: [400, 'Single edit and list of edits mixed', 'change_request'],
  NO_EDITS: [400, 'No edits given', 'change_request'],
  EMPTY_OLD_TEXT: [400, 'old_text is empty', 'change_request'],
  TOO_MANY_EDITS: [400, 'Too many edits', 'change_request'],
  TOO_MANY_OPERATIONS: [400, 'Too many operations', 'change_request'],
  UNAUTHORIZED: [401, 'Token required', 'change_request'],
  PATH_NOT_ALLOWED: [403, 'Path is not allowed', 'change_request'],
  PROTECTED_PATH: [403, 'Path is protected', 'change_request'],
  PERMISSION_DENIED: [403, 'Permission denied', 'change_request'],
  READ_ONLY: [403, 'Server is read-only', 'change_request'],
  DELETE_NOT_ALLOWED: [403, 'Deleting is not allowed', 'change_request'],
  FORBIDDEN_SCOPE: [403, 'Scope is not enough', 'change_request'],
  FORBIDDEN_HOST: [403, 'Host is not allowed', 'change_request'],
  FORBIDDEN_ORIGIN: [403, 'Origin is not allowed', 'change_request'],
  FILE_NOT_FOUND: [404, 'File not found', 'change_request'],
  ROUTE_NOT_FOUND: [404, 'Route not found', 'change_request'],
  METHOD_NOT_ALLOWED: [405, 'Method not allowed', 'change_request'],
  REQUEST_TIMEOUT: [408, 'Request took too long to arrive', 'after_delay'],
  STALE_FILE: [409, 'File has changed', 'after_read'],
  ALREADY_EXISTS: [409, 'File already exists', 'after_read'],
  UNDO_CONFLICT: [409, 'Later changes stand in the way', 'change_request'],
  REQUEST_IN_FLIGHT: [409, 'Request is still running', 'after_delay'],
  HISTORY_GONE: [410, 'No history', 'change_request'],
  CURSOR_GONE: [410, 'Cursor is too old', 'change_request'],
  REQUEST_TOO_LARGE: [413, 'Request is too large', 'change_request'],
  FILE_TOO_LARGE: [413, 'File is too large', 'change_request'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Body is not plain JSON', 'change_request'],
  BINARY_FILE: [415, 'File is not text', 'never'],
  NO_MATCH: [422, 'Text not found', 'change_request'],
  ALREADY_APPLIED: [422, 'Edit seems to be made already', 'change_request'],
  WRONG_COUNT: [422, 'Unexpected number of matches', 'change_request'],
  OCCURRENCE_OUT_OF_RANGE: [422, 'No such occurrence', 'change_request'],
  OVERLAPPING_EDITS: [422, 'Edits overlap', 'change_request'],
  EXPECTED_TEXT_MISMATCH: [422, 'Lines do not match expected_text', 'after_read'],
  LINE_OUT_OF_RANGE: [422, 'No such line', 'change_request'],
  TARGET_NOT_FOUND: [422, 'Target not found', 'change_request'],
  AMBIGUOUS_TARGET: [422, 'Several targets match', 'change_request'],
  UNSUPPORTED_TARGET: [422, 'Target not supported', 'change_request'],
  NOT_A_FILE: [422, 'Not a file', 'change_request'],
  RESULT_TOO_LARGE: [422, 'Result is too large', 'change_request'],
  SYNTAX_ERROR: [422, 'Result has a syntax error', 'change_request'],
  UNENCODABLE_TEXT: [422, 'Text does not fit the encoding', 'change_request'],
  BATCH_NOT_SUPPORTED: [422, 'Batches are not supported', 'change_request'],
  NOTHING_TO_UNDO: [422, 'Nothing to undo', 'change_request'],
  IDEMPOTENCY_KEY_REUSED: [422, 'Idempotency key was used before', 'change_request'],
  FILE_LOCKED: [423, 'File is being edited', 'after_delay'],
  PRECONDITION_REQUIRED: [428, 'expected_hash is required', 'after_read'],
  RATE_LIMITED: [429, 'Too many requests', 'after_delay'],
  HEADERS_TOO_LARGE: [431, 'Headers are too large', 'change_request'],
  INTERNAL_ERROR: [500, 'Internal error', 'after_read'],
  NOT_READY: [503, 'Not ready', 'after_delay'],
  NO_SPACE: [507, 'No space left', 'after_delay']
}

/** What is known of the request that failed. */
export interface Context {
  /** The route, without its query. */
  instance: string
  request_id: string
  path?: string
  resolved_path?: string
  /** Its SHA-256, 64 hex digits. */
  file_hash?: string
  /** The expected hash came in `If-Match`. */
  by_header?: boolean
  /** How other calls are named; by default by their routes. */
  naming?: CallSyntax
  /** The call, if it could be read. */
  made?: ToolCall
  /** An edit of the caller that somebody took back. */
  taken_back?: TakenBackEdit
  /** The edit that made already what is asked for. */
  made_by?: EarlierEdit
  /** The operation that failed, of several. */
  part?: FailedPart
  /** Later ones that fail too. */
  others?: readonly FailedOperation[]
  /** Later ones that weren't tried. */
  untried?: readonly PartWithPath[]
}

/** One of several operations that fail, and what is known of it. */
export type FailedOperation = { failure: Failure } & Pick<
  Context,
  'path' | 'resolved_path' | 'file_hash' | 'taken_back' | 'made_by' | 'part'
>

/** `failure`: what it answers; `text`: what a model is given instead of the body. */
export interface Answer {
  failure: Failure
  body: Problem
  headers: Record<string, string>
  text(): string
}

const DESCRIPTIONS: Descriptions<Failure> = {
  ...REQUEST_FAILURES,
  ...FILE_FAILURES,
  ...HISTORY_FAILURES,
  ...EDIT_FAILURES,
  ...SYNTAX_FAILURES,
  ...ENCODING_FAILURES
}

/** What answers a failure; the body's `detail` alone is enough to act on. */
export function toProblem(given: Failure, context: Context): Answer {
  const { instance, request_id, naming = BY_ROUTE, made } = context
  const untried = (context.untried ?? []).map(part => ({ ...part, path: pathShown(naming, part.path) }))
  const { headers, ...first } = problemOf(given, context, true)
  const others = (context.others ?? []).map(({ failure, ...about }) =>
    problemOf(failure, { instance, request_id, naming, ...about }, false)
  )
  const { failure, body, notes } = first
  return {
    failure,
    body: {
      ...body,
      detail: sentences(body.detail, operationsFailToo(others), operationsNotTried(untried), ...notes),
      ...(others.length > 0 && { other_failures: others.map(toOtherFailure) })
    },
    headers,
    text: () => below(briefProblem([first, ...others], { made, naming, untried }), ...notes)
  }
}

/** The problem of one failure, with nothing in `detail` but that. `isFirst`: not of another operation that fails too. */
function problemOf(
  given: Failure,
  context: Omit<Context, 'others' | 'untried' | 'made'>,
  isFirst: boolean
): DescribedFailure & { headers: Record<string, string> } {
  const { code } = given
  const [status, title, retry] = KINDS[code]
  const { instance, request_id, path, resolved_path, naming = BY_ROUTE, part, taken_back } = context
  const { file_hash, sha256 } = hashesOf(context.file_hash)
  const failure = sendable(given, naming)
  const shownPath = path === undefined ? undefined : pathShown(naming, path)
  const { detail, members, headers } = describeBy<Failure>(DESCRIPTIONS, failure, {
    path: path ?? 'the file',
    shown: cut(shownPath ?? 'the file', 200),
    naming,
    instance,
    request_id,
    file_hash,
    part
  })
  const body: Problem = {
    type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
    title,
    status: isPreconditionFailed(failure, context) ? PRECONDITION_FAILED : status,
    code,
    detail: part === undefined ? detail : ofPart(detail, part, shownPath, isFirst),
    instance,
    request_id,
    retry,
    ...(shownPath !== undefined && { path: cut(shownPath) }),
    ...(resolved_path !== undefined && { resolved_path }),
    ...(part === undefined ? members : membersIn(members, part)),
    ...(taken_back !== undefined && { taken_back }),
    ...(file_hash !== undefined && { file_hash })
  }
  return {
    failure,
    body,
    part,
    notes: historyNotes(context),
    headers: { ...headers, ...(sha256 !== undefined && { etag: `"${sha256}"` }) }
  }
}

/** What is told of a later operation that fails too. */
function toOtherFailure({ body, notes }: DescribedFailure): OtherFailure {
  const { operation_index, path, resolved_path, code, detail, file_hash } = body
  const { suggested_fixes, file_preview, targets, outline, taken_back } = body
  return {
    operation_index: operation_index!,
    path,
    resolved_path,
    code,
    detail: sentences(detail, ...notes),
    suggested_fixes,
    // These are named in `detail`.
    file_preview,
    targets,
    outline,
    taken_back,
    file_hash
  }
}

/** Whether the condition that failed came in a header. */
function isPreconditionFailed(failure: Failure, { by_header }: Pick<Context, 'by_header'>): boolean {
  if (failure.code === 'ALREADY_EXISTS') return failure.if_none_match === true
  return failure.code === 'STALE_FILE' && failure.reason === 'expected_hash' && by_header === true
}

/** What else there is to be known of what was done before; it comes last. */
const historyNotes = ({ taken_back, made_by }: Pick<Context, 'taken_back' | 'made_by'>): string[] => [
  ...(made_by === undefined ? [] : [madeByNote(made_by)]),
  ...(taken_back === undefined ? [] : [takenBackNote(taken_back)])
]

function madeByNote({ edit_id, at, agent }: EarlierEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  return `Edit ${edit_id}${who} made this change at ${new Date(at).toISOString()}.`
}

/** An edit of the caller that somebody took back: the miss may be of what it had written. */
function takenBackNote({ edit_id, agent, note }: TakenBackEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  const why = note === undefined ? '' : `: ${quote(note, 200)}`
  return `Your edit ${edit_id} of this file was taken back${who}${why}. Don't make it again.`
}
