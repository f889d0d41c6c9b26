// Reads the lines of all segments on from a cursor, and tells what they settle: each change once, whichever server says
// it, and however often. Does not know who reads, or which paths may be told.
import { fail, ok, type Result } from '../result.ts'
import type { CursorGone, FeedPage, Told } from './api.ts'
import { Cursor, type SegmentId } from './cursor.ts'
import { linesOf } from './line.ts'
import { decodeFacts, type Facts, type Said } from './record-json.ts'
import { segmentName } from './segment-name.ts'
import { SegmentIndex } from './segment-index.ts'
import { jsonIn } from './segment-lines.ts'
import type { Segment, SegmentSource } from './segment-source.ts'

/** In bytes, of a segment that are read at once. */
const CHUNK = 256 * 1024
/** Records of which it is remembered what they say, as their settlement comes soon. */
const REMEMBERED = 1000

/** Where a line is. */
interface Place {
  segment: Segment
  offset: number
  length: number
}

interface ReadLine {
  at: Place
  /** Null: it is damaged, or empty. */
  said: Said | null
}

/** `at`: the line that is being read. */
interface Reader {
  cursor: Cursor
  at: Place
}

export class Feed {
  readonly #segments: SegmentSource
  readonly #facts = new Map<string, Facts>()

  constructor(segments: SegmentSource) {
    this.#segments = segments
  }

  /** What comes from now on is after it. */
  async end(): Promise<Cursor> {
    let cursor = new Cursor(null, new Map())
    for (const id of await this.#look()) {
      const { end = 0, isClosed } = this.#extent(id)
      cursor = cursor.with(id, isClosed ? Infinity : end)
    }
    return cursor
  }

  /** What comes after a cursor and not after `until`, at most `most`, in the order in which this server reads it. */
  async read(after: Cursor, most: number, until?: Cursor): Promise<Result<FeedPage, CursorGone>> {
    const present = await this.#look()
    if (!hasAllAfter(after, present)) return fail({ code: 'CURSOR_GONE' })
    const told: Told[] = []
    let cursor = after
    for (const id of present) {
      let read = cursor.read(id)
      if (read === Infinity) continue
      if (until !== undefined && !until.hasBegun(id)) break
      const { segment, end, isClosed } = this.#extent(id, until)
      if (end !== undefined && isClosed && read > end) return fail({ code: 'CURSOR_GONE' })
      let isWhole = isClosed && end !== undefined
      if (segment !== undefined && end !== undefined && read < end) {
        for await (const line of this.#lines(segment, read, end)) {
          if (line === 'unreadable') {
            // It is told when it can be read again.
            isWhole = false
            continue
          }
          const { at, said } = line
          read = at.offset + at.length
          const news = said && (await this.#news(said, { cursor, at }))
          if (news === 'gone') return fail({ code: 'CURSOR_GONE' })
          if (news === null) continue
          const next = cursor.with(id, read)
          told.push({ ...news, after: next })
          if (told.length === most) return ok({ told, next, isEnd: false })
        }
        // It was removed meanwhile.
        if (this.#segments.get(segment.name) === undefined) return fail({ code: 'CURSOR_GONE' })
      }
      cursor = cursor.with(id, isWhole ? Infinity : read)
    }
    return ok({ told, next: cursor, isEnd: true })
  }

  /** All segments that are there, in the order in which they are read; those of others are known up to now. */
  async #look(): Promise<SegmentId[]> {
    await this.#segments.catchUp()
    return this.#segments.present()
  }

  /** How far a segment can be read: as far as its index reaches, since that is asked what was told already. */
  #extent(id: SegmentId, until?: Cursor): { segment?: Segment; end?: number; isClosed: boolean } {
    const segment = this.#segments.get(segmentName(id.nonce, id.number))
    if (segment === undefined || segment.overview === null) return { isClosed: false }
    const { overview, isClosed, seen } = segment
    const end = overview instanceof SegmentIndex ? overview.end : seen?.size
    const most = until?.read(id) ?? Infinity
    if (end === undefined || most === Infinity) return { segment, isClosed, ...(end !== undefined && { end }) }
    return { segment, end: Math.min(end, most), isClosed: false }
  }

  async *#lines(segment: Segment, from: number, end: number): AsyncGenerator<ReadLine | 'unreadable'> {
    let size = CHUNK
    for (let start = from; start < end;) {
      const bytes = await this.#segments.bytes(segment, start, Math.min(size, end - start))
      if (bytes === null) {
        yield 'unreadable'
        return
      }
      let taken = 0
      for (const { offset, line } of linesOf(bytes)) {
        const at = { segment, offset: start + offset, length: line.length }
        yield { at, said: await this.#saidIn(line, at) }
        taken = offset + line.length
      }
      // What follows the last line break of a closed segment was never completed.
      if (taken === 0 && size >= end - start) return
      size = taken === 0 ? 2 * size : CHUNK
      start += taken
    }
  }

  async #saidIn(line: Buffer, { segment, offset, length }: Place): Promise<Said | null> {
    // A lone line break ends what was torn.
    if (length === 1) return null
    const json = await jsonIn(line, () => this.#segments.bytes(segment, offset, length))
    return json && decodeFacts(json)
  }

  /** What a line tells that no line before it did; gone: it settles a record that isn't there any more. */
  async #news(said: Said, reader: Reader): Promise<Omit<Told, 'after'> | 'gone' | null> {
    if ('facts' in said) {
      this.#remember(said.facts)
      if (said.facts.operation !== 'review') return null
      const { written, isVoid } = await this.#known(said.facts.edit_id)
      return isVoid || written.some(place => wasRead(place, reader)) ? null : { facts: said.facts, settled: 'done' }
    }
    const { settles, as: settled } = said
    if (settled === 'void') return null
    const { written, told } = await this.#known(settles)
    if (told.some(place => wasRead(place, reader))) return null
    const facts = this.#facts.get(settles) ?? (await this.#factsAt(written))
    if (facts === null) return 'gone'
    return facts.operation === 'review' ? null : { facts, settled }
  }

  /** Where a record is, and where it is first said in each segment that it took place, or that nobody can tell. */
  async #known(edit_id: string): Promise<{ written: Place[]; told: Place[]; isVoid: boolean }> {
    const [written, told]: [Place[], Place[]] = [[], []]
    let isVoid = false
    for (const segment of this.#segments.known()) {
      const { overview } = segment
      if (overview === null) continue
      const looseAt = overview.looseAt.get(edit_id)
      if (looseAt !== undefined) told.push({ segment, offset: looseAt, length: 0 })
      isVoid ||= overview.loose.get(edit_id) === 'void'
      if (edit_id < overview.lowest || edit_id > overview.highest) continue
      const index = await this.#segments.index(segment)
      const number = index?.rowOf(edit_id) ?? null
      if (index === null || number === null) continue
      const { offset, length, toldAt, settled } = index.row(number)
      written.push({ segment, offset, length })
      if (toldAt > 0) told.push({ segment, offset: toldAt, length: 0 })
      isVoid ||= settled === 'void'
    }
    return { written, told, isVoid }
  }

  async #factsAt(places: readonly Place[]): Promise<Facts | null> {
    for (const { segment, offset, length } of places) {
      const line = await this.#segments.bytes(segment, offset, length)
      const said = line && (await this.#saidIn(line, { segment, offset, length }))
      if (said !== null && 'facts' in said) return said.facts
    }
    return null
  }

  #remember(facts: Facts): void {
    this.#facts.set(facts.edit_id, facts)
    for (const [oldest] of this.#facts) {
      if (this.#facts.size <= REMEMBERED) return
      this.#facts.delete(oldest)
    }
  }
}

/** Whether the reader has read this line before the one that it is at. */
const wasRead = ({ segment, offset }: Place, { cursor, at }: Reader): boolean =>
  offset < (segment === at.segment ? at.offset : cursor.read(segment))

/** Whether none of the segments that it hasn't read to their end was removed; cursor.ts says why that can be seen. */
function hasAllAfter({ last, offsets }: Cursor, present: readonly SegmentId[]): boolean {
  const names = new Set(present.map(({ nonce, number }) => segmentName(nonce, number)))
  if (last !== null && !names.has(segmentName(last.nonce, last.number))) return false
  if (![...offsets.keys()].every(name => names.has(name))) return false
  const numbers = new Set(present.map(({ number }) => number))
  for (let number = (last?.number ?? 0) + 1; number < (present.at(-1)?.number ?? 0); number++) {
    if (!numbers.has(number)) return false
  }
  return true
}
