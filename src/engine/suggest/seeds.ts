// Short pieces of old_text found in the text: every piece of it in a table, the text looked at every four bytes or
// more. Knows bytes only.
//
// Source: the words that may end a piece are found by SIMD in WebAssembly, four words a step, with a bit for each hash;
// what it finds is compared here. `seeds.wat` is the code; a test compiles it and compares.
//
// Gain: a near miss in 10 MB took 48 ms of CPU with a plain loop and 38 with this, one with no counterpart 31 and 25
// (Node 20.20, 2026-11-23, median of 15).
//
// Cost: that of copying the bytes, a part at a time, into the memory that WebAssembly sees. A plain loop is the oracle
// in the tests.
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

/**
 * Where grams are in the text: `at[i]` in bytes, `gram[i]`; `seen[gram]` counts all, listed or not, but no further than
 * is needed to know that it is more than `MOST_SEEN`.
 */
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

/** What the first word of two counts in their hash. */
const WEIGHT = 0x9e3779b1

/** As `seeds.wat` has it. */
const hash = (low: number, high: number): number =>
  Math.imul((high + Math.imul(low, WEIGHT)) | 0, 0x85ebca6b) >>> (32 - HASH_BITS)

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

// Node has it, TypeScript's library without the browser's types doesn't.
declare const WebAssembly: {
  Module: new (code: Buffer) => object
  Instance: new (module: object) => { exports: Finding }
}

const { memory, find } = new WebAssembly.Instance(new WebAssembly.Module(CODE)).exports
/** Words of a part: what stays in the processor's cache while it is looked at. A multiple of four. */
const PART = 1 << 14
/** What `seeds.wat` says lies where: a bit for each hash, the word before the text, the text, what was found. */
const bits = new Int32Array(memory.buffer, 0, 1 << (HASH_BITS - 5))
const wordBefore = new Int32Array(memory.buffer, 8204, 1)
const part = new Int32Array(memory.buffer, 8208, PART)
const found = new Int32Array(memory.buffer, 81_920, PART)

/**
 * Where the grams are in `text`, looked at every `step` words of four bytes. Linear; as `text` is read in words, its
 * first bytes may be left out.
 */
export function findSeeds(text: Buffer, seeds: Seeds, step = 1): Hits {
  const skipped = Math.min(text.length, (4 - (text.byteOffset & 3)) & 3)
  // Where there is no whole word, the first might begin behind the memory of the text.
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
    // Up to three words more are looked at, of a part before this one.
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

/** Whether no gram with this hash is to be listed any further. */
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
