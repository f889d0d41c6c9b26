// Finds many byte strings in one pass over a text. Knows no edits; reports places by the number of the string.
//
// Source: fingerprints of a text at regular steps, after Bentley and McIlroy (Data compression using long common
// strings, 1999), with the grams on the pattern's side, after Wu and Manber (A fast algorithm for multi-pattern
// searching, 1994). A string of `stride + gram - 1` bytes, wherever it stands, has exactly one gram that begins at a
// multiple of the stride. So a text is looked at every `stride` bytes: is this one of the grams? Two bit tables say no
// for nearly all; else a table says at which offsets in keys the gram stands, and the whole key there is looked up.
//
// Cost: text / stride steps and, for each that holds a gram of a key, at most `stride` keys' lengths: linear in the text
// for any strings, however many. Memory: some bytes for each stretch of a key.

/** A class of keys: all have `stride + gram - 1` bytes. The longer, the fewer steps; 16/24 means: 24 bytes, every 16. */
interface Shape { readonly stride: number, readonly gram: number }

const SHAPES: readonly Shape[] = [
  { stride: 32, gram: 32 }, { stride: 16, gram: 24 }, { stride: 8, gram: 16 }, { stride: 8, gram: 8 }, { stride: 4, gram: 8 }, { stride: 4, gram: 4 }, { stride: 1, gram: 4 }
]
const sizeOf = ({ stride, gram }: Shape): number => stride + gram - 1

/** The length of the key that stands for a string of `length` bytes: at most that, 0 where it is too short for any. */
export function keyLength (length: number): number {
  const shape = SHAPES.find(shape => sizeOf(shape) <= length)
  return shape === undefined ? 0 : sizeOf(shape)
}

/** The longest that a key may be. */
export const LONGEST_KEY = sizeOf(SHAPES[0]!)

/** Finds `keys`, all different, each of a length that `keyLength` gives. A key's number is its index. */
export class GramFilter {
  readonly #classes: readonly KeyClass[]

  constructor (keys: readonly Buffer[]) {
    this.#classes = SHAPES.flatMap(shape => {
      const own = keys.flatMap((key, number) => key.length === sizeOf(shape) ? [number] : [])
      return own.length === 0 ? [] : [new KeyClass(shape, keys, own)]
    })
  }

  /** Calls `found` with number and offset of every place of a key in `bytes`, in no order. */
  scan (bytes: Buffer, found: (key: number, at: number) => void): void {
    if (bytes.length < sizeOf(SHAPES.at(-1)!)) return
    // Words can be read where the memory is aligned: the steps begin there. No key is as short as to be missed before.
    const head = (4 - bytes.byteOffset % 4) % 4
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (bytes.length - head) >> 2)
    for (const one of this.#classes) one.scan(bytes, words, head, found)
  }
}

class KeyClass {
  readonly #shape: Shape
  readonly #size: number
  readonly #keys: readonly Buffer[]
  /** Bits for the first eight bytes of each gram (or its four), and for the whole gram. */
  readonly #first: BitTable
  readonly #whole: BitTable
  /** Of each gram's hash: the offsets in keys at which it stands, a bit for each; 0 where there is no such gram. Open addressing. */
  readonly #grams: Int32Array
  readonly #offsets: Int32Array
  /** Of each key's hash: its number, or those of several. */
  readonly #byHash = new Map<number, number[]>()

  constructor (shape: Shape, keys: readonly Buffer[], own: readonly number[]) {
    this.#shape = shape
    this.#size = sizeOf(shape)
    this.#keys = keys
    this.#first = new BitTable(own.length * shape.stride)
    this.#whole = new BitTable(own.length * shape.stride)
    const room = 1 << (33 - Math.clz32(own.length * shape.stride))
    this.#grams = new Int32Array(room)
    this.#offsets = new Int32Array(room)
    for (const number of own) this.#add(keys[number]!, number)
  }

  #add (key: Buffer, number: number): void {
    const { stride, gram } = this.#shape
    for (let offset = 0; offset < stride; offset++) {
      let hash = gram === 4 ? mix(key.readInt32LE(offset), 0) : mix(key.readInt32LE(offset), key.readInt32LE(offset + 4))
      this.#first.add(hash)
      for (let i = 8; i < gram; i += 8) hash = mix(hash, mix(key.readInt32LE(offset + i), key.readInt32LE(offset + i + 4)))
      this.#whole.add(hash)
      const slot = this.#slotOf(hash)
      this.#grams[slot] = hash
      this.#offsets[slot]! |= 1 << offset
    }
    const hash = hashOf(key, 0, key.length)
    const same = this.#byHash.get(hash)
    if (same === undefined) this.#byHash.set(hash, [number])
    else same.push(number)
  }

  #slotOf (hash: number): number {
    const mask = this.#grams.length - 1
    let slot = (hash ^ (hash >>> 13)) & mask
    while (this.#offsets[slot] !== 0 && this.#grams[slot] !== hash) slot = (slot + 1) & mask
    return slot
  }

  scan (bytes: Buffer, words: Int32Array, head: number, found: (key: number, at: number) => void): void {
    const { stride, gram } = this.#shape
    if (stride === 1) return this.#scanEachByte(bytes, found)
    const step = stride >> 2
    const last = words.length - (gram >> 2)
    const { bits, shift } = this.#first
    if (gram === 4) {
      for (let i = 0; i <= last; i += step) {
        const hash = mix(words[i]!, 0)
        if ((bits[hash >>> shift >>> 5]! >>> (hash >>> shift & 31) & 1) === 1) this.#verify(bytes, head + i * 4, hash, found)
      }
      return
    }
    const whole = this.#whole
    const length = gram >> 2
    for (let i = 0; i <= last; i += step) {
      let hash = mix(words[i]!, words[i + 1]!)
      if ((bits[hash >>> shift >>> 5]! >>> (hash >>> shift & 31) & 1) === 0) continue
      for (let k = 2; k < length; k += 2) hash = mix(hash, mix(words[i + k]!, words[i + k + 1]!))
      if (whole.has(hash)) this.#verify(bytes, head + i * 4, hash, found)
    }
  }

  /** For keys of four bytes: no step is short enough to leave any out. */
  #scanEachByte (bytes: Buffer, found: (key: number, at: number) => void): void {
    const { bits, shift } = this.#first
    let word = bytes[0]! << 8 | bytes[1]! << 16 | bytes[2]! << 24
    for (let at = 3; at < bytes.length; at++) {
      word = word >>> 8 | bytes[at]! << 24
      const hash = mix(word, 0)
      if ((bits[hash >>> shift >>> 5]! >>> (hash >>> shift & 31) & 1) === 1) this.#verify(bytes, at - 3, hash, found)
    }
  }

  /** Which keys stand around a gram of this hash at `at`. */
  #verify (bytes: Buffer, at: number, hash: number, found: (key: number, at: number) => void): void {
    let offsets = this.#offsets[this.#slotOf(hash)]!
    while (offsets !== 0) {
      const offset = 31 - Math.clz32(offsets)
      offsets &= ~(1 << offset)
      const start = at - offset
      if (start < 0 || start + this.#size > bytes.length) continue
      for (const number of this.#byHash.get(hashOf(bytes, start, this.#size)) ?? []) {
        if (this.#keys[number]!.compare(bytes, start, start + this.#size) === 0) found(number, start)
      }
    }
  }
}

/** Which hashes there are, by their upper bits: seldom yes for one that was never added. Sixteen bits for each, in half a megabyte at most. */
class BitTable {
  readonly bits: Uint32Array
  readonly shift: number

  constructor (count: number) {
    const log = Math.min(22, Math.max(13, 32 - Math.clz32(count * 16 - 1)))
    this.bits = new Uint32Array(1 << (log - 5))
    this.shift = 32 - log
  }

  add (hash: number): void {
    const place = hash >>> this.shift
    this.bits[place >>> 5]! |= 1 << (place & 31)
  }

  has (hash: number): boolean {
    const place = hash >>> this.shift
    return (this.bits[place >>> 5]! >>> (place & 31) & 1) === 1
  }
}

/** Eight bytes to 32 bits. */
function mix (low: number, high: number): number {
  const sum = Math.imul(low, 0x9e3779b1) + Math.imul(high, 0x85ebca77) | 0
  return Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)
}

function hashOf (bytes: Buffer, start: number, length: number): number {
  let hash = 0
  for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193) + 0x1f3d5b79 | 0
  return hash
}
