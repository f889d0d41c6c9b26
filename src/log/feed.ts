// Reads the lines of all segments from a cursor on, and returns what they settle: each change once, whichever server
// settles it, and however often. Does not know readers, or their rights.
import { fail, ok, type Result } from '../result.ts'
import type { CursorGone, FeedPage, ChangeEvent } from './api.ts'
import { Cursor, type SegmentId } from './cursor.ts'
import { jsonIn, linesOf } from './line.ts'
import { decodeFacts, type Facts, type LogLine } from './record-json.ts'
import { segmentName } from './segment-name.ts'
import { keyOf, SegmentIndex } from './segment-index.ts'
import type { Segment } from './segment.ts'
import type { Segments } from './segments.ts'

/** In bytes: how much of a segment is read at a time. */
const CHUNK = 256 * 1024
/** How many records' facts are remembered, as their settlements follow soon. */
const REMEMBERED = 1000

/** The place of a line. */
interface Place {
  segment: Segment
  offset: number
  length: number
}

interface ReadLine {
  at: Place
  /** Null: the line is damaged, or empty. */
  entry: LogLine | null
}

export class Feed {
  readonly #segments: Segments
  readonly #facts = new Map<string, Facts>()
  /** Segment numbers missing from two lists in a row. */
  #removed: ReadonlySet<number> = new Set()

  constructor(segments: Segments) {
    this.#segments = segments
  }

  /** A cursor after everything until now. */
  async end(): Promise<Cursor> {
    let cursor = new Cursor(null, new Map())
    for (const id of await this.#look()) {
      const { end = 0, isClosed } = this.#extent(id)
      cursor = cursor.with(id, isClosed ? Infinity : end)
    }
    return cursor
  }

  /**
   * Returns what comes after a cursor, at most `most` items, up to `until`: changes of one file in the order they were
   * made; changes of all files by id, as far as each segment is in that order. Items after `until` are included if a
   * returned change of the same file was made after them.
   */
  async read(after: Cursor, most: number, until?: Cursor): Promise<Result<FeedPage, CursorGone>> {
    // Segments aren't read at one instant: this look may have found a change but not an earlier one of the same file.
    // That was settled before, so the next look finds it.
    const due = until ?? (await this.end())
    const present = await this.#look()
    if (!hasAllAfter(after, present)) return fail({ code: 'CURSOR_GONE' })
    const page = new Page(after)
    for (const id of present) {
      const read = after.read(id)
      if (read === Infinity) continue
      const { segment, end, isClosed } = this.#extent(id)
      if (end !== undefined && isClosed && read > end) return fail({ code: 'CURSOR_GONE' })
      page.sources.push({
        id,
        segment,
        read,
        end: end ?? read,
        due: due.hasStarted(id) ? Math.min(due.read(id), end ?? read) : null,
        isWhole: isClosed && end !== undefined,
        lowest: lowestIn(segment),
        changes: new Map()
      })
    }
    try {
      for (let next; (next = await this.#next(page)) !== null;) {
        page.add(next)
        if (page.events.length === most) return ok({ events: page.events, next: page.cursor, isEnd: false })
      }
    } catch (error) {
      if (!(error instanceof Gone)) throw error
      return fail({ code: 'CURSOR_GONE' })
    }
    return ok({ events: page.events, next: page.end(), isEnd: true })
  }

  /** The source of the next item; null: all that is due was returned. */
  async #next(page: Page): Promise<WithHead | null> {
    let first: WithHead | null = null
    for (const source of page.sources) {
      if (source.due === null || source.read >= source.due) continue
      // Everything in it is later.
      if (first !== null && source.lowest > idOf(first)) continue
      const found = await this.#findHead(source, page)
      if (found === null || found.read >= source.due) continue
      if (first === null || idOf(found) < idOf(first)) first = found
    }
    return first && this.#earliestOfFile(first, page)
  }

  /** Returns another source if it has an earlier change of the same file that wasn't returned yet. */
  async #earliestOfFile(source: WithHead, page: Page, seen = new Set<Source>()): Promise<WithHead> {
    seen.add(source)
    const { edit_id, path } = source.head.news.facts
    for (const other of page.sources) {
      if (seen.has(other) || other.read >= other.end || other.lowest > edit_id) continue
      const changes = other.changes.get(keyOf(path)) ?? (await this.#changesOf(path, other, page))
      other.changes.set(keyOf(path), changes)
      const isEarlier = changes.some(
        change => change.edit_id < edit_id && change.at >= other.read && !page.hasReturned(change.edit_id)
      )
      const found = isEarlier ? await this.#findHead(other, page) : null
      if (found !== null) return this.#earliestOfFile(found, page, seen)
    }
    return source
  }

  /** The changes of a file, and verdicts, that a source is the first to settle, in its order. */
  async #changesOf(path: Buffer, { segment, read, end }: Source, page: Page): Promise<Change[]> {
    const found: Change[] = []
    const key = keyOf(path)
    const { overview } = segment!
    if (overview?.mayHavePath(key)) {
      const index = await this.#segments.index(segment!)
      for (const row of index?.ofPath(key) ?? []) {
        const { edit_id, isReview, offset, settledAt } = index!.row(row)
        if (isReview || settledAt > 0) found.push({ edit_id, at: isReview ? offset : settledAt })
      }
    }
    for (const [edit_id, at] of overview?.looseAt ?? []) {
      if (at < read) continue
      const facts = this.#facts.get(edit_id) ?? (await this.#factsAt(edit_id, (await this.#known(edit_id)).written))
      if (facts?.path.equals(path)) found.push({ edit_id, at })
    }
    const unread: Change[] = []
    for (const change of found) {
      if (change.at < read || change.at >= end) continue
      const at = { segment: segment!, offset: change.at, length: 0 }
      const { settlements } = await this.#known(change.edit_id)
      if (!settlements.some(place => page.wasRead(place, at))) unread.push(change)
    }
    return unread.sort((a, b) => a.at - b.at)
  }

  /** Reads on to the source's next item; null: there is none. */
  async #findHead(source: Source, page: Page): Promise<WithHead | null> {
    if (hasHead(source)) {
      if (!page.hasReturned(idOf(source))) return source
      // Another source has returned it meanwhile.
      pass(source, source.head.at)
    }
    const { segment } = source
    if (segment === undefined) return null
    source.lines ??= this.#lines(segment, source.read, source.end)
    for (let line; (line = await source.lines.next()).done !== true;) {
      if (line.value === 'unreadable') {
        // It is returned once it can be read again.
        source.isWhole = false
        continue
      }
      const { at, entry } = line.value
      const news = entry && (await this.#news(entry, page, at))
      if (news === 'gone') {
        Object.assign(source, { isWhole: false, end: at.offset })
        // It was settled after what is due: the look that finds its record may not have happened yet.
        if (at.offset >= (source.due ?? 0)) return null
        throw new Gone()
      }
      if (news !== null && !page.hasReturned(news.facts.edit_id)) {
        return Object.assign(source, { head: { at, news }, read: at.offset })
      }
      pass(source, at)
    }
    // The segment was removed meanwhile.
    if (this.#segments.get(segment.name) === undefined) throw new Gone()
    if (source.isWhole) source.read = source.end
    return null
  }

  /**
   * Lists all segments in the order in which they are read, but for those begun meanwhile. Those of other servers are
   * read up to now.
   */
  async #look(): Promise<SegmentId[]> {
    await this.#segments.catchUp()
    const listed = await this.#segments.present()
    if (missingIn(listed).every(number => this.#removed.has(number))) return listed
    // A list isn't made at one instant: it may have a segment but not its predecessor, if both were begun meanwhile.
    // The next list has both.
    const { number: last } = listed.at(-1)!
    const again = (await this.#segments.present()).filter(({ number }) => number <= last)
    this.#removed = new Set(missingIn(again))
    return again
  }

  /** How far a segment can be read: as far as its index, which tells what was returned already. */
  #extent(id: SegmentId): { segment?: Segment; end?: number; isClosed: boolean } {
    const segment = this.#segments.get(segmentName(id.nonce, id.number))
    if (segment === undefined || segment.overview === null) return { isClosed: false }
    const { overview, isClosed, seen } = segment
    const end = overview instanceof SegmentIndex ? overview.end : seen?.size
    return { segment, isClosed, end }
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
        yield { at, entry: await this.#entryIn(line, at) }
        taken = offset + line.length
      }
      // What follows the last line break of a closed segment was never completed.
      if (taken === 0 && size >= end - start) return
      size = taken === 0 ? 2 * size : CHUNK
      start += taken
    }
  }

  async #entryIn(line: Buffer, { segment, offset, length }: Place): Promise<LogLine | null> {
    // A lone line break ends an incomplete line.
    if (length === 1) return null
    const json = await jsonIn(line, () => this.#segments.bytes(segment, offset, length))
    return json && decodeFacts(json)
  }

  /** What a line reports that no line before it did; gone: it settles a record that no longer exists. */
  async #news(entry: LogLine, page: Page, at: Place): Promise<Omit<ChangeEvent, 'after'> | 'gone' | null> {
    if ('facts' in entry) {
      this.#remember(entry.facts)
      if (entry.facts.operation !== 'review') return null
      const { written, isVoid } = await this.#known(entry.facts.edit_id)
      return isVoid || written.some(place => page.wasRead(place, at)) ? null : { facts: entry.facts, settled: 'done' }
    }
    const { settles, as: settled } = entry
    if (settled === 'void') return null
    const { written, settlements } = await this.#known(settles)
    if (settlements.some(place => page.wasRead(place, at))) return null
    const facts = this.#facts.get(settles) ?? (await this.#factsAt(settles, written))
    if (facts === null) return 'gone'
    return facts.operation === 'review' ? null : { facts, settled }
  }

  /** Where a record is, and where each segment first settles it as done or uncertain. */
  async #known(edit_id: string): Promise<{ written: Place[]; settlements: Place[]; isVoid: boolean }> {
    const [written, settlements]: [Place[], Place[]] = [[], []]
    let isVoid = false
    for (const segment of this.#segments.known()) {
      const { overview } = segment
      if (overview === null) continue
      const looseAt = overview.looseAt.get(edit_id)
      if (looseAt !== undefined) settlements.push({ segment, offset: looseAt, length: 0 })
      isVoid ||= overview.loose.get(edit_id) === 'void'
      if (edit_id < overview.lowest || edit_id > overview.highest) continue
      const index = await this.#segments.index(segment)
      const number = index?.rowOf(edit_id) ?? null
      if (index === null || number === null) continue
      const { offset, length, settledAt, settled } = index.row(number)
      written.push({ segment, offset, length })
      if (settledAt > 0) settlements.push({ segment, offset: settledAt, length: 0 })
      isVoid ||= settled === 'void'
    }
    return { written, settlements, isVoid }
  }

  async #factsAt(edit_id: string, places: readonly Place[]): Promise<Facts | null> {
    for (const { segment, offset, length } of places) {
      const line = await this.#segments.bytes(segment, offset, length)
      const entry = line && (await this.#entryIn(line, { segment, offset, length }))
      if (entry !== null && 'facts' in entry && entry.facts.edit_id === edit_id) return entry.facts
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

/** A segment that is being read. */
interface Source {
  id: SegmentId
  segment: Segment | undefined
  /** Bytes that were read: up to its head, if it has one. */
  read: number
  /** How far it can be read. */
  end: number
  /** How far it is due; null: it was begun later. */
  due: number | null
  /** There is nothing after `end`, and everything before it can be read. */
  isWhole: boolean
  /** All its changes have this id or a higher one. */
  lowest: string
  /** Its next item. */
  head?: { at: Place; news: News } | undefined
  /** The lines after the head. */
  lines?: AsyncGenerator<ReadLine | 'unreadable'>
  /** By file, if asked for: its items in its order. */
  changes: Map<string, Change[]>
  /** Something of it was returned. */
  isStarted?: boolean
}

type WithHead = Source & { head: NonNullable<Source['head']> }
type News = Omit<ChangeEvent, 'after'>

/** A change, and where in a segment it is settled. */
interface Change {
  edit_id: string
  at: number
}

/** Something was removed and can't be returned. */
class Gone extends Error {}

const hasHead = (source: Source): source is WithHead => source.head !== undefined
const idOf = ({ head }: WithHead): string => head.news.facts.edit_id

function pass(source: Source, { offset, length }: Place): void {
  source.head = undefined
  source.read = offset + length
}

/** '' if not known. */
function lowestIn(segment: Segment | undefined): string {
  const { lowest = '', looseAt = new Map<string, number>() } = segment?.overview ?? {}
  let least = lowest
  for (const [edit_id] of looseAt) if (least === '' || edit_id < least) least = edit_id
  return least
}

/** The items of a page, and how far each segment was read for it. */
class Page {
  readonly events: ChangeEvent[] = []
  /** In the order of their segments. */
  readonly sources: Source[] = []
  readonly #after: Cursor
  readonly #ids = new Set<string>()

  constructor(after: Cursor) {
    this.#after = after
  }

  get cursor(): Cursor {
    const lastStarted = this.sources.findLastIndex(
      ({ id, isStarted }) => isStarted === true || this.#after.hasStarted(id)
    )
    const sources = this.sources.slice(0, lastStarted + 1)
    const open = sources.filter(({ read, end, isWhole, head }) => !isWhole || head !== undefined || read < end)
    const { nonce, number } = sources.at(-1)?.id ?? {}
    const isLater = nonce !== undefined && number !== undefined && !this.#after.hasStarted({ nonce, number })
    return new Cursor(
      isLater ? { nonce, number } : this.#after.last,
      new Map(open.map(({ id, read }) => [segmentName(id.nonce, id.number), read]))
    )
  }

  add(source: WithHead): void {
    const { at, news } = source.head
    pass(source, at)
    source.isStarted = true
    this.#ids.add(news.facts.edit_id)
    this.events.push({ ...news, after: this.cursor })
  }

  /** Everything due was returned; returns the cursor after it. */
  end(): Cursor {
    for (const source of this.sources) source.isStarted ||= source.due !== null
    return this.cursor
  }

  hasReturned(edit_id: string): boolean {
    return this.#ids.has(edit_id)
  }

  /** Whether this line was read before the one at `at`. */
  wasRead({ segment, offset }: Place, at: Place): boolean {
    if (segment === at.segment) return offset < at.offset
    const source = this.sources.find(({ segment: read }) => read === segment)
    return offset < (source?.read ?? this.#after.read(segment))
  }
}

/** Numbers between the first and the last segment that none of them has. */
function missingIn(present: readonly SegmentId[]): number[] {
  const missing: number[] = []
  for (const [i, { number }] of present.entries()) {
    for (let other = (present[i - 1]?.number ?? number) + 1; other < number; other++) missing.push(other)
  }
  return missing
}

/** Whether no segment was removed that the cursor hadn't read to its end; cursor.ts explains why that can be seen. */
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
