// A parsed body → the request that an operation is called with: texts, aliases, lists, nulls, schema, in this order.
// Does not know headers, or any operation by name.
import type { Operation } from '../../operations/operation.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { Failure } from '../failure.ts'
import { targetFinder, type TargetOperation } from './delegated-body.ts'
import { withoutNulls } from './drop-nulls.ts'
import { inSentNames, translate, type SentNames } from './field-aliases.ts'
import { checkTexts } from './json.ts'
import { refuseLongLists, toFailure } from './validation.ts'

/** What every request has, and what preconditions and keys need of it. */
export interface RequestFields {
  path?: string
  expected_hash?: string
  dry_run?: boolean
}

/** A body that passed. */
export interface ReadRequest<Request extends RequestFields> {
  /** As the schema has it: in our names, without nulls in optional fields. */
  request: Request
  /** The operation that it is for. */
  target: TargetOperation
  warnings: string[]
  sentNames: SentNames
}

/** A body that did not. `path`: of the file that it is about, where it says so. */
export interface RefusedBody {
  failure: Failure
  path?: string
}

/** Reads a body, which is strict JSON and is not changed. */
export type RequestReader<Request extends RequestFields> = (body: unknown) => Result<ReadRequest<Request>, RefusedBody>

/** Compiling the schemas takes some 20 ms: make a reader once. */
export function requestReader<Request extends RequestFields>(operation: Operation<Request>): RequestReader<Request> {
  const targetOf = targetFinder(operation)
  return body => {
    const badText = checkTexts(body)
    if (badText !== null) return fail({ failure: badText })
    const target = targetOf(body)
    const { body: translated, warnings, sentNames, failure } = translate(body, target)
    const refused = (reason: Failure) => fail({ failure: reason, ...pathIn(translated) })
    if (failure !== null) return refused(failure)
    // Before anything looks into every item.
    const tooLong = refuseLongLists(translated, target)
    if (tooLong !== null) return refused(tooLong)
    const fields = target.nullable.reduce((rest, { request, items }) => withoutNulls(rest, request, items), translated)
    const faults = target.faultsOf(fields)
    if (faults.length > 0) return refused(inSentNames(toFailure(faults, fields, target), sentNames))
    return ok({ request: fields as Request, target, warnings, sentNames })
  }
}

const pathIn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'path' in body && typeof body.path === 'string'
    ? { path: body.path }
    : {}
