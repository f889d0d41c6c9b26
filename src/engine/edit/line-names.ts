// Numbers the lines of two texts: equal lines get equal numbers.
import { CR, LF } from '../text/lines.ts'

/** Lines of one text. */
interface NamedLines {
  names: Int32Array
  /** The start of each line, and the end of the last one. */
  starts: number[]
}

/** The most lines of one text that are named. Ten million bytes of source have about 300,000. */
const MOST_LINES = 500_000
/** Up to this many lines of both texts, hashes are compared in pairs: that is faster than a table. */
const FEW_LINES = 8
/** The most lines with one hash, and steps to find one. More occur only in an attack. */
const MOST_STEPS = 200

/**
 * Names the lines of two texts. `count`: the number of different lines. Undefined if all lines differ, as is common, if
 * there are too many lines, or if too many share a hash. Linear in the bytes.
 */
export function nameLines(a: Buffer, b: Buffer): { a: NamedLines; b: NamedLines; count: number } | undefined {
  const ofA = linesOf(a)
  const ofB = linesOf(b)
  if (ofA === undefined || ofB === undefined) return undefined
  const lines = ofA.hashes.length + ofB.hashes.length
  if (lines <= FEW_LINES && areAllDifferent(ofA.hashes, ofB.hashes)) return undefined
  const table = new Table(lines)
  const named = [ofA, ofB].map(lines => table.name(lines))
  const [namesOfA, namesOfB] = named
  if (namesOfA === undefined || namesOfB === undefined || table.count === lines) return undefined
  return {
    a: { names: namesOfA, starts: ofA.starts },
    b: { names: namesOfB, starts: ofB.starts },
    count: table.count
  }
}

/** Lines with different hashes are different lines. */
const areAllDifferent = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((hash, i) => a.indexOf(hash) === i) && b.every((hash, i) => b.indexOf(hash) === i && !a.includes(hash))

interface HashedLines {
  text: Buffer
  starts: number[]
  hashes: number[]
}

function linesOf(text: Buffer): HashedLines | undefined {
  const starts = [0]
  const hashes: number[] = []
  let hash = 0
  for (let at = 0; at < text.length;) {
    const byte = text[at++]!
    hash = Math.imul(hash ^ byte, 0x01000193)
    const isEnd = byte === LF || (byte === CR && text[at] !== LF) || at === text.length
    if (!isEnd) continue
    if (starts.push(at) > MOST_LINES) return undefined
    hashes.push(hash ^ (hash >>> 15))
    hash = 0
  }
  return { text, starts, hashes }
}

/** A hash table of lines with open addressing. */
class Table {
  /** The name in each slot, plus one. */
  readonly #slots: Int32Array
  readonly #lines: { text: Buffer; from: number; to: number; hash: number }[] = []

  /** `most`: the maximum number of lines. */
  constructor(most: number) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(4 * most + 1)))
  }

  get count(): number {
    return this.#lines.length
  }

  name({ text, starts, hashes }: HashedLines): Int32Array | undefined {
    const names = new Int32Array(hashes.length)
    for (const [i, hash] of hashes.entries()) {
      const name = this.#nameOf(text, starts[i]!, starts[i + 1]!, hash)
      if (name === undefined) return undefined
      names[i] = name
    }
    return names
  }

  #nameOf(text: Buffer, from: number, to: number, hash: number): number | undefined {
    const last = this.#slots.length - 1
    for (let step = 1, slot = hash & last; step <= MOST_STEPS; slot = (slot + step++) & last) {
      const name = this.#slots[slot]! - 1
      if (name === -1) return (this.#slots[slot] = this.#lines.push({ text, from, to, hash })) - 1
      const line = this.#lines[name]!
      if (line.hash === hash && text.compare(line.text, line.from, line.to, from, to) === 0) return name
    }
    return undefined
  }
}
