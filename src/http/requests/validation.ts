// What the schema that failed says against a request, in plain words. Knows Ajv's records, no operation.
import { closest, distance } from 'fastest-levenshtein'
import type { TSchema } from 'typebox'
import { ALLOWED } from '../../../schemas/common.ts'
import { escapePointer } from './json.ts'
import type { Failure, InvalidField, RequestFailure } from '../failure.ts'
import type { SchemaError } from './validator.ts'
import { counted, listed } from '../answers/phrases.ts'

/**
 * What the words need to know of the operation. `within`: its name, where the route is that of another; `elsewhere`:
 * which ones have a field.
 */
export interface Validated {
  request: TSchema
  items: Readonly<Record<string, TSchema>>
  within?: string
  elsewhere?: (field: string) => string[]
}

/** So many faults are told at once. */
const ERRORS_MAX = 20

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null'
}

const kindOf = (value: unknown) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : TYPES[typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value]

const unescape = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** What is at a pointer; undefined if nothing. */
function valueAt(body: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, part) => {
      return typeof value === 'object' && value !== null
        ? Object.entries(value).find(([key]) => key === unescape(part))?.[1]
        : undefined
    }, body)
}

/** A list that is longer than its schema allows; to be asked before the schema is, which looks into every item. */
export function refuseLongLists(body: unknown, { request, items }: Validated): RequestFailure | null {
  for (const name of Object.keys(items)) {
    const value = valueAt(body, `/${name}`)
    const { maxItems } = (request as { properties: Record<string, { maxItems: number }> }).properties[name] ?? {
      /* c8 ignore next 2 -- every list that is given has a bound */
      maxItems: Infinity
    }
    if (Array.isArray(value) && value.length > maxItems) {
      return { code: 'TOO_MANY_EDITS', limit: maxItems, actual: value.length }
    }
  }
  return null
}

/**
 * The failure that the schema's errors amount to. Errors that have a code of their own count only if they are the only
 * ones.
 */
export function toFailure(errors: readonly SchemaError[], body: unknown, validated: Validated): Failure {
  const first = errors[0] && ownCode(errors[0], body, validated)
  if (first && errors.every(error => ownCode(error, body, validated) !== null)) return first
  // Branches of a union fail one by one, and then the union: the union's words are enough.
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath))
  const told = errors.filter(({ keyword, instancePath }) => keyword === 'anyOf' || !unions.has(instancePath))
  return { code: 'INVALID_REQUEST', errors: told.slice(0, ERRORS_MAX).map(error => inWords(error, body, validated)) }
}

function ownCode({ keyword, instancePath }: SchemaError, body: unknown, { items }: Validated): Failure | null {
  const edits = valueAt(body, '/edits')
  const index = /^\/edits\/(\d+)\/old_text$/.exec(instancePath)?.[1]
  switch (`${keyword} ${instancePath.split('/').at(-1)}`) {
    case 'minLength old_text':
      return {
        code: 'EMPTY_OLD_TEXT',
        ...(index !== undefined && Array.isArray(edits) && { edit_index: Number(index), total_edits: edits.length })
      }
    case 'minItems edits':
      return { code: 'NO_EDITS', fields: requiredOf(items.edits) }
    case 'minLength path':
      return { code: 'INVALID_PATH', reason: 'empty' }
    case 'maxLength path':
      return { code: 'INVALID_PATH', reason: 'too_long' }
    default:
      return null
  }
}

const requiredOf = (schema: object = {}): readonly string[] => (schema as { required?: string[] }).required ?? []

/** What a schema allows, one by one: its words, what each branch of a union does, or a kind of value within bounds. */
function allowedBy({ type, enum: words, anyOf, minimum, maximum }: Record<string, unknown>): string[] {
  if (Array.isArray(words)) return words.map(word => JSON.stringify(word))
  if (Array.isArray(anyOf)) return (anyOf as Record<string, unknown>[]).flatMap(allowedBy)
  const from = minimum === undefined ? '' : ` from ${String(minimum)}`
  const to = maximum === undefined ? '' : ` to ${String(maximum)}`
  return [`${TYPES[String(type)]}${from}${to}`]
}

const sizeOf = (keyword: string, limit: unknown) =>
  counted(Number(limit), keyword.endsWith('Items') ? 'item' : 'character')

function inWords(error: SchemaError, body: unknown, validated: Validated): InvalidField {
  const { keyword, instancePath, params, message, parentSchema = {} } = error
  const at = (text: string, pointer = instancePath) => ({ pointer, message: text })
  const value = valueAt(body, instancePath)
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      const others = instancePath === '' && validated.within !== undefined ? (validated.elsewhere?.(name) ?? []) : []
      if (others.length > 0) {
        return at(`is a field of ${listed(others)}, not of ${validated.within}`, `/${escapePointer(name)}`)
      }
      const meant = suggestion(name, Object.keys(value ?? {}), Object.keys(parentSchema.properties ?? {}))
      return at(`is an unknown field${meant}`, `${instancePath}/${escapePointer(name)}`)
    }
    case 'required': {
      const pointer = `${instancePath}/${escapePointer(String(params.missingProperty))}`
      return at('is missing', pointer)
    }
    case 'type':
      return at(
        `must be ${instancePath === '' ? 'a JSON object' : TYPES[String(params.type)]}, not ${typeof value === 'number' && params.type === 'integer' ? String(value) : kindOf(value)}`
      )
    case 'enum':
    case 'anyOf': {
      const allowed = listed(allowedBy(parentSchema), 'or')
      return at(parentSchema.type === 'boolean' ? `may only be ${allowed} here; leave it out` : `must be ${allowed}`)
    }
    case 'minimum':
      return at(`must be at least ${params.limit}`)
    case 'maximum':
      return at(`must be at most ${params.limit}`)
    case 'minLength':
    case 'minItems':
      return at(params.limit === 1 ? 'must not be empty' : `must have at least ${sizeOf(keyword, params.limit)}`)
    case 'maxLength':
    case 'maxItems':
      return at(`must have at most ${sizeOf(keyword, params.limit)}`)
    case 'pattern':
      return at(`must be ${ALLOWED[String(params.pattern)] ?? `text that matches ${params.pattern}`}`)
    default:
      /* c8 ignore next 1 -- a kind of fault that no schema of ours makes yet */
      return at(message ?? 'is not valid')
  }
}

/** Of the `known` fields the one that a name was meant for, or all of them. `given`: the fields that are there. */
function suggestion(name: string, given: readonly string[], known: readonly string[]): string {
  const all = known.every(field => given.includes(field)) ? '' : ` (known fields: ${known.join(', ')})`
  // To compare takes time for each character, and a name so long is near to none.
  if (known.length === 0 || name.length > 100) return all
  const plain = (text: string) => text.replace(/[^a-z]/gi, '').toLowerCase()
  const nearest = closest(plain(name), known.map(plain))
  if (distance(plain(name), nearest) > Math.max(1, Math.floor(plain(name).length / 3))) return all
  const field = known.find(candidate => plain(candidate) === nearest) ?? ''
  return given.includes(field) ? ` (${field} is already given)` : ` (did you mean ${field}?)`
}
