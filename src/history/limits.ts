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
