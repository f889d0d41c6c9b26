// The lines of a file, and where lines of a patch occur among them.
//
// Each line is hashed once; searched lines are then found by one look-up per line of the file: linear in file and
// patch. A block of several lines is found by its rarest line; if even that is so frequent that comparing at each
// occurrence would take longer, by a linear search. So each block costs at most a few passes over the lines of the
// file, and a block with a rare line costs almost nothing.
import { placesOfNumbers } from '../match/linear-search.ts'
import { bomLength } from '../text/encoding.ts'
import { firstIndex } from '../text/bisect.ts'
import { breakEndIn, isBreakByte } from '../text/lines.ts'

/** Comparisons to find one block, per line of the file; beyond that, a linear search is faster. */
const MOST_COMPARED = 8

const SPACE = 32
const TAB = 9

/** FNV-1a. */
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = OFFSET_BASIS | 0
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, PRIME)
  return hash
}

const isBlankByte = (byte: number | undefined): boolean => byte === SPACE || byte === TAB

/** The places of some texts in a file: every line that equals one of them. */
export class LinePlaces {
  readonly #numberOf: (text: string) => number
  /** For each line of the file, the number of its text; -1 for none. */
  readonly #numbers: Int32Array
  /** The lines of each number, consecutively; those of number n begin at `#froms[n]`. */
  readonly #lines: Int32Array
  readonly #froms: Int32Array

  constructor(numberOf: (text: string) => number, numbers: Int32Array, total: number) {
    this.#numberOf = numberOf
    this.#numbers = numbers
    const froms = new Int32Array(total + 2)
    for (const number of numbers) if (number !== -1) froms[number + 2]!++
    for (let number = 2; number < froms.length; number++) froms[number]! += froms[number - 1]!
    const lines = new Int32Array(froms.at(-1)!)
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!
      if (number !== -1) lines[froms[number + 1]!++] = i
    }
    this.#lines = lines
    this.#froms = froms
  }

  /** The lines that equal `text`, ascending; `text` must be one of those searched for. */
  of(text: string): Int32Array {
    const number = this.#numberOf(text)
    return this.#lines.subarray(this.#froms[number], this.#froms[number + 1])
  }

  /**
   * The places, from a line on, where the non-empty list `texts` occurs as consecutive lines; each is the first line.
   */
  *blocks(texts: readonly string[], from: number): Generator<number, undefined> {
    const all = texts.map(text => this.of(text))
    const rarest = all.reduce((best, lines, i) => (lines.length < all[best]!.length ? i : best), 0)
    const lines = all[rarest]!
    const numbers = texts.map(text => this.#numberOf(text))
    if (lines.length * texts.length > MOST_COMPARED * this.#numbers.length) {
      return yield* placesOfNumbers(this.#numbers, numbers, from)
    }
    for (let i = firstIndex(lines.length, at => lines[at]! >= from + rarest); i < lines.length; i++) {
      if (this.#holds(numbers, lines[i]! - rarest)) yield lines[i]! - rarest
    }
    return undefined
  }

  /** Whether `texts` are consecutive lines from `first` on. */
  holds(texts: readonly string[], first: number): boolean {
    return this.#holds(
      texts.map(text => this.#numberOf(text)),
      first
    )
  }

  #holds(numbers: readonly number[], first: number): boolean {
    return first >= 0 && numbers.every((number, i) => this.#numbers[first + i] === number)
  }
}

export class FileLines {
  readonly bytes: Buffer
  /** The start of each line, and the end of its text; `starts` has one more entry, the length of the file. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  readonly count: number
  /** Whether an empty line can be assumed after the last break: the file ends with a break, or is empty. */
  readonly isEnded: boolean
  #hashes: Int32Array | undefined

  constructor(bytes: Buffer) {
    this.bytes = bytes
    const starts: number[] = []
    const ends: number[] = []
    let start: number = bomLength(bytes)
    for (let i = start; i < bytes.length; i++) {
      if (!isBreakByte(bytes[i]!)) continue
      starts.push(start)
      ends.push(i)
      start = breakEndIn(bytes, i)
      i = start - 1
    }
    this.isEnded = start === bytes.length
    if (!this.isEnded) {
      starts.push(start)
      ends.push(bytes.length)
    }
    this.count = starts.length
    starts.push(bytes.length)
    this.starts = Float64Array.from(starts)
    this.ends = Float64Array.from(ends)
  }

  /** The bytes of a 0-based line, without its break. */
  line(index: number): Buffer {
    return this.bytes.subarray(this.starts[index], this.ends[index])
  }

  /** The text of a 0-based line that is UTF-8. */
  text(index: number): string {
    return this.line(index).toString()
  }

  /** The byte range of a line without the spaces and tabs around it. */
  trimmed(index: number): [start: number, end: number] {
    let start = this.starts[index]!
    let end = this.ends[index]!
    while (start < end && isBlankByte(this.bytes[start])) start++
    while (end > start && isBlankByte(this.bytes[end - 1])) end--
    return [start, end]
  }

  /** How many spaces and tabs a line begins with; undefined if it has nothing else. */
  indentOf(index: number): number | undefined {
    const [start, end] = this.trimmed(index)
    return start === end ? undefined : start - this.starts[index]!
  }

  /** Finds the texts, each as a whole line. */
  find(texts: Iterable<string>): LinePlaces {
    this.#hashes ??= Int32Array.from({ length: this.count }, (_, i) =>
      hashOf(this.bytes, this.starts[i]!, this.ends[i]!)
    )
    const hashes = this.#hashes
    return this.#places(
      texts,
      text => text,
      i => hashes[i]!,
      i => [this.starts[i]!, this.ends[i]!]
    )
  }

  /** Finds the texts as whole lines, ignoring spaces and tabs around both. */
  findTrimmed(texts: Iterable<string>): LinePlaces {
    return this.#places(
      texts,
      withoutBlanks,
      i => hashOf(this.bytes, ...this.trimmed(i)),
      i => this.trimmed(i)
    )
  }

  #places(
    texts: Iterable<string>,
    read: (text: string) => string,
    hash: (line: number) => number,
    range: (line: number) => [number, number]
  ): LinePlaces {
    const known = new Map<string, number>()
    // The hashes only exclude lines: an attacker can construct texts with equal hashes, so the look-up uses the bytes,
    // as a string. V8 hashes strings with a seed.
    const byBytes = new Map<string, number>()
    const hashes = new Set<number>()
    for (const text of texts) {
      const key = read(text)
      if (known.has(key)) continue
      const bytes = Buffer.from(key)
      byBytes.set(bytes.toString('latin1'), known.size)
      known.set(key, known.size)
      hashes.add(hashOf(bytes, 0, bytes.length))
    }
    const numbers = new Int32Array(this.count).fill(-1)
    for (let i = 0; i < this.count && hashes.size > 0; i++) {
      if (hashes.has(hash(i))) numbers[i] = byBytes.get(this.bytes.toString('latin1', ...range(i))) ?? -1
    }
    return new LinePlaces(text => known.get(read(text))!, numbers, known.size)
  }
}

/** A text without the spaces and tabs around it. */
export function withoutBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlankByte(text.charCodeAt(start))) start++
  while (end > start && isBlankByte(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}
