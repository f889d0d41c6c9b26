// Makes JSON Schemas as typebox does, and with its types: what of its functions the schemas need. typebox itself is 373
// modules, which took 230 ms of CPU time and 20 MB of each process (Node 20.20, two cores). Does not know any schema.
import type { Type as Typebox } from 'typebox'

type Options = Readonly<Record<string, unknown>>
/** Any schema, as it is at run time. */
type Schema = object

/** The fields that an object may leave out. */
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
  /** A schema that is written out, with a type that is given. */
  Unsafe(schema: Schema): Schema {
    const copy = { ...schema }
    if (optional.has(schema)) optional.add(copy)
    return copy
  },
  Object(properties: Readonly<Record<string, Schema>>, options: Options = {}): Schema {
    const required = Object.keys(properties).filter(name => !optional.has(properties[name]!))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  /**
   * The schema of a field that may be left out. Not the same object: elsewhere the schema may be of one that may not.
   */
  Optional(schema: Schema): Schema {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  }
}

/** What each makes equals what typebox makes, but for the marks that typebox hides in it. */
export const Type = functions as unknown as Pick<typeof Typebox, keyof typeof functions>
