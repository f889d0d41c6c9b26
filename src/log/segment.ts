// What is known of a segment and of its lines. Does not know files or objects.
import type { Overview } from './segment-index.ts'

export interface Segment {
  readonly name: string
  readonly nonce: string
  readonly number: number
  /** Its server writes no more to it. */
  isClosed: boolean
  /** Its state when it was last read. */
  seen: { ino: number; size: number } | null
  /**
   * Null: not read yet. For an open segment, its index; or the summary from its index file, until we ask whether its
   * server is gone.
   */
  overview: Overview | null
}

export type ReadSegment = Segment & { overview: Overview }

/** The place of a line in its segment, in bytes. */
export interface LinePlace {
  offset: number
  length: number
}

export interface FoundPlace extends LinePlace {
  /** Its row in the segment's index. */
  row: number
}

/** Returns a line without what is to be removed from it; null: it has nothing to remove. */
export type Without = (line: Buffer) => Buffer | null
