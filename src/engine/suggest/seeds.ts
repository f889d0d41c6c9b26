// Finds short pieces ("grams") of old_text in the text: a table holds every piece, and the text is checked every four
// bytes or more. Works on bytes only.
//
// SIMD code in WebAssembly finds the words that may end a piece, four words a step, with one bit for each hash; this
// module compares what it finds. Its source is `seeds.wat`; a test compiles it and compares.
//
// Gain: a near miss in 10 MB took 48 ms of CPU with a plain loop and 38 with this, a text without a match 31 and 25
// (Node 20.20, 2026-11-23, median of 15).
//
// Cost: copying the bytes, a part at a time, into WebAssembly's memory. A plain loop is the oracle in the tests.
import { isBreakByte } from '../text/lines.ts'

/** Grams of the texts sought, chained by hash; entry 0 means none. */
export interface Seeds {
  /** Bytes of a gram: 8, or 4 for short texts. */
  length: 4 | 8
  count: number
  low: Int32Array
  high: Int32Array
  next: Int32Array
  head: Int32Array
  /** The first places of each gram in the texts sought, and their number. */
  places: Int32Array
  placed: Uint8Array
}

/**
 * Where grams are in the text: `at[i]` in bytes, `gram[i]`. `seen[gram]` counts all places, listed or not, but only
 * until it exceeds `MOST_SEEN`.
 */
export interface Hits {
  count: number
  at: Int32Array
  gram: Int32Array
  seen: Int32Array
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Most places of a gram in the texts sought to keep (the first). */
export const MOST_PLACES = 6
/** Most places of a gram to list. */
export const MOST_SEEN = 600
/** Most blank bytes in a gram of 8 bytes or of 4; one with more is left out. */
const MOST_BLANKS = { 8: 4, 4: 1 }
const HASH_BITS = 16
/** Most grams with the same hash (the first): crafted text must not make a long list of them. */
const MOST_CHAINED = 12

/** Makes ASCII capitals lower case; other bytes change the same way on both sides. */
const LOWER = 0x20202020

/** Factor of the first of two words in their hash. */
const WEIGHT = 0x9e3779b1

/** Must equal the hash in `seeds.wat`. */
const hash = (low: number, high: number): number =>
  Math.imul((high + Math.imul(low, WEIGHT)) | 0, 0x85ebca6b) >>> (32 - HASH_BITS)

const isBlank = (byte: number): boolean => byte === 32 || byte === 9 || isBreakByte(byte)

/** The grams of all the texts, except mostly blank ones. */
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

/** `seeds.wat`, compiled. */
const CODE = Buffer.from(
  'AGFzbQEAAAABBwFgAn9/AX8DAgEABQMBAAMHEQIGbWVtb3J5AgAEZmluZAAACrECAa4CAwJ/BHsEf0Eg/Q8hBSAB/REhBkHrlK+veP0RIQcCQANAIAIg' +
    'AE8NASAC/QAEkEAgBf1QIAL9AASMQCAF/VAgBv21Af2uASAH/bUBQRD9rQEhBCAE/RsAIQggCEEFdkECdCgCACAIdiEIIAT9GwEhCSAJQQV2QQJ0KAIA' +
    'IAl2IQkgBP0bAiEKIApBBXZBAnQoAgAgCnYhCiAE/RsDIQsgC0EFdkECdCgCACALdiELIAggCXIgCiALcnJBAXEEQCADIAI2AoCABSADIAhBAXFBAnRq' +
    'IQMgAyACQQRqNgKAgAUgAyAJQQFxQQJ0aiEDIAMgAkEIajYCgIAFIAMgCkEBcUECdGohAyADIAJBDGo2AoCABSADIAtBAXFBAnRqIQMLIAJBEGohAgwA' +
    'CwsgAws=',
  'base64'
)

interface Finding {
  memory: { buffer: ArrayBuffer }
  find: (length: number, weight: number) => number
}

// Node has it; TypeScript's library without the browser's types doesn't.
declare const WebAssembly: {
  Module: new (code: Buffer) => object
  Instance: new (module: object) => { exports: Finding }
}

const { memory, find } = new WebAssembly.Instance(new WebAssembly.Module(CODE)).exports
/** Words in a part: small enough to stay in the processor's cache. A multiple of four. */
const PART = 1 << 14
/**
 * The memory layout that `seeds.wat` describes: a bit for each hash, the word before the text, the text, the results.
 */
const bits = new Int32Array(memory.buffer, 0, 1 << (HASH_BITS - 5))
const wordBefore = new Int32Array(memory.buffer, 8204, 1)
const part = new Int32Array(memory.buffer, 8208, PART)
const found = new Int32Array(memory.buffer, 81_920, PART)

/**
 * Finds the grams in `text`, checking every `step` words of four bytes. Linear; because it reads `text` in words, it
 * may skip the first bytes.
 */
export function findSeeds(text: Buffer, seeds: Seeds, step = 1): Hits {
  const skipped = Math.min(text.length, (4 - (text.byteOffset & 3)) & 3)
  // Without a whole word, the first word could begin beyond the end of the text's memory.
  const count = (text.length - skipped) >> 2
  const words = count === 0 ? new Int32Array(0) : new Int32Array(text.buffer, text.byteOffset + skipped, count)
  const { low, high, next, head } = seeds
  const seen = new Int32Array(seeds.count + 1)
  const hits: Hits = { count: 0, at: new Int32Array(1 << 12), gram: new Int32Array(1 << 12), seen }
  bits.fill(0)
  for (let slot = 0; slot < head.length; slot++) if (head[slot] !== 0) bits[slot >> 5]! |= 1 << (slot & 31)
  const pairs = seeds.length === 8
  const first = pairs ? 1 : 0
  for (let from = 0; from < words.length; from += PART) {
    const to = Math.min(words.length, from + PART)
    wordBefore[0] = words[from - 1] ?? 0
    part.set(words.subarray(from, to))
    // This may check up to three more words, left over from the previous part.
    const kept = find(((to - from + 3) & ~3) << 2, pairs ? WEIGHT : 0) >> 2
    for (let k = 0; k < kept; k++) {
      const i = from + (found[k]! >> 2)
      if (i < first || i >= to || (i - first) % step !== 0) continue
      const lowWord = pairs ? words[i - 1]! | LOWER : 0
      const highWord = words[i]! | LOWER
      const slot = hash(lowWord, highWord)
      let gram = head[slot]!
      while (gram !== 0 && (low[gram] !== lowWord || high[gram] !== highWord)) gram = next[gram]!
      if (gram === 0) continue
      if (++seen[gram]! <= MOST_SEEN) add(hits, skipped + ((i - first) << 2), gram)
      else if (isOver(seeds, seen, slot)) bits[slot >> 5]! &= ~(1 << (slot & 31))
    }
  }
  return hits
}

/** Whether all grams with this hash were seen more than `MOST_SEEN` times. */
function isOver({ head, next }: Seeds, seen: Int32Array, slot: number): boolean {
  for (let gram = head[slot]!; gram !== 0; gram = next[gram]!) if (seen[gram]! <= MOST_SEEN) return false
  return true
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
