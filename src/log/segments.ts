// The segments of all servers, wherever they are kept, and what is in memory of them: of each its index or an overview,
// and as many indexes of others as may be. Does not know where they are, or what is asked of them.
import type { HistoryLimits, HistoryOptions } from './api.ts'
import type { SegmentId } from './cursor.ts'
import type { Ids } from './ids.ts'
import { RecentlyUsed } from './recently-used.ts'
import type { Settlement } from './record.ts'
import type { Said, SaidLine } from './record-json.ts'
import { SegmentIndex } from './segment-index.ts'
import type { FoundPlace, LinePlace, ReadSegment, Segment, SegmentSource, Without } from './segment-source.ts'
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

/** What is abstract is of the place where segments are. */
export abstract class Segments<S extends Segment = Segment> implements SegmentSource {
  /** By name. */
  protected readonly all = new Map<string, S>()
  /** Of closed segments, by name. */
  protected readonly indexes: RecentlyUsed<SegmentIndex>
  readonly #options: Pick<SegmentsOptions, 'saw'>
  /** Only one at a time reads into the indexes of open segments. */
  #turn: Promise<unknown> = Promise.resolve()
  readonly #look = together(() => this.inTurn(() => this.look()))
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

  abstract readonly isLoaded: boolean
  abstract load(): Promise<void>
  abstract present(): Promise<SegmentId[]>
  abstract bytes(segment: Segment, offset: number, length: number): Promise<Buffer | null>
  abstract lines<T>(
    segment: Segment,
    places: readonly LinePlace[],
    use: (json: Buffer) => T | null,
    texts: boolean
  ): Promise<(T | null)[] | null>
  abstract overwrite(segment: Segment, found: readonly FoundPlace[], without: Without): Promise<void>
  abstract isGone(nonce: string): boolean
  abstract idle(): Promise<void>

  async update(): Promise<boolean> {
    return (await this.#look()) === null
  }

  async catchUp(): Promise<void> {
    const failure = await this.#look()
    if (failure !== null) throw failure
    await this.load()
  }

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

  loose(edit_id: string): Settlement | null {
    let settled: Settlement | null = null
    for (const { overview } of this.all.values()) {
      const said = overview?.loose.get(edit_id)
      if (said !== undefined && (settled === null || settled === 'uncertain')) settled = said
    }
    return settled
  }

  async index(segment: Segment): Promise<SegmentIndex | null> {
    if (segment.overview instanceof SegmentIndex) return segment.overview
    const cached = this.indexes.get(segment.name)
    if (cached !== undefined) return cached
    const index = await this.readIndex(segment)
    if (index !== null) this.indexes.keep(segment.name, index)
    return index
  }

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
    if (offset > index.end) {
      // Something was written while it was being read again.
      this.invalidate(segment)
      return false
    }
    let at = offset
    for (const { bytes, said } of lines) {
      // It may have been read already.
      if (at >= index.end) {
        index.take(said, at, bytes.length)
        this.#options.saw(said, segment.nonce)
      }
      at += bytes.length
    }
    return true
  }

  protected inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
