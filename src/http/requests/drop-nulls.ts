// `null` in an optional field counts as leaving it out. Knows schemas, but no operation by name.
import type { TSchema } from 'typebox'
import { propertiesOf, requiredOf } from './json-schema.ts'

/**
 * A copy of a value without the optional fields of `schema` that hold null, also in nested objects. `parts`: the
 * schemas, by field, of objects in lists and of fields for which `schema` has only a reference. Unknown and required
 * fields stay, and are refused later. Doesn't change the value itself.
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

/** Whether a value holds a null at any depth. Most don't, and needn't be copied. */
const holdsNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(holdsNull))
