// Finds many byte strings in one pass over a text; reports places by the index of the string.
//
// Source: fingerprints of a text at regular steps, after Bentley and McIlroy (Data compression using long common
// strings, 1999), with the grams on the pattern's side, after Wu and Manber (A fast algorithm for multi-pattern
// searching, 1994). A key is a stretch of a string, a gram a few bytes of a key. A key of `stride + gram - 1` bytes,
// wherever it occurs in the text, has exactly one gram that begins at a multiple of the stride. So it is enough to
// check the text every `stride` bytes for a gram of any key. A table of bits, by hash, nearly always answers no; if it
// doesn't, a second table gives the offsets in keys where this gram occurs, and the text there is compared with the
// keys.
//
// Cost: text / stride steps and, for each that holds a gram of a key, at most `stride` keys' lengths: linear in the
// text for any strings, however many. Memory: some bytes for each stretch of a key.

/**
 * A class of keys of `stride + gram - 1` bytes each; the longer, the fewer steps. 16 and 24: 24 bytes, every 16.
 */
interface Shape {
  readonly stride: number
  readonly gram: number
}

/** Most keys with the same hash that are compared one by one. Only crafted texts have more. */
const FEW_KEYS = 8

const SHAPES: readonly Shape[] = [
  { stride: 32, gram: 32 },
  { stride: 16, gram: 24 },
  { stride: 8, gram: 16 },
  { stride: 8, gram: 8 },
  { stride: 4, gram: 8 },
  { stride: 4, gram: 4 },
  { stride: 1, gram: 4 }
]
const sizeOf = ({ stride, gram }: Shape): number => stride + gram - 1

/** The length of the key for a string of `length` bytes: at most that, 0 if the string is too short for any key. */
export function keyLength(length: number): number {
  const shape = SHAPES.find(shape => sizeOf(shape) <= length)
  return shape === undefined ? 0 : sizeOf(shape)
}

/** Length of the longest key. */
export const LONGEST_KEY = sizeOf(SHAPES[0]!)

/** Finds `keys`, all different, each of a length that `keyLength` returns. A key's number is its index. */
export class GramFilter {
  readonly #classes: readonly KeyClass[]

  constructor(keys: readonly Buffer[]) {
    this.#classes = SHAPES.flatMap(shape => {
      const own = keys.flatMap((key, number) => (key.length === sizeOf(shape) ? [number] : []))
      return own.length === 0 ? [] : [new KeyClass(shape, keys, own)]
    })
  }

  /** Calls `found` with number and offset of every place of a key in `bytes`, in no particular order. */
  scan(bytes: Buffer, found: (key: number, at: number) => void): void {
    if (bytes.length < sizeOf(SHAPES.at(-1)!)) return
    // Words need aligned memory, so the steps begin there. No key is short enough to be missed before.
    const head = (4 - (bytes.byteOffset % 4)) % 4
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2)
    for (const one of this.#classes) one.scan(bytes, words, head, found)
  }
}

class KeyClass {
  readonly #shape: Shape
  readonly #size: number
  readonly #keys: readonly Buffer[]
  readonly #filter: BitTable
  /**
   * Open-addressing hash table of grams. The offsets in keys where the gram occurs are in `#offsets`, one bit each; 0
   * means no such gram.
   */
  readonly #grams: Int32Array
  readonly #offsets: Int32Array
  /** By hash of a key: its number, or the numbers of several; if more than a few, a map by their bytes as latin1. */
  readonly #byHash = new Map<number, number[] | Map<string, number>>()

  constructor(shape: Shape, keys: readonly Buffer[], own: readonly number[]) {
    this.#shape = shape
    this.#size = sizeOf(shape)
    this.#keys = keys
    this.#filter = new BitTable(own.length * shape.stride)
    const room = 1 << (33 - Math.clz32(own.length * shape.stride))
    this.#grams = new Int32Array(room)
    this.#offsets = new Int32Array(room)
    // The words of a key at every byte, with those of one gram adjacent: the first `stride` such rows are its grams.
    const rows = new Int32Array(shape.stride * (shape.gram >> 2))
    for (const number of own) this.#add(keys[number]!, number, rows)
  }

  #add(key: Buffer, number: number, rows: Int32Array): void {
    const { stride, gram } = this.#shape
    const length = gram >> 2
    for (let offset = 0; offset < stride; offset++) {
      for (let k = 0; k < length; k++) {
        const at = offset + k * 4
        rows[offset * length + k] = key[at]! | (key[at + 1]! << 8) | (key[at + 2]! << 16) | (key[at + 3]! << 24)
      }
      const hash = gramHash(rows, offset * length, length)
      this.#filter.add(hash)
      const slot = this.#slotOf(hash)
      this.#grams[slot] = hash
      this.#offsets[slot]! |= 1 << offset
    }
    const hash = hashOf(key, 0, key.length)
    const same = this.#byHash.get(hash)
    if (same === undefined) this.#byHash.set(hash, [number])
    else if (same instanceof Map) same.set(key.toString('latin1'), number)
    else if (same.push(number) > FEW_KEYS) {
      this.#byHash.set(hash, new Map(same.map(one => [this.#keys[one]!.toString('latin1'), one])))
    }
  }

  #slotOf(hash: number): number {
    const mask = this.#grams.length - 1
    let slot = Math.imul(hash, SPREAD) >>> Math.clz32(mask)
    while (this.#offsets[slot] !== 0 && this.#grams[slot] !== hash) slot = (slot + 1) & mask
    return slot
  }

  scan(bytes: Buffer, words: Int32Array, head: number, found: (key: number, at: number) => void): void {
    const { stride, gram } = this.#shape
    if (stride === 1) return this.#scanEachByte(bytes, found)
    const step = stride >> 2
    const length = gram >> 2
    const last = words.length - length
    const { bits, shift } = this.#filter
    for (let i = 0; i <= last; i += step) {
      const hash = gramHash(words, i, length)
      if (((bits[(hash >>> shift) >>> 5]! >>> ((hash >>> shift) & 31)) & 1) === 1) {
        this.#verify(bytes, head + i * 4, hash, found)
      }
    }
  }

  /** For keys of four bytes: they are too short to skip any byte. */
  #scanEachByte(bytes: Buffer, found: (key: number, at: number) => void): void {
    const { bits, shift } = this.#filter
    let word = (bytes[0]! << 8) | (bytes[1]! << 16) | (bytes[2]! << 24)
    for (let at = 3; at < bytes.length; at++) {
      word = (word >>> 8) | (bytes[at]! << 24)
      const hash = mixed(Math.imul(word, FIRST))
      if (((bits[(hash >>> shift) >>> 5]! >>> ((hash >>> shift) & 31)) & 1) === 1) {
        this.#verify(bytes, at - 3, hash, found)
      }
    }
  }

  /** Reports the keys that occur around a gram with this hash at `at`. */
  #verify(bytes: Buffer, at: number, hash: number, found: (key: number, at: number) => void): void {
    let offsets = this.#offsets[this.#slotOf(hash)]!
    while (offsets !== 0) {
      const offset = 31 - Math.clz32(offsets)
      offsets &= ~(1 << offset)
      const start = at - offset
      if (start < 0 || start + this.#size > bytes.length) continue
      const same = this.#byHash.get(hashOf(bytes, start, this.#size)) ?? []
      if (same instanceof Map) {
        const number = same.get(bytes.toString('latin1', start, start + this.#size))
        if (number !== undefined) found(number, start)
        continue
      }
      for (const number of same) {
        if (this.#keys[number]!.compare(bytes, start, start + this.#size) === 0) found(number, start)
      }
    }
  }
}

/**
 * An approximate set of hashes, by their upper bits: seldom says yes for a hash that was never added. Sixteen bits for
 * each, at most half a megabyte.
 */
class BitTable {
  readonly bits: Uint32Array
  readonly shift: number

  constructor(count: number) {
    const log = Math.min(22, Math.max(13, 32 - Math.clz32(count * 16 - 1)))
    this.bits = new Uint32Array(1 << (log - 5))
    this.shift = 32 - log
  }

  add(hash: number): void {
    const place = hash >>> this.shift
    this.bits[place >>> 5]! |= 1 << (place & 31)
  }
}

/**
 * Hash of a gram of 1, 2, 4, 6 or 8 words (multilinear: the sum of words times odd numbers; no step waits for the one
 * before).
 */
function gramHash(words: Int32Array, i: number, length: number): number {
  let sum = Math.imul(words[i]!, FIRST)
  if (length > 1) sum = (sum + Math.imul(words[i + 1]!, 0x85ebca77)) | 0
  if (length > 2) sum = (((sum + Math.imul(words[i + 2]!, 0xc2b2ae3d)) | 0) + Math.imul(words[i + 3]!, 0x27d4eb2f)) | 0
  if (length > 4) sum = (((sum + Math.imul(words[i + 4]!, 0x165667b1)) | 0) + Math.imul(words[i + 5]!, 0xd3a2646d)) | 0
  if (length > 6) sum = (((sum + Math.imul(words[i + 6]!, 0xfd7046c5)) | 0) + Math.imul(words[i + 7]!, 0xb55a4f09)) | 0
  return mixed(sum)
}

const FIRST = 0x9e3779b1

/** Odd, and different in each process, so that nobody can craft grams that all hash to one slot. */
const SPREAD = Math.floor(Math.random() * 2 ** 31) * 2 + 1

/** Makes every bit of the sum affect the upper bits. */
const mixed = (sum: number): number => Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)

function hashOf(bytes: Buffer, start: number, length: number): number {
  let hash = 0
  for (let i = start; i < start + length; i++) hash = (Math.imul(hash ^ bytes[i]!, 0x01000193) + 0x1f3d5b79) | 0
  return hash
}
