// A call of an operation, whichever route or tool it came through: a parsed body in, an answer or a problem out. Does not
// know routes, or any operation by name.
import type { IncomingHttpHeaders } from 'node:http'
import type { InspectResult } from '../../schemas/inspect.ts'
import type { ChangeResult } from '../../schemas/outcome.ts'
import type { Called, Operation } from '../operations/operation.ts'
import { inOwnWords, translate, type Taken } from './requests/field-aliases.ts'
import type { Failure } from './failure.ts'
import { checkTexts } from './requests/json.ts'
import type { CallSyntax } from './answers/call-names.ts'
import { dropNulls } from './requests/drop-nulls.ts'
import { toBody } from './answers/outcome.ts'
import { readPreconditions } from './requests/preconditions.ts'
import { toProblem, type Answer, type Context } from './answers/problem.ts'
import { delegatedBody } from './requests/delegated-body.ts'
import { refuseLongLists, toFailure } from './requests/validation.ts'

/**
 * What is called: `body` is strict JSON, parsed, and is taken over; `headers` may hold preconditions; `instance` and
 * `request_id` name the call in a problem, `naming` names others there.
 */
export interface Call {
  body: unknown
  headers: IncomingHttpHeaders
  instance: string
  request_id: string
  naming?: CallSyntax
}

/** What is answered: a success, which has no `code`, or a problem, with the headers that go with it. */
export type CallAnswer = Answer | { body: ChangeResult | InspectResult; headers: Record<string, string> }

export type Caller = (call: Call) => Promise<CallAnswer>

/** What an operation's `call` needs of a request that passed the schema. */
interface Body {
  path: string
  expected_hash?: string
}

const pathIn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'path' in body && typeof body.path === 'string'
    ? { path: body.path }
    : {}

/** To compile an operation's schemas takes some 20 ms: once for all doors. */
const callers = new WeakMap<object, Caller>()

/**
 * How an operation is called: texts, other tools' names, nulls, lists, schema, preconditions, in this order, then
 * itself.
 */
export function caller<Request extends Body>(operation: Operation<Request>): Caller {
  const made = callers.get(operation) ?? makeCaller(operation)
  callers.set(operation, made)
  return made
}

function makeCaller<Request extends Body>(operation: Operation<Request>): Caller {
  const { chosen, faultsOf } = delegatedBody(operation)
  return async ({ body, headers, instance, request_id, naming }) => {
    const problem = (failure: Failure, about: Partial<Context> = {}) =>
      toProblem(failure, { instance, request_id, ...(naming && { naming }), ...about })
    const unfit = checkTexts(body)
    if (unfit !== null) return problem(unfit)
    const fields = chosen(body)
    const taken = translate(body, fields)
    if (!taken.ok) return problem(taken.failure, pathIn(body))
    const refused = (failure: Failure, about: Partial<Context>) => problem(inOwnWords(failure, taken.value), about)
    // Of a body that holds another operation's, also what only its own schema knows: a strict tool sends null for every
    // field of all of them.
    if (fields.within !== undefined) dropNulls(body, operation.request, operation.items)
    dropNulls(body, fields.request, fields.items)
    const tooLong = refuseLongLists(body, fields)
    if (tooLong !== null) return problem(tooLong, pathIn(body))
    const faults = faultsOf(body)
    if (faults.length > 0) return refused(toFailure(faults, body, chosen(body)), pathIn(body))
    const request = body as Request
    const conditions = readPreconditions(headers, chosen(body), request.expected_hash)
    if (!conditions.ok) return refused(conditions.failure, pathIn(body))
    return answerOf(
      await carryOut(operation, request, conditions.value),
      taken.value,
      conditions.value.expected_hash !== undefined,
      refused
    )
  }
}

const carryOut = <Request extends Body>(
  operation: Operation<Request>,
  request: Request,
  { expected_hash, ...conditions }: { expected_hash?: string; if_none_match?: true }
) => operation.call(expected_hash === undefined ? request : { ...request, expected_hash }, conditions)

function answerOf(
  done: Called,
  { warnings }: Taken,
  by_header: boolean,
  refused: (failure: Failure, about: Partial<Context>) => Answer
): CallAnswer {
  if (!done.ok) {
    const { ok, failure, ...about } = done
    return refused(failure, { ...about, by_header })
  }
  const { file_hash } = done.value.outcome
  return { body: toBody(done.value, warnings), headers: file_hash === undefined ? {} : { etag: `"${file_hash}"` } }
}
