// What is known of a segment, and of a line in it. Does not know files or objects.
import type { Overview } from './segment-index.ts'

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
  /** Its row in the segment's index. */
  row: number
}

/** A line without what is to be removed from it; null: it has none of that. */
export type Without = (line: Buffer) => Buffer | null
