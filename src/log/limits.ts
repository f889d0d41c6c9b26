// The limits of the history.
import type { HistoryLimits, HistoryOptions } from './api.ts'

const MIB = 1024 * 1024

const LIMITS: HistoryLimits = {
  segment: 8 * MIB,
  text: 64 * 1024,
  indexes: 64 * MIB,
  copy: MIB,
  waitingCopies: 32 * MIB,
  texts: 256 * MIB,
  pageTexts: 8 * MIB
}

/** In bytes. Each segment is two files, and a sweep looks at all of them. */
const SMALLEST_SHARE = 64 * 1024

/** The limits for these options. Files are removed whole: no segment or copy is larger than an eighth of the size. */
export function limitsOf({ limits, size = Infinity }: Pick<HistoryOptions, 'limits' | 'size'>): HistoryLimits {
  const all = { ...LIMITS, ...limits }
  const share = Math.max(SMALLEST_SHARE, size / 8)
  return { ...all, segment: Math.min(all.segment, share), copy: Math.min(all.copy, share) }
}

/**
 * In bytes: what a sweep leaves free of a history of `size` bytes. Until the next sweep, a server fills a segment and
 * writes as much beside it.
 */
export const roomOf = (size: number, { segment }: HistoryLimits): number => Math.min(2 * segment, size / 4)
