// Finds where a text of several lines occurs if line breaks of all kinds are equal.
import { breakAt, breakBefore, BREAK_TEXT, isBreakByte, nextBreakByte } from '../text/lines.ts'
import { searchLinearAnyBreak } from './linear-search.ts'
import type { Text } from '../text/text.ts'

/** Work allowed, in bytes and parts compared: a constant, plus some for each byte that the search has advanced. */
const SLACK = 1_000_000
const PER_BYTE = 8

/**
 * Index of the longest part between a needle's breaks, the first of several: the one to search for. That part is empty
 * if the needle consists of breaks only.
 */
export function anchorOf(parts: readonly Buffer[]): number {
  return parts.reduce((best, part, index) => (part.length > parts[best]!.length ? index : best), 0)
}

/**
 * Calls `found` with start and end of each place of `parts` (at least two) with a break between each two, in order,
 * including overlapping ones. `starts`: every place of the part that `anchorOf` selects, in order; undefined if that
 * part is empty. From each place it compares breaks and parts outwards. If that takes too much work,
 * `searchLinearAnyBreak` does the whole search: so O(text + needle), apart from finding the places.
 */
export function locateAnyBreak(
  text: Text,
  parts: readonly Buffer[],
  starts: Iterable<number> | undefined,
  found: (start: number, end: number) => void
): void {
  const anchor = anchorOf(parts)
  const places: number[] = []
  let spent = 0
  for (const at of starts ?? breaksOf(text)) {
    spent++
    const start = backward(at)
    const end =
      start === -1
        ? -1
        : forward(starts === undefined ? 0 : anchor, at + (starts === undefined ? 0 : parts[anchor]!.length))
    if (end !== -1) places.push(start, end)
    if (spent > SLACK + PER_BYTE * at) {
      return searchLinearAnyBreak(
        text,
        Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [LINE_FEED, part]))),
        found
      )
    }
  }
  for (let i = 0; i < places.length; i += 2) found(places[i]!, places[i + 1]!)

  /** The end of a place whose part `index` ends at `at`, or -1. */
  function forward(index: number, at: number): number {
    for (let i = index + 1; i < parts.length; i++) {
      const byte = text.byteAt(at)
      if (!isBreakByte(byte)) return -1
      at = breakAt(text, at).end
      const part = parts[i]!
      spent += 1 + part.length
      if (!text.holds(part, at)) return -1
      at += part.length
    }
    return at
  }

  /** The start of a place whose anchor begins at `at`, or -1. */
  function backward(at: number): number {
    if (starts === undefined) return at
    for (let i = anchor - 1; i >= 0; i--) {
      const before = breakBefore(text, at)
      if (before === undefined) return -1
      const part = parts[i]!
      spent += 1 + part.length
      at = before.start - part.length
      if (!text.holds(part, at)) return -1
    }
    return at
  }
}

const LINE_FEED = Buffer.from(BREAK_TEXT.lf)

/** The start of each break. */
function* breaksOf(text: Text): Generator<number> {
  for (let at = nextBreakByte(text, 0); at !== -1;) {
    yield at
    at = nextBreakByte(text, breakAt(text, at).end)
  }
}
