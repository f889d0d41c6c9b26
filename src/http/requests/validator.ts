// Validates values against schemas; the result is Ajv's errors. Does not know operations or sentences.
import { Ajv, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { JsonSchema } from './json-schema.ts'

/** One of Ajv's errors. `parentSchema`: the schema with the keyword that failed. */
export interface SchemaError {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message?: string
  parentSchema?: JsonSchema
}

/** The errors of a value against a schema; the value is not changed. */
export type Validator = (schema: TSchema, value: unknown) => readonly SchemaError[]

/** A validator of these schemas, which may refer to one another by their `$id`. */
export function makeValidator(schemas: readonly TSchema[]): Validator {
  const options = { allErrors: true, verbose: true, meta: false, validateSchema: false }
  const ajv = new Ajv({ ...options, schemas: [...new Set(schemas)] })
  const compiled = new WeakMap<TSchema, ValidateFunction>()
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? [] : (validate.errors ?? [])
  }
}
