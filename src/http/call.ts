// A call of an operation, from any route or tool: takes a parsed body, returns an answer or a problem. Does not know
// routes, or any operation by name.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { TSchema } from 'typebox'
import type { ChangeResult } from '../../schemas/outcome.ts'
import type { AuditedCall } from '../audit/audit.ts'
import { refusalOfCall } from '../operations/access.ts'
import type { Callable, CallContext, CallResult, Outcome } from '../operations/operation.ts'
import { ok, type Result } from '../result.ts'
import type { Key } from '../workspace/api.ts'
import type { KeyFailure } from '../workspace/failure.ts'
import { briefOutcome, briefReplay } from './answers/brief/outcome.ts'
import type { CallSyntax } from './answers/call-names.ts'
import { type AnswerBody, toBody } from './answers/outcome.ts'
import { toProblem, type Answer, type Context, type FailedOperation } from './answers/problem.ts'
import type { Failure, KeyRefusal } from './request-failure.ts'
import { readCall } from './requests/call-fields.ts'
import { inSentNames, pointingInto, sentNamesIn, type SentNames } from './requests/field-aliases.ts'
import { fingerprintOf } from './requests/fingerprint.ts'
import { hasProperty } from './requests/json-schema.ts'
import { readPreconditions } from './requests/preconditions.ts'
import { traceOf, type TraceContext } from './requests/traceparent.ts'
import { requestReader, type RequestFields, type RequestReader } from './requests/request-reader.ts'

/**
 * A call. `body` is parsed strict JSON. `headers` may hold preconditions, the caller's name and an idempotency key.
 * `instance` and `request_id` identify the call in a problem; `naming` says how a problem names other calls. `onAnswer`
 * is called once with the outcome, also if the call throws. `client`: see `CallContext`.
 */
export interface Call {
  body: unknown
  headers: IncomingHttpHeaders
  instance: string
  request_id: string
  naming?: CallSyntax
  /**
   * Set if the caller used other names for the fields of `body`: pointers to them → pointers with the caller's names,
   * which problems then use.
   */
  sentNames?: SentNames
  /** How the body was understood before it was made; among the answer's warnings. */
  understood?: readonly string[]
  /** See `CallContext`. */
  subject?: CallContext['subject']
  /** The caller's name if the request doesn't state one. */
  agent?: string
  /** The caller's address: an IP address, or another process. */
  address?: string
  /** Defaults for fields that the request leaves out; only those that the operation has are used. */
  defaults?: Readonly<Record<string, unknown>>
  onAnswer?(summary: CallSummary, made: EndedCall): void
  client?: CallContext['client']
  /** See `CallContext`. */
  clears_below?: CallContext['clears_below']
}

/** A finished call: the request, null if it couldn't be read; the answer, null if the call threw. */
export interface EndedCall {
  request: RequestFields | null
  answer: CallAnswer | null
}

/** The outcome of a call, for the log. Apart from the path, holds nothing that was sent or is in the file. */
export interface CallSummary {
  /** The tool's name, whichever way the operation was called. */
  operation?: string
  /** The path as it was sent; if none was, that of the only changed file. */
  path?: string
  /** The problem's code. */
  code?: string
  /** Why a token was refused; only for requests that made no call. */
  reason?: string
  /** The file's hash before the call. */
  hash_before?: string
  /** The file's hash after the call; only if the file was written. */
  hash_after?: string
  /** The answer is that of an earlier request with the same idempotency key; nothing was done. */
  replayed?: true
  /** See `TraceContext`. */
  trace_id?: string
  span_id?: string
  duration_ms?: number
}

/** An answer with its headers: a success, which has no `code`, or a problem. `text` is the answer for a model. */
export type CallAnswer = Answer | Done

/** A success. `value`: what the operation returned. */
export interface Done {
  body: AnswerBody
  value: Outcome
  headers: Record<string, string>
  text(): string
}

export type MakeCall = (call: Call) => Promise<CallAnswer>

/** The header that marks a replayed answer. */
const REPLAYED = 'idempotency-replayed'

const NONE: SentNames = new Map()

const callers = new WeakMap<object, MakeCall>()

/** Milliseconds since `start`, with one decimal. */
export const since = (start: number): number => Math.round((performance.now() - start) * 10) / 10

/**
 * The function that calls an operation: reads the body, checks preconditions, runs it. Made once per operation, at its
 * first call, for all routes and tools.
 */
export function caller<Request extends RequestFields>(operation: Callable<Request>): MakeCall {
  return call => {
    const known = callers.get(operation)
    if (known !== undefined) return known(call)
    const made = makeCaller(operation)
    callers.set(operation, made)
    return made(call)
  }
}

/** Readers by schema and id: all workspaces share them, since making one takes about 20 ms. */
const readers = new WeakMap<object, Map<string, unknown>>()

function readerOf<Request extends RequestFields>(operation: Callable<Request>): RequestReader<Request> {
  const made = readers.get(operation.request) ?? new Map<string, unknown>()
  readers.set(operation.request, made)
  const reader = (made.get(operation.id) as RequestReader<Request> | undefined) ?? requestReader(operation)
  made.set(operation.id, reader)
  return reader
}

/** A short hash of everything known about a client. */
const senderOf = (known: readonly (string | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(known)).digest('hex').slice(0, 16)

/** Carries out a call whose body has been read, or refuses it. */
async function answerTo<Request extends RequestFields>(
  operation: Callable<Request>,
  taken: ReturnType<RequestReader<Request>>,
  call: Omit<Call, 'body' | 'onAnswer'>,
  audit: AuditedCall | undefined
): Promise<CallAnswer> {
  const { headers, subject, agent, address, defaults, naming, client, clears_below } = call
  const refused = (failure: Failure, about: Partial<Context>) => {
    const { instance, request_id, sentNames = NONE } = call
    return toProblem(inSentNames(failure, sentNames), { instance, request_id, naming, ...about })
  }
  if (!taken.ok) {
    const { failure, changed_before, ...about } = taken.failure
    if (failure.code !== 'EMPTY_OLD_TEXT' || about.path === undefined || changed_before === true) {
      return refused(failure, about)
    }
    const there = await operation.emptinessOf?.(about.path)
    const made = { name: operation.id, arguments: { path: about.path } }
    return refused({ ...failure, there }, { ...about, ...(failure.new_text !== undefined && { made }) })
  }
  const { request: sent, target, warnings, sentNames } = taken.value
  const { path } = sent
  const beyond = refusalOfCall(operation, sent, subject)
  if (beyond !== null) return refused(beyond, { path })
  const read = readCall(headers, sent, operation)
  if (!read.ok) return refused(inSentNames(read.failure, sentNames), { path })
  const { request, key } = read.value
  const claimed = agent === undefined ? read.value.caller : { agent, ...read.value.caller }
  audit?.by(claimed)
  const sender = senderOf([address, headers['user-agent'], agent])
  const caller = { ...claimed, sender, token: subject?.name }
  const is_named = read.value.caller.agent !== undefined || read.value.caller.session !== undefined
  const conditions = readPreconditions(headers, target, request.expected_hash)
  if (!conditions.ok) return refused(conditions.failure, { path })
  const { expected_hash, if_none_match } = conditions.value
  const by_header = expected_hash !== undefined
  const conditional = by_header ? { ...request, expected_hash } : request
  const made = { name: operation.id, arguments: request as Record<string, unknown> }
  const whole = defaults === undefined ? conditional : filled(operation, conditional, defaults)
  const work = (held?: Key) =>
    operation.call(whole, { subject, if_none_match, caller, is_named, key: held, audit, client, clears_below })
  const { keyed } = operation
  const carried =
    key === undefined || keyed === undefined
      ? ok({ called: await work(), replayed: false })
      : await carryOutOnce({ id: operation.id, keyed }, { key, subject }, { ...conditional, ...conditions.value }, work)
  if (!carried.ok) return refused(refusalOf(carried.failure), { path })
  const { called, replayed } = carried.value
  if (!called.ok) {
    const named = (failed: FailedOperation): FailedOperation => {
      const at = failed.part === undefined ? '' : `/${operation.many_in}/${failed.part.operation_index}`
      return { ...failed, failure: pointingInto(inSentNames(failed.failure, sentNamesIn(sentNames, at)), at) }
    }
    const { ok: _, others, untried, ...first } = called
    const { failure, ...about } = named(first)
    const all = { others: others?.map(named), untried }
    return refused(failure, { ...about, ...all, by_header, made })
  }
  const { outcome } = called.value
  const sha256 = 'sha256' in outcome ? outcome.sha256 : undefined
  const answer = toBody(called.value, [...(call.understood ?? []), ...warnings], naming)
  const text = () => briefOutcome(called.value, answer, made, naming)
  const answerHeaders: Record<string, string> = sha256 === undefined ? {} : { etag: `"${sha256}"` }
  if (replayed) answerHeaders[REPLAYED] = 'true'
  return {
    body: answer,
    value: called.value,
    headers: answerHeaders,
    text: replayed ? () => briefReplay(text()) : text
  }
}

function makeCaller<Request extends RequestFields>(operation: Callable<Request>): MakeCall {
  const read = readerOf(operation)
  return async call => {
    const start = performance.now()
    const trace = traceOf(call.headers)
    let path: string | undefined
    let request: RequestFields | null = null
    let audit: AuditedCall | undefined
    const tell = (outcome: CallSummary, answer: CallAnswer | null) => {
      const { code, replayed } = outcome
      const about = answer !== null && 'code' in answer.body ? answer.body.path : undefined
      audit?.end(code !== undefined ? 'refused' : replayed ? 'replayed' : 'unchanged', {
        path: path ?? outcome.path ?? about,
        code
      })
      const summary: CallSummary = { operation: operation.id }
      if (path !== undefined) summary.path = path
      Object.assign(summary, outcome, trace)
      summary.duration_ms = since(start)
      call.onAnswer?.(summary, { request, answer })
    }
    try {
      const taken = read(call.body, call.naming?.by_tools === true)
      path = taken.ok ? taken.value.request.path : taken.failure.path
      if (taken.ok) request = taken.value.request
      // A dry run writes nothing, so it isn't audited.
      if (!taken.ok || taken.value.request.dry_run !== true) audit = auditOf(operation, call, trace)
      const answer = await answerTo(operation, taken, call, audit)
      tell(REPLAYED in answer.headers ? { replayed: true } : summaryOf(answer.body), answer)
      return answer
    } catch (error) {
      tell({ code: 'INTERNAL_ERROR' }, null)
      throw error
    }
  }
}

const auditOf = (
  { id, audit }: Pick<Callable, 'id' | 'audit'>,
  { request_id, subject }: Pick<Call, 'request_id' | 'subject'>,
  trace: TraceContext | undefined
): AuditedCall | undefined =>
  audit?.call({
    operation: id,
    request_id,
    subject: subject?.name,
    trace
  })

/** What was done for a request, or for the earlier one with its key. */
interface Carried {
  called: CallResult
  replayed: boolean
}

/**
 * Runs a request with an idempotency key only if the same request wasn't already run with this key, for this operation,
 * through any route or tool. Keys of different tokens are independent. `content`: the request without its key.
 */
async function carryOutOnce(
  { id, keyed }: Required<Pick<Callable, 'id' | 'keyed'>>,
  { key, subject }: { key: string; subject: Call['subject'] },
  content: object,
  work: (held: Key) => Promise<CallResult>
): Promise<Result<Carried, KeyFailure>> {
  const scope = subject === undefined ? id : `${id} ${JSON.stringify(subject.name)}`
  const carried = await keyed({ scope, key, fingerprint: fingerprintOf(content) }, work)
  if (!carried.ok) return carried
  if ('done' in carried.value) return ok({ called: carried.value.done, replayed: false })
  // It was returned by a call of this operation.
  return ok({ called: ok(carried.value.replayed as Outcome), replayed: true })
}

/** Fills in the defaults for fields that a request leaves out; for a list of requests, in each of them. */
function filled<Request extends RequestFields>(
  { request, items, many_in }: Callable<Request>,
  fields: Request,
  defaults: NonNullable<Call['defaults']>
): Request {
  const of = (schema: TSchema) =>
    Object.fromEntries(Object.entries(defaults).filter(([field]) => hasProperty(schema, field)))
  const whole = { ...of(request), ...fields }
  if (many_in === undefined) return whole
  const each = of(items[many_in]!)
  const list = (fields as Record<string, unknown>)[many_in] as object[]
  return { ...whole, [many_in]: list.map(one => ({ ...each, ...one })) }
}

const refusalOf = (failure: KeyFailure): KeyRefusal =>
  failure.code === 'HISTORY_GONE' ? { ...failure, keyed: true } : failure

/** Summarizes an answer for the log. */
function summaryOf(body: CallAnswer['body']): CallSummary {
  if ('code' in body) return { code: body.code, hash_before: body.file_hash }
  if ('results' in body) {
    const [only, ...others] = body.results
    return only === undefined || others.length > 0 ? {} : { path: only.path, ...ofChange({ ...body, ...only }) }
  }
  if (!('changed' in body)) return 'file_hash' in body ? { hash_before: body.file_hash } : {}
  return ofChange(body)
}

/** Summarizes the change of one file. */
function ofChange(body: Pick<ChangeResult, 'hash_before' | 'file_hash' | 'changed' | 'dry_run'>): CallSummary {
  const { hash_before, file_hash, changed, dry_run } = body
  const summary: CallSummary = {}
  if (hash_before !== undefined) summary.hash_before = hash_before
  if (changed && !dry_run && file_hash !== undefined) summary.hash_after = file_hash
  return summary
}
