// Converts JSON Schemas to the forms that tool hosts accept: without references, two strict forms, and the plainest.
// Does not know any operation by name.
import type { TSchema } from 'typebox'
import type { Operation } from '../../operations/operation.ts'
import { listed } from '../answers/phrases.ts'
import { toJsonSchema, type JsonSchema } from '../requests/json-schema.ts'

/** Schemas by `$id`, for references. */
export type Components = ReadonlyMap<string, TSchema>

export const componentsById = (schemas: readonly TSchema[]): Components =>
  new Map(schemas.map(schema => [toJsonSchema(schema).$id ?? '', schema]))

/** A plain copy of a schema with every reference replaced by its target. */
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

/** The schema of an operation's request without references and without fields that a model need not know. */
export function inputsOf({ request, tool_fields, call_fields = [] }: Operation, components: Components): JsonSchema {
  const schema = inlined(request, components)
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name]) => tool_fields?.includes(name) ?? !(call_fields as readonly string[]).includes(name)
  )
  return { ...schema, properties: mapped(Object.fromEntries(fields), oneOfList) }
}

/** For a field that takes one value or a list of them: the schema of one value. */
function oneOfList(field: JsonSchema): JsonSchema {
  const { anyOf: [one, list] = [], description } = field
  return one !== undefined && list?.type === 'array' ? { ...one, description } : field
}

/** Keywords that every host's strict mode accepts. The server itself checks bounds and patterns. */
const KEPT = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'anyOf']

/**
 * A schema as shown to a model: names and types, closed objects, and no prose except `hints`, by top-level field. Every
 * request to the model carries it.
 */
export function brief(schema: JsonSchema, hints: Readonly<Record<string, string>>): JsonSchema {
  const bare = kept(schema)
  return {
    ...bare,
    properties: mapped(bare.properties ?? {}, (property, name) => {
      const description = hints[name]
      return description === undefined ? property : { ...property, description }
    })
  }
}

function kept(schema: JsonSchema): JsonSchema {
  const bare: JsonSchema = Object.fromEntries(Object.entries(schema).filter(([keyword]) => KEPT.includes(keyword)))
  if (bare.items !== undefined) bare.items = kept(bare.items)
  if (bare.anyOf !== undefined) bare.anyOf = bare.anyOf.map(kept)
  if (bare.properties === undefined) return bare
  return { ...bare, additionalProperties: false, properties: mapped(bare.properties, kept) }
}

const mapped = (properties: Record<string, JsonSchema>, change: (property: JsonSchema, name: string) => JsonSchema) =>
  Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, change(property, name)]))

/** Applies `change` to a schema and each schema in it, innermost first. */
function changed(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items } = schema
  return change({
    ...schema,
    ...(properties !== undefined && { properties: mapped(properties, property => changed(property, change)) }),
    ...(items !== undefined && { items: changed(items, change) })
  })
}

/** A schema without unions: a field that takes words or a number becomes text, since we read numbers from text too. */
export const withoutUnions = (schema: JsonSchema): JsonSchema =>
  changed(schema, part => {
    const { anyOf, description, ...rest } = part
    if (anyOf === undefined) return part
    const words = listed([...anyOf.flatMap(({ enum: values = [] }) => values as string[]), 'a number'], 'or')
    const sentence = description === undefined ? '' : `${description} `
    return { ...rest, type: 'string', description: `${sentence}Send ${words}, as a string.` }
  })

/**
 * A brief schema for hosts that run models of many vendors: at the top only `type`, `properties` and `required`, and no
 * unions.
 */
export const open = (schema: JsonSchema): JsonSchema =>
  changed(withoutUnions(schema), ({ additionalProperties: _, ...rest }) => rest)

/**
 * An `open` schema in the subset of OpenAPI 3.0 that Gemini accepts: type names in capitals, `enum` only for strings.
 */
export const asOpenApi = (schema: JsonSchema): JsonSchema =>
  changed(open(schema), ({ type, enum: values, ...rest }) => ({
    type: String(type).toUpperCase(),
    ...(type === 'string' && values !== undefined && { enum: values }),
    ...rest
  }))

function nullable(schema: JsonSchema): JsonSchema {
  if (schema.anyOf !== undefined) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  return {
    ...schema,
    type: [schema.type as string, 'null'],
    ...(schema.enum !== undefined && { enum: [...schema.enum, null] })
  }
}

/** OpenAI's strict form of a brief schema: every field is required, and null stands for a field left out. */
export function withNulls(schema: JsonSchema): JsonSchema {
  const { properties, required = [], items } = schema
  return {
    ...schema,
    ...(items !== undefined && { items: withNulls(items) }),
    ...(properties !== undefined && {
      required: Object.keys(properties),
      properties: mapped(properties, (property, name) =>
        required.includes(name) ? withNulls(property) : nullable(withNulls(property))
      )
    })
  }
}

/** Fields that only shape the answer or are seldom needed; dropping them keeps the schema small. */
const SELDOM_NEEDED = ['show_diff', 'max_diff_lines', 'context_lines', 'line_endings', 'syntax']

/**
 * A brief schema with the fewest optional fields, for hosts that limit their number: if the operation takes a list,
 * only the list, and no seldom needed fields.
 */
export function lean(schema: JsonSchema, lists: readonly string[]): JsonSchema {
  const own = schema.properties ?? {}
  const single = lists.flatMap(list => Object.keys(own[list]?.items?.properties ?? {}))
  const fields = Object.entries(own).filter(([name]) => !SELDOM_NEEDED.includes(name) && !single.includes(name))
  const properties = Object.fromEntries(
    fields.map(([name, field]) => [name, lists.includes(name) ? onlyList(field, own) : field])
  )
  return { ...schema, properties, required: [...(schema.required ?? []), ...lists] }
}

/** A list whose items get the prose of the single fields that it replaces. */
const onlyList = ({ items = {}, ...list }: JsonSchema, single: Record<string, JsonSchema>): JsonSchema => ({
  ...list,
  ...(list.description !== undefined && { description: list.description.replace(/, instead of .*$/, '.') }),
  items: {
    ...items,
    properties: mapped(items.properties ?? {}, (property, name) => ({ ...property, ...single[name] }))
  }
})

/** The number of optional fields in a schema, at all levels. */
export function optionalFields(schema: JsonSchema): number {
  const { properties = {}, required = [], items } = schema
  const own = Object.keys(properties).filter(name => !required.includes(name)).length
  return (
    own +
    Object.values(properties).reduce((sum, property) => sum + optionalFields(property), 0) +
    (items === undefined ? 0 : optionalFields(items))
  )
}
