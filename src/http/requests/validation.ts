// Puts schema errors of a request into plain words. Knows Ajv's errors, but no operation.
import { closest, distance } from 'fastest-levenshtein'
import type { TSchema } from 'typebox'
import { ALLOWED } from '../../../schemas/common.ts'
import { escapePointer } from './json.ts'
import { maxItemsOf, propertiesOf, requiredOf, type JsonSchema } from './json-schema.ts'
import type { Failure, InvalidField, RequestFailure } from '../request-failure.ts'
import type { SchemaError } from './validator.ts'
import { noTextFor } from '../answers/problems/field-faults.ts'
import { counted, listed } from '../answers/phrases.ts'

/**
 * What the messages need to know about the operation. `within`: its name, if the route is another operation's;
 * `elsewhere`: the operations that have a field; `call_fields`: those a model need not know; `of_all`: fields that
 * belong beside the list that this is an item of; `parts`: its list of operations, if it has one.
 */
export interface Validated {
  request: TSchema
  items: Readonly<Record<string, TSchema>>
  call_fields?: readonly string[]
  within?: string
  elsewhere?: (field: string) => string[]
  of_all?: readonly string[]
  parts?: { field: string }
}

/** The most faults in one answer. */
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

/** The value at a pointer; undefined if there is none. */
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

/** The failure of a list that is longer than its schema allows. Cheap, unlike validation, which visits every item. */
export function refuseLongLists(body: unknown, { request, items, parts }: Validated): RequestFailure | null {
  for (const name of Object.keys(items)) {
    const value = (body as Record<string, unknown> | null)?.[name]
    const limit = maxItemsOf(request, name)
    if (!Array.isArray(value) || value.length <= limit) continue
    const actual = value.length
    return name === parts?.field
      ? { code: 'TOO_MANY_OPERATIONS', what: 'operations', limit, actual }
      : { code: 'TOO_MANY_EDITS', limit, actual }
  }
  return null
}

/** The failure for these schema errors. Errors with a code of their own count only if there are no others. */
export function toFailure(errors: readonly SchemaError[], body: unknown, validated: Validated): Failure {
  const first = errors[0] && ownCode(errors[0], body, validated)
  if (first && errors.every(error => ownCode(error, body, validated) !== null)) return first
  return { code: 'INVALID_REQUEST', errors: invalidFields(errors, body, validated) }
}

/** The first of the schema errors, in words. */
export function invalidFields(errors: readonly SchemaError[], body: unknown, validated: Validated): InvalidField[] {
  // When a union fails, each of its branches fails too: the union's message is enough.
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath))
  const reported = errors.filter(({ keyword, instancePath }) => keyword === 'anyOf' || !unions.has(instancePath))
  const said = new Set<string>()
  return reported.slice(0, ERRORS_MAX).map(error => {
    const { pointer, message } = inWords(error, body, validated)
    const [known = ''] = KNOWN_FIELDS.exec(message) ?? []
    const isSaid = said.has(known)
    said.add(known)
    return { pointer, message: isSaid ? message.slice(0, message.length - known.length) : message }
  })
}

/** A list of known fields, which is said once. */
const KNOWN_FIELDS = / \(known fields: [^)]*\)$/

function newTextOf(edit: unknown): { new_text?: string } {
  const new_text = valueAt(edit, '/new_text')
  return typeof new_text === 'string' ? { new_text } : {}
}

function ownCode({ keyword, instancePath }: SchemaError, body: unknown, { items }: Validated): Failure | null {
  const edits = valueAt(body, '/edits')
  const index = /^\/edits\/(\d+)\/old_text$/.exec(instancePath)?.[1]
  switch (`${keyword} ${instancePath.split('/').at(-1)}`) {
    case 'minLength old_text':
      return {
        code: 'EMPTY_OLD_TEXT',
        ...(index !== undefined && Array.isArray(edits) && { edit_index: Number(index), total_edits: edits.length }),
        ...newTextOf(index === undefined ? body : Array.isArray(edits) && edits.length === 1 ? edits[0] : null)
      }
    case 'minItems edits':
      return { code: 'NO_EDITS', fields: requiredOf(items.edits ?? {}) }
    case 'minItems operations':
      return { code: 'NO_EDITS', none_of: 'operations' }
    case 'minLength path':
      return { code: 'INVALID_PATH', reason: 'empty' }
    case 'maxLength path':
      return { code: 'INVALID_PATH', reason: 'too_long' }
    default:
      return null
  }
}

/**
 * What a schema allows, one by one: its words, what each branch of a union allows, or a kind of value within bounds.
 */
function allowedBy({ type, enum: words, anyOf, minimum, maximum }: JsonSchema): string[] {
  if (words !== undefined) return words.map(word => JSON.stringify(word))
  if (anyOf !== undefined) return anyOf.flatMap(allowedBy)
  const from = minimum === undefined ? '' : ` from ${minimum}`
  const to = maximum === undefined ? '' : ` to ${maximum}`
  return [`${TYPES[String(type)]}${from}${to}`]
}

const sizeOf = (keyword: string, limit: unknown) =>
  counted(Number(limit), keyword.endsWith('Items') ? 'item' : 'character')

/** The field with the old text, by the field with the text that replaces it. */
const REPLACED: Record<string, string | undefined> = { new_text: 'old_text', new_str: 'old_str' }

function inWords(error: SchemaError, body: unknown, validated: Validated): InvalidField {
  const { keyword, instancePath, params, message, parentSchema = {} } = error
  const at = (text: string, pointer = instancePath) => ({ pointer, message: text })
  const value = valueAt(body, instancePath)
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty)
      if (instancePath === '' && validated.of_all?.includes(name) === true) {
        return at('belongs to the whole batch; put it at the top level, beside operations', `/${escapePointer(name)}`)
      }
      const others = instancePath === '' && validated.within !== undefined ? (validated.elsewhere?.(name) ?? []) : []
      if (others.length > 0) {
        return at(`is a field of ${listed(others)}, not of ${validated.within}`, `/${escapePointer(name)}`)
      }
      const known = Object.keys(propertiesOf(parentSchema))
      const meant = suggestion(name, Object.keys(value ?? {}), known, validated.call_fields)
      return at(`is an unknown field${meant}`, `${instancePath}/${escapePointer(name)}`)
    }
    case 'required': {
      const name = String(params.missingProperty)
      const old = REPLACED[name]
      const isReplacement = old !== undefined && old in Object(value)
      return at(isReplacement ? noTextFor(old) : 'is missing', `${instancePath}/${escapePointer(name)}`)
    }
    case 'type': {
      const expected = instancePath === '' ? 'a JSON object' : TYPES[String(params.type)]
      // For a number that isn't whole, naming its kind says too little.
      const actual = typeof value === 'number' && params.type === 'integer' ? String(value) : kindOf(value)
      const old = value === null ? REPLACED[instancePath.split('/').at(-1)!] : undefined
      return at(`must be ${expected}, not ${actual}${old === undefined ? '' : `; send "" to delete ${old}`}`)
    }
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
      // No schema of ours has other keywords; use Ajv's own words.
      return at(message ?? 'is not valid')
  }
}

/**
 * Suggests the field of `known` that a name was meant for, else lists all but those in `unlisted`. `sent`: the fields
 * that are present.
 */
function suggestion(
  name: string,
  sent: readonly string[],
  known: readonly string[],
  unlisted: readonly string[] = []
): string {
  const list = known.filter(field => !unlisted.includes(field))
  const all = list.every(field => sent.includes(field)) ? '' : ` (known fields: ${list.join(', ')})`
  // Comparing takes time per character, and a name this long is similar to none.
  if (known.length === 0 || name.length > 100) return all
  const plain = (text: string) => text.replace(/[^a-z]/gi, '').toLowerCase()
  const nearest = closest(plain(name), known.map(plain))
  if (distance(plain(name), nearest) > Math.max(1, Math.floor(plain(name).length / 3))) return all
  const field = known.find(candidate => plain(candidate) === nearest) ?? ''
  return sent.includes(field) ? ` (${field} is already given)` : ` (did you mean ${field}?)`
}
