// `null` in an optional field counts as leaving it out. Knows schemas, no operation by name.
import type { TSchema } from 'typebox'

interface Shape {
  properties?: Record<string, unknown>
  required?: string[]
}

/**
 * Drops, in place, the optional fields of `schema` that hold null, also in objects that are fields of it, and in those
 * of the lists named in `items`. Unknown and required fields stay, to be refused.
 */
export function dropNulls(value: unknown, schema: TSchema, items: Record<string, TSchema> = {}): void {
  if (typeof value !== 'object' || value === null) return
  const { properties = {}, required = [] } = schema as Shape
  for (const [name, member] of Object.entries(value)) {
    if (member === null) {
      if (Object.hasOwn(properties, name) && !required.includes(name)) Reflect.deleteProperty(value, name)
    } else if (!Array.isArray(member) && typeof member === 'object' && Object.hasOwn(properties, name)) {
      dropNulls(member, properties[name] as TSchema)
    } else if (Array.isArray(member) && Object.hasOwn(items, name)) {
      for (const item of member) dropNulls(item, items[name] ?? {})
    }
  }
}
