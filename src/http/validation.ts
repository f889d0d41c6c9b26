// What the schema says against a request, in plain words. Knows Ajv's records and the names of fields, no operation.
import { closest, distance } from 'fastest-levenshtein'
import type { TSchema } from 'typebox'
import { escapePointer } from './json.ts'
import type { Failure, FieldError, RequestFailure } from './failure.ts'
import type { SchemaError } from './validator.ts'
import { listed } from './quote.ts'

/** What the words need to know of the operation. `within`: its name, where the route is that of another; `elsewhere`: which ones have a field. */
export interface Validated { request: TSchema, items: Readonly<Record<string, TSchema>>, within?: string, elsewhere?: (field: string) => string[] }

/** So many faults are told at once. */
const ERRORS_MAX = 20

const TYPES: Record<string, string> = { string: 'a string', integer: 'a whole number', number: 'a number', boolean: 'true or false', object: 'an object', array: 'a list', null: 'null' }

const kindOf = (value: unknown) => value === null ? 'null' : Array.isArray(value) ? 'a list' : TYPES[typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value]

const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** What is at a pointer; undefined if nothing. */
function valueAt (body: unknown, pointer: string): unknown {
  return pointer.split('/').slice(1).reduce<unknown>((value, part) => {
    return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === unescape(part))?.[1] : undefined
  }, body)
}

/** A list that is longer than its schema allows; to be asked before the schema is, which looks into every item. */
export function refuseLongLists (body: unknown, { request, items }: Validated): RequestFailure | null {
  for (const name of Object.keys(items)) {
    const value = valueAt(body, `/${name}`)
    const { maxItems } = (request as { properties: Record<string, { maxItems: number }> }).properties[name] ?? { maxItems: Infinity }
    if (Array.isArray(value) && value.length > maxItems) return { code: 'TOO_MANY_EDITS', limit: maxItems, actual: value.length }
  }
  return null
}

/** The failure that the schema's errors amount to. Errors that have a code of their own count only if they are the only ones. */
export function toFailure (errors: readonly SchemaError[], body: unknown, validated: Validated): Failure {
  const first = errors[0] && ownCode(errors[0], body, validated)
  if (first && errors.every(error => ownCode(error, body, validated) !== null)) return first
  // Branches of a union fail one by one, and then the union: the union's words are enough.
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath))
  const told = errors.filter(({ keyword, instancePath }) => keyword === 'anyOf' || !unions.has(instancePath))
  return { code: 'INVALID_REQUEST', errors: told.slice(0, ERRORS_MAX).map(error => inWords(error, body, validated)) }
}

function ownCode ({ keyword, instancePath }: SchemaError, body: unknown, { items }: Validated): Failure | null {
  const edits = valueAt(body, '/edits')
  const index = /^\/edits\/(\d+)\/old_text$/.exec(instancePath)?.[1]
  switch (`${keyword} ${instancePath.split('/').at(-1)}`) {
    case 'minLength old_text':
      return { code: 'EMPTY_OLD_TEXT', ...index !== undefined && Array.isArray(edits) && { edit_index: Number(index), total_edits: edits.length } }
    case 'minItems edits': return { code: 'NO_EDITS', fields: requiredOf(items.edits) }
    case 'minLength path': return { code: 'INVALID_PATH', reason: 'empty' }
    case 'maxLength path': return { code: 'INVALID_PATH', reason: 'too_long' }
    default: return null
  }
}

const requiredOf = (schema: object = {}): readonly string[] => (schema as { required?: string[] }).required ?? []

function inWords ({ keyword, instancePath, params, message }: SchemaError, body: unknown, validated: Validated): FieldError {
  const at = (text: string, pointer = instancePath) => ({ pointer, message: text })
  const value = valueAt(body, instancePath)
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const others = instancePath === '' && validated.within !== undefined ? validated.elsewhere?.(name) ?? [] : []
      if (others.length > 0) return at(`is a field of ${listed(others)}, not of ${validated.within}`, `/${escapePointer(name)}`)
      return at(`is no field here${suggestion(name, instancePath, value, validated)}`, `${instancePath}/${escapePointer(name)}`)
    }
    case 'required': {
      const pointer = `${instancePath}/${escapePointer(String(params.missingProperty))}`
      return at('is missing', pointer)
    }
    case 'type': return at(`must be ${instancePath === '' ? 'a JSON object' : TYPES[String(params.type)]}, not ${typeof value === 'number' && params.type === 'integer' ? String(value) : kindOf(value)}`)
    case 'enum': return value === false ? at('may only be true here; leave it out') : at(`must be ${(params.allowedValues as unknown[]).map(allowed => JSON.stringify(allowed)).join(' or ')}`)
    case 'anyOf': return at('must be "first", "last", "all" or a whole number from 1')
    case 'minimum': return at(`must be at least ${params.limit}`)
    case 'maximum': return at(`must be at most ${params.limit}`)
    case 'minLength':
    case 'minItems': return at('must not be empty')
    case 'maxLength': return at(`must have at most ${params.limit} characters`)
    case 'pattern': return at('must be the file_hash of an answer: 16 hex digits in lower case')
    default: return at(message ?? 'is not valid')
  }
}

/** The nearest field that exists and isn't there already. */
function suggestion (name: string, pointer: string, object: unknown, { request, items }: Validated): string {
  const list = pointer.split('/')[1]
  const schema = (list !== undefined && (items[list] ?? (request as { properties?: Record<string, object> }).properties?.[list])) || request
  const taken = new Set(Object.keys(object ?? {}))
  const known = Object.keys((schema as { properties?: object }).properties ?? {})
  const free = known.filter(field => !taken.has(field))
  if (free.length === 0) return ''
  const all = ` (there are ${known.join(', ')})`
  // To compare takes time for each character, and a name so long is near to none.
  if (name.length > 100) return all
  const plain = (text: string) => text.replace(/[^a-z]/gi, '').toLowerCase()
  const nearest = closest(plain(name), free.map(plain))
  const field = free.find(candidate => plain(candidate) === nearest) ?? ''
  return distance(plain(name), nearest) <= Math.max(2, Math.ceil(name.length / 2)) ? ` (did you mean ${field}?)` : all
}
