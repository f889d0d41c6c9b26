// Makes JSON Schemas as typebox does, with its types, but only the functions that the schemas need. typebox itself is
// 373 modules, which took 230 ms of CPU time and 20 MB of each process (Node 20.20, two cores).
import type { Type as Typebox } from 'typebox'

type Options = Readonly<Record<string, unknown>>
/** Any schema at run time. */
type Schema = object

/** The optional fields, by their schemas. */
const optional = new WeakSet<Schema>()

const ofType =
  (type: string) =>
  (options: Options = {}): Schema => ({ type, ...options })

const functions = {
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Literal: (value: string | number | boolean, options: Options = {}): Schema => ({
    type: typeof value,
    const: value,
    ...options
  }),
  Array: (items: Schema, options: Options = {}): Schema => ({ type: 'array', items, ...options }),
  Union: (anyOf: readonly Schema[], options: Options = {}): Schema => ({ anyOf, ...options }),
  /** A schema written out by hand, with the given type. */
  Unsafe(schema: Schema): Schema {
    const copy = { ...schema }
    if (optional.has(schema)) optional.add(copy)
    return copy
  },
  Object(properties: Readonly<Record<string, Schema>>, options: Options = {}): Schema {
    const required = Object.keys(properties).filter(name => !optional.has(properties[name]!))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  /** Marks a field as optional. Returns a copy, since the same schema may be required elsewhere. */
  Optional(schema: Schema): Schema {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  }
}

/** Each function makes what typebox makes, except for the marks that typebox hides in a schema. */
export const Type = functions as unknown as Pick<typeof Typebox, keyof typeof functions>
