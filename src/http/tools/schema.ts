// JSON Schemas in the forms that tool hosts accept: without references, and the two strict ones. Does not know any
// operation by name.
import type { TSchema } from 'typebox'
import { toJsonSchema, type JsonSchema } from '../requests/json-schema.ts'

/** Schemas by their `$id`, to which others refer. */
export type Components = ReadonlyMap<string, TSchema>

export const componentsById = (schemas: readonly TSchema[]): Components =>
  new Map(schemas.map(schema => [toJsonSchema(schema).$id ?? '', schema]))

/** A plain copy of a schema in which every reference is what it refers to. */
export function inlined(schema: TSchema, components: Components): JsonSchema {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    const { $id, $ref, ...rest } = value as Record<string, unknown>
    if (typeof $ref === 'string') return copy(components.get($ref.slice(0, -1)))
    return Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, copy(member)]))
  }
  return copy(schema) as JsonSchema
}

/** Keywords that every host's strict mode takes; bounds and patterns are left to the server to check. */
const KEPT = ['type', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'anyOf']

function kept(schema: JsonSchema, ofObject: (object: JsonSchema) => JsonSchema): JsonSchema {
  const bare: JsonSchema = Object.fromEntries(Object.entries(schema).filter(([keyword]) => KEPT.includes(keyword)))
  if (bare.items !== undefined) bare.items = kept(bare.items, ofObject)
  if (bare.anyOf !== undefined) bare.anyOf = bare.anyOf.map(branch => kept(branch, ofObject))
  if (bare.properties === undefined) return bare
  return ofObject({
    ...bare,
    additionalProperties: false,
    properties: mapped(bare.properties, property => kept(property, ofObject))
  })
}

const mapped = (properties: Record<string, JsonSchema>, change: (property: JsonSchema, name: string) => JsonSchema) =>
  Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, change(property, name)]))

function nullable(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  return {
    ...schema,
    type: [schema.type as string, 'null'],
    ...(schema.enum !== undefined && { enum: [...schema.enum, null] })
  }
}

/** Every field required, and null for what would be left out: the strict form of OpenAI. */
export const withNulls = (schema: JsonSchema): JsonSchema =>
  kept(schema, object => {
    const { properties = {}, required = [] } = object
    return {
      ...object,
      required: Object.keys(properties),
      properties: mapped(properties, (property, name) => (required.includes(name) ? property : nullable(property)))
    }
  })

/** Fields that only shape the answer or are seldom needed; leaving them out keeps the schema small. */
const SELDOM_NEEDED = ['show_diff', 'max_diff_lines', 'context_lines', 'line_endings', 'syntax']

/**
 * As few optional fields as the operation can do with: where it takes a list, only that, and nothing that is seldom
 * needed. For hosts that count optional fields.
 */
export function lean(schema: JsonSchema, lists: readonly string[]): JsonSchema {
  const single = lists.flatMap(list => Object.keys(schema.properties?.[list]?.items?.properties ?? {}))
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name]) => !SELDOM_NEEDED.includes(name) && !single.includes(name)
  )
  const properties = Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      lists.includes(name)
        ? ({ ...field, description: field.description?.replace(/ Not together with .*$/, '') } as JsonSchema)
        : field
    ])
  )
  return kept({ ...schema, properties, required: [...(schema.required ?? []), ...lists] }, object => object)
}

/** How many optional fields a schema has, at all its levels. */
export function optionalFields(schema: JsonSchema): number {
  const { properties = {}, required = [], items } = schema
  const own = Object.keys(properties).filter(name => !required.includes(name)).length
  return (
    own +
    Object.values(properties).reduce((sum, property) => sum + optionalFields(property), 0) +
    (items === undefined ? 0 : optionalFields(items))
  )
}
