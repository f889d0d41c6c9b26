// Pieces that several schemas share. Knows typebox and the wire's vocabulary, not how requests are handled.
import type { Static, TProperties, TSchema } from 'typebox'
import { Type } from './type.ts'

/** A component of the published document: a closed object with a name. */
export const named = <P extends TProperties>(id: string, description: string, properties: P) =>
  Type.Object(properties, { $id: id, description, additionalProperties: false })

/** A reference to a named component. */
export const ref = <T extends TSchema & { $id?: string }>(schema: T) =>
  Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })

/**
 * A union of these components, discriminated by a member that all have, so that a generated client narrows on it;
 * returned with the components.
 */
export function byDiscriminator(
  id: string,
  description: string,
  propertyName: string,
  byValue: Record<string, TSchema & { $id?: string }>
) {
  const members = [...new Set(Object.values(byValue))]
  const mapping = Object.entries(byValue).map(([value, { $id }]) => [value, `#/components/schemas/${$id}`])
  const union = Type.Unsafe<object>({
    $id: id,
    description,
    oneOf: members.map(member => ref(member)),
    discriminator: { propertyName, mapping: Object.fromEntries(mapping) }
  })
  return { union, members }
}

/** One of these words. */
export const word = <const V extends string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: values, description })

const HASH = '^[0-9a-f]{16}$'
const WHOLE_HASH = '^[0-9a-f]{64}$'
const HASH_BEGINNING = '^[0-9a-f]{16,64}$'
const TIME = '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$'

/** The form of an edit's id. The id holds the time the edit was made, for years up to 2527. */
const EDIT_ID = '^0[0-9A-F][0-9A-HJKMNP-TV-Z]{24}$'

/** What each pattern in a request allows, in words. */
export const ALLOWED: Readonly<Record<string, string>> = {
  [HASH_BEGINNING]: 'the file_hash or sha256 of an answer: 16 to 64 hex digits in lower case',
  [TIME]: 'a date and time with its zone, such as 2026-11-22T12:40:00Z',
  [EDIT_ID]: 'the next_before of an answer, unchanged'
}

/** The first 16 digits of a file's SHA-256. */
export const hash = (description: string) => Type.String({ pattern: HASH, description })

/** The hash that a request expects: the first digits of the file's SHA-256, as many as the caller wants compared. */
export const expectedHash = (description: string) => Type.String({ pattern: HASH_BEGINNING, description })

/**
 * The full SHA-256 of the file that an answer is about. Optional, since answers stored by an earlier version lack it.
 */
export const sha256 = Type.Optional(
  Type.String({ pattern: WHOLE_HASH, description: 'The whole SHA-256, of which file_hash is the beginning.' })
)

/** The edit id with which to continue a list. */
export const nextEdit = (description: string) => Type.String({ pattern: EDIT_ID, description })

/** An RFC 3339 time. */
export const time = (description: string) => Type.String({ pattern: TIME, description })

export const requestPath = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'The file, relative to the workspace root, such as src/app.ts. An absolute path inside it is accepted.'
})

export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const line = (description: string) => Type.Integer({ minimum: 1, description })
export const answeredPath = Type.String({ description: 'The file, relative to the workspace root.' })
export const resolvedPath = Type.String({
  description: 'Where the link in path leads.'
})
export const lossy = Type.Literal(true, {
  type: 'boolean',
  description: 'true: U+FFFD stands for what is not UTF-8.'
})

/** Memoizes `make` by key, so that a schema is the same object each time and is compiled only once. */
export function madeOnce<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>()
  return key => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}
