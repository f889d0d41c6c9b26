// A history kept in segments, in a folder or a bucket: answers queries, and passes on what is to be written. Does not
// know files, objects, HTTP or locks.
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CursorGone,
  FeedPage,
  FileCopy,
  History,
  HistoryLimits,
  HistoryOptions,
  Latest,
  NewCopy,
  PastFacts,
  PathHistory,
  RecordPage,
  RecordQuery,
  Retention,
  Swept
} from './api.ts'
import type { Result } from '../result.ts'
import type { Blobs } from './blobs.ts'
import type { Copies } from './copies.ts'
import type { Cursor } from './cursor.ts'
import { Feed } from './feed.ts'
import { forgetPath } from './forget.ts'
import { Ids } from './ids.ts'
import { LatestOfPaths } from './latest.ts'
import { limitsOf, roomOf } from './limits.ts'
import { RecordReader } from './reading.ts'
import type { EditRecord, Settlement, Stored } from './record.ts'
import { recordLine, settlementLine, type LogLine } from './record-json.ts'
import { keyOf } from './segment-index.ts'
import type { Segments } from './segments.ts'
import { sweepHistory, type KeptPlaces } from './sweep.ts'
import { sweptAmong, type SweptNames } from './swept.ts'
import { encodeTexts, type EncodedTexts } from './texts-json.ts'
import { HistoryUnreadable } from './unreadable.ts'
import { Watch } from './watch.ts'
import { Writer, type Appender } from './writer.ts'

/** In ms: the sweep ends a segment that was begun earlier, so that old records in it can be removed. */
const LONGEST = 24 * 60 * 60 * 1000
/** How many paths' `keepsTexts` answers, and how many settled changes, are remembered. */
const REMEMBERED = 1000
const NO_TEXTS: EncodedTexts = { json: null, blobs: [] }

export type LogHistoryOptions = Pick<
  HistoryOptions,
  'nonce' | 'level' | 'isPrivate' | 'report' | 'grown' | 'size' | 'limits'
>

/** What the parts need from the history. */
interface HistoryHooks {
  limits: HistoryLimits
  ids: Ids
  /** Call it with each line of an open segment that is read or written, and its server. */
  saw(entry: LogLine, nonce: string): void
  /** Call it when the content of a segment is known without calls of `saw` for its lines. */
  sawIndex(): void
  /** Call it with the size in bytes of each copy that was written. */
  wrote(bytes: number): void
}

/** The storage parts of a history. All reject with an error that has a code. */
interface HistoryParts {
  segments: Segments
  appender: Appender
  blobs: Blobs
  copies: Copies
  /** In ms: how much later than here another server may write a copy. */
  late: number
  kept: KeptPlaces
  swept: SweptNames
  /** In ms since 1970: the time used for ages. */
  now(): number
}

export class LogHistory implements History {
  readonly #options: LogHistoryOptions
  readonly #limits: HistoryLimits
  readonly #ids = new Ids()
  readonly #latest = new LatestOfPaths()
  /** Settlements that aren't written yet. */
  readonly #settlements = new Map<string, Settlement>()
  /** Some of them must be written before another server can edit the file. */
  #hasUrgent = false
  /** Resolves when urgent settlements are written. */
  #saying: Promise<void> = Promise.resolve()
  /** Ids of changes that this server settled recently. */
  readonly #settled = new Set<string>()
  /** Whether texts are kept, by path: testing the patterns takes longer. */
  readonly #keeps = new Map<string, boolean>()
  /**
   * The recent periods in which this server was alone, each with a promise that everything written before it is read.
   */
  readonly #alone = new Map<string, Promise<void>>()
  readonly #parts: HistoryParts
  readonly #writer: Writer
  readonly #reading: RecordReader
  readonly #feed: Feed
  readonly #watch: Watch
  /** In bytes: what was written beside the segments since the last call of `grown` for it. */
  #beside = 0

  /** `wait`: ms between two looks of `watch`. */
  constructor(options: LogHistoryOptions, make: (hooks: HistoryHooks) => HistoryParts, wait?: number) {
    const { nonce, report } = options
    const limits = limitsOf(options)
    this.#options = options
    this.#limits = limits
    this.#parts = make({
      limits,
      ids: this.#ids,
      sawIndex: () => {
        this.#latest.clear()
        this.#watch.saw()
      },
      saw: (entry, from) => {
        this.#watch.saw()
        if ('facts' in entry) this.#latest.saw(entry.facts)
        else {
          this.#latest.settled(entry.settles, entry.as)
          if (from === nonce) this.#settlements.delete(entry.settles)
        }
      },
      wrote: bytes => this.#wrote(bytes)
    })
    const { segments, blobs, appender } = this.#parts
    this.#writer = new Writer({
      appender,
      report,
      lost: lines => {
        for (const { entry } of lines) if ('settles' in entry) this.#settlements.delete(entry.settles)
      }
    })
    this.#reading = new RecordReader({
      segments,
      blobs,
      latest: this.#latest,
      limits,
      settlementOf: edit_id => this.#settlements.get(edit_id) ?? null,
      report
    })
    this.#feed = new Feed(segments)
    // What can't be read is reported; the next look may read it.
    this.#watch = new Watch(() => segments.catchUp().catch(() => {}), wait)
  }

  nextId(): string {
    return this.#ids.next()
  }

  landed(edit_id: string): void {
    this.#ids.saw(edit_id)
    if (!this.#settled.has(edit_id)) this.settle(edit_id, 'done')
  }

  refresh(alone_since: string | null = null): Promise<void> {
    const { segments } = this.#parts
    if (alone_since === null) return segments.update().then(() => {})
    const known = this.#alone.get(alone_since)
    if (known !== undefined) return known
    // What others wrote before that time may not be read yet; after that there is nothing more from them.
    const read = segments.update().then(isRead => {
      if (!isRead) this.#alone.delete(alone_since)
    })
    if (this.#alone.size === REMEMBERED) this.#alone.clear()
    this.#alone.set(alone_since, read)
    return read
  }

  /** Not async: most records have no blobs, and need no promise besides the writer's. */
  append(record: EditRecord, { durable }: { durable: boolean }): Promise<void> {
    const hasTexts = record.splices !== null || record.places !== null
    const encoded = hasTexts && this.keepsTexts(record.path) ? encodeTexts(record, this.#limits.text) : NO_TEXTS
    return encoded instanceof Promise
      ? this.#appendWithBlobs(record, encoded, durable)
      : this.#appendLine(record, encoded.json, [], durable)
  }

  async #appendWithBlobs(record: EditRecord, encoded: Promise<EncodedTexts>, durable: boolean): Promise<void> {
    const { blobs: kept } = this.#parts
    const { json, blobs } = await encoded
    await kept.keep(blobs, durable)
    // Counts existing blobs too.
    this.#wrote(blobs.reduce((sum, { bytes }) => sum + bytes.length, 0))
    const names = blobs.map(({ name }) => name)
    await this.#appendLine(record, json, names, durable)
    await kept.check(blobs, durable)
  }

  #wrote(bytes: number): void {
    this.#beside += bytes
    if (this.#beside < this.#limits.segment) return
    this.#beside = 0
    this.#options.grown?.()
  }

  #appendLine(record: EditRecord, texts: unknown, blobs: readonly string[], durable: boolean): Promise<void> {
    return this.#writer.append(recordLine(record, texts, blobs, this.#ids.latest), durable)
  }

  settle(edit_id: string, settled: Settlement, isUrgent = settled === 'void'): void {
    if (isUrgent) this.#hasUrgent = true
    this.#settlements.set(edit_id, settled)
    this.#settled.add(edit_id)
    if (this.#settled.size > REMEMBERED) this.#settled.delete(this.#settled.values().next().value!)
    this.#latest.settled(edit_id, settled)
    this.#writer.add(settlementLine(edit_id, settled))
  }

  sayAll(): Promise<void> {
    return this.#writer.sent()
  }

  async flush(): Promise<void> {
    await this.#writer.flush()
    await this.#parts.copies.flush()
  }

  ofPath(path: Buffer): Promise<PathHistory> {
    return this.#reading.ofPath(path)
  }

  lastOf(path: Buffer): Latest | null | Promise<Latest | null> {
    return this.#reading.lastOf(path)
  }

  newestOf(path: Buffer): AsyncIterable<PastFacts> {
    return this.#reading.newestOf(path)
  }

  byId(edit_id: string): Promise<Stored | null> {
    return this.#reading.byId(edit_id)
  }

  byKey(digest: string): Promise<Stored | null> {
    return this.#reading.byKey(digest)
  }

  mayHaveLostKey(digest: string, after: string): Promise<boolean> {
    return this.#reading.mayHaveLostKey(digest, after)
  }

  list(query: RecordQuery, limit: number): Promise<RecordPage> {
    return this.#reading.list(query, limit)
  }

  feedEnd(): Promise<Cursor> {
    return this.#feed.end()
  }

  readOn(after: Cursor, most: number, until?: Cursor): Promise<Result<FeedPage, CursorGone>> {
    return this.#feed.read(after, most, until)
  }

  watch(more: () => void): () => void {
    return this.#watch.add(more)
  }

  setAlone(isAlone: boolean): void {
    this.#watch.setAlone(isAlone)
  }

  unsettled(): Promise<Stored[]> {
    return this.#reading.unsettled()
  }

  openElsewhere(): Promise<Stored[]> {
    return this.#reading.openElsewhere(this.#options.nonce)
  }

  async forget(path: Buffer): Promise<number> {
    const { copies, late } = this.#parts
    await this.#writer.flush()
    const start = performance.now()
    await copies.remove(path)
    const forgotten = await forgetPath(path, { ...this.#parts, reading: this.#reading })
    if (late > 0) {
      await sleep(late - (performance.now() - start))
      await copies.remove(path)
    }
    return forgotten
  }

  async sweep({ days, bytes }: Retention): Promise<Swept> {
    const { size = 0, report } = this.#options
    await this.#writer.rotate(LONGEST)
    await this.#parts.segments.idle()
    return sweepHistory({ days, bytes: bytes - roomOf(size, this.#limits) }, { ...this.#parts, report })
  }

  now(): number {
    return this.#parts.now()
  }

  async sweptTo(): Promise<string> {
    const names = await this.#parts.swept.names().catch((error: unknown) => {
      throw new HistoryUnreadable(error)
    })
    return sweptAmong(names)
  }

  keepCopy(path: Buffer, copy: NewCopy, alone = false): boolean {
    return this.keepsTexts(path) && this.#parts.copies.keep(path, copy, alone)
  }

  waitingCopy(path: Buffer): FileCopy | null {
    return this.#parts.copies.waiting(path)
  }

  async leave(path: Buffer): Promise<void> {
    if (this.#hasUrgent) {
      // Settlements that become urgent from now on are for the next write.
      this.#hasUrgent = false
      this.#saying = this.#writer.sent()
    }
    await this.#saying
    await this.#parts.copies.written(path)
  }

  copyOf(path: Buffer): Promise<FileCopy | null> {
    return this.#parts.copies.of(path)
  }

  async close(): Promise<void> {
    const { copies, segments } = this.#parts
    this.#watch.close()
    await this.#writer.close()
    await copies.flush()
    await segments.idle()
  }

  keepsTexts(path: Buffer): boolean {
    if (this.#options.level === 'meta') return false
    const key = keyOf(path)
    const known = this.#keeps.get(key)
    if (known !== undefined) return known
    const keeps = !this.#options.isPrivate(path)
    if (this.#keeps.size === REMEMBERED) this.#keeps.clear()
    this.#keeps.set(key, keeps)
    return keeps
  }
}
