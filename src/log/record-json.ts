// Encodes records and settlements as lines of JSON, and decodes them. Does not know files or blobs.
import { fromJson, isObject, toJson } from './bytes-json.ts'
import { isId } from './ids.ts'
import { encodeLine } from './line.ts'
import type { ReviewedSelection, Verdict } from '../engine/undo/baseline.ts'
import type { Selection } from '../engine/undo/change.ts'
import { isCodecName, type Encodings } from '../engine/text/codec.ts'
import { copyAuthor, type EditRecord, type FileAttributes, type RecordedOperation, type Settlement } from './record.ts'

/** A record without its texts and without the answer of its key. */
export interface Facts extends Omit<EditRecord, 'splices' | 'places' | 'key'> {
  key?: { digest: string; fingerprint: string }
  /** The latest id that its server knew, if that isn't its own. */
  seen?: string
  /** Names of the blobs that hold its texts. */
  blobs: readonly string[]
  /** Whether it has texts, in the line or in blobs. */
  hasTexts: boolean
}

export type LogLine = { facts: Facts } | { settles: string; as: Settlement }

/** A line of a segment, and its meaning. */
export interface EncodedLine {
  bytes: Buffer
  entry: LogLine
}

/**
 * Separates the facts from the texts. It can't occur in a JSON string, where each quotation mark has a backslash before
 * it.
 */
const TEXTS = ',"texts":'

const OPERATIONS: ReadonlySet<unknown> = new Set<RecordedOperation>([
  'edit',
  'edit_lines',
  'edit_section',
  'create',
  'delete',
  'move',
  'batch',
  'replace',
  'apply_patch',
  'undo',
  'redo',
  'outside',
  'review'
])
const SETTLEMENTS: ReadonlySet<unknown> = new Set<Settlement>(['done', 'void', 'uncertain'])

/** `texts`: from `encodeTexts`, or null. `seen`: the latest id that this server knows. */
export function recordLine(record: EditRecord, texts: unknown, blobs: readonly string[], seen: string): EncodedLine {
  const { splices, key } = record
  const facts = factsIn(record, blobs, texts !== null)
  if (texts !== null && splices !== null) facts.change_count = splices.length
  if (key !== undefined) facts.key = { digest: key.digest, fingerprint: key.fingerprint }
  if (seen > record.edit_id) facts.seen = seen
  const outcome = key === undefined ? undefined : (key.outcome ?? null)
  return { bytes: encodeLine(JSON.stringify(asJson(facts, texts, outcome))), entry: { facts } }
}

/** Runs for each edit, so it assigns members one by one, which takes a fraction of the time of spreading. */
function factsIn(record: EditRecord, blobs: readonly string[], hasTexts: boolean): Facts {
  const { edit_id, operation, at, path, hash_before, hash_after, size_before, size_after } = record
  const { lines_added, lines_removed } = record
  const sizes = { size_before, size_after, lines_added, lines_removed }
  const facts: Facts = { edit_id, operation, at, path, hash_before, hash_after, ...sizes, blobs, hasTexts }
  const { batch_id, change_count, encodings, temp, toggles, review, made_folders, attributes, moved } = record
  copyAuthor(record, facts)
  if (batch_id !== undefined) facts.batch_id = batch_id
  if (change_count !== undefined) facts.change_count = change_count
  if (encodings !== undefined) facts.encodings = encodings
  if (temp !== undefined) facts.temp = temp
  if (toggles !== undefined) facts.toggles = toggles
  if (review !== undefined) facts.review = review
  if (made_folders !== undefined) facts.made_folders = made_folders
  if (attributes !== undefined) facts.attributes = attributes
  if (moved !== undefined) facts.moved = moved
  return facts
}

/** The JSON of a record; `factsOf` decodes it. Texts and answer come last, after `TEXTS`. */
function asJson(
  facts: Facts,
  texts: unknown,
  outcome: unknown
): Record<keyof Omit<Facts, 'hasTexts'> | 'texts' | 'outcome', unknown> {
  const { edit_id, operation, at, path, hash_before, hash_after, size_before, size_after } = facts
  const {
    token,
    agent,
    session,
    reason,
    sender,
    batch_id,
    temp,
    toggles,
    review,
    made_folders,
    attributes,
    moved,
    key
  } = facts
  const { lines_added, lines_removed, change_count, encodings, seen, blobs } = facts
  // One by one, as this runs for each edit, and takes half the time of spreading.
  return {
    edit_id,
    operation,
    batch_id,
    token,
    agent,
    session,
    reason,
    sender,
    at,
    path: toJson(path),
    hash_before,
    hash_after,
    size_before,
    size_after,
    lines_added,
    lines_removed,
    change_count,
    encodings,
    temp,
    toggles,
    review,
    made_folders: made_folders?.map(toJson),
    attributes,
    moved: moved && toJson(moved),
    key,
    seen,
    blobs: blobs.length > 0 ? blobs : undefined,
    texts,
    outcome
  }
}

export const settlementLine = (edit_id: string, settled: Settlement): EncodedLine => ({
  // Neither needs escaping in JSON.
  bytes: encodeLine(`{"settles":"${edit_id}","as":"${settled}"}`),
  entry: { settles: edit_id, as: settled }
})

/** The record without texts and answer, padded with spaces to the same length in bytes; null: it has none. */
export function forgottenJson(json: Buffer): string | null {
  const value = parse(json.toString())
  if (!isObject(value) || (value.texts === null && (value.outcome ?? null) === null)) return null
  const { texts, outcome, blobs, ...facts } = value
  const rest = outcome === undefined ? '' : ',"outcome":null'
  const shorter = `${JSON.stringify(facts).slice(0, -1)}${TEXTS}null${rest}}`
  const room = json.length - Buffer.byteLength(shorter)
  // An answer of one to three bytes contains no text.
  return room < 0 ? null : shorter + ' '.repeat(room)
}

/** The meaning of a line, without decoding its texts; null: it isn't editd's, or is from a later version. */
export function decodeFacts(json: Buffer): LogLine | null {
  const end = json.indexOf(TEXTS)
  if (end < 0) {
    const { settles, as } = objectIn(json.toString())
    return isId(settles) && isSettlement(as) ? { settles, as } : null
  }
  const hasTexts = json[end + TEXTS.length] === 0x7b
  const facts = factsOf(objectIn(`${json.toString('utf8', 0, end)}}`), hasTexts)
  return facts && { facts }
}

/** The whole record; its texts are still as `encodeTexts` returned them. */
export function decodeRecord(json: Buffer): { facts: Facts; texts: unknown; outcome: unknown } | null {
  const value = objectIn(json.toString())
  const facts = factsOf(value, isObject(value.texts))
  return facts && { facts, texts: value.texts, outcome: value.outcome ?? null }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const objectIn = (text: string): Record<string, unknown> => {
  const value = parse(text)
  return isObject(value) ? value : {}
}

const isSettlement = (value: unknown): value is Settlement => SETTLEMENTS.has(value)
const isOperation = (value: unknown): value is RecordedOperation => OPERATIONS.has(value)
const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'
const isHash = (value: unknown): value is string | null => value === null || isText(value)

function factsOf(value: Record<string, unknown>, hasTexts: boolean): Facts | null {
  const { edit_id, operation, at, hash_before, hash_after, size_before, size_after, lines_added, lines_removed } = value
  const path = fromJson(value.path)
  if (!isId(edit_id) || !isOperation(operation) || path === null) return null
  if (!isNumber(at) || !isNumber(size_before) || !isNumber(size_after)) return null
  if (!isNumber(lines_added) || !isNumber(lines_removed) || !isHash(hash_before) || !isHash(hash_after)) return null
  const { token, agent, session, reason, sender, seen, blobs, change_count, temp, batch_id } = value
  const toggles = listOf(value.toggles, selectionOf)
  const made_folders = listOf(value.made_folders, fromJson)
  const attributes = attributesOf(value.attributes)
  const encodings = encodingsOf(value.encodings)
  const moved = fromJson(value.moved)
  const key = keyOf(value.key)
  const review = verdictOf(value.review)
  // A review without its verdict is meaningless.
  if ((operation === 'review') !== (review !== null)) return null
  return {
    edit_id,
    operation,
    at,
    path,
    hash_before,
    hash_after,
    size_before,
    size_after,
    lines_added,
    lines_removed,
    hasTexts,
    blobs: listOf(blobs, name => (isText(name) ? name : null)) ?? [],
    ...(isText(token) && { token }),
    ...(isText(agent) && { agent }),
    ...(isText(session) && { session }),
    ...(isText(reason) && { reason }),
    ...(isText(sender) && { sender }),
    ...(isId(seen) && { seen }),
    ...(isText(batch_id) && { batch_id }),
    ...(isNumber(change_count) && { change_count }),
    ...(encodings && { encodings }),
    ...(isText(temp) && { temp }),
    ...(toggles && { toggles }),
    ...(review && { review }),
    ...(made_folders && { made_folders }),
    ...(attributes && { attributes }),
    ...(moved && { moved }),
    ...(key && { key })
  }
}

/** Leaves out names that only a later version knows. */
function encodingsOf(value: unknown): Encodings | null {
  if (!isObject(value)) return null
  const { before, after } = value
  return { ...(isCodecName(before) && { before }), ...(isCodecName(after) && { after }) }
}

function listOf<T>(value: unknown, read: (item: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null
  const items = value.map(read)
  return items.every(item => item !== null) ? items : null
}

function attributesOf(value: unknown): FileAttributes | null {
  if (!isObject(value)) return null
  const { mode, uid, gid } = value
  return isNumber(mode) && isNumber(uid) && isNumber(gid) ? { mode, uid, gid } : null
}

function keyOf(value: unknown): Facts['key'] | null {
  if (!isObject(value)) return null
  const { digest, fingerprint } = value
  return isText(digest) && isText(fingerprint) ? { digest, fingerprint } : null
}

function selectionOf(value: unknown): Selection | null {
  if (!isObject(value) || !isText(value.edit_id)) return null
  const indexes = listOf(value.change_indexes, item => (isNumber(item) ? item : null))
  return { edit_id: value.edit_id, ...(indexes && { change_indexes: indexes }) }
}

function verdictOf(value: unknown): Verdict | null {
  if (!isObject(value) || (value.verdict !== 'kept' && value.verdict !== 'pending')) return null
  const of = listOf(value.of, reviewedOf)
  return of && { verdict: value.verdict, of }
}

function reviewedOf(value: unknown): ReviewedSelection | null {
  const selection = selectionOf(value)
  if (selection === null || !isObject(value) || typeof value.stood !== 'boolean') return null
  return { ...selection, stood: value.stood }
}
