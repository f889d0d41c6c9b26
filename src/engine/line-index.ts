// How many lines lie before an offset of a text, for questions from left to right and anywhere. Knows no edits.
//
// Source: a sampled prefix sum, as for rank in bit vectors (Jacobson: Space-efficient static trees and graphs, 1989).
// Cost: one count of the text up to the last offset that was asked for; each question at most a stretch more, or what
// lies between it and the one before. The naive way, a count from the start for each, is the oracle in the tests.
import { countByte } from './count-bytes.ts'
import { countLoneCr } from './lines.ts'
import type { Splices } from './splice.ts'

/** Bytes between two counts that are kept. */
const STRETCH = 4096
const LF = 10
const CR = 13

/** The line breaks of a text: `\n` alone for a diff, and those of any kind. */
export class LineIndex {
  readonly #bytes: Buffer
  readonly #feeds: Counts
  /** Of each `\r` that is a break by itself; a text without any `\r` needs none. */
  readonly #lone: Counts | undefined

  constructor (bytes: Buffer) {
    this.#bytes = bytes
    this.#feeds = new Counts(bytes.length, (from, to) => countByte(bytes, LF, from, to))
    if (bytes.includes(CR)) this.#lone = new Counts(bytes.length, (from, to) => countLoneCr(bytes, from, to, bytes[to] ?? -1))
  }

  /** How many `\n` lie before `offset`. */
  feedsBefore (offset: number): number {
    return this.#feeds.before(offset)
  }

  /** How many breaks of any kind end at `offset` or before it; a `\r\n` ends behind its `\n`. `next`: what stands at `offset`, if that is another byte than in the text. */
  breaksBefore (offset: number, next = this.#bytes[offset]): number {
    const count = this.#feeds.before(offset)
    if (this.#lone === undefined) return count
    const changed = this.#bytes[offset - 1] === CR ? Number(this.#bytes[offset] === LF) - Number(next === LF) : 0
    return count + this.#lone.before(offset) + changed
  }
}

const made = new WeakMap<Splices, LineIndex>()

/** The index of `original`, the text that `splices` were made for: description and diff of a plan count it once. */
export function lineIndexOf (splices: Splices, original: Buffer): LineIndex {
  const known = made.get(splices)
  if (known !== undefined) return known
  const index = new LineIndex(original)
  made.set(splices, index)
  return index
}

/** Sums of a count over the stretches of a text, made as far as they are asked for. */
class Counts {
  readonly #count: (from: number, to: number) => number
  /** Of each stretch, what lies before it. */
  readonly #before: Float64Array
  #known = 0
  /** The last question, and its answer. */
  #at = 0
  #sum = 0

  constructor (length: number, count: (from: number, to: number) => number) {
    this.#count = count
    this.#before = new Float64Array(Math.floor(length / STRETCH) + 1)
  }

  before (offset: number): number {
    const stretch = Math.floor(offset / STRETCH)
    while (this.#known < stretch) {
      const start = this.#known * STRETCH
      this.#before[this.#known + 1] = this.#before[this.#known]! + this.#count(start, start + STRETCH)
      this.#known++
    }
    const start = stretch * STRETCH
    if (this.#at > offset || this.#at < start) {
      this.#at = start
      this.#sum = this.#before[stretch]!
    }
    this.#sum += this.#count(this.#at, offset)
    this.#at = offset
    return this.#sum
  }
}
