// Finds old_text whose middle is left out ("… existing code …"), or which is too long to compare, by its first and last
// parts.
import { withoutLastLf } from '../text/lines.ts'
import { afterBreak } from './boundaries/boundaries.ts'
import type { Budget } from './budget.ts'
import { linesOf, fold } from './fold.ts'
import { Haystack } from './haystack.ts'
import { isPlaceholder } from './placeholders.ts'
import { type OldText, oldTextOf } from './readings.ts'
import { type Region, regionsOf } from './regions.ts'

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** About how many UTF-16 units, in whole lines, make up each end of a long text; a line over twice that long is cut. */
const END_LENGTH = 1500
/** Bytes allowed between the two ends: this multiple of the UTF-16 units of old_text, within these bounds. */
const ELIDED_REACH = 8
const LEAST_REACH = 20_000
const MOST_REACH = 400_000
/** Bytes allowed for a long text, whose length is known: this multiple of it, plus the least reach. */
const LONG_REACH = 1.5
/** Most regions of an end to follow. */
const MOST_ENDS = 4
/**
 * An end with fewer folded codes is compared line by line, over this many lines at most; a longer end like any text.
 */
const FEW_CODES = 40
const MOST_LINES = 1200
/** Score of a region found by its ends, times the likeness of each; below the least score it isn't used. */
const ENDS_SCORE = 0.97
const LEAST_SCORE = 0.6

/** The first and last parts of a text, and how many bytes may be between them. */
interface Ends {
  first: string
  last: string
  reach: number
}

/** The text before the first placeholder and after the last; undefined if there is none in the middle of the text. */
export function endsOfElided(source: string): Ends | undefined {
  const lines = source.split('\n')
  const places = lines.flatMap((line, i) => (i > 0 && i < lines.length - 1 && isPlaceholder(line) ? [i] : []))
  if (places.length === 0) return undefined
  const parts = [-1, ...places]
    .map((place, i) => withoutLastLf(lines.slice(place + 1, places[i] ?? lines.length).join('\n')))
    .filter(part => part.trim() !== '')
  return parts.length < 2
    ? undefined
    : {
        first: parts[0]!,
        last: parts.at(-1)!,
        reach: Math.max(LEAST_REACH, Math.min(MOST_REACH, source.length * ELIDED_REACH))
      }
}

/** The first and the last lines of a long text. */
export function endsOfLong(source: string): Ends {
  const lines = withoutLastLf(source).split('\n')
  const take = (from: readonly string[]) => {
    let length = 0
    const count = from.findIndex(line => (length += line.length) > END_LENGTH) + 1
    return from.slice(0, count === 0 ? from.length : count)
  }
  return {
    // A single line may be as long as a file, so it is cut too.
    first: take(lines)
      .join('\n')
      .slice(0, 2 * END_LENGTH),
    last: take(lines.toReversed())
      .reverse()
      .join('\n')
      .slice(-2 * END_LENGTH),
    reach: Math.floor(source.length * LONG_REACH) + LEAST_REACH
  }
}

/** The region from a place of the first part to a place of the last: the nearest of the pairs that fit best. */
export function bridge(
  haystack: Haystack,
  old: OldText,
  { first, last, reach }: Ends,
  budget: Budget
): Region | undefined {
  const head = oldTextOf(first)
  const tail = oldTextOf(last)
  const codes = head.folded.codes.length + tail.folded.codes.length
  if (head.folded.codes.length === 0 || tail.folded.codes.length === 0) return undefined
  const pairs: [Found, Found][] = []
  for (const start of regionsOf(haystack, [head], budget).slice(0, MOST_ENDS)) {
    for (const end of near(
      haystack,
      start.end,
      Math.min(haystack.bytes.length, start.end + reach),
      tail,
      false,
      budget
    )) {
      pairs.push([start, end])
    }
  }
  for (const end of regionsOf(haystack, [tail], budget).slice(0, MOST_ENDS)) {
    for (const start of near(haystack, Math.max(0, end.start - reach), end.start, head, true, budget)) {
      pairs.push([start, end])
    }
  }
  let best: Region | undefined
  let nearest = Infinity
  for (const [from, to] of pairs) {
    const gap = to.start - from.end
    const like = (from.score * head.folded.codes.length + to.score * tail.folded.codes.length) / codes
    const least = best?.rank ?? LEAST_SCORE / ENDS_SCORE
    if (gap < 0 || like < least || (like === least && gap >= nearest)) continue
    nearest = gap
    best = {
      start: from.start,
      end: to.end,
      folded: like,
      raw: 0,
      score: like * ENDS_SCORE,
      rank: like,
      old
    }
  }
  if (best === undefined || !old.source.endsWith('\n')) return best
  return { ...best, end: best.end + afterBreak(haystack.text(best.end, best.end + 2), 0) }
}

interface Found {
  start: number
  end: number
  score: number
}

/** Places of an end within a part of the text: a short end line by line, nearest first, a longer one like any text. */
function near(haystack: Haystack, from: number, to: number, old: OldText, backward: boolean, budget: Budget): Found[] {
  const part = haystack.bytes.subarray(from, to)
  if (part.length === 0) return []
  const short =
    old.folded.codes.length < FEW_CODES
      ? sameLines(part.toString(haystack.encoding), old, backward, haystack.encoding)
      : []
  const found = short.length > 0 ? short : regionsOf(new Haystack(part, haystack.encoding), [old], budget)
  return found.map(({ start, end, score }) => ({ start: start + from, end: end + from, score }))
}

/** Runs of lines that, folded, equal the lines of `old`. */
function sameLines(text: string, old: OldText, backward: boolean, encoding: 'utf8' | 'latin1'): Found[] {
  const lines = linesOf(fold(text))
  const count = old.lines.length
  const sought = old.lines.map(line => line.text).join('')
  const found: Found[] = []
  for (let i = 0; i + count <= lines.length && i < MOST_LINES && found.length < MOST_ENDS; i++) {
    const at = backward ? lines.length - count - i : i
    if (
      lines
        .slice(at, at + count)
        .map(line => line.text)
        .join('') !== sought
    ) {
      continue
    }
    const { start } = lines[at]!
    const { end } = lines[at + count - 1]!
    found.push({
      start: Buffer.byteLength(text.slice(0, start), encoding),
      end: Buffer.byteLength(text.slice(0, end), encoding),
      score: 1
    })
  }
  return found
}
