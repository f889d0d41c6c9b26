// Typed access to a JSON Schema's keywords, which typebox's own type of a schema doesn't show. Does not know Ajv or any
// operation.
import type { TSchema } from 'typebox'

/** A schema with the keywords that ours use. */
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

/** A typebox schema as the JSON Schema that it is at run time. */
export const toJsonSchema = (schema: TSchema): JsonSchema => schema as JsonSchema

/** An object schema's fields, each with its schema; none if the schema is not an object's. */
export const propertiesOf = (schema: TSchema): Readonly<Record<string, JsonSchema>> =>
  toJsonSchema(schema).properties ?? {}

export const hasProperty = (schema: TSchema, name: string): boolean => Object.hasOwn(propertiesOf(schema), name)

export const requiredOf = (schema: TSchema): readonly string[] => toJsonSchema(schema).required ?? []

/** The most items that the list in this field may have; Infinity if unbounded. */
export const maxItemsOf = (schema: TSchema, list: string): number => propertiesOf(schema)[list]?.maxItems ?? Infinity
