// How alike two texts are: edit distance of folded codes anywhere in a stretch, and of raw strings.
import { distance } from 'fastest-levenshtein'
import { withLf } from '../text/lines.ts'
import type { Budget } from './budget.ts'

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Most UTF-16 units of raw texts to compare; the rest counts as alike. */
const RAW_LENGTH = 4000
/** Weights of the folded and the raw likeness in a score. */
const FOLDED_WEIGHT = 0.8
const RAW_WEIGHT = 0.2

/** Folded codes, with the positions of each code as bits in words of 32. */
export interface Pattern {
  codes: Uint16Array
  words: number
  positions: Map<number, Int32Array>
}

export function patternOf(codes: Uint16Array): Pattern {
  const words = (codes.length + 31) >> 5
  const positions = new Map<number, Int32Array>()
  for (let i = 0; i < codes.length; i++) {
    let bits = positions.get(codes[i]!)
    if (bits === undefined) positions.set(codes[i]!, (bits = new Int32Array(words)))
    bits[i >> 5]! |= 1 << (i & 31)
  }
  return { codes, words, positions }
}

/** Where a pattern fits best: its edit distance there, and the end (exclusive) in codes. */
export interface Fit {
  distance: number
  end: number
}

/**
 * The stretch of `text` (any start, any end) with the least edit distance to the pattern; the first of equals.
 * Myers' bit vectors in blocks (1999; Hyyrö 2003): one step for each word of 32 codes and each code of the text.
 * Undefined if the budget is too small.
 */
export function bestFit(pattern: Pattern, text: Uint16Array, budget: Budget): Fit | undefined {
  const { words, positions, codes } = pattern
  if (!budget.spend(words * text.length * 4)) return undefined
  const plus = new Int32Array(words).fill(-1)
  const minus = new Int32Array(words)
  const none = new Int32Array(words)
  const last = words - 1
  const top = 1 << ((codes.length - 1) & 31)
  let score = codes.length
  const best = { distance: score, end: 0 }
  for (let j = 0; j < text.length; j++) {
    const equal = positions.get(text[j]!) ?? none
    let carry = 0
    for (let w = 0; w < words; w++) {
      let eq = equal[w]!
      const p = plus[w]!
      const m = minus[w]!
      const xv = eq | m
      if (carry < 0) eq |= 1
      const xh = ((((eq & p) + p) | 0) ^ p) | eq
      let ph = m | ~(xh | p)
      let mh = p & xh
      if (w === last) {
        if ((ph & top) !== 0) score++
        else if ((mh & top) !== 0) score--
      }
      const out = ph < 0 ? 1 : mh < 0 ? -1 : 0
      ph <<= 1
      mh <<= 1
      if (carry < 0) mh |= 1
      else if (carry > 0) ph |= 1
      plus[w] = mh | ~(xv | ph)
      minus[w] = ph & xv
      carry = out
    }
    if (score < best.distance) {
      best.distance = score
      best.end = j + 1
    }
  }
  return best
}

/**
 * 1 − edit distance ÷ longer length of two strings. Returns 0 without comparing if their lengths allow no more than
 * `least`, or the budget is used up.
 */
export function likeness(a: string, b: string, least: number, budget: Budget): number {
  if (a === b) return 1
  const longer = Math.max(a.length, b.length)
  if (longer <= 2 || Math.min(a.length, b.length) / longer < least) return 0
  return budget.spend(20 + (a.length * b.length) / 8) ? 1 - distance(a, b) / longer : 0
}

/** Whether the edit distance of two strings is at most `most`; not computed if their lengths rule it out. */
export const isWithin = (a: string, b: string, most: number): boolean =>
  Math.abs(a.length - b.length) <= most && distance(a, b) <= most

/** Likeness of two raw texts, up to the length compared, with breaks of one kind. */
export function rawLikeness(a: string, b: string, budget: Budget): number {
  const [x, y] = [a, b].map(text => withLf(text).slice(0, RAW_LENGTH))
  return x === y ? 1 : likeness(x!, y!, 0, budget)
}

/** The score of a suggestion: folded and raw likeness, weighted; from 0 to 1. */
export const scoreOf = (folded: number, raw: number): number =>
  Math.max(0, Math.min(1, FOLDED_WEIGHT * folded + RAW_WEIGHT * raw))
