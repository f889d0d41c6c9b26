// Finds the least context that makes one match unique.
import { isBreakByte, isInsideCrlf, isLineStart, lineAround, lineFrom, markLength } from '../text/lines.ts'
import type { Match, Places } from '../match/locate.ts'
import type { Text } from '../text/text.ts'

/** Most lines to add on each side. */
const MOST_LINES = 20
/** In a line longer than this (bytes), context is counted in characters, not in whole lines. */
const LONG_LINE = 1000
const STEP = 16
/** Most bytes and rivals (other places of the needle) to compare, in all. */
const BUDGET = 1_000_000

/**
 * The range with the fewest whole lines around `match` whose text occurs nowhere else; in a very long line, the range
 * with the fewest characters (of two equally short ones, the one with more above). `all` must hold every place of the
 * same needle, including overlapping ones and `match`. If a text around `match` occurs elsewhere, the needle is there
 * at the same distance, so we compare only those places. `adapt`: line breaks of all kinds are equal. Undefined if 20
 * lines on each side aren't enough, or if the search costs too much.
 */
export function uniqueContext(text: Text, match: Match, all: Places, adapt: boolean): Match | undefined {
  const { starts, ends } = boundaries(text, match)
  // reach[x]: the furthest end boundary up to which a rival with at least x equal start boundaries is still equal.
  const reach = new Int32Array(starts.length + 1).fill(-1)
  let budget = BUDGET
  for (let i = 0; i < all.count; i++) {
    const rival = all.at(i)
    if (rival.start === match.start) continue
    const before = equalBefore(text, match.start, rival.start, starts.at(-1)!, adapt)
    const above = lastIndexWhere(starts, start => start >= before)
    const after = above === -1 ? match.end : equalAfter(text, match.end, rival.end, ends.at(-1)!, adapt)
    const below = above === -1 ? -1 : lastIndexWhere(ends, end => end <= after)
    if (below > reach[above + 1]!) reach[above + 1] = below
    budget -= 1 + match.start - before + after - match.end
    if (budget < 0) return undefined
  }
  let best: Match | undefined
  let fewest = Infinity
  let needed = 0
  for (let x = starts.length - 1; x >= 0; x--) {
    needed = Math.max(needed, reach[x + 1]! + 1)
    if (needed < ends.length && x + needed < fewest) {
      fewest = x + needed
      best = { start: starts[x]!, end: ends[needed]! }
    }
  }
  return best
}

/** Where a context may begin and end, nearest first. */
function boundaries(text: Text, match: Match): { starts: number[]; ends: number[] } {
  const first = lineAround(text, match.start)
  const endsLine = match.end > match.start && isLineStart(text, match.end)
  const last = endsLine ? { start: match.end, end: match.end, next: match.end } : lineAround(text, match.end)
  if (match.start - first.start > LONG_LINE || last.end - match.end > LONG_LINE) {
    return {
      starts: steps(text, match.start, Math.max(first.start, match.start - STEP * 64), -STEP),
      ends: steps(text, match.end, Math.min(last.end, match.end + STEP * 64), STEP)
    }
  }
  const starts = [first.start]
  for (let i = 0, at = first.start; i < MOST_LINES && at > markLength(text); i++) {
    starts.push((at = lineAround(text, at - 1).start))
  }
  // A match may end between the two bytes of a break.
  const ends = [Math.max(match.end, last.end)]
  for (let i = 0, at = last.next; i < MOST_LINES && at < text.length; i++) {
    const line = lineFrom(text, at)
    ends.push(line.end)
    at = line.next
  }
  return { starts, ends }
}

/** Offsets from `from` to about `limit`, in order, none inside a UTF-8 character. */
function steps(text: Text, from: number, limit: number, step: number): number[] {
  const out = [from]
  for (let at = from + step; step < 0 ? at > limit : at < limit; at += step) out.push(text.characterStart(at))
  if (limit !== from) out.push(text.characterStart(limit))
  return out
}

/** The least offset, at least `limit`, such that the bytes from there to `a` equal the bytes before `b`. */
function equalBefore(text: Text, a: number, b: number, limit: number, adapt: boolean): number {
  while (a > limit && b > 0) {
    const x = text.byteAt(a - 1)
    const y = text.byteAt(b - 1)
    if (adapt && isBreakByte(x) && isBreakByte(y)) {
      a -= isInsideCrlf(text, a - 1) ? 2 : 1
      b -= isInsideCrlf(text, b - 1) ? 2 : 1
    } else if (x === y) {
      a--
      b--
    } else break
  }
  return a
}

/** The greatest offset, at most `limit`, such that the bytes from `a` to there equal the bytes after `b`. */
function equalAfter(text: Text, a: number, b: number, limit: number, adapt: boolean): number {
  while (a < limit && b < text.length) {
    const x = text.byteAt(a)
    const y = text.byteAt(b)
    if (adapt && isBreakByte(x) && isBreakByte(y)) {
      a += isInsideCrlf(text, a + 1) ? 2 : 1
      b += isInsideCrlf(text, b + 1) ? 2 : 1
    } else if (x === y) {
      a++
      b++
    } else break
  }
  return a
}

function lastIndexWhere(values: readonly number[], holds: (value: number) => boolean): number {
  let index = -1
  while (index + 1 < values.length && holds(values[index + 1]!)) index++
  return index
}
