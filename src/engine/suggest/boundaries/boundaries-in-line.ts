// Where the region begins and ends, given a map of characters: for single lines and parts of lines.
import type { CodeMap } from '../characters.ts'
import { isCombining, isDash, type FoldedLine } from '../fold.ts'
import type { Haystack, Stretch } from '../haystack.ts'
import type { OldText } from '../readings.ts'
import { afterBreak, type TextSpan } from './boundaries.ts'

/** Which lines of old_text the map finds in the text, and their first and last code that is mapped. */
interface Kept {
  first: number
  last: number
  head: number
  tail: number
}

// Thresholds. Shares are from 0 to 1, lengths in folded codes. What changes when one is halved or doubled is measured
// in docs/decisions/suggestions.md.

/** A line at the edge of old_text with a smaller share of mapped codes isn't part of the region. */
const WEAK = 0.45
/** A code at an edge is isolated, and skipped, if the next mapped one is farther away in the text. */
const APART = 3
/** With a fit below POOR_FIT, a single line is taken whole if at least this share of it is mapped (MOST_OF_LINE). */
const POOR_FIT = 0.8
const MOST_OF_LINE = 0.6

const LETTER = /[\w\p{L}\p{M}]/u

/**
 * The region that the map gives, with the number of the text's codes from its first to its last, and whether it has
 * several lines of old_text; undefined if nothing is left. `score`: how well old_text fits as a whole.
 */
export function spanOfCodes(
  old: OldText,
  stretch: Stretch,
  map: CodeMap,
  score: number
): (TextSpan & { codes: number; multiple: boolean }) | undefined {
  const kept = keptOf(old, map)
  if (kept === undefined) return undefined
  const from = map[kept.head]!
  const to = map[kept.tail]!
  const line = lineOf(stretch, from, to)
  const { before, after } = wholeLine(old, kept, line, to - from + 1, score)
  const { source } = stretch.folded
  const multiple = kept.last > kept.first
  let start
  if (before) {
    start = line.start
    if (!multiple && !/^\s/.test(textOf(old, kept.first))) {
      while (start < source.length && isBlank(source[start])) start++
    }
  } else start = startWithin(old, kept, stretch, map, line)
  let end
  if (after) {
    end = line.end
    if (!multiple && !/\s$/.test(textOf(old, kept.last))) while (end > start && isBlank(source[end - 1])) end--
    const rest = old.source.slice(old.lines[kept.last]!.end)
    if (old.source.endsWith('\n') && rest.trim() === '') end = afterBreak(source, end)
  } else end = endWithin(old, kept, stretch, map, line)
  return { start, end, codes: to - from + 1, multiple }
}

const textOf = (old: OldText, line: number): string => old.source.slice(old.lines[line]!.start, old.lines[line]!.end)
const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t'
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

function keptOf(old: OldText, map: CodeMap): Kept | undefined {
  const { lines } = old
  const share = ({ from, to }: FoldedLine) => {
    let mapped = 0
    for (let i = from; i < to; i++) if (map[i]! >= 0) mapped++
    return to === from ? -1 : mapped / (to - from)
  }
  let first = 0
  let last = lines.length - 1
  if (old.filled.length > 1) {
    while (first < last && share(lines[first]!) < WEAK) first++
    while (last > first && share(lines[last]!) < WEAK) last--
  }
  const head = edge(map, lines[first]!.from, lines[last]!.to - 1, 1)
  const tail = edge(map, lines[last]!.to - 1, head, -1)
  return map[head]! >= 0 && map[tail]! >= 0 ? { first, last, head, tail } : undefined
}

/** The first mapped code from `at` towards `limit` that isn't isolated: an isolated one may match by chance. */
function edge(map: CodeMap, at: number, limit: number, step: 1 | -1): number {
  const isBefore = (i: number) => (step > 0 ? i < limit : i > limit)
  while (isBefore(at) && map[at]! < 0) at += step
  while (isBefore(at) && !hasCompany(map, at, step)) {
    at += step
    while (isBefore(at) && map[at]! < 0) at += step
  }
  return at
}

function hasCompany(map: CodeMap, at: number, step: number): boolean {
  let next = at + step
  while (next >= 0 && next < map.length && map[next]! < 0) next += step
  return next >= 0 && next < map.length && map[next]! >= 0 && Math.abs(map[next]! - map[at]!) <= APART
}

/** The lines around codes `from` to `to`: offsets, and how many codes precede and follow on those lines. */
interface Around {
  start: number
  end: number
  before: number
  after: number
  startsLine: boolean
  endsLine: boolean
}

function lineOf(stretch: Stretch, from: number, to: number): Around {
  const { source, offsets } = stretch.folded
  const start = offsets[from]! === 0 ? 0 : source.lastIndexOf('\n', offsets[from]! - 1) + 1
  let end = source.indexOf('\n', offsets[to]!)
  if (end === -1) end = source.length
  const startsLine = start > 0 || stretch.startsLine
  const endsLine = end < source.length || stretch.endsLine
  if (source[end - 1] === '\r' && end - 1 > offsets[to]!) end--
  let before = 0
  while (from - before > 0 && offsets[from - before - 1]! >= start) before++
  let after = 0
  while (to + after + 1 < offsets.length && offsets[to + after + 1]! < end) after++
  return { start, end, before, after, startsLine, endsLine }
}

/**
 * Whether the region takes its first line whole at the start, and its last line whole at the end. Unmapped codes of
 * old_text there may correspond to other codes of the text.
 */
function wholeLine(
  old: OldText,
  kept: Kept,
  line: Around,
  codes: number,
  score: number
): { before: boolean; after: boolean } {
  const [first, last] = [old.lines[kept.first]!, old.lines[kept.last]!]
  const lostBefore = kept.head - first.from
  const lostAfter = last.to - 1 - kept.tail
  let before = line.startsLine && line.before === 0
  let after = line.endsLine && line.after === 0
  if (kept.last > kept.first) {
    // A break at the end of old_text makes an empty last line.
    before ||= line.startsLine && (lostBefore > 0 || kept.first > 0 || first.to === first.from)
    after ||= line.endsLine && (lostAfter > 0 || kept.last < old.lines.length - 1 || last.to === last.from)
  } else if (score < POOR_FIT && line.startsLine && line.endsLine && (lostBefore > 0 || lostAfter > 0)) {
    if (codes / (codes + line.before + line.after) >= MOST_OF_LINE) before = after = true
  }
  return { before, after }
}

/** Whether the code at `at` and the two after it map to consecutive codes of the text. */
const isClean = (map: CodeMap, at: number, step: 1 | -1): boolean =>
  [1, 2].every(i => map[at + i * step] === undefined || map[at + i * step] === map[at]! + i * step)

/**
 * The start in the middle of a line: a word that begins differently in old_text is taken whole, and so are the signs
 * before it if they are the same.
 */
function startWithin(old: OldText, kept: Kept, stretch: Stretch, map: CodeMap, line: Around): number {
  const { source, offsets } = stretch.folded
  const { start: lineStart, from: firstCode } = old.lines[kept.first]!
  let start = offsets[map[kept.head]!]!
  // Two characters of two units each may share only the second units (at the end: only the first).
  if (isLowSurrogate(source.charCodeAt(start))) start--
  if (kept.head > firstCode || (LETTER.test(source[start]!) && !isClean(map, kept.head, 1))) {
    const lost = old.source.slice(lineStart, old.folded.offsets[kept.head]!)
    if (/\s$/.test(lost) && /\w/.test(lost)) while (start > line.start && /\s/.test(source[start - 1]!)) start--
    while (start > line.start && LETTER.test(source[start - 1]!)) start--
    const signs = /^[^\w]+/.exec(lost)?.[0]
    if (signs !== undefined && source.slice(line.start, start).endsWith(signs)) start -= signs.length
  }
  if (isDash(old.source[lineStart])) while (start > line.start && source[start - 1] === '-') start--
  return old.source[lineStart] === '\\' && source[start - 1] === '\\' ? start - 1 : start
}

function endWithin(old: OldText, kept: Kept, stretch: Stretch, map: CodeMap, line: Around): number {
  const { source, offsets } = stretch.folded
  const { end: lineEnd, to: lastCode } = old.lines[kept.last]!
  let end = offsets[map[kept.tail]!]! + 1
  if (isHighSurrogate(source.charCodeAt(end - 1))) end++
  while (end < source.length && isCombining(source.charCodeAt(end))) end++
  if (kept.tail < lastCode - 1 || (LETTER.test(source[end - 1]!) && !isClean(map, kept.tail, -1))) {
    const lost = old.source.slice(old.folded.offsets[kept.tail]! + 1, lineEnd).trimEnd()
    if (/^\s/.test(lost) && /\w/.test(lost)) while (end < line.end && /\s/.test(source[end]!)) end++
    while (end < line.end && LETTER.test(source[end]!)) end++
    const signs = /[^\w\s]+$/.exec(lost)?.[0]
    if (signs !== undefined && source.startsWith(signs, end)) end += signs.length
  }
  if (isDash(old.source[lineEnd - 1])) while (end < line.end && source[end] === '-') end++
  return old.source[lineEnd - 1] === '\\' && source[end] === '\\' ? end + 1 : end
}

/** Bytes of a part of a stretch. */
export const bytesOf = (haystack: Haystack, stretch: Stretch, { start, end }: TextSpan): TextSpan => ({
  start: haystack.byteAt(stretch, start),
  end: haystack.byteAt(stretch, end)
})
