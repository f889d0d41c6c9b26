// The segments of all servers, wherever they are kept, and what is in memory of them: of each its index or an overview,
// and as many indexes of others as may be. Does not know where they are, or what is asked of them.
import type { HistoryLimits, HistoryOptions } from './api.ts'
import type { SegmentId } from './cursor.ts'
import type { Ids } from './ids.ts'
import { RecentlyUsed } from './recently-used.ts'
import type { Settlement } from './record.ts'
import type { Said, SaidLine } from './record-json.ts'
import { SegmentIndex } from './segment-index.ts'
import type { FoundPlace, LinePlace, ReadSegment, Segment, Without } from './segment.ts'
import { together } from './together.ts'
import type { HistoryUnreadable } from './unreadable.ts'

export interface SegmentsOptions extends Pick<HistoryOptions, 'nonce' | 'report'> {
  limits: HistoryLimits
  ids: Ids
  /** Called with each line that is read of an open segment, or written, and its server. */
  saw(said: Said, nonce: string): void
  /** Called when what a segment has is known, or isn't any more, and `saw` wasn't called with its lines. */
  sawIndex(): void
}

/** What is abstract is of the place where segments are. What is asked rejects with HistoryUnreadable. */
export abstract class Segments<S extends Segment = Segment> {
  /** By name. */
  protected readonly all = new Map<string, S>()
  /** Those of closed segments, by name. */
  protected readonly indexes: RecentlyUsed<SegmentIndex>
  readonly #options: Pick<SegmentsOptions, 'saw'>
  /** Only one at a time reads into the indexes of open segments. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #look = together(() => this.inTurn(() => this.look()))
  /** Another look at who is gone: what they left unfinished counts as closed. */
  readonly askWhoIsGone: () => Promise<void> = together(() => this.inTurn(() => this.lookWhoIsGone()))

  constructor(options: Pick<SegmentsOptions, 'limits' | 'saw'>) {
    this.#options = options
    this.indexes = new RecentlyUsed(options.limits.indexes, ({ bytes }) => bytes)
  }

  /** Looks at what other servers have added. Resolves with why that can't be known for now; null: it is known. */
  protected abstract look(): Promise<HistoryUnreadable | null>
  protected abstract lookWhoIsGone(): Promise<void>
  /** Null: it can't be read any more. */
  protected abstract readIndex(segment: Segment): Promise<SegmentIndex | null>

  /** Whether each known segment that can be read has an overview. */
  abstract readonly isLoaded: boolean
  /** Afterwards it is so. */
  abstract load(): Promise<void>
  /** Those that are there now, in the order of `compare` (cursor.ts). */
  abstract present(): Promise<SegmentId[]>
  /** Up to `length` bytes of a segment; null: it can't be read, or is gone. */
  abstract bytes(segment: Segment, offset: number, length: number): Promise<Buffer | null>
  /**
   * What `use` makes of the JSON of each line, in their order; null in place of one: it isn't a line of editd (any
   * more). Null: the segment is gone. Rejects with an error that has a code. `texts`: texts are wanted, which others may
   * have removed since the line was read; nothing else in it changes.
   */
  abstract lines<T>(
    segment: Segment,
    places: readonly LinePlace[],
    use: (json: Buffer) => T | null,
    texts: boolean
  ): Promise<(T | null)[] | null>
  /**
   * Puts what `without` gives, which is as long, in the place of lines of a segment: of those at `found`, or of more where
   * that isn't known so exactly. Durable. Rejects with an error that has a code.
   */
  abstract overwrite(segment: Segment, found: readonly FoundPlace[], without: Without): Promise<void>
  abstract isGone(nonce: string): boolean
  /** Resolves when what is done in the background is done. */
  abstract idle(): Promise<void>

  /** Looks at what other servers have added. What can't be read is reported; false: not all could be. Never rejects. */
  async update(): Promise<boolean> {
    return (await this.#look()) === null
  }

  /** Afterwards it is known what all servers have written up to now: what can't be read isn't taken for what isn't there. */
  async catchUp(): Promise<void> {
    const failure = await this.#look()
    if (failure !== null) throw failure
    await this.load()
  }

  /** Of the newest records first. Those that have been read. */
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

  /** What a segment outside that of the record says of it. */
  loose(edit_id: string): Settlement | null {
    let settled: Settlement | null = null
    for (const { overview } of this.all.values()) {
      const said = overview?.loose.get(edit_id)
      if (said !== undefined && (settled === null || settled === 'uncertain')) settled = said
    }
    return settled
  }

  /** The index of a segment; null: it can't be read any more. */
  async index(segment: Segment): Promise<SegmentIndex | null> {
    if (segment.overview instanceof SegmentIndex) return segment.overview
    const cached = this.indexes.get(segment.name)
    if (cached !== undefined) return cached
    const index = await this.readIndex(segment)
    if (index !== null) this.indexes.keep(segment.name, index)
    return index
  }

  /** It isn't as it was read. */
  invalidate(segment: Segment): void {
    this.indexes.forget(segment.name)
    segment.overview = null
    segment.seen = null
  }

  /** It is gone. */
  drop({ name }: Segment): void {
    this.indexes.forget(name)
    this.all.delete(name)
  }

  /** What this server has written to its own segment. False: it has to be read again. */
  protected take(segment: S, offset: number, lines: readonly SaidLine[]): boolean {
    const index = segment.overview
    if (!(index instanceof SegmentIndex)) return false
    // Something was written while it was being read again.
    const hasGap = offset > index.end
    if (hasGap) this.invalidate(segment)
    let at = offset
    for (const { bytes, said } of hasGap ? [] : lines) {
      // It may have been read already.
      if (at >= index.end) {
        index.take(said, at, bytes.length)
        this.#options.saw(said, segment.nonce)
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
