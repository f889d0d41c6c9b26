// A request's edits, given one by one at the top level or as a list: the rules are those of every operation that takes
// both.
import type { TObject } from 'typebox'
import { fail, ok, type Result } from '../result.ts'
import type { OperationFailure } from './operation.ts'

/** The edits of a request, in either mode; `item` is the schema of one of them. */
export function editsOf<E extends object>(
  request: Partial<E> & { edits?: E[] },
  item: TObject
): Result<E[], OperationFailure> {
  const given: Record<string, unknown> = { ...request }
  // `replace_all: false` is what it would be anyway: it is no sign of a mode.
  const single = Object.keys(item.properties).filter(field => given[field] !== undefined && given[field] !== false)
  const required: readonly string[] = item.required ?? []
  if (request.edits !== undefined) {
    return single.length > 0 ? fail({ code: 'MIXED_MODES', fields: single }) : ok(request.edits)
  }
  if (single.length === 0) return fail({ code: 'NO_EDITS', fields: required })
  const missing = required.filter(field => given[field] === undefined)
  if (missing.length > 0) {
    return fail({
      code: 'INVALID_REQUEST',
      faults: missing.map(field => ({ pointer: `/${field}`, reason: 'missing' }))
    })
  }
  // Nothing is missing that the schema of one edit requires.
  return ok([Object.fromEntries(single.map(field => [field, given[field]])) as E])
}
