// Turns a parsed body into the request that an operation is called with: checks texts, aliases, lists, nulls and
// schema, in this order. Does not know headers, or any operation by name.
import type { Callable, FailedPart } from '../../operations/operation.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { Failure } from '../request-failure.ts'
import { targetFinder, type TargetOperation } from './delegated-body.ts'
import { withoutNulls } from './drop-nulls.ts'
import { inSentNames, pointingInto, translate, type SentNames } from './field-aliases.ts'
import { checkTexts } from './json.ts'
import { invalidFields, refuseLongLists, toFailure } from './validation.ts'

/** The fields that every request has, and those that preconditions and keys need. */
export interface RequestFields {
  path?: string
  expected_hash?: string
  dry_run?: boolean
}

/** A body that passed all checks. */
interface ReadRequest<Request extends RequestFields> {
  /** As the schema describes it: in our names, without nulls in optional fields. */
  request: Request
  /** The operation that it is for. */
  target: TargetOperation
  warnings: string[]
  sentNames: SentNames
}

/** A body that failed a check. `path`: the file it is about, if it says so. */
interface RefusedBody {
  failure: Failure
  path?: string
  /** The part that failed, if there are several. */
  part?: FailedPart
  /** An earlier part names the same path, so it may change what is there. */
  changed_before?: true
}

/**
 * Reads a body, which is strict JSON and isn't changed. `isTool`: it has the arguments of a tool call, to which the
 * model's host may have added fields.
 */
export type RequestReader<Request extends RequestFields> = (
  body: unknown,
  isTool?: boolean
) => Result<ReadRequest<Request>, RefusedBody>

/** Makes a reader. Compiling the schemas takes about 20 ms, so make a reader only once. */
export function requestReader<Request extends RequestFields>(operation: Callable<Request>): RequestReader<Request> {
  const targetOf = targetFinder(operation)
  return (body, isTool = false) => {
    const badText = checkTexts(body)
    if (badText !== null) return fail({ failure: badText })
    const target = targetOf(body)
    const { body: translated, warnings, sentNames, failure, part } = translate(body, target, isTool)
    const refused = (reason: Failure) => fail({ failure: reason, ...pathIn(translated) })
    if (part !== undefined) return fail(refusedPart(partsOf(translated, target)[part]!, failure!))
    if (failure !== null) return refused(failure)
    // Checked before anything visits every item.
    const tooLong = refuseLongLists(translated, target)
    if (tooLong !== null) return refused(tooLong)
    const longPart = firstRefusal(partsOf(translated, target))
    if (longPart !== null) return fail(longPart)
    const fields = withoutNullsIn(translated, target)
    const faults = target.faultsOf(fields)
    const parts = partsOf(fields, target)
    const wrong = parts.flatMap(part => {
      const faults = part.target.faultsOf(part.body)
      return faults.length > 0 ? [{ ...part, faults }] : []
    })
    const [first, ...others] = wrong
    if (first !== undefined && others.length === 0 && faults.length === 0) {
      const failure = pointingInto(toFailure(first.faults, first.body, first.target), first.at)
      const refused = refusedPart(first, inSentNames(failure, sentNames))
      const isNamedBefore = parts.slice(0, first.index).some(({ body }) => names(body, refused.path))
      return fail({ ...refused, ...(isNamedBefore && { changed_before: true }) })
    }
    if (first !== undefined) {
      const errors = invalidFields(faults, fields, target)
      for (const { faults, body, target, at } of wrong) {
        const own: Failure = { code: 'INVALID_REQUEST', errors: invalidFields(faults, body, target) }
        errors.push(...pointingInto(own, at).errors)
      }
      return refused(inSentNames({ code: 'INVALID_REQUEST', errors }, sentNames))
    }
    if (faults.length > 0) return refused(inSentNames(toFailure(faults, fields, target), sentNames))
    return ok({ request: fields as Request, target, warnings, sentNames })
  }
}

/** One of several requests in a body. `at`: a pointer to it. */
interface Part {
  body: unknown
  target: TargetOperation
  at: string
  /** The field that holds the list. */
  list: string
  index: number
}

function partsOf(body: unknown, { parts }: TargetOperation): Part[] {
  if (parts === undefined || typeof body !== 'object' || body === null) return []
  const list = (body as Record<string, unknown>)[parts.field]
  if (!Array.isArray(list)) return []
  return list.map((part: unknown, index) => ({
    body: part,
    target: parts.targetOf(part),
    at: `/${parts.field}/${index}`,
    list: parts.field,
    index
  }))
}

/** The failure of the first part with a list that is too long. */
function firstRefusal(parts: readonly Part[]): RefusedBody | null {
  for (const part of parts) {
    const tooLong = refuseLongLists(part.body, part.target)
    if (tooLong !== null) return refusedPart(part, tooLong)
  }
  return null
}

function refusedPart(
  { body, target: { within: operation }, list, index: operation_index }: Part,
  failure: Failure
): RefusedBody {
  const part = {
    operation_index,
    ...(list !== 'operations' && { list }),
    operation,
    after: []
  }
  return { failure, part, ...pathIn(body) }
}

/** The body without the nulls that mean absent, also in its parts. */
function withoutNullsIn(body: unknown, target: TargetOperation): unknown {
  const fields = target.nullable.reduce((rest, { request, items }) => withoutNulls(rest, request, items), body)
  const parts = partsOf(fields, target)
  if (parts.length === 0) return fields
  return { ...(fields as object), [target.parts!.field]: parts.map(part => withoutNullsIn(part.body, part.target)) }
}

/** Whether an operation of a batch may be about this path. */
const names = (body: unknown, path = ''): boolean => JSON.stringify(body).includes(JSON.stringify(path).slice(1, -1))

const pathIn = (body: unknown) =>
  typeof body === 'object' && body !== null && 'path' in body && typeof body.path === 'string'
    ? { path: body.path }
    : {}
