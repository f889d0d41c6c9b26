// Encodes the texts of a record as JSON: in the line if they are short, otherwise in blobs. Does not know where blobs
// are stored.
import { createHash, webcrypto } from 'node:crypto'
import type { SplicePlace } from '../engine/undo/places.ts'
import { fromJson, isObject, toJson } from './bytes-json.ts'
import type { EditRecord } from './record.ts'

/** What is kept of a change besides its facts. */
export type Texts = Pick<EditRecord, 'splices' | 'places'>

/** One text, or several of a record joined. `name`: SHA-256 of the bytes. */
export interface Blob {
  name: string
  bytes: Buffer
}

/** Reads a blob; null: it is missing or damaged. */
export type ReadBlob = (name: string) => Promise<Buffer | null>

/** From this size on, hashing takes long enough to run in another thread. Chosen, not measured. */
const HASH_APART = 32 * 1024

export const sha256 = async (bytes: Buffer): Promise<string> =>
  bytes.length < HASH_APART
    ? createHash('sha256').update(bytes).digest('hex')
    : Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')

/** How many numbers a place has. */
const PLACE_NUMBERS = 4

/** `before` and `after`: its texts, as they are written. */
const placeJson = (
  { start_line, new_start_line, lines_removed, lines_added }: SplicePlace,
  before: unknown,
  after: unknown
): unknown[] => [start_line, new_start_line, lines_removed, lines_added, before, after]

/** Loops, as there may be hundreds of thousands and this blocks the main thread. */
function textsOf({ splices, places }: Texts): Buffer[] {
  const all: Buffer[] = []
  for (const { old, insert } of splices ?? []) all.push(old, insert)
  for (const { before, after } of places ?? []) all.push(before, after)
  return all
}

export interface EncodedTexts {
  json: unknown
  blobs: readonly Blob[]
}

/**
 * Encodes texts as JSON, with the blobs that it names. A text of more than `limit` bytes is a blob of its own, so that
 * equal texts are stored once; the others become one blob if together they exceed `limit`. Synchronous if there are no
 * blobs.
 */
export function encodeTexts(texts: Texts, limit: number): EncodedTexts | Promise<EncodedTexts> {
  let size = 0
  for (const { old, insert } of texts.splices ?? []) size += old.length + insert.length
  for (const { before, after } of texts.places ?? []) size += before.length + after.length
  if (size > limit) return encodeWithBlobs(texts, limit)
  const json = {
    splices: texts.splices?.map(({ start, old, insert }) => [start, toJson(old), toJson(insert)]) ?? null,
    places: texts.places?.map(place => placeJson(place, toJson(place.before), toJson(place.after))) ?? null
  }
  return { json, blobs: [] }
}

async function encodeWithBlobs(texts: Texts, limit: number): Promise<EncodedTexts> {
  const all = textsOf(texts)
  const short = all.filter(text => text.length <= limit)
  const isPacked = short.reduce((sum, text) => sum + text.length, 0) > limit
  const blobs = new Map<string, Buffer>()
  const keep = async (bytes: Buffer) => {
    const name = await sha256(bytes)
    blobs.set(name, bytes)
    return name
  }
  const encoded: unknown[] = []
  for (const text of all) {
    if (text.length > limit) encoded.push({ blob: await keep(text) })
    else encoded.push(isPacked ? text.length : toJson(text))
  }
  const next = encoded.values()
  const take = () => next.next().value
  const json = {
    ...(isPacked && { pack: await keep(Buffer.concat(short)) }),
    splices: texts.splices?.map(({ start }) => [start, take(), take()]) ?? null,
    places: texts.places?.map(place => placeJson(place, take(), take())) ?? null
  }
  return { json, blobs: [...blobs].map(([name, bytes]) => ({ name, bytes })) }
}

/** Decodes the texts; null: a blob is missing, or `json` isn't from `encodeTexts`. */
export async function decodeTexts(json: unknown, read: ReadBlob): Promise<Texts | null> {
  if (!isObject(json)) return null
  const pack = typeof json.pack === 'string' ? await read(json.pack) : null
  const texts = { state: { pack, offset: 0 }, read }
  const splices = await all(json.splices, 1, texts, ([start = 0], old, insert) => ({ start, old, insert }))
  const places = await all(
    json.places,
    PLACE_NUMBERS,
    texts,
    ([start_line = 0, new_start_line = 0, lines_removed = 0, lines_added = 0], before, after) => ({
      start_line,
      new_start_line,
      lines_removed,
      lines_added,
      before,
      after
    })
  )
  return splices === undefined || places === undefined ? null : { splices, places }
}

/** Decodes a list of items of `count` numbers and two texts; undefined: one can't be decoded. */
async function all<T>(
  list: unknown,
  count: number,
  { state, read }: { state: { pack: Buffer | null; offset: number }; read: ReadBlob },
  make: (numbers: number[], first: Buffer, second: Buffer) => T
): Promise<T[] | null | undefined> {
  if (list === null) return null
  if (!Array.isArray(list)) return undefined
  const made: T[] = []
  for (const item of list as unknown[]) {
    if (!Array.isArray(item) || item.length !== count + 2) return undefined
    const numbers = item.slice(0, count).filter(number => typeof number === 'number')
    // Awaits only if it must: there may be hundreds of thousands of texts, and few are in blobs.
    const one = textOf(item[count], state, read)
    const first = one instanceof Promise ? await one : one
    const other = textOf(item[count + 1], state, read)
    const second = other instanceof Promise ? await other : other
    if (numbers.length < count || first === null || second === null) return undefined
    made.push(make(numbers, first, second))
  }
  return made
}

function textOf(
  value: unknown,
  state: { pack: Buffer | null; offset: number },
  read: ReadBlob
): Buffer | null | Promise<Buffer | null> {
  if (typeof value === 'number') {
    const start = state.offset
    state.offset += value
    return state.pack !== null && state.offset <= state.pack.length ? state.pack.subarray(start, state.offset) : null
  }
  return isObject(value) && typeof value.blob === 'string' ? read(value.blob) : fromJson(value)
}
