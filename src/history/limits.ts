// The bounds of the history. Does not know what they bound.
import type { HistoryLimits, HistoryOptions } from './api.ts'

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

/** Of a history with these options. Segments are removed whole: one is at most an eighth of `size`. */
export function limitsOf({ limits, size = Infinity }: Pick<HistoryOptions, 'limits' | 'size'>): HistoryLimits {
  const all = { ...LIMITS, ...limits }
  return { ...all, segment: Math.min(all.segment, Math.max(SMALLEST_SEGMENT, size / 8)) }
}
