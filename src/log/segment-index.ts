// The index of one segment, with a few bytes for each record, and the overview that always stays in memory. Does not
// know files.
import { createHash } from 'node:crypto'
import type { Gap } from './api.ts'
import { ID_LENGTH } from './ids.ts'
import { jsonOf, linesOf } from './line.ts'
import { decodeFacts, type Facts, type LogLine } from './record-json.ts'
import type { Settlement } from './record.ts'

/**
 * The layout of a row: the id; offset and length of the line; the time; path, agent, session and batch by their
 * numbers; the key; settlement; whether it is a review; where it was first settled (`Row.toldAt`); the token by its
 * number.
 */
const AT = {
  offset: 28,
  length: 32,
  at: 36,
  path: 44,
  agent: 48,
  session: 52,
  batch: 56,
  key: 60,
  settled: 66,
  review: 67,
  settledAt: 68,
  token: 72,
  size: 76
}
const KEY_BYTES = 6

interface Counted {
  lowest: string
  highest: string
  oldestAt: number | null
  keyedAt: number | null
  unsettled: number
  count: number
  seen: string
  end: number
}

const SETTLED: readonly (Settlement | null)[] = [null, 'done', 'void', 'uncertain']

export interface Row {
  edit_id: string
  /** Offset of its line in bytes. */
  offset: number
  length: number
  /** ms since 1970. */
  at: number
  path: string
  agent: string | null
  session: string | null
  settled: Settlement | null
  isReview: boolean
  /** Offset of the first line of the segment that settles it as done or uncertain; 0: there is none. */
  settledAt: number
}

/** What is known of a segment without its rows. */
export interface Overview {
  /** '' if it has no records. */
  readonly lowest: string
  readonly highest: string
  /** The latest id that any of its records mentions. */
  readonly seen: string
  /** ms since 1970 of the oldest record; of the newest one with a key. */
  readonly oldestAt: number | null
  readonly keyedAt: number | null
  /** How many records the segment itself doesn't settle; reviews don't count. */
  readonly unsettled: number
  /** Settlements of records in other segments. */
  readonly loose: ReadonlyMap<string, Settlement>
  /** `Row.toldAt` of records in other segments. */
  readonly looseAt: ReadonlyMap<string, number>
  readonly gaps: readonly Omit<Gap, 'segment'>[]
  /** Names of the blobs of its records. */
  readonly blobs: readonly string[]
  /** False: it has no record of this path (given as by `keyOf`), or with this key digest. */
  mayHavePath(path: string): boolean
  mayHaveKey(digest: string): boolean
}

/** The first six bytes of a text's SHA-256, as a number. */
export const keyHash = (text: string): number =>
  createHash('sha256').update(text, 'latin1').digest().readUIntBE(0, KEY_BYTES)

/** Whether an ascending list contains this number. */
export function includes(list: Float64Array, value: number): boolean {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]! < value) low = middle + 1
    else high = middle
  }
  return list[low] === value
}

/** Bytes as a string with one character for each byte: a key for maps. */
export const keyOf = (bytes: Buffer): string => bytes.toString('latin1')
/** A string's UTF-8 bytes as a key for maps. */
const keyOfText = (text: string): string => Buffer.from(text).toString('latin1')

export class SegmentIndex implements Overview {
  #rows = Buffer.alloc(16 * AT.size)
  #facts: Counted = { count: 0, lowest: '', highest: '', oldestAt: null, keyedAt: null, unsettled: 0, seen: '', end: 0 }
  #names: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #loose = new Map<string, Settlement>()
  readonly #looseAt = new Map<string, number>()
  #gaps: Omit<Gap, 'segment'>[] = []
  /** By row. */
  #blobs = new Map<number, readonly string[]>()

  get #count(): number {
    return this.#facts.count
  }

  get lowest(): string {
    return this.#facts.lowest
  }

  get highest(): string {
    return this.#facts.highest
  }

  get oldestAt(): number | null {
    return this.#facts.oldestAt
  }

  get keyedAt(): number | null {
    return this.#facts.keyedAt
  }

  get unsettled(): number {
    return this.#facts.unsettled
  }

  get loose(): ReadonlyMap<string, Settlement> {
    return this.#loose
  }

  get looseAt(): ReadonlyMap<string, number> {
    return this.#looseAt
  }

  get gaps(): readonly Omit<Gap, 'segment'>[] {
    return this.#gaps
  }

  get blobs(): readonly string[] {
    return [...new Set([...this.#blobs.values()].flat())]
  }

  get count(): number {
    return this.#facts.count
  }

  get seen(): string {
    return this.#facts.seen
  }

  /** How many bytes of the segment are in it. */
  get end(): number {
    return this.#facts.end
  }

  mayHavePath(path: string): boolean {
    return this.#numbers.has(path)
  }

  mayHaveKey(digest: string): boolean {
    return this.#facts.keyedAt !== null && this.ofKey(digest).next().done !== true
  }

  /** Its approximate size in memory. */
  get bytes(): number {
    return this.#rows.length + this.#names.reduce((sum, name) => sum + name.length + 16, 0)
  }

  /**
   * Takes in the next lines of the segment; a last line without a line break only if `isAll`. Returns the number of
   * bytes taken. Calls `saw` with the meaning of each line.
   */
  push(bytes: Buffer, isAll: boolean, saw: (entry: LogLine) => void = () => {}): number {
    let taken = 0
    for (const { offset, line } of linesOf(bytes)) {
      this.#line(this.end + offset, line, saw)
      taken = offset + line.length
    }
    if (isAll && taken < bytes.length) {
      this.#gap(this.end + taken, bytes.length - taken)
      taken = bytes.length
    }
    this.#facts.end += taken
    return taken
  }

  #line(offset: number, line: Buffer, saw: (entry: LogLine) => void): void {
    const json = jsonOf(line)
    const entry = json && decodeFacts(json)
    if (entry === null) {
      // An append after an incomplete line begins with an empty one.
      if (line.length > 1) this.#gap(offset, line.length)
      return
    }
    this.#put(entry, offset, line.length)
    saw(entry)
  }

  /** Part of the segment is missing after what was taken in. */
  lost(): void {
    this.#gap(this.end, 0)
  }

  /** Takes in the next line of the segment, if its meaning is known already. */
  take(entry: LogLine, offset: number, length: number): void {
    this.#put(entry, offset, length)
    this.#facts.end = offset + length
  }

  #put(entry: LogLine, offset: number, length: number): void {
    if ('settles' in entry) this.#settle(entry.settles, entry.as, offset)
    else this.#add(entry.facts, offset, length)
  }

  #gap(offset: number, length: number): void {
    const last = this.#gaps.at(-1)
    if (last !== undefined && last.offset + last.length === offset) last.length += length
    else this.#gaps.push({ offset, length, after: this.#count > 0 ? this.idOf(this.#count - 1) : null, before: null })
  }

  #add(facts: Facts, offset: number, length: number): void {
    const counted = this.#facts
    const row = counted.count++
    if (this.#rows.length < this.#count * AT.size) {
      this.#rows = Buffer.concat([this.#rows, Buffer.alloc(this.#rows.length)])
    }
    const start = row * AT.size
    this.#rows.write(facts.edit_id, start, 'latin1')
    this.#rows.writeUInt32LE(offset, start + AT.offset)
    this.#rows.writeUInt32LE(length, start + AT.length)
    this.#rows.writeDoubleLE(facts.at, start + AT.at)
    this.#rows.writeUInt32LE(this.#number(keyOf(facts.path)), start + AT.path)
    // One by one, as this runs for each edit. A new row is all zeros.
    const { token, agent, session, batch_id: batch } = facts
    if (token !== undefined) this.#rows.writeUInt32LE(this.#number(keyOfText(token)), start + AT.token)
    if (agent !== undefined) this.#rows.writeUInt32LE(this.#number(keyOfText(agent)), start + AT.agent)
    if (session !== undefined) this.#rows.writeUInt32LE(this.#number(keyOfText(session)), start + AT.session)
    if (batch !== undefined) this.#rows.writeUInt32LE(this.#number(keyOfText(batch)), start + AT.batch)
    if (facts.key !== undefined) this.#rows.writeUIntLE(keyHash(facts.key.digest), start + AT.key, KEY_BYTES)
    if (facts.blobs.length > 0) this.#blobs.set(row, facts.blobs)
    const gap = this.#gaps.at(-1)
    if (gap !== undefined) gap.before ??= facts.edit_id
    if (facts.edit_id > counted.seen) counted.seen = facts.edit_id
    if (facts.seen !== undefined && facts.seen > counted.seen) counted.seen = facts.seen
    if (row === 0 || facts.edit_id < counted.lowest) counted.lowest = facts.edit_id
    if (facts.edit_id > counted.highest) counted.highest = facts.edit_id
    counted.oldestAt = Math.min(facts.at, counted.oldestAt ?? Infinity)
    if (facts.key !== undefined) counted.keyedAt = Math.max(facts.at, counted.keyedAt ?? -Infinity)
    if (facts.operation === 'review') this.#rows[start + AT.review] = 1
    else counted.unsettled++
  }

  /** Numbers start at 1; 0 means none. */
  #number(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#names.push(name)
    this.#numbers.set(name, number)
    return number
  }

  /** A settled record never becomes uncertain. `offset`: of the line that settles it. */
  #settle(edit_id: string, settled: Settlement, offset: number): void {
    const row = this.rowOf(edit_id)
    const tells = settled !== 'void'
    if (row === null) {
      if (tells && !this.#looseAt.has(edit_id)) this.#looseAt.set(edit_id, offset)
      if (settled !== 'uncertain' || !this.#loose.has(edit_id)) this.#loose.set(edit_id, settled)
      return
    }
    const at = row * AT.size + AT.settled
    const firstSettled = row * AT.size + AT.settledAt
    if (tells && this.#rows.readUInt32LE(firstSettled) === 0) this.#rows.writeUInt32LE(offset, firstSettled)
    if (this.#rows[at] === 0 && !this.#isReview(row)) this.#facts.unsettled--
    if (settled !== 'uncertain' || this.#rows[at] === 0) this.#rows[at] = SETTLED.indexOf(settled)
  }

  idOf(row: number): string {
    return this.#rows.toString('latin1', row * AT.size, row * AT.size + ID_LENGTH)
  }

  /** The last row with this id, or null. */
  rowOf(edit_id: string): number | null {
    let at = this.#count * AT.size
    while (at > 0) {
      at = this.#rows.lastIndexOf(edit_id, at - 1, 'latin1')
      if (at < 0) return null
      if (at % AT.size === 0) return at / AT.size
    }
    return null
  }

  row(row: number): Row {
    const start = row * AT.size
    const name = (at: number): string | null => this.#names[this.#rows.readUInt32LE(start + at) - 1] ?? null
    return {
      edit_id: this.idOf(row),
      offset: this.#rows.readUInt32LE(start + AT.offset),
      length: this.#rows.readUInt32LE(start + AT.length),
      at: this.#rows.readDoubleLE(start + AT.at),
      path: name(AT.path) ?? '',
      agent: name(AT.agent),
      session: name(AT.session),
      settled: SETTLED[this.#rows[start + AT.settled]!] ?? null,
      isReview: this.#isReview(row),
      settledAt: this.#rows.readUInt32LE(start + AT.settledAt)
    }
  }

  *all(): Generator<number> {
    for (let row = 0; row < this.#count; row++) yield row
  }

  /** Rows that this segment doesn't settle. */
  *open(): Generator<number> {
    for (let row = 0; row < this.#count; row++) {
      if (this.#rows[row * AT.size + AT.settled] === 0 && !this.#isReview(row)) yield row
    }
  }

  #isReview(row: number): boolean {
    return this.#rows[row * AT.size + AT.review] === 1
  }

  /** Rows of a path (given as by `keyOf`), last written first; without `reviews` only changes. */
  *ofPath(path: string, reviews = true): Generator<number> {
    const number = this.#numbers.get(path)
    if (number === undefined) return
    for (let row = this.#count - 1; row >= 0; row--) {
      const isOfPath = this.#rows.readUInt32LE(row * AT.size + AT.path) === number
      if (isOfPath && (reviews || !this.#isReview(row))) yield row
    }
  }

  /** Rows that may have this key, last written first. */
  *ofKey(digest: string): Generator<number> {
    const key = keyHash(digest)
    for (let row = this.#count - 1; row >= 0; row--) {
      if (this.#rows.readUIntLE(row * AT.size + AT.key, KEY_BYTES) === key) yield row
    }
  }

  /** Rows that match all that is given, in the order they were written. */
  *matching(query: {
    path?: string
    under?: string
    token?: string
    agent?: string
    session?: string
    batch?: string
  }): Generator<number> {
    const { under, ...names } = query
    const given = Object.entries(names).map(([name, text]) => ({
      at: AT[name as keyof typeof names],
      number: this.#numbers.get(text)
    }))
    if (given.some(({ number }) => number === undefined)) return
    const isUnder = under === undefined ? null : this.#names.map(name => name.startsWith(`${under}/`))
    for (let row = 0; row < this.#count; row++) {
      const start = row * AT.size
      if (!given.every(({ at, number }) => this.#rows.readUInt32LE(start + at) === number)) continue
      if (isUnder !== null && isUnder[this.#rows.readUInt32LE(start + AT.path) - 1] !== true) continue
      yield row
    }
  }

  /** Forgets the blobs of a record's texts; returns their names. */
  forgetBlobs(row: number): readonly string[] {
    const names = this.#blobs.get(row) ?? []
    this.#blobs.delete(row)
    return names
  }

  /** Short hashes of all paths and of all key digests, ascending. */
  hashes(): { paths: Float64Array; keys: Float64Array } {
    const [numbers, keys] = [new Set<number>(), new Set<number>()]
    for (let start = 0; start < this.#count * AT.size; start += AT.size) {
      numbers.add(this.#rows.readUInt32LE(start + AT.path))
      const key = this.#rows.readUIntLE(start + AT.key, KEY_BYTES)
      if (key !== 0) keys.add(key)
    }
    const paths = Array.from(numbers, number => keyHash(this.#names[number - 1]!))
    return { paths: Float64Array.from(paths).sort(), keys: Float64Array.from(keys).sort() }
  }

  /** Encodes the index; `from` decodes it. */
  toBytes(): Buffer {
    const text = JSON.stringify({
      names: this.#names,
      loose: [...this.#loose],
      looseAt: [...this.#looseAt],
      gaps: this.#gaps,
      blobs: [...this.#blobs],
      facts: this.#facts
    })
    const length = Buffer.alloc(4)
    length.writeUInt32LE(Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text), this.#rows.subarray(0, this.#count * AT.size)])
  }

  /** `bytes` must be from `toBytes`. */
  static from(bytes: Buffer): SegmentIndex {
    const start = 4 + bytes.readUInt32LE(0)
    const { names, loose, looseAt, gaps, blobs, facts } = JSON.parse(bytes.toString('utf8', 4, start))
    const index = new SegmentIndex()
    index.#names = names
    for (const [i, name] of index.#names.entries()) index.#numbers.set(name, i + 1)
    for (const [id, settled] of loose) index.#loose.set(id, settled)
    for (const [id, offset] of looseAt) index.#looseAt.set(id, offset)
    index.#gaps = gaps
    index.#blobs = new Map(blobs)
    index.#facts = facts
    index.#rows = Buffer.concat([bytes.subarray(start), Buffer.alloc(AT.size)])
    return index
  }
}
