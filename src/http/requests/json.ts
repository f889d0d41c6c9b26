// Strict JSON: parses the bytes of a body into a value without dropping, merging or replacing anything. Does not know
// any schema or operation.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { fail, ok, type Result } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'

const MAX_DEPTH = 32

/** More fields than any operation has. An object with more is refused, so that the list of its faults stays short. */
const MAX_FIELDS = 100

/**
 * More values than a hundred thousand edits with all their fields. A body of the largest size could hold fifteen times
 * as many, and each would have to be visited.
 */
const MAX_VALUES = 1_000_000

const refuse = (failure: RequestFailure) => fail(failure)

export const JSON_TYPE = 'application/json'

/** The media type in the headers, without its parameters; empty if missing. */
export const mediaTypeOf = (headers: IncomingHttpHeaders): string => partsOf(headers)[0] ?? ''

/** The media type and its parameters, in lower case. */
const partsOf = (headers: IncomingHttpHeaders): string[] =>
  (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map(part => part.trim())

/**
 * The failure if the headers announce none of these media types, compression, or another charset than UTF-8; else null.
 */
export function refuseMedia(
  headers: IncomingHttpHeaders,
  media: readonly string[] = [JSON_TYPE]
): RequestFailure | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') return { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'encoding', given: encoding }
  // The usual case: no parameters to check.
  if (media.includes(headers['content-type'] ?? '')) return null
  const [type = '', ...parameters] = partsOf(headers)
  if (!media.includes(type)) return { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'type', given: type }
  const charset =
    parameters
      .find(parameter => parameter.startsWith('charset='))
      ?.slice(8)
      .replaceAll('"', '') ?? 'utf-8'
  return charset === 'utf-8' || charset === 'utf8'
    ? null
    : { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'charset', given: charset }
}

/**
 * Parses a body. Fails on bytes that aren't UTF-8, bad JSON, a repeated field, nesting deeper than 32, an object with
 * more than 100 fields or one called `__proto__`, or more than a million values. `checkTexts` checks the texts in it.
 */
export function parseStrictJson(body: Buffer): Result<unknown, RequestFailure> {
  if (body.length === 0) return refuse({ code: 'INVALID_JSON', reason: 'empty' })
  if (!isUtf8(body)) return refuse({ code: 'INVALID_UNICODE' })
  const json = body.toString()
  const failure = scan(json)
  if (failure !== null) return fail(failure)
  try {
    return ok(JSON.parse(json))
  } catch (error) {
    const where = whereOf(json, error)
    return refuse({ code: 'INVALID_JSON', reason: 'syntax', where })
  }
}

/**
 * The value of JSON that a caller sent as text. A raw line break or tab inside a string of it counts as escaped, and
 * JSON that was encoded twice is decoded twice: neither has another meaning. Fails as `parseStrictJson` does.
 */
export function parseSentJson(text: string): Result<unknown, RequestFailure> {
  const strict = parseStrictJson(Buffer.from(text))
  const escaped = /[\n\r\t]/.test(text) ? withEscapedBreaks(text) : text
  const read = strict.ok || escaped === text ? strict : parseStrictJson(Buffer.from(escaped))
  if (!read.ok) return isCutOff(escaped, read.failure) ? fail({ ...read.failure, where: TOO_EARLY }) : strict
  return typeof read.value === 'string' && /^\s*["[{]/.test(read.value) ? parseSentJson(read.value) : read
}

/** Whether the JSON was right up to its end. */
const isCutOff = (text: string, failure: RequestFailure): boolean =>
  failure.code === 'INVALID_JSON' &&
  failure.reason === 'syntax' &&
  (failure.where === TOO_EARLY || failure.where === `at character ${text.length + 1}`)

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const withEscapedBreaks = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\[^])*"/g, text => text.replaceAll(/[\n\r\t]/g, each => ESCAPES[each]!))

/** What to do about JSON that was cut off; null: it was not. */
export const cutOff = (text: string, failure: RequestFailure): string | null =>
  isCutOff(text, failure) ? `was cut off after ${text.length} characters: send less at once` : null

const TOO_EARLY = 'it ends too early'

/** Where the JSON is invalid: the parser's description of the place, without the text that it quotes. */
function whereOf(json: string, error: unknown): string | undefined {
  if (json.startsWith('\ufeff')) return 'it begins with a byte-order mark, U+FEFF: leave that out'
  const message = error instanceof Error ? error.message : ''
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position !== undefined) {
    const isControl = message.startsWith('Bad control character')
    const what = isControl ? ', a control character such as a line break inside a string' : ''
    return `at character ${Number(position) + 1}${what}`
  }
  return /^(Unexpected end|Unterminated)/.test(message) ? TOO_EARLY : undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The offset of the closing quote of a JSON string that begins at `start`, or -1. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end !== -1) {
    let slash = end - 1
    while (json.charCodeAt(slash) === BACKSLASH) slash--
    if ((end - slash) % 2 === 1) return end
    end = json.indexOf('"', end + 1)
  }
  return end
}

/** The text of a JSON string; null if its escapes are invalid. The parser reports control characters. */
function nameIn(json: string): string | null {
  if (!json.includes('\\')) return json.slice(1, -1)
  try {
    return JSON.parse(json) as string
  } catch {
    return null
  }
}

interface Level {
  keys: Set<string> | null
  at: string | number
}

/**
 * Finds what `JSON.parse` hides, a field repeated in an object, and what exceeds the limits that protect the parser and
 * code that walks its result. May stop early or find nothing if the JSON is invalid: the parser reports that. Linear.
 */
function scan(json: string): RequestFailure | null {
  const levels: Level[] = []
  let values = 0
  let expectsKey = false
  const pointer = () =>
    levels
      .slice(0, -1)
      .map(({ at }) => `/${escapePointer(String(at))}`)
      .join('')
  for (let i = 0; i < json.length; i++) {
    const level = levels.at(-1)
    const character = json.charCodeAt(i)
    switch (character) {
      case QUOTE: {
        const end = endOfString(json, i)
        if (end === -1) return null
        if (expectsKey && level?.keys) {
          const key = nameIn(json.slice(i, end + 1))
          if (key === null) return null
          if (level.keys.has(key)) return { code: 'INVALID_JSON', reason: 'duplicate_key', key, pointer: pointer() }
          level.keys.add(key)
          level.at = key
          // Some code drops it when it copies objects; the call would then be made without it.
          if (key === '__proto__') {
            return {
              code: 'INVALID_REQUEST',
              errors: [{ pointer: `${pointer()}/__proto__`, message: 'is an unknown field' }]
            }
          }
          if (level.keys.size > MAX_FIELDS) {
            return {
              code: 'INVALID_REQUEST',
              errors: [{ pointer: pointer(), message: `has more than ${MAX_FIELDS} fields` }]
            }
          }
          expectsKey = false
        }
        i = end
        break
      }
      case 0x7b: // {
      case 0x5b: // [
        values++
        if (levels.length === MAX_DEPTH) return { code: 'INVALID_JSON', reason: 'too_deep', limit: MAX_DEPTH }
        expectsKey = character === 0x7b
        levels.push({ keys: expectsKey ? new Set() : null, at: 0 })
        break
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop()
        expectsKey = false
        break
      case 0x2c: // ,
        if (++values >= MAX_VALUES) {
          return {
            code: 'INVALID_REQUEST',
            errors: [{ pointer: '', message: `the body has more than ${MAX_VALUES.toLocaleString('en')} values` }]
          }
        }
        expectsKey = Boolean(level?.keys)
        if (typeof level?.at === 'number') level.at++
    }
  }
  return null
}

export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Names and indexes from the outermost value to one inside it. */
type JsonPath = (string | number)[]

/**
 * Finds a lone surrogate anywhere in a value, or a NUL in any text but `/path`; null if there is none. The depth of the
 * value must be bounded.
 */
export function checkTexts(value: unknown, at: JsonPath = []): RequestFailure | null {
  if (typeof value === 'string') return checkText(value, at)
  if (typeof value !== 'object' || value === null) return null
  // Object.keys of a list would make a text for each item.
  const names = Array.isArray(value) ? null : Object.keys(value)
  const members = Object.values(value) as unknown[]
  for (let i = 0; i < members.length; i++) {
    const name = names?.[i] ?? i
    at.push(name)
    if (typeof name === 'string' && !name.isWellFormed()) return { code: 'INVALID_UNICODE', pointer: pointerTo(at) }
    const failure = checkTexts(members[i], at)
    if (failure !== null) return failure
    at.pop()
  }
  return null
}

function checkText(text: string, at: JsonPath): RequestFailure | null {
  if (!text.isWellFormed()) return { code: 'INVALID_UNICODE', pointer: pointerTo(at) }
  // The workspace judges a NUL in the path: it answers INVALID_PATH.
  if (!text.includes('\0') || (at.length === 1 && at[0] === 'path')) return null
  return {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: pointerTo(at), message: 'contains a NUL character, which no text file has' }]
  }
}

const pointerTo = (at: JsonPath): string => at.map(name => `/${escapePointer(String(name).toWellFormed())}`).join('')
