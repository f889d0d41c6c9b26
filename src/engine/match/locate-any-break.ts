// Where a text of several lines occurs if a break of any kind is as good as another. Does not know edits.
import { breakAt, breakBefore, BREAK_TEXT, isBreakByte, nextBreakByte } from '../text/lines.ts'
import { searchLinearAnyBreak } from './linear-search.ts'
import type { Text } from '../text/text.ts'

/** Bytes and parts that may be compared, and so many more for each byte that the search has gone on. */
const SLACK = 1_000_000
const PER_BYTE = 8

/**
 * The longest of the stretches between a needle's breaks, the first of several: what is looked for. Empty where the
 * needle is breaks alone.
 */
export function anchorOf(parts: readonly Buffer[]): number {
  return parts.reduce((best, part, index) => (part.length > parts[best]!.length ? index : best), 0)
}

/**
 * Calls `found` with start and end of each place of `parts` (two at least) with a break between each two, in order,
 * overlapping ones too. `starts`: every place of the part that `anchorOf` names, in order; where that is empty,
 * undefined. From each of them, breaks and parts are compared outwards. Where that goes too far too often, everything
 * is left to `searchLinearAnyBreak`: so O(text + needle) beside what it took to find the places.
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

/** Where each break begins. */
function* breaksOf(text: Text): Generator<number> {
  for (let at = nextBreakByte(text, 0); at !== -1;) {
    yield at
    at = nextBreakByte(text, breakAt(text, at).end)
  }
}
