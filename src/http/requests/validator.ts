// Validates values against schemas and returns Ajv's errors. Does not know operations or sentences.
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

/** Returns the errors of a value against a schema; doesn't change the value. */
type Validator = (schema: TSchema, value: unknown) => readonly SchemaError[]

function makeAjv(schemas: readonly TSchema[]): Ajv {
  const options = { allErrors: true, verbose: true, meta: false, validateSchema: false }
  return new Ajv({ ...options, schemas: [...new Set(schemas)] })
}

/**
 * A validator for these schemas, which may refer to one another by `$id`. Each is compiled when it first validates a
 * value.
 */
export function makeValidator(schemas: readonly TSchema[]): Validator {
  let ajv: Ajv | undefined
  const compiled = new WeakMap<TSchema, ValidateFunction>()
  return (schema, value) => {
    ajv ??= makeAjv(schemas)
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? [] : (validate.errors ?? [])
  }
}
