// Reads and validates the body of a vendor's call. Does not know any vendor, or what the call does.
import type { TSchema } from 'typebox'
import { fail, ok, type Result } from '../../result.ts'
import type { Failure } from '../request-failure.ts'
import { withoutNulls } from '../requests/drop-nulls.ts'
import { checkTexts } from '../requests/json.ts'
import { toFailure } from '../requests/validation.ts'
import { makeValidator } from '../requests/validator.ts'

/**
 * Reads a body, which is strict JSON. `parts`: the schemas that `call` refers to, by field. `schemaOf`: the schema for
 * this body if it isn't always `call`. Schemas are compiled when the first body arrives.
 */
export function bodyReader<Body>(
  call: TSchema,
  parts: Readonly<Record<string, TSchema>> = {},
  schemaOf: (fields: unknown) => TSchema = () => call
): (body: unknown) => Result<Body, Failure> {
  const validate = makeValidator(Object.values(parts))
  return body => {
    const badText = checkTexts(body)
    if (badText !== null) return fail(badText)
    const fields = withoutNulls(body, call, parts)
    const schema = schemaOf(fields)
    const faults = validate(schema, fields)
    return faults.length > 0 ? fail(toFailure(faults, fields, { request: schema, items: {} })) : ok(fields as Body)
  }
}
