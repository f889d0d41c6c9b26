// Searches for short ASCII texts: finds every place of the text that is near enough, in one pass of Myers' bit vectors.
// Works on bytes only.
import { foldAscii } from './fold.ts'

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Folded codes of the longest text that fits one word of 32 bits; a longer one isn't searched for this way. */
const SHORT = 31
/** Share of the codes that may differ. */
const SLACK = 0.4
/** Most places to keep; when there are more, the allowed distance shrinks from there on. */
const MOST_KEPT = 400

/**
 * Ends of places (byte offset of the last byte) within the distance, best first, at most `most`. None if the text has
 * non-ASCII characters. Linear.
 */
export function findShort(text: Buffer, codes: Uint16Array, most: number): number[] {
  if (codes.length === 0 || codes.length > SHORT || codes.some(code => code > 127)) return []
  const equal = new Int32Array(256)
  const skipped = new Uint8Array(256)
  for (let byte = 0; byte < 128; byte++) {
    const code = foldAscii(byte)
    if (code === 0) skipped[byte] = 1
    for (let i = 0; i < codes.length; i++) if (codes[i] === code) equal[byte]! |= 1 << i
  }
  const top = 1 << (codes.length - 1)
  let plus = -1
  let minus = 0
  let score = codes.length
  let limit = Math.floor(codes.length * SLACK)
  let found: { at: number; score: number }[] = []
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    if (skipped[byte] !== 0) continue
    const eq = equal[byte]!
    const xv = eq | minus
    const xh = ((((eq & plus) + plus) | 0) ^ plus) | eq
    let ph = minus | ~(xh | plus)
    let mh = plus & xh
    if ((ph & top) !== 0) score++
    else if ((mh & top) !== 0) score--
    ph <<= 1
    mh <<= 1
    plus = mh | ~(xv | ph)
    minus = ph & xv
    if (score > limit) continue
    const last = found.at(-1)
    if (last === undefined || at - last.at >= codes.length) found.push({ at, score })
    else if (score < last.score) Object.assign(last, { at, score })
    if (found.length > MOST_KEPT) {
      // From here on accept only better ones; if all are equally good, the first ones do.
      limit--
      const good = found.filter(place => place.score <= limit)
      found = good.length > 0 ? good : found.slice(0, MOST_KEPT / 2)
    }
  }
  return found
    .sort((a, b) => a.score - b.score || a.at - b.at)
    .slice(0, most)
    .map(({ at }) => at)
}
