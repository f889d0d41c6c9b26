// What a JSON Schema says, with types: typebox's own type of a schema shows none of its keywords. Does not know Ajv or
// any operation.
import type { TSchema } from 'typebox'

/** A schema with the keywords that ours have. */
export interface JsonSchema {
  $id?: string
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean
  items?: JsonSchema
  enum?: unknown[]
  anyOf?: JsonSchema[]
  minimum?: number
  maximum?: number
  maxItems?: number
  [keyword: string]: unknown
}

/** A schema of typebox as the JSON Schema that it is at run time. */
export const toJsonSchema = (schema: TSchema): JsonSchema => schema as JsonSchema

/** The fields of an object, each with its schema; none where the schema is not of an object. */
export const propertiesOf = (schema: TSchema): Readonly<Record<string, JsonSchema>> =>
  toJsonSchema(schema).properties ?? {}

export const hasProperty = (schema: TSchema, name: string): boolean => Object.hasOwn(propertiesOf(schema), name)

export const requiredOf = (schema: TSchema): readonly string[] => toJsonSchema(schema).required ?? []

/** How many items the list in this field may have; without a bound Infinity. */
export const maxItemsOf = (schema: TSchema, list: string): number => propertiesOf(schema)[list]?.maxItems ?? Infinity
