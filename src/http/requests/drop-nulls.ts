// `null` in an optional field counts as leaving it out. Knows schemas, no operation by name.
import type { TSchema } from 'typebox'
import { propertiesOf, requiredOf } from './json-schema.ts'

/**
 * A value without the optional fields of `schema` that hold null, also in objects that are fields of it, and in those
 * of the lists named in `items`. Unknown and required fields stay, to be refused. The value itself is not changed.
 */
export function withoutNulls(value: unknown, schema: TSchema, items: Readonly<Record<string, TSchema>> = {}): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const properties = propertiesOf(schema)
  const required = requiredOf(schema)
  const known = (name: string) => Object.hasOwn(properties, name)
  const inside = (name: string, member: unknown) => {
    if (!Array.isArray(member)) return known(name) ? withoutNulls(member, properties[name]!) : member
    const item = Object.hasOwn(items, name) ? items[name] : undefined
    return item === undefined ? member : member.map(each => withoutNulls(each, item))
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== null || !known(name) || required.includes(name))
      .map(([name, member]) => [name, inside(name, member)])
  )
}
