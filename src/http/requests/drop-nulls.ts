// `null` in an optional field counts as leaving it out. Knows schemas, no operation by name.
import type { TSchema } from 'typebox'
import { propertiesOf, requiredOf } from './json-schema.ts'

/**
 * A value without the optional fields of `schema` that hold null, also in objects that are fields of it. `parts`: the
 * schemas of the objects of lists, and of fields for which `schema` only refers to one, by the field. Unknown and
 * required fields stay, to be refused. The value itself is not changed.
 */
export function withoutNulls(value: unknown, schema: TSchema, parts: Readonly<Record<string, TSchema>> = {}): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !holdsNull(value)) return value
  const properties = propertiesOf(schema)
  const required = requiredOf(schema)
  const known = (name: string) => Object.hasOwn(properties, name)
  const inside = (name: string, member: unknown) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined
    if (Array.isArray(member)) return part === undefined ? member : member.map(each => withoutNulls(each, part))
    return known(name) ? withoutNulls(member, part ?? properties[name]!) : member
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== null || !known(name) || required.includes(name))
      .map(([name, member]) => [name, inside(name, member)])
  )
}

/** Whether there is a null anywhere in a value, however deep. Most have none, and needn't be copied. */
const holdsNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(holdsNull))
