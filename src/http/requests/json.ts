// Strict JSON: the bytes of a body → a value in which nothing was dropped, merged or replaced. Does not know any schema
// or operation.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { fail, ok, type Result } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'

const MAX_DEPTH = 32

/** More fields than any operation has; beyond it an object is refused, so that the list of its faults stays short. */
const MAX_FIELDS = 100

/**
 * More values than a hundred thousand edits have, each with all its fields; a body of the largest size could hold
 * fifteen times as many, and each would be walked over.
 */
const MAX_VALUES = 1_000_000

const refuse = (failure: RequestFailure) => fail(failure)

export const JSON_TYPE = 'application/json'

/** The media type that the headers announce, without its parameters; empty where they don't. */
export const mediaTypeOf = (headers: IncomingHttpHeaders): string => partsOf(headers)[0] ?? ''

/** The media type and its parameters, in lower case. */
const partsOf = (headers: IncomingHttpHeaders): string[] =>
  (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map(part => part.trim())

/** Null if the headers announce one of these media types, uncompressed, in UTF-8. */
export function refuseMedia(
  headers: IncomingHttpHeaders,
  media: readonly string[] = [JSON_TYPE]
): RequestFailure | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') return { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'encoding', given: encoding }
  // As nearly everybody sends it: there are no parameters to look at.
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
 * The value of a body. Fails on bytes that aren't UTF-8, bad JSON, a field given twice, nesting deeper than 32, an
 * object with more than 100 fields or one called `__proto__`, or more than a million values. What its texts hold is for
 * `checkTexts` to say.
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

/** Where it is not valid: what the parser says of the place, without the text that it quotes. */
function whereOf(json: string, error: unknown): string | undefined {
  if (json.startsWith('\ufeff')) return 'it begins with a byte-order mark, U+FEFF: leave that out'
  const message = error instanceof Error ? error.message : ''
  const position = /at position (\d+)/.exec(message)?.[1]
  if (position !== undefined) {
    const isControl = message.startsWith('Bad control character')
    const what = isControl ? ', a control character such as a line break inside a string' : ''
    return `at character ${Number(position) + 1}${what}`
  }
  return /^(Unexpected end|Unterminated)/.test(message) ? 'it ends too early' : undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Where a JSON string ends that begins at `start`: the offset of its closing quote, or -1. */
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

/** The text of a JSON string; null where its escapes are not valid. Of control characters the parser tells. */
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
 * Looks through JSON for what `JSON.parse` hides, a field that occurs twice in an object, and for more than the parser
 * and those who walk its result should have to handle. Where the JSON isn't valid, it may stop early or find nothing:
 * the parser reports that. Linear.
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
          // Some code that copies objects drops it, and then a call would be made without what was asked for.
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

/** Names from the outermost value down to one in it. */
type JsonPath = (string | number)[]

/**
 * A lone surrogate anywhere in a value, or a NUL in any text but `/path`; null if there is none. Its depth has to be
 * bounded.
 */
export function checkTexts(value: unknown, at: JsonPath = []): RequestFailure | null {
  if (typeof value === 'string') return checkText(value, at)
  if (typeof value !== 'object' || value === null) return null
  // The names of a list would be a text for each item of it.
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
  // A NUL in the path is the workspace's to judge: it answers INVALID_PATH.
  if (!text.includes('\0') || (at.length === 1 && at[0] === 'path')) return null
  return {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: pointerTo(at), message: 'contains a NUL character, which no text file has' }]
  }
}

const pointerTo = (at: JsonPath): string => at.map(name => `/${escapePointer(String(name).toWellFormed())}`).join('')
