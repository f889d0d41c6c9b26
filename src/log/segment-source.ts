// What those who read a history need of its segments, wherever they are kept. Does not know files or objects.
import type { SegmentId } from './cursor.ts'
import type { Settlement } from './record.ts'
import type { Overview, SegmentIndex } from './segment-index.ts'

export interface Segment {
  readonly name: string
  readonly nonce: string
  readonly number: number
  /** Its server writes no more to it. */
  isClosed: boolean
  /** As it was when it was last read. */
  seen: { ino: number; size: number } | null
  /**
   * Null: not read yet. Of an open one, its index; or what its index file says, as long as nobody has asked whether its
   * server is gone.
   */
  overview: Overview | null
}

export type ReadSegment = Segment & { overview: Overview }

/** Where a line is in its segment, in bytes. */
export interface LinePlace {
  offset: number
  length: number
}

export interface FoundPlace extends LinePlace {
  /** Of the segment's index. */
  row: number
}

/** A line without what is to be removed from it; null: it has none of that. */
export type Without = (line: Buffer) => Buffer | null

export interface SegmentSource {
  /** Looks at what other servers have added. What can't be read is reported; false: not all could be. */
  update(): Promise<boolean>
  /** Whether each known segment that can be read has an overview. */
  readonly isLoaded: boolean
  /** Afterwards it is so. Rejects with HistoryUnreadable. */
  load(): Promise<void>
  /**
   * Both: afterwards it is known what all servers have written up to now. Rejects with HistoryUnreadable, as what can't
   * be read must not be taken for what isn't there.
   */
  catchUp(): Promise<void>
  /** Another look at who is gone: what they left unfinished counts as closed. */
  askWhoIsGone(): Promise<void>
  /** Of the newest records first. Those that have been read. */
  newestFirst(): ReadSegment[]
  known(): readonly Segment[]
  get(name: string): Segment | undefined
  /** Those that are there now, in the order of `compare` (cursor.ts). Rejects with HistoryUnreadable. */
  present(): Promise<SegmentId[]>
  /** The index of a segment; null: it can't be read any more. Rejects with HistoryUnreadable. */
  index(segment: Segment): Promise<SegmentIndex | null>
  /** Up to `length` bytes of a segment; null: it can't be read, or is gone. */
  bytes(segment: Segment, offset: number, length: number): Promise<Buffer | null>
  /**
   * What `use` makes of the JSON of each line, in their order; null in place of one: it isn't a line of editd (any
   * more). Null: the segment is gone. Throws the system's error. `texts`: texts are wanted, which others may have removed
   * since the line was read; nothing else in it changes.
   */
  lines<T>(
    segment: Segment,
    places: readonly LinePlace[],
    use: (json: Buffer) => T | null,
    texts: boolean
  ): Promise<(T | null)[] | null>
  /**
   * Puts what `without` gives, which is as long, in the place of lines of a segment: of those at `found`, or of more where
   * that isn't known so exactly. Durable. Rejects with an error that has a code.
   */
  overwrite(segment: Segment, found: readonly FoundPlace[], without: Without): Promise<void>
  isGone(nonce: string): boolean
  /** What a segment outside that of the record says of it. */
  loose(edit_id: string): Settlement | null
  /** It isn't as it was read. */
  invalidate(segment: Segment): void
  /** Resolves when what is done in the background is done. */
  idle(): Promise<void>
}
