// The segments of all servers in one folder: lists them, reads what is new, and keeps their index files. Does not know
// what they are read for.
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'
import { compare, type SegmentId } from '../cursor.ts'
import type { EncodedLine } from '../record-json.ts'
import { SegmentIndex } from '../segment-index.ts'
import { parseSegment } from '../segment-name.ts'
import type { FoundPlace, LinePlace, Segment, Without } from '../segment.ts'
import { Segments, type SegmentsOptions } from '../segments.ts'
import { coalesce } from '../coalesce.ts'
import { HistoryUnreadable, isPassing, unreadable } from '../unreadable.ts'
import { isMissing, look, namesIn, NotOurs, readAt, syncData, withFile, writeAll } from './files.ts'
import { readRows, readSummary, writeIndex } from './index-file.ts'
import { readLines } from './segment-lines.ts'

type SegmentFilesOptions = SegmentsOptions & Pick<HistoryOptions, 'folder' | 'isAlive'>

/** In bytes: how much is read at a time, so that reading a segment doesn't block this process. */
const CHUNK = 256 * 1024
/** In bytes: how much of a segment's end is read to find its last id. */
const TAIL = 64 * 1024
/** In bytes. No segment that editd wrote is this large. */
const TOO_LARGE = 256 * 1024 * 1024

export class SegmentFiles extends Segments {
  readonly #options: SegmentFilesOptions
  readonly #gone = new Set<string>()
  readonly #refused = new Set<string>()
  #isLoaded = false
  #isLoading = false
  /** Resolves when the indexes of this server's own closed segments are written. */
  #writing: Promise<void> = Promise.resolve()
  readonly #loadInTurn = coalesce(() => this.inTurn(() => this.#load()))

  constructor(options: SegmentFilesOptions) {
    super(options)
    this.#options = options
  }

  get folder(): string {
    return this.#options.folder
  }

  get isLoaded(): boolean {
    return this.#isLoaded && !this.#isLoading
  }

  async load(): Promise<void> {
    if (!this.isLoaded) await this.#loadInTurn()
  }

  bytes(segment: Segment, offset: number, length: number): Promise<Buffer | null> {
    return this.#attempt(segment, () => this.#withSegment(segment, fd => readAt(fd, offset, length)))
  }

  async lines<T>(
    segment: Segment,
    places: readonly LinePlace[],
    use: (json: Buffer) => T | null
  ): Promise<(T | null)[] | null> {
    try {
      return await readLines(this.folder, segment.name, places, use)
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  async present(): Promise<SegmentId[]> {
    const names = await namesIn(this.folder).catch((error: unknown) => {
      throw new HistoryUnreadable(error)
    })
    return names.flatMap(name => parseSegment(name) ?? []).sort(compare)
  }

  isGone(nonce: string): boolean {
    return this.#gone.has(nonce)
  }

  protected async readIndex(segment: Segment): Promise<SegmentIndex | null> {
    return (await readRows(this.folder, segment.name)) ?? (await this.#readWhole(segment))
  }

  protected async lookWhoIsGone(): Promise<void> {
    const { nonce: mine } = this.#options
    const nonces = new Set([...this.all.values()].map(({ nonce }) => nonce))
    await Promise.all(
      [...nonces].map(async nonce => {
        if (nonce !== mine && !this.#gone.has(nonce) && !(await this.#isAlive(nonce))) this.#gone.add(nonce)
      })
    )
    for (const segment of this.all.values()) if (this.#gone.has(segment.nonce)) await this.#close(segment)
  }

  /** Takes in lines that this server has written to its own segment. */
  written(name: string, offset: number, lines: readonly EncodedLine[]): void {
    const segment = this.all.get(name) ?? this.#add(name)
    if (segment !== null) this.take(segment, offset, lines)
  }

  /** This server writes no more to its segment. */
  closed(name: string, isWhole: boolean): void {
    const segment = this.all.get(name) ?? this.#add(name)
    if (segment === null) return
    segment.isClosed = true
    const index = segment.overview
    if (isWhole && index instanceof SegmentIndex) {
      this.#writing = this.#writing.then(() => this.#settleDown(segment, index))
    } else this.invalidate(segment)
  }

  override invalidate(segment: Segment): void {
    super.invalidate(segment)
    this.#isLoaded = false
  }

  async overwrite(segment: Segment, found: readonly FoundPlace[], without: Without): Promise<void> {
    await withFile(join(this.folder, segment.name), 'both', async fd => {
      for (const { offset, length } of found) {
        const line = without(await readAt(fd, offset, length))
        if (line !== null) await writeAll(fd, line, offset)
      }
      await syncData(fd)
    })
    const index = await this.index(segment)
    if (index === null) return
    for (const { row } of found) index.forgetBlobs(row)
    if (segment.isClosed) await this.#settleDown(segment, index)
  }

  /** Resolves when this server's indexes are written. */
  async idle(): Promise<void> {
    await this.#writing
  }

  /** Reads only the last ids. */
  async start(): Promise<void> {
    await this.#list()
    await this.#tails()
  }

  async #isAlive(nonce: string): Promise<boolean> {
    try {
      return await this.#options.isAlive(nonce)
    } catch (error) {
      this.#options.report({ event: 'look_failed', reason: String(error) })
      return true
    }
  }

  protected async look(): Promise<HistoryUnreadable | null> {
    try {
      await this.#list()
      for (const segment of this.all.values()) if (this.#mayHaveGrown(segment)) await this.#readOn(segment)
      if (!this.#isLoaded) await this.#tails()
      return null
    } catch (error) {
      return error instanceof HistoryUnreadable ? error : unreadable(error, this.#options)
    }
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return
    this.#isLoaded = true
    this.#isLoading = true
    try {
      await this.lookWhoIsGone()
      for (const segment of this.all.values()) {
        const { isClosed, overview } = segment
        if (overview === null || (!isClosed && !(overview instanceof SegmentIndex))) await this.#readOn(segment)
      }
    } catch (error) {
      this.#isLoaded = false
      throw error
    } finally {
      this.#isLoading = false
    }
  }

  async #list(): Promise<void> {
    // Excludes a segment that this server begins and ends meanwhile: it isn't gone.
    const mayGo = this.known().filter(({ name, isClosed }) => isClosed || !this.#isMine(name))
    const names = new Set(await namesIn(this.folder))
    for (const segment of mayGo) if (!names.has(segment.name)) this.drop(segment)
    for (const name of names) if (!this.all.has(name) && !this.#isMine(name)) await this.#found(name)
    const last = new Map<string, number>()
    for (const { nonce, number } of this.all.values()) last.set(nonce, Math.max(number, last.get(nonce) ?? 0))
    for (const segment of this.all.values()) {
      if (segment.number < last.get(segment.nonce)! || this.#gone.has(segment.nonce)) await this.#close(segment)
    }
  }

  /** Takes in a new segment of another server. */
  async #found(name: string): Promise<void> {
    const nonce = this.#add(name)?.nonce
    if (nonce === undefined || !this.#gone.delete(nonce)) return
    // The server seems to be alive after all: `load` asks again. Its previous segment may have grown until the server
    // noticed.
    for (const segment of this.known()) if (segment.nonce === nonce && segment.isClosed) await this.#readOn(segment)
  }

  #isMine(name: string): boolean {
    return parseSegment(name)?.nonce === this.#options.nonce
  }

  #add(name: string): Segment | null {
    const parsed = parseSegment(name)
    if (parsed === null) return null
    const overview = parsed.nonce === this.#options.nonce ? new SegmentIndex() : null
    const segment: Segment = { name, ...parsed, isClosed: false, seen: null, overview }
    this.all.set(name, segment)
    if (overview === null) this.#isLoaded &&= false
    return segment
  }

  #mayHaveGrown({ nonce, isClosed, overview }: Segment): boolean {
    return nonce !== this.#options.nonce && !isClosed && overview instanceof SegmentIndex
  }

  /** Reads the last records of each server: no other ids are later than those they mention. */
  async #tails(): Promise<void> {
    const done = new Set<string>()
    for (const segment of [...this.all.values()].sort((a, b) => b.number - a.number)) {
      const { nonce, overview } = segment
      if (done.has(nonce) || nonce === this.#options.nonce) continue
      // It was read whole, or at least its last id.
      if (overview instanceof SegmentIndex || (segment.isClosed && segment.seen !== null)) done.add(nonce)
      else if (await this.#attempt(segment, () => this.#tail(segment))) done.add(nonce)
    }
  }

  /** Whether the segment has a record. */
  async #tail(segment: Segment): Promise<boolean> {
    if (segment.seen === null && (await this.#summary(segment))) return true
    return this.#withSegment(segment, async (fd, { size, ino }) => {
      if (segment.seen?.size === size && segment.seen.ino === ino) return true
      for (let length = Math.min(TAIL, size); ; length = Math.min(2 * length, size)) {
        const index = new SegmentIndex()
        index.push(await readAt(fd, size - length, length), false)
        if (index.count === 0 && length < size) continue
        this.#options.ids.saw(index.seen)
        segment.seen = { ino, size }
        return index.count > 0
      }
    })
  }

  /** Reads the summary from its index file, if one matches: then another server considered the segment closed. */
  async #summary(segment: Segment): Promise<boolean> {
    const stats = await look(join(this.folder, segment.name))
    const overview = stats && (await readSummary(this.folder, segment.name, stats))
    if (stats === null || overview === null) return false
    this.#options.ids.saw(overview.seen)
    segment.seen = stats
    segment.overview = overview
    this.#options.sawIndex()
    return overview.seen !== ''
  }

  /** Reads what is new in an open segment; for a closed one its index, or all of it. */
  async #readOn(segment: Segment): Promise<void> {
    try {
      await this.#attempt(segment, () => this.#readMore(segment))
    } catch (error) {
      // The new lines might not be looked for again otherwise.
      this.invalidate(segment)
      throw error
    }
  }

  async #readMore(segment: Segment): Promise<void> {
    const path = join(this.folder, segment.name)
    const stats = await look(path)
    if (stats === null) return this.drop(segment)
    const { seen, overview } = segment
    if (overview instanceof SegmentIndex) {
      if (!segment.isClosed && seen?.ino === stats.ino && seen.size === stats.size) return
      if (seen?.ino !== stats.ino || overview.end > stats.size) {
        this.#options.report({ event: 'history_segment_changed', segment: segment.name })
        this.invalidate(segment)
      }
    } else if (segment.isClosed) {
      this.indexes.forget(segment.name)
      const summary = await readSummary(this.folder, segment.name, stats)
      if (summary !== null) {
        segment.seen = stats
        segment.overview = summary
        return this.#options.sawIndex()
      }
    }
    const index = segment.overview instanceof SegmentIndex ? segment.overview : new SegmentIndex()
    const now = await this.#read(segment, index)
    this.#options.ids.saw(index.seen)
    segment.seen = now
    if (segment.isClosed) await this.#settleDown(segment, index, now)
    else segment.overview = index
  }

  /** Closes an open segment: an incomplete line at its end is never completed. */
  async #close(segment: Segment): Promise<void> {
    if (segment.isClosed) return
    segment.isClosed = true
    // It may have grown since it was last read, or since its index file matched.
    if (segment.overview !== null) await this.#readOn(segment)
  }

  /** Writes the index of a closed segment to its file. */
  async #settleDown(segment: Segment, index: SegmentIndex, stats?: Stats): Promise<void> {
    const { folder } = this
    try {
      const now = stats ?? (await look(join(folder, segment.name)))
      if (now === null) return this.drop(segment)
      segment.seen = now
      await writeIndex(folder, segment.name, now, index)
      const overview = await readSummary(folder, segment.name, now)
      segment.overview = overview ?? index
      if (overview !== null) this.indexes.keep(segment.name, index)
    } catch (error) {
      // It stays in memory; the next server that starts tries again.
      segment.overview = index
      this.#options.report({ event: 'history_index_unwritten', segment: segment.name, code: codeOf(error) })
    }
  }

  async #readWhole(segment: Segment): Promise<SegmentIndex | null> {
    const index = new SegmentIndex()
    return (await this.#attempt(segment, () => this.#read(segment, index))) === null ? null : index
  }

  /** Reads into the index what it doesn't have yet. */
  async #read(segment: Segment, index: SegmentIndex): Promise<Stats> {
    return this.#withSegment(segment, async (fd, stats) => {
      const { nonce, isClosed } = segment
      let length = CHUNK
      while (index.end < stats.size) {
        const isLast = index.end + length >= stats.size
        const bytes = await readAt(fd, index.end, Math.min(length, stats.size - index.end))
        const taken = index.push(bytes, isClosed && isLast, entry => this.#options.saw(entry, nonce))
        if (isLast) break
        length = taken === 0 ? 2 * length : CHUNK
      }
      return stats
    })
  }

  async #withSegment<T>({ name }: Segment, work: (fd: number, stats: Stats) => Promise<T>): Promise<T> {
    return withFile(join(this.folder, name), 'read', async (fd, stats) => {
      if (stats.size > TOO_LARGE) throw new NotOurs('larger than any segment')
      return work(fd, stats)
    })
  }

  /**
   * Null: it failed, which is reported once; a segment that is gone is dropped. Throws HistoryUnreadable if it may
   * succeed a moment later.
   */
  async #attempt<T>(segment: Segment, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (isPassing(error)) throw unreadable(error, this.#options)
      if (isMissing(error)) this.drop(segment)
      else if (!this.#refused.has(segment.name)) {
        this.#refused.add(segment.name)
        this.#options.report({ event: 'history_segment_unreadable', segment: segment.name, code: codeOf(error) })
      }
      return null
    }
  }
}
