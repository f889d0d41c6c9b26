// Finds where a text occurs in another, byte for byte or with line breaks of any kind.
import type { LineEndings } from '../text/eol.ts'
import { type LineEnding, splitAtBreaks, withBreaksOf } from '../text/lines.ts'
import { anchorOf, locateAnyBreak } from './locate-any-break.ts'
import { searchLinear } from './linear-search.ts'
import type { Text } from '../text/text.ts'
import { variedWindow } from './probe-window.ts'
import { isWholeWord } from './whole-words.ts'

/** A place where a needle occurs: bytes, end exclusive. */
export interface Match {
  start: number
  end: number
}

/** The text to search for. */
export class Needle {
  /** As sent. */
  readonly text: string
  readonly bytes: Buffer
  readonly hasBreak: boolean
  /** Only whole words match: see `isWholeWord`. */
  readonly whole_word: boolean
  #parts: Buffer[] | undefined

  constructor(text: string, whole_word = false) {
    this.text = text
    this.whole_word = whole_word
    this.bytes = Buffer.from(text)
    this.hasBreak = text.includes('\n') || text.includes('\r')
  }

  /** The parts between its line breaks; one part if it has none. Made on first use, because few texts need them. */
  get parts(): readonly Buffer[] {
    this.#parts ??= splitAtBreaks(this.text).map(part => Buffer.from(part))
    return this.#parts
  }
}

export interface Found {
  /** Every place, including overlapping ones, by start. */
  all: Places
  /** From left to right, without overlaps. */
  matches: Places
  /** Whether each match has exactly the bytes of the needle. */
  exact: boolean
}

/** Matches by start, in flat arrays, because a byte may occur a hundred million times. */
export class Places {
  #starts = new Uint32Array(4)
  #ends = new Uint32Array(4)
  #count = 0

  get count(): number {
    return this.#count
  }

  add(start: number, end: number): void {
    if (this.#count === this.#starts.length) {
      this.#starts = doubled(this.#starts)
      this.#ends = doubled(this.#ends)
    }
    this.#starts[this.#count] = start
    this.#ends[this.#count++] = end
  }

  /** Match `index`, 0-based and below `count`. */
  at(index: number): Match {
    return { start: this.#starts[index]!, end: this.#ends[index]! }
  }

  /** The start of each match, in order. */
  *starts(): Generator<number> {
    for (let i = 0; i < this.#count; i++) yield this.#starts[i]!
  }

  /** Matches `from` to `to` (exclusive, at most `count`). */
  slice(from: number, to: number): Match[] {
    const matches: Match[] = []
    for (let i = from; i < Math.min(to, this.#count); i++) matches.push(this.at(i))
    return matches
  }

  filter(fits: (match: Match) => boolean): Places {
    const kept = new Places()
    for (let i = 0; i < this.#count; i++) {
      const match = this.at(i)
      if (fits(match)) kept.add(match.start, match.end)
    }
    return kept
  }

  /** The matches without overlaps, from left to right; returns itself if none overlap. */
  disjoint(): Places {
    const starts = this.#starts
    const ends = this.#ends
    let overlap = false
    for (let i = 1; i < this.#count && !overlap; i++) overlap = starts[i]! < ends[i - 1]!
    if (!overlap) return this
    const kept = new Places()
    let end = 0
    for (let i = 0; i < this.#count; i++) {
      if (starts[i]! < end) continue
      end = ends[i]!
      kept.add(starts[i]!, end)
    }
    return kept
  }
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}

/**
 * The bytes whose places are enough to find the needle; undefined if the needle consists of breaks only. In a `mixed`
 * text, where a break has no fixed bytes, this is the longest part between two breaks.
 */
export function soughtBytes(needle: Needle, lineEndings: LineEndings, ending: LineEnding): Buffer | undefined {
  if (lineEndings === 'exact' || !needle.hasBreak) return needle.bytes
  const text = withBreaksOf(ending, needle.text)
  if (text === undefined) {
    const part = needle.parts[anchorOf(needle.parts)]!
    return part.length === 0 ? undefined : part
  }
  return text === needle.text ? needle.bytes : Buffer.from(text)
}

/**
 * Finds a needle. `ending` is how the lines of `text` end: unless it is `mixed`, we write the needle's breaks that way
 * and search for the bytes; in a mixed text each break matches a break of any kind, and never half of a `\r\n`.
 * `seen`: every place of `soughtBytes`, if already known. O(text + needle).
 */
export function locate(text: Text, needle: Needle, lineEndings: LineEndings, ending: LineEnding, seen?: Places): Found {
  const anyBreak = lineEndings === 'adapt' && needle.hasBreak
  if (anyBreak && ending === 'none') return found(new Places(), true)
  const sought = soughtBytes(needle, lineEndings, ending)
  const places = seen ?? (sought === undefined ? undefined : placesOf(text, sought))
  const fits = ({ start, end }: Match): boolean => !needle.whole_word || isWholeWord(text, start, end)
  if (!anyBreak || ending !== 'mixed') {
    const all = needle.whole_word ? places!.filter(fits) : places!
    return found(all, sought === needle.bytes || sought!.equals(needle.bytes))
  }
  const all = new Places()
  locateAnyBreak(text, needle.parts, places?.starts(), (start, end) => {
    if (fits({ start, end })) all.add(start, end)
  })
  return found(all, areExact(text, all, needle.bytes))
}

const found = (all: Places, exact: boolean): Found => ({ all, matches: all.disjoint(), exact })

/** Whether the text has `bytes` at each of the places. */
function areExact(text: Text, places: Places, bytes: Buffer): boolean {
  // Long texts that overlap themselves would be compared again and again.
  if (places.count * bytes.length <= 4 * text.length) return every(places, ({ start }) => text.holds(bytes, start))
  const exact = placesOf(text, bytes)
  let index = 0
  return every(places, ({ start }) => {
    while (index < exact.count && exact.at(index).start < start) index++
    return index < exact.count && exact.at(index).start === start
  })
}

function every(places: Places, holds: (match: Match) => boolean): boolean {
  for (let i = 0; i < places.count; i++) if (!holds(places.at(i))) return false
  return true
}

function placesOf(text: Text, bytes: Buffer): Places {
  const all = new Places()
  searchBytes(text, bytes, at => all.add(at, at + bytes.length))
  return all
}

/**
 * Longest needle for which the built-in search is linear: it is Boyer and Moore's (A fast string searching algorithm,
 * 1977), uses only the last 250 bytes of a needle, and is quadratic for longer needles crafted against it.
 */
const PROBE = 128
/** Cost of a call for one hit, in bytes that the linear search could read instead. */
const CALL = 64
/** Bytes that hits may cost: a constant, plus some for each byte that the search has advanced. */
const SLACK = 640_000
const PER_BYTE = 4

/**
 * Calls `found` with each offset where `needle` (not empty) begins, including overlapping ones, in order. The built-in
 * search looks for the needle, or for its most varied 128 bytes, and we compare each hit. If there are so many hits
 * that this costs more than reading every byte, `searchLinear` takes over from there. So O(text + needle) for any
 * input; about one pass of `indexOf` for texts that weren't crafted against it.
 */
function searchBytes(text: Text, needle: Buffer, found: (at: number) => void): void {
  if (needle.length > text.length) return
  const whole = needle.length <= PROBE
  const offset = whole ? 0 : variedWindow(needle, PROBE)
  const probe = whole ? needle : needle.subarray(offset, offset + PROBE)
  const price = whole ? CALL : CALL + needle.length
  let spent = 0
  for (let at = text.indexOf(probe, offset); at !== -1; at = text.indexOf(probe, at + 1)) {
    spent += price
    if (spent > SLACK + PER_BYTE * at) return searchLinear(text, needle, at - offset, found)
    if (whole || text.holds(needle, at - offset)) found(at - offset)
  }
}
