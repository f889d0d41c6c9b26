// The segments of all servers, wherever they are stored, and what memory holds of them: the index or an overview of
// each, and an LRU cache of further indexes. Does not know what they are read for.
import type { HistoryLimits, HistoryOptions } from './api.ts'
import type { SegmentId } from './cursor.ts'
import type { Ids } from './ids.ts'
import { LruCache } from './lru-cache.ts'
import type { Settlement } from './record.ts'
import type { LogLine, EncodedLine } from './record-json.ts'
import { SegmentIndex } from './segment-index.ts'
import type { FoundPlace, LinePlace, ReadSegment, Segment, Without } from './segment.ts'
import { coalesce } from './coalesce.ts'
import type { HistoryUnreadable } from './unreadable.ts'

export interface SegmentsOptions extends Pick<HistoryOptions, 'nonce' | 'report'> {
  limits: HistoryLimits
  ids: Ids
  /** Called with each line of an open segment that is read or written, and its server. */
  saw(entry: LogLine, nonce: string): void
  /** Called when the content of a segment becomes known, or unknown, without calls of `saw` for its lines. */
  sawIndex(): void
}

/** Abstract members depend on where segments are stored. Queries reject with HistoryUnreadable. */
export abstract class Segments<S extends Segment = Segment> {
  /** By name. */
  protected readonly all = new Map<string, S>()
  /** Indexes of closed segments, by name. */
  protected readonly indexes: LruCache<SegmentIndex>
  readonly #options: Pick<SegmentsOptions, 'saw'>
  /** Serializes reads into the indexes of open segments. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #look = coalesce(() => this.inTurn(() => this.look()))
  /** Looks again which servers are gone: their unfinished segments count as closed. */
  readonly askWhoIsGone: () => Promise<void> = coalesce(() => this.inTurn(() => this.lookWhoIsGone()))

  constructor(options: Pick<SegmentsOptions, 'limits' | 'saw'>) {
    this.#options = options
    this.indexes = new LruCache(options.limits.indexes, ({ bytes }) => bytes)
  }

  /** Looks at what other servers have added. Resolves with the reason if that isn't known at present; null: it is. */
  protected abstract look(): Promise<HistoryUnreadable | null>
  protected abstract lookWhoIsGone(): Promise<void>
  /** Null: it can no longer be read. */
  protected abstract readIndex(segment: Segment): Promise<SegmentIndex | null>

  /** Whether each known segment that can be read has an overview. */
  abstract readonly isLoaded: boolean
  /** Afterwards `isLoaded` is true. */
  abstract load(): Promise<void>
  /** The segments that exist now, in the order of `compare` (cursor.ts). */
  abstract present(): Promise<SegmentId[]>
  /** Up to `length` bytes of a segment; null: it can't be read, or is gone. */
  abstract bytes(segment: Segment, offset: number, length: number): Promise<Buffer | null>
  /**
   * Applies `use` to the JSON of each line, in their order; null for a line that isn't (or no longer is) editd's.
   * Returns null if the segment is gone. Rejects with an error that has a code. `texts`: texts are needed, which others
   * may have removed since the line was read; nothing else in a line changes.
   */
  abstract lines<T>(
    segment: Segment,
    places: readonly LinePlace[],
    use: (json: Buffer) => T | null,
    texts: boolean
  ): Promise<(T | null)[] | null>
  /**
   * Replaces lines of a segment by what `without` returns, which has the same length: the lines at `found`, or more if
   * their places aren't known exactly. Durable. Rejects with an error that has a code.
   */
  abstract overwrite(segment: Segment, found: readonly FoundPlace[], without: Without): Promise<void>
  abstract isGone(nonce: string): boolean
  /** Resolves when work in the background is done. */
  abstract idle(): Promise<void>

  /**
   * Looks at what other servers have added. Reports what can't be read; false: not everything could be. Never rejects.
   */
  async update(): Promise<boolean> {
    return (await this.#look()) === null
  }

  /**
   * Reads what all servers have written up to now. Rejects if it can't, so that unreadable records aren't taken for
   * missing ones.
   */
  async catchUp(): Promise<void> {
    const failure = await this.#look()
    if (failure !== null) throw failure
    await this.load()
  }

  /** The segments that have been read; those with the newest records first. */
  newestFirst(): ReadSegment[] {
    const read = this.known().filter((segment): segment is S & ReadSegment => segment.overview !== null)
    return read.sort((a, b) => (a.overview.highest < b.overview.highest ? 1 : -1))
  }

  known(): readonly S[] {
    return [...this.all.values()]
  }

  get(name: string): S | undefined {
    return this.all.get(name)
  }

  /** The settlement of a record by a segment other than its own. */
  loose(edit_id: string): Settlement | null {
    let settled: Settlement | null = null
    for (const { overview } of this.all.values()) {
      const loose = overview?.loose.get(edit_id)
      if (loose !== undefined && (settled === null || settled === 'uncertain')) settled = loose
    }
    return settled
  }

  /** The index of a segment; null: it can no longer be read. */
  async index(segment: Segment): Promise<SegmentIndex | null> {
    if (segment.overview instanceof SegmentIndex) return segment.overview
    const cached = this.indexes.get(segment.name)
    if (cached !== undefined) return cached
    const index = await this.readIndex(segment)
    if (index !== null) this.indexes.keep(segment.name, index)
    return index
  }

  /** The segment isn't as it was read: read it again. */
  invalidate(segment: Segment): void {
    this.indexes.forget(segment.name)
    segment.overview = null
    segment.seen = null
  }

  /** The segment is gone. */
  drop({ name }: Segment): void {
    this.indexes.forget(name)
    this.all.delete(name)
  }

  /** Takes in what this server has written to its own segment. False: it has to be read again. */
  protected take(segment: S, offset: number, lines: readonly EncodedLine[]): boolean {
    const index = segment.overview
    if (!(index instanceof SegmentIndex)) return false
    // Something was written while it was being read again.
    const hasGap = offset > index.end
    if (hasGap) this.invalidate(segment)
    let at = offset
    for (const { bytes, entry } of hasGap ? [] : lines) {
      // It may have been read already.
      if (at >= index.end) {
        index.take(entry, at, bytes.length)
        this.#options.saw(entry, segment.nonce)
      }
      at += bytes.length
    }
    return !hasGap
  }

  protected inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
