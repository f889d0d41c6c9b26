// Where a text occurs in another, byte for byte or with line breaks of any kind. Knows no edits.
import type { LineEndings } from './line-breaks.ts'
import { ANY_BREAK, BREAK_TEXT, breakAt, breakBefore, type LineEnding, splitAtBreaks } from './lines.ts'
import { searchLinear } from './linear-search.ts'
import type { Text } from './text.ts'

/** A place where a needle occurs: bytes, end exclusive. */
export interface Match { start: number, end: number }

/** What is looked for. */
export interface Needle {
  /** As given. */
  readonly text: string
  readonly bytes: Buffer
  /** The stretches between its line breaks; one where it has none. */
  readonly parts: readonly Buffer[]
}

export function needleOf (text: string): Needle {
  return { text, bytes: Buffer.from(text), parts: splitAtBreaks(text).map(part => Buffer.from(part)) }
}

export interface Found {
  /** Every place, overlapping ones too, by start. */
  all: Places
  /** Left to right, not overlapping. */
  matches: Places
  /** Whether each match has exactly the needle's bytes. */
  exact: boolean
}

/** Matches by start, as flat arrays: a byte may occur a hundred million times. */
export class Places {
  #starts = new Uint32Array(16)
  #ends = new Uint32Array(16)
  #count = 0

  get count (): number {
    return this.#count
  }

  add (start: number, end: number): void {
    if (this.#count === this.#starts.length) {
      this.#starts = doubled(this.#starts)
      this.#ends = doubled(this.#ends)
    }
    this.#starts[this.#count] = start
    this.#ends[this.#count++] = end
  }

  /** Match `index`, 0-based and below `count`. */
  at (index: number): Match {
    return { start: this.#starts[index]!, end: this.#ends[index]! }
  }

  /** Matches `from` to `to` (exclusive, at most `count`). */
  slice (from: number, to: number): Match[] {
    return Array.from({ length: Math.min(to, this.#count) - from }, (_, i) => this.at(from + i))
  }

  /** Those that don't overlap, left to right; itself where none do. */
  disjoint (): Places {
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

function doubled (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}

/**
 * Finds a needle. `ending` is how the lines of `text` end: where it isn't `mixed`, the needle's breaks are simply
 * written that way; in a mixed text each break matches a break of any kind, and never half of a `\r\n`.
 */
export function locate (text: Text, needle: Needle, lineEndings: LineEndings, ending: LineEnding): Found {
  if (lineEndings === 'exact' || needle.parts.length === 1) return found(locateBytes(text, needle.bytes), true)
  if (ending === 'none') return found(new Places(), true)
  if (ending === 'mixed') {
    const all = locateMixed(text, needle.parts)
    let exact = true
    for (let i = 0; i < all.count && exact; i++) exact = holds(text, needle.bytes, all.at(i).start)
    return found(all, exact)
  }
  const bytes = Buffer.from(needle.text.replace(ANY_BREAK, BREAK_TEXT[ending]))
  return found(locateBytes(text, bytes), bytes.equals(needle.bytes))
}

const found = (all: Places, exact: boolean): Found => ({ all, matches: all.disjoint(), exact })

/** Bytes from which on a needle is searched in linear time: `indexOf` is quadratic on texts made for it. */
const LONG_NEEDLE = 1024
/** After so many hits that lie so close (bytes), looking at every byte costs less than a call for each. */
const MANY_HITS = 10_000
const CLOSE = 64

function locateBytes (text: Text, bytes: Buffer): Places {
  const all = new Places()
  const add = (at: number) => all.add(at, at + bytes.length)
  if (bytes.length > text.length) return all
  let from = 0
  while (bytes.length < LONG_NEEDLE && !(all.count === MANY_HITS && from < MANY_HITS * CLOSE)) {
    const at = text.indexOf(bytes, from)
    if (at === -1) return all
    add(at)
    from = at + 1
  }
  searchLinear(text, bytes, from, add)
  return all
}

/** Looks for the longest part, then verifies breaks and parts outwards from there. */
function locateMixed (text: Text, parts: readonly Buffer[]): Places {
  const anchor = parts.reduce((best, part, index) => part.length > parts[best]!.length ? index : best, 0)
  const all = new Places()
  if (parts[anchor]!.length === 0) {
    for (let at = text.nextBreakByte(0); at !== -1;) {
      const first = breakAt(text, at)
      const end = forward(text, parts, 0, first.start)
      if (end !== -1) all.add(first.start, end)
      at = text.nextBreakByte(first.end)
    }
    return all
  }
  const anchors = locateBytes(text, parts[anchor]!)
  for (let i = 0; i < anchors.count; i++) {
    const at = anchors.at(i)
    const start = backward(text, parts, anchor, at.start)
    const end = start === -1 ? -1 : forward(text, parts, anchor, at.end)
    if (end !== -1) all.add(start, end)
  }
  return all
}

/** The end of a match whose part `index` ends at `at`, or -1. */
function forward (text: Text, parts: readonly Buffer[], index: number, at: number): number {
  for (let i = index + 1; i < parts.length; i++) {
    const byte = text.byteAt(at)
    if (byte !== 10 && byte !== 13) return -1
    at = breakAt(text, at).end
    const part = parts[i]!
    if (!holds(text, part, at)) return -1
    at += part.length
  }
  return at
}

/** The start of a match whose part `index` begins at `at`, or -1. */
function backward (text: Text, parts: readonly Buffer[], index: number, at: number): number {
  for (let i = index - 1; i >= 0; i--) {
    const before = breakBefore(text, at)
    if (before === undefined) return -1
    const part = parts[i]!
    at = before.start - part.length
    if (at < 0 || !holds(text, part, at)) return -1
  }
  return at
}

const holds = (text: Text, part: Buffer, at: number): boolean =>
  at + part.length <= text.length && text.slice(at, at + part.length).equals(part)
