// Short pieces of old_text found in the text: every piece of it in a table, the text looked at every four bytes or
// more. Knows bytes only.
import { isBreakByte } from '../text/lines.ts'

/** Grams of the texts sought, chained by hash; entry 0 is none. */
export interface Seeds {
  /** Bytes of a gram: 8, or 4 for short texts. */
  length: 4 | 8
  count: number
  low: Int32Array
  high: Int32Array
  next: Int32Array
  head: Int32Array
  /** The first places of each gram in the texts sought, and how many. */
  places: Int32Array
  placed: Uint8Array
}

/** Where grams are in the text: `at[i]` in bytes, `gram[i]`; `seen[gram]` counts all, listed or not. */
export interface Hits {
  count: number
  at: Int32Array
  gram: Int32Array
  seen: Int32Array
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Places of a gram in the texts sought that are kept, the first. */
export const MOST_PLACES = 6
/** A gram that is seen more often isn't listed any further. */
export const MOST_SEEN = 600
/** Blank bytes of a gram: one with more is left out, of 8 bytes or of 4. */
const MOST_BLANKS = { 8: 4, 4: 1 }
const HASH_BITS = 16
/** Grams with the same hash, the first: crafted text must not make a list of them. */
const MOST_CHAINED = 12

/** Makes capitals small; other bytes change the same way on both sides. */
const LOWER = 0x20202020

const hash = (low: number, high: number): number =>
  Math.imul((high + Math.imul(low, 0x9e3779b1)) | 0, 0x85ebca6b) >>> (32 - HASH_BITS)

const isBlank = (byte: number): boolean => byte === 32 || byte === 9 || isBreakByte(byte)

/** The grams of all the texts, but those that are mostly blank. */
export function seedsOf(texts: readonly Buffer[], length: 4 | 8): Seeds {
  const most = texts.reduce((sum, text) => sum + text.length, 0) + 1
  const seeds: Seeds = {
    length,
    count: 0,
    low: new Int32Array(most),
    high: new Int32Array(most),
    next: new Int32Array(most),
    head: new Int32Array(1 << HASH_BITS),
    places: new Int32Array(most * MOST_PLACES),
    placed: new Uint8Array(most)
  }
  for (const text of texts) {
    for (let at = 0; at + length <= text.length; at++) {
      let blanks = 0
      for (let i = 0; i < length; i++) if (isBlank(text[at + i]!)) blanks++
      if (blanks <= MOST_BLANKS[length]) {
        addGram(seeds, length === 8 ? text.readInt32LE(at) | LOWER : 0, text.readInt32LE(at + length - 4) | LOWER, at)
      }
    }
  }
  return seeds
}

function addGram(seeds: Seeds, low: number, high: number, at: number): void {
  const { next, head, places, placed } = seeds
  const slot = hash(low, high)
  let chained = 0
  for (let gram = head[slot]!; gram !== 0; gram = next[gram]!, chained++) {
    if (seeds.low[gram] !== low || seeds.high[gram] !== high) continue
    if (placed[gram]! < MOST_PLACES) places[gram * MOST_PLACES + placed[gram]!++] = at
    return
  }
  if (chained === MOST_CHAINED) return
  const gram = ++seeds.count
  seeds.low[gram] = low
  seeds.high[gram] = high
  next[gram] = head[slot]!
  head[slot] = gram
  places[gram * MOST_PLACES] = at
  placed[gram] = 1
}

/**
 * Where the grams are in `text`, looked at every `step` words of four bytes. Linear; as `text` is read in words, its
 * first bytes may be left out.
 */
export function findSeeds(text: Buffer, seeds: Seeds, step = 1): Hits {
  const skipped = (4 - (text.byteOffset & 3)) & 3
  const words = new Int32Array(text.buffer, text.byteOffset + skipped, Math.max(0, text.length - skipped) >> 2)
  const { low, high, next, head } = seeds
  const present = new Uint8Array(head.length)
  for (let slot = 0; slot < head.length; slot++) if (head[slot] !== 0) present[slot] = 1
  const seen = new Int32Array(seeds.count + 1)
  const hits: Hits = { count: 0, at: new Int32Array(1 << 12), gram: new Int32Array(1 << 12), seen }
  const pairs = seeds.length === 8
  let before = pairs ? words[0]! | LOWER : 0
  for (let i = pairs ? 1 : 0; i < words.length; i += step) {
    if (pairs && step > 1) before = words[i - 1]! | LOWER
    const word = words[i]! | LOWER
    const slot = Math.imul((word + Math.imul(before, 0x9e3779b1)) | 0, 0x85ebca6b) >>> (32 - HASH_BITS)
    if (present[slot] !== 0) {
      let gram = head[slot]!
      while (gram !== 0 && (low[gram] !== before || high[gram] !== word)) gram = next[gram]!
      if (gram !== 0 && ++seen[gram]! <= MOST_SEEN) add(hits, skipped + ((pairs ? i - 1 : i) << 2), gram)
    }
    if (pairs) before = word
  }
  return hits
}

function add(hits: Hits, at: number, gram: number): void {
  if (hits.count === hits.at.length) {
    for (const name of ['at', 'gram'] as const) {
      const larger = new Int32Array(hits.count * 2)
      larger.set(hits[name])
      hits[name] = larger
    }
  }
  hits.at[hits.count] = at
  hits.gram[hits.count++] = gram
}
