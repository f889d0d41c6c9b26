// How many lines lie before an offset of a text, for questions from left to right and anywhere. Does not know edits.
//
// Source: a sampled prefix sum, as for rank in bit vectors (Jacobson: Space-efficient static trees and graphs, 1989).
// Cost: one pass over the text for whatever is asked of its lines, made with the first question; each question a
// stretch at the most. The naive way, a count from the start for each, is the oracle in the tests.
import { countByte, countPairs } from './count-bytes.ts'
import { type Break, countLinesIn, countLoneCr, CR, LF } from './lines.ts'

/** Bytes between two counts that are kept. */
const STRETCH = 4096

/** What lies before each stretch, `lone` only where there is any `\r`; and how many `\n` and `\r\n` there are in all. */
interface Table {
  lineFeeds: number[]
  lone: number[]
  allLineFeeds: number
  pairs: number
}

/** The line breaks of a text: `\n` alone for a diff, and those of any kind. */
export class LineIndex {
  readonly #bytes: Buffer
  /** Whether there is any `\r`. */
  readonly hasCr: boolean
  #known: Table | undefined
  /** The last offset that `\n` were counted before, and how many: most often the next one is a few bytes on. */
  #last = { offset: 0, lineFeeds: 0 }

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.hasCr = bytes.includes(CR)
  }

  /** How many `\n` lie before `offset`. */
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
   * How many breaks of any kind end at `offset` or before it; a `\r\n` ends behind its `\n`. `next`: what stands at
   * `offset`, if that is another byte than in the text.
   */
  breaksBefore(offset: number, next = this.#bytes[offset]): number {
    const count = this.lineFeedsBefore(offset)
    if (!this.hasCr) return count
    const changed = this.#bytes[offset - 1] === CR ? Number(this.#bytes[offset] === LF) - Number(next === LF) : 0
    return count + this.#loneBefore(offset) + changed
  }

  /** The 1-based line of an offset, as `lineNumbers` has it. */
  lineOf(offset: number): number {
    return this.breaksBefore(offset) + 1
  }

  /** As `lineNumbers` of the whole text. */
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

  /** How many `\r` that no `\n` follows lie before `offset`. */
  #loneBefore(offset: number): number {
    const stretch = Math.floor(offset / STRETCH)
    return this.#table().lone[stretch]! + countLoneCr(this.#bytes, stretch * STRETCH, offset, this.#bytes[offset] ?? -1)
  }

  /** The one pass. */
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
