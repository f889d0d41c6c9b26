// The bounds of the history. Does not know what they bound.
import type { HistoryLimits } from './api.ts'

const MIB = 1024 * 1024

export const LIMITS: HistoryLimits = {
  segment: 8 * MIB,
  text: 64 * 1024,
  indexes: 64 * MIB,
  copy: MIB,
  waitingCopies: 32 * MIB,
  texts: 256 * MIB,
  pageTexts: 8 * MIB
}

/** In bytes. Each segment is two files, and a sweep looks at all of them. */
const SMALLEST_SEGMENT = 64 * 1024

/**
 * Bytes at which a segment is closed, at the most `most`. Segments are removed whole: of a history of `size` bytes, one
 * is an eighth.
 */
export const segmentLimit = (most: number, size = Infinity): number =>
  Math.min(most, Math.max(SMALLEST_SEGMENT, size / 8))
