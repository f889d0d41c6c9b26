// Reads the edits of a request, one at the top level or a list: the same rules for every operation that takes both.
import type { TObject } from 'typebox'
import { fail, ok, type Result } from '../result.ts'
import type { OperationFailure } from './operation.ts'

/** The edits of a request, in either mode; `item` is the schema of one edit. */
export function editsOf<E extends object>(
  request: Partial<E> & { edits?: E[] },
  item: TObject
): Result<E[], OperationFailure> {
  const fields = request as Record<string, unknown>
  // `replace_all: false` is the default, so it doesn't select a mode.
  const single = Object.keys(item.properties).filter(field => fields[field] !== undefined && fields[field] !== false)
  const required: readonly string[] = item.required ?? []
  if (request.edits !== undefined) {
    return single.length > 0 ? fail({ code: 'MIXED_MODES', fields: single }) : ok(request.edits)
  }
  if (single.length === 0) return fail({ code: 'NO_EDITS', fields: required })
  const missing = required.filter(field => fields[field] === undefined)
  if (missing.length > 0) {
    return fail({
      code: 'INVALID_REQUEST',
      faults: missing.map(field => ({
        pointer: `/${field}`,
        reason: field === 'new_text' && fields.old_text !== undefined ? 'no_new_text' : 'missing'
      }))
    })
  }
  // The required fields of one edit must be there.
  const edit: Record<string, unknown> = {}
  for (const field of single) edit[field] = fields[field]
  return ok([edit as E])
}
