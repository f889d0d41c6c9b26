// The history of one root: puts its parts together. Does not know the root's files, HTTP or locks.
import { mkdirSync, statSync } from 'node:fs'
import type {
  CursorGone,
  FeedPage,
  FileCopy,
  History,
  HistoryOptions,
  Latest,
  PathHistory,
  RecordPage,
  RecordQuery,
  Retention,
  Swept
} from './api.ts'
import { codeOf } from '../error-code.ts'
import type { Result } from '../result.ts'
import { Blobs } from './blobs.ts'
import { Copies } from './copies.ts'
import type { Cursor } from './cursor.ts'
import { Feed } from './feed.ts'
import { forgetPath } from './forget.ts'
import { Ids } from './ids.ts'
import { LatestOfPaths } from './latest.ts'
import { LIMITS } from './limits.ts'
import { RecordReader } from './reading.ts'
import type { EditRecord, Settlement, Stored } from './record.ts'
import { recordLine, settlementLine } from './record-json.ts'
import { keyOf } from './segment-index.ts'
import { Segments } from './segments.ts'
import { sweepHistory } from './sweep.ts'
import { encodeTexts } from './texts-json.ts'
import { Watch } from './watch.ts'
import { Writer } from './writer.ts'

/** In ms: a segment that was begun earlier is ended by the sweep, so that what is old in it can be removed. */
const LONGEST = 24 * 60 * 60 * 1000

/** Paths of which it is remembered whether their texts are kept. */
const REMEMBERED = 1000

/** Reads nothing but the last ids. Throws the system's error if the folder can't be made or read. */
export async function openHistory(options: HistoryOptions): Promise<History> {
  makeFolder(options.folder)
  const history = new FileHistory(options)
  await history.start()
  return history
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}

class FileHistory implements History {
  readonly #options: HistoryOptions
  readonly #limits: typeof LIMITS
  readonly #ids = new Ids()
  readonly #latest = new LatestOfPaths()
  /** What was settled and isn't written yet. */
  readonly #said = new Map<string, Settlement>()
  /** Of paths, whether their texts are kept: the patterns take longer to ask. */
  readonly #keeps = new Map<string, boolean>()
  /** The times for which this server was alone lately, and when all that was written before each is read. */
  readonly #alone = new Map<string, Promise<void>>()
  readonly #segments: Segments
  readonly #blobs: Blobs
  readonly #copies: Copies
  readonly #writer: Writer
  readonly #reading: RecordReader
  readonly #feed: Feed
  readonly #watch: Watch

  constructor(options: HistoryOptions) {
    const { folder, nonce, stayAlive, report } = options
    const limits = { ...LIMITS, ...options.limits }
    this.#options = options
    this.#limits = limits
    this.#segments = new Segments({
      ...options,
      limits,
      ids: this.#ids,
      sawIndex: () => {
        this.#latest.clear()
        this.#watch.saw()
      },
      saw: (said, from) => {
        this.#watch.saw()
        if ('facts' in said) this.#latest.saw(said.facts)
        else {
          this.#latest.settled(said.settles, said.as)
          if (from === nonce) this.#said.delete(said.settles)
        }
      }
    })
    this.#blobs = new Blobs(options)
    this.#copies = new Copies({ folder, nonce, report, limits })
    this.#writer = new Writer({
      folder,
      nonce,
      stayAlive,
      report,
      limit: limits.segment,
      written: (segment, offset, lines) => this.#segments.written(segment, offset, lines),
      lost: lines => {
        for (const { said } of lines) if ('settles' in said) this.#said.delete(said.settles)
      },
      closed: (segment, isWhole) => {
        this.#segments.closed(segment, isWhole)
        options.rotated?.()
      }
    })
    this.#reading = new RecordReader({
      segments: this.#segments,
      blobs: this.#blobs,
      latest: this.#latest,
      limits,
      said: edit_id => this.#said.get(edit_id) ?? null,
      report
    })
    this.#feed = new Feed(this.#segments)
    this.#watch = new Watch(() => this.#segments.catchUp())
  }

  start(): Promise<void> {
    return this.#segments.start()
  }

  nextId(): string {
    return this.#ids.next()
  }

  async refresh(alone_since: string | null = null): Promise<void> {
    if (alone_since === null) return this.#segments.update()
    // What others wrote before then may not be read yet.
    const read = this.#alone.get(alone_since) ?? this.#segments.update()
    if (!this.#alone.has(alone_since) && this.#alone.size === REMEMBERED) this.#alone.clear()
    this.#alone.set(alone_since, read)
    await read
  }

  async append(record: EditRecord, { durable }: { durable: boolean }): Promise<void> {
    const hasTexts = record.splices !== null || record.places !== null
    const { json, blobs } =
      hasTexts && this.keepsTexts(record.path)
        ? await encodeTexts(record, this.#limits.text)
        : { json: null, blobs: [] }
    await this.#blobs.keep(blobs, durable)
    const names = blobs.map(({ name }) => name)
    await this.#writer.append(recordLine(record, json, names, this.#ids.latest), durable)
    await this.#blobs.check(blobs, durable)
  }

  settle(edit_id: string, settled: Settlement): void {
    this.#said.set(edit_id, settled)
    this.#latest.settled(edit_id, settled)
    this.#writer.add(settlementLine(edit_id, settled))
  }

  async flush(): Promise<void> {
    await this.#writer.flush()
    await this.#copies.flush()
  }

  ofPath(path: Buffer): Promise<PathHistory> {
    return this.#reading.ofPath(path)
  }

  lastOf(path: Buffer): Promise<Latest | null> {
    return this.#reading.lastOf(path)
  }

  byId(edit_id: string): Promise<Stored | null> {
    return this.#reading.byId(edit_id)
  }

  byKey(digest: string): Promise<Stored | null> {
    return this.#reading.byKey(digest)
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

  async forget(path: Buffer): Promise<number> {
    await this.#writer.flush()
    await this.#copies.remove(path)
    return forgetPath(path, { segments: this.#segments, blobs: this.#blobs, reading: this.#reading })
  }

  async sweep(retention: Retention): Promise<Swept> {
    await this.#writer.rotate(LONGEST)
    await this.#segments.idle()
    const { report } = this.#options
    return sweepHistory(retention, { segments: this.#segments, blobs: this.#blobs, copies: this.#copies, report })
  }

  keepCopy(path: Buffer, edit_id: string, pieces: readonly Buffer[], hash: string, alone = false): void {
    if (this.keepsTexts(path)) this.#copies.keep(path, edit_id, pieces, hash, alone)
  }

  writeCopy(path: Buffer): Promise<void> {
    return this.#copies.written(path)
  }

  copyOf(path: Buffer): Promise<FileCopy | null> {
    return this.#copies.of(path)
  }

  async close(): Promise<void> {
    this.#watch.close()
    await this.#writer.close()
    await this.#copies.flush()
    await this.#segments.idle()
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
