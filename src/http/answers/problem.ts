// failure → problem: combines what is known about its code (problems/) and about the request.
import type { OtherFailure, Problem, ProblemCode } from '../../../schemas/problem.ts'
import { hashesOf } from '../../operations/file-hash.ts'
import type { EarlierEdit, FailedPart, LeftOut, TakenBackEdit, PartWithPath } from '../../operations/operation.ts'
import type { Failure } from '../request-failure.ts'
import { below } from './brief/layout.ts'
import { briefProblem, type DescribedFailure } from './brief/problem.ts'
import { BY_ROUTE, type CallSyntax, pathShown, type ToolCall } from './call-names.ts'
import { cut, notUtf8, quote, sentences } from './phrases.ts'
import { membersIn, ofPart, operationsFailToo, operationsNotTried } from './part.ts'
import { leaveOutFixes, leaveOutNote } from './problems/replacements.ts'
import { entryOf, partsOf } from './problems/entry.ts'
import { PROBLEMS } from './problems/table.ts'
import { sendable } from './sendable.ts'

/** The status of every success. */
export const SUCCESS = 200

/** The status if the client already has what it asks for. */
export const NOT_MODIFIED = 304

/** The status if a condition in a header failed. For the same condition in the body, the code's own status is used. */
export const PRECONDITION_FAILED = 412

/** What is known about the failed request. */
export interface Context {
  /** The route, without its query. */
  instance: string
  request_id: string
  path?: string
  resolved_path?: string
  /** The file's SHA-256, 64 hex digits. */
  file_hash?: string
  /** The expected hash came in `If-Match`. */
  by_header?: boolean
  /** How other calls are named; default: by route. */
  naming?: CallSyntax
  /** The call, if it could be read. */
  made?: ToolCall
  /** An edit by the caller that somebody undid. */
  taken_back?: TakenBackEdit
  /** The edit that already made the requested change. */
  made_by?: EarlierEdit
  /** The files that can't be changed, and the request that leaves them out. */
  leave_out?: LeftOut
  /** The operation that failed, if there are several. */
  part?: FailedPart
  /** Later operations that fail too. */
  others?: readonly FailedOperation[]
  /** Later operations that weren't tried. */
  untried?: readonly PartWithPath[]
}

/** One of several failing operations, and what is known about it. */
export type FailedOperation = { failure: Failure } & Pick<
  Context,
  'path' | 'resolved_path' | 'file_hash' | 'taken_back' | 'made_by' | 'part'
>

/** The answer to a `failure`; `text`: what a model gets instead of the body. */
export interface Answer {
  failure: Failure
  body: Problem
  headers: Record<string, string>
  text(): string
}

/** The answer to a failure. The body's `detail` alone is enough to act on. */
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

/**
 * The problem of one failure; `detail` covers only this failure. `isFirst`: false for a later operation that fails too.
 */
function problemOf(
  given: Failure,
  context: Omit<Context, 'others' | 'untried' | 'made'>,
  isFirst: boolean
): DescribedFailure & { headers: Record<string, string> } {
  const { code } = given
  const { instance, request_id, path, resolved_path, naming = BY_ROUTE, part, taken_back, leave_out } = context
  const { file_hash, sha256 } = hashesOf(context.file_hash)
  const failure = sendable(given, naming)
  const shownPath = path === undefined ? undefined : pathShown(naming, path)
  const { kind, detail: describe } = entryOf(PROBLEMS, failure)
  const [status, title, retry] = kind
  const shown = cut(shownPath ?? 'the file', 200)
  const request = { path: path ?? 'the file', resolved_path, shown, naming, instance, request_id, file_hash, part }
  const { detail, members, headers } = partsOf(describe(failure, request))
  const whole = sentences(notUtf8(failure, shown), detail)
  const named = part && { ...part, path: part.path === undefined ? shownPath : pathShown(naming, part.path) }
  const body: Problem = {
    type: `/problems/${code.toLowerCase().replaceAll('_', '-')}`,
    title,
    status: isPreconditionFailed(failure, context) ? PRECONDITION_FAILED : status,
    code,
    detail: named === undefined ? whole : ofPart(whole, named, isFirst),
    instance,
    request_id,
    retry,
    ...(shownPath !== undefined && { path: cut(shownPath) }),
    ...(resolved_path !== undefined && { resolved_path }),
    ...(part === undefined ? members : membersIn(members, part)),
    ...(leave_out !== undefined && { suggested_fixes: leaveOutFixes(leave_out, naming) }),
    ...(taken_back !== undefined && { taken_back }),
    ...(file_hash !== undefined && { file_hash })
  }
  return {
    failure,
    body,
    part: named,
    notes: notesOn(context),
    headers: { ...headers, ...(sha256 !== undefined && { etag: `"${sha256}"` }) }
  }
}

/** The entry for a later operation that fails too. */
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
    // `detail` refers to these.
    file_preview,
    targets,
    outline,
    taken_back,
    file_hash
  }
}

/** Whether the failed condition came in a header. */
function isPreconditionFailed(failure: Failure, { by_header }: Pick<Context, 'by_header'>): boolean {
  if (failure.code === 'ALREADY_EXISTS') return 'if_none_match' in failure
  return failure.code === 'STALE_FILE' && failure.reason === 'expected_hash' && by_header === true
}

/** Notes about the other files and earlier edits; they come last. */
const notesOn = ({
  leave_out,
  taken_back,
  made_by
}: Pick<Context, 'leave_out' | 'taken_back' | 'made_by'>): string[] => [
  ...(leave_out === undefined ? [] : [leaveOutNote(leave_out)]),
  ...(made_by === undefined ? [] : [madeByNote(made_by)]),
  ...(taken_back === undefined ? [] : [undoneNote(taken_back)])
]

function madeByNote({ edit_id, at, agent }: EarlierEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  return `Edit ${edit_id}${who} made this change at ${new Date(at).toISOString()}.`
}

/** An edit by the caller that somebody undid: the text that wasn't found may be what that edit had written. */
function undoneNote({ edit_id, agent, note }: TakenBackEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  const why = note === undefined ? '' : `: ${quote(note, 200)}`
  return `Your edit ${edit_id} of this file was taken back${who}${why}. Don't make it again.`
}

/** The example for callers of tools, who don't use routes. */
const NO_SUCH_TOOL: Failure = {
  code: 'ROUTE_NOT_FOUND',
  tool: 'edit',
  meant: 'edit_file',
  tools: ['edit_file', 'inspect_file']
}

/** The example of a problem with this code, as an answer to such a call. */
export function exampleOf(code: ProblemCode, call: Pick<Context, 'instance' | 'by_header' | 'naming'>) {
  const { instance, by_header = false } = call
  const naming: CallSyntax = call.naming ?? BY_ROUTE
  const { about, example } = PROBLEMS[code]
  const context: Context = {
    instance,
    request_id: '5f6b2c0e-8d5e-4f60-9a6e-0c8d2b7a9f11',
    by_header,
    naming,
    ...(about !== 'request' && { path: code === 'INVALID_PATH' ? '' : 'src/app.ts' }),
    ...(about === 'read_file' && { file_hash: '60303ae22b998861' })
  }
  const failure = naming.by_tools && code === 'ROUTE_NOT_FOUND' ? NO_SUCH_TOOL : example
  return toProblem(
    by_header && failure.code === 'ALREADY_EXISTS' && failure.reason === 'exists'
      ? { ...failure, if_none_match: true }
      : failure,
    context
  ).body
}
