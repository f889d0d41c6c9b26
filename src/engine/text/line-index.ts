// How many lines precede an offset of a text; fastest for offsets from left to right.
//
// Source: a sampled prefix sum, as for rank in bit vectors (Jacobson: Space-efficient static trees and graphs, 1989).
// Cost: one pass over the text, made for the first question; each question reads at most one stretch. The naive way, a
// count from the start each time, is the oracle in the tests.
import { countByte, countPairs } from './count-bytes.ts'
import { type Break, countLinesIn, countLoneCr, CR, LF } from './lines.ts'

/** Bytes between two stored counts. */
const STRETCH = 4096

/**
 * Counts before each stretch (`lone` only if there is any `\r`), and the numbers of `\n` and `\r\n` in the whole text.
 */
interface Table {
  lineFeeds: number[]
  lone: number[]
  allLineFeeds: number
  pairs: number
}

/** The line breaks of a text: `\n` alone for a diff, and breaks of any kind. */
export class LineIndex {
  readonly #bytes: Buffer
  /** Whether there is any `\r`. */
  readonly hasCr: boolean
  #known: Table | undefined
  /** The last offset asked for, and the `\n` before it: the next offset is usually a few bytes further on. */
  #last = { offset: 0, lineFeeds: 0 }

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.hasCr = bytes.includes(CR)
  }

  /** The number of `\n` before `offset`. */
  lineFeedsBefore(offset: number): number {
    if (offset === this.#bytes.length) return this.#table().allLineFeeds
    const last = this.#last
    const stretch = Math.floor(offset / STRETCH)
    if (offset < last.offset || stretch * STRETCH > last.offset) {
      last.offset = stretch * STRETCH
      last.lineFeeds = this.#table().lineFeeds[stretch]!
    }
    last.lineFeeds += countByte(this.#bytes, LF, last.offset, offset)
    last.offset = offset
    return last.lineFeeds
  }

  /**
   * The number of breaks of any kind that end at or before `offset`; a `\r\n` ends after its `\n`. `next`: the byte at
   * `offset`, if it differs from that of the text.
   */
  breaksBefore(offset: number, next = this.#bytes[offset]): number {
    const count = this.lineFeedsBefore(offset)
    if (!this.hasCr) return count
    const changed = this.#bytes[offset - 1] === CR ? Number(this.#bytes[offset] === LF) - Number(next === LF) : 0
    return count + this.#loneBefore(offset) + changed
  }

  /** The 1-based line of an offset, as in `lineNumbers`. */
  lineOf(offset: number): number {
    return this.breaksBefore(offset) + 1
  }

  /** Like `lineNumbers` of the whole text. */
  lineNumbers(offsets: readonly number[]): { lines: number[]; total: number } {
    return {
      lines: offsets.map(offset => this.lineOf(offset)),
      total: countLinesIn(this.#bytes, this.breaksBefore(this.#bytes.length))
    }
  }

  /** How often each kind of line break occurs. */
  endings(): Record<Break, number> {
    const feeds = this.lineFeedsBefore(this.#bytes.length)
    if (!this.hasCr) return { lf: feeds, crlf: 0, cr: 0 }
    const crlf = this.#table().pairs
    return { lf: feeds - crlf, crlf, cr: this.#loneBefore(this.#bytes.length) }
  }

  /** The number of `\r` before `offset` that no `\n` follows. */
  #loneBefore(offset: number): number {
    const stretch = Math.floor(offset / STRETCH)
    return this.#table().lone[stretch]! + countLoneCr(this.#bytes, stretch * STRETCH, offset, this.#bytes[offset] ?? -1)
  }

  /** Makes the table in one pass. */
  #table(): Table {
    if (this.#known !== undefined) return this.#known
    const bytes = this.#bytes
    const count = Math.floor(bytes.length / STRETCH) + 1
    const feeds: number[] = []
    const lone: number[] = []
    let feedsNow = 0
    let loneNow = 0
    let pairs = 0
    for (let stretch = 0; stretch < count; stretch++) {
      feeds.push(feedsNow)
      const from = stretch * STRETCH
      const to = Math.min(bytes.length, from + STRETCH)
      feedsNow += countByte(bytes, LF, from, to)
      if (!this.hasCr) continue
      lone.push(loneNow)
      const here = countPairs(bytes, CR, LF, from, to, bytes[to] ?? -1)
      pairs += here
      loneNow += countByte(bytes, CR, from, to) - here
    }
    this.#known = { lineFeeds: feeds, lone, allLineFeeds: feedsNow, pairs }
    return this.#known
  }
}
