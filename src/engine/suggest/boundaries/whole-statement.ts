// Widens or narrows a region for a single line of old_text to the statement that was meant: drops other lines that add
// nothing, and doesn't end in the middle of a change.
import { isBreakByte, LF, lineStartIn } from '../../text/lines.ts'
import { TOKEN, WORD } from '../../text/words.ts'
import type { Haystack } from '../haystack.ts'
import { folded } from '../merge.ts'
import { isWithin } from '../verify.ts'
import type { Ranked } from './boundaries.ts'

/** Bytes. `isCut`: it begins or ends differently from old_text, in a line that is too long to be taken whole. */
interface Statement {
  start: number
  end: number
  isCut: boolean
}

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Bytes of the longest line that is taken whole: longer ones are minified code or data. */
const LONGEST_STATEMENT = 200
/** Characters of a word for each one that may be mistyped. */
const MISTYPED = 3
/**
 * Least number of tokens of old_text whose first and last identify the line, and what each adds to the rank. Fewer are
 * enough if white space before or after them shows that a line begins or ends there.
 */
const LEAST_TOKENS = 3
const SAME_FIRST = 0.1
const SAME_LAST = 0.03

const PAIRS = ['()', '[]', '{}', '<>'] as const

/**
 * Adjusts the region `start` to `end` to `sought` (with `\n` breaks); unchanged if that has several lines. Leaves out a
 * part on another line if it has no word of `sought` that the rest lacks, and doesn't begin or end as `sought` does.
 * Moves the start to that of its line if the region begins with another word than `sought` or within a word, or closes
 * more brackets than it opens; likewise the end. Moves both if `sought` is a line with its indentation or its break.
 */
export function wholeStatement(haystack: Haystack, start: number, end: number, sought: string): Statement {
  if (sought.trim().includes('\n')) return { start, end, isCut: false }
  const narrow = withoutIdleLines(haystack, start, end, sought)
  const line = {
    start: lineStart(haystack, narrow.start, /^\s/.test(sought)),
    end: lineEnd(haystack, narrow.end, /\S\s+$/.test(sought))
  }
  const wide = { ...narrow }
  // What one end moves over may require moving the other end.
  for (let moved = true; moved;) {
    const { begins, ends } = otherEnds(haystack, wide, sought)
    moved = (begins && wide.start !== line.start) || (ends && wide.end !== line.end)
    if (begins) wide.start = line.start
    if (ends) wide.end = line.end
  }
  const fits = (region: { start: number; end: number }): boolean => region.end - region.start <= LONGEST_STATEMENT
  if (IS_LINE.test(sought) && fits(line)) return { ...line, isCut: false }
  const isMoved = wide.end - wide.start > narrow.end - narrow.start
  return isMoved && !fits(wide) ? { ...narrow, isCut: true } : { ...wide, isCut: false }
}

/** Matches a text that is a whole line, not part of one: it has its indentation or its break. */
const IS_LINE = /^(?:[ \t]*\n|\t| {2})|\n\s*$/

/** At which ends a region differs from `sought`, or is only half of something. */
function otherEnds(
  haystack: Haystack,
  { start, end }: { start: number; end: number },
  sought: string
): { begins: boolean; ends: boolean } {
  const found = haystack.text(start, end)
  const [wanted, has] = [tokensOf(sought), tokensOf(found)]
  const [own, there] = [unmatched(sought), unmatched(found)]
  const isHalf = (side: 'opening' | 'closing'): boolean => there.some((signs, i) => signs[side] > own[i]![side])
  return {
    begins:
      !isAlike(wanted[0], has[0]) ||
      isHalf('closing') ||
      (isInWord(haystack, start) && !sought.trimStart().startsWith(FIRST_WORD.exec(found)![0])),
    ends:
      !isAlike(wanted.at(-1), has.at(-1)) ||
      isHalf('opening') ||
      (isInWord(haystack, end) && !sought.trimEnd().endsWith(LAST_WORD.exec(found)![0]))
  }
}

const FIRST_WORD = /^[\w$]+/
const LAST_WORD = /[\w$]+$/

/** Whether `at` is within a word of ASCII letters, digits, `_` and `$`. */
const isInWord = (haystack: Haystack, at: number): boolean => at > 0 && /^[\w$]{2}$/.test(haystack.text(at - 1, at + 1))

/** Whether it is the same token, or a mistyped word. */
const isAlike = (wanted = '', has = ''): boolean =>
  wanted === has || (wanted.length >= MISTYPED && isWithin(wanted, has, wanted.length / MISTYPED))

const tokensOf = (text: string): string[] => (text.match(TOKEN) ?? []).map(token => folded(token).toLowerCase())
const wordsOf = (text: string): string[] => (text.match(WORD) ?? []).map(word => folded(word).toLowerCase())

function withoutIdleLines(
  haystack: Haystack,
  start: number,
  end: number,
  sought: string
): { start: number; end: number } {
  const wanted = counts(sought)
  // If the rest begins and ends as `sought` does, it needs each word only once.
  const isIdle = (part: string, rest: string, most = isWhole(rest) ? 1 : Infinity): boolean => {
    const others = counts(rest)
    return wordsOf(part).every(word => (others.get(word) ?? 0) >= Math.min(most, wanted.get(word) ?? 0))
  }
  const tokens = tokensOf(sought)
  const begins = (part: string): boolean => isAlike(tokens[0], tokensOf(part)[0])
  const ends = (part: string): boolean => isAlike(tokens.at(-1), tokensOf(part).at(-1))
  const isWhole = (part: string): boolean => begins(part) && ends(part)
  for (;;) {
    const { bytes } = haystack
    const [first, last] = [bytes.indexOf(LF, start) + 1, bytes.lastIndexOf(LF, end - 1)]
    // A final break belongs to the line that it ends.
    if (first === 0 || first >= end) return { start, end }
    const [head, tail] = [haystack.text(start, first), haystack.text(last, end)]
    const [withoutHead, withoutTail] = [haystack.text(first, end), haystack.text(start, last)]
    if ((!begins(head) || isWhole(withoutHead)) && isIdle(head, withoutHead)) start = first
    else if (last < end - 1 && (!ends(tail) || isWhole(withoutTail)) && isIdle(tail, withoutTail)) {
      for (end = last; isBreakByte(bytes[end - 1]!);) end--
    } else return { start, end }
  }
}

function counts(text: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const word of wordsOf(text)) found.set(word, (found.get(word) ?? 0) + 1)
  return found
}

/** Unmatched brackets of each kind. Those of `=>`, `->`, `<=` and `>=` don't count. */
function unmatched(text: string): { opening: number; closing: number }[] {
  const plain = text.replace(/[-=]>|[<>]=/g, '')
  return PAIRS.map(([open, close]) => {
    let [depth, closing] = [0, 0]
    for (const sign of plain) {
      if (sign === open) depth++
      else if (sign === close && depth > 0) depth--
      else if (sign === close) closing++
    }
    return { opening: depth, closing }
  })
}

/** Where the line around `at` begins; if that is too far, a position further back than a long line. */
function lineStart({ bytes }: Haystack, at: number, withIndent: boolean): number {
  const start = lineStartIn(bytes, at, LONGEST_STATEMENT + 1)
  if (withIndent) return start
  const skipped = bytes.subarray(start, at).findIndex(byte => !isBlank(byte))
  return skipped === -1 ? at : start + skipped
}

/** Where the line around `at` ends; if that is too far, a position further on than a long line. */
function lineEnd({ bytes }: Haystack, at: number, withBlanks: boolean): number {
  if (at > 0 && isBreakByte(bytes[at - 1]!)) return at
  const rest = bytes.subarray(at, at + LONGEST_STATEMENT + 1)
  const found = rest.findIndex(isBreakByte)
  const line = found === -1 ? rest : rest.subarray(0, found)
  return withBlanks ? at + line.length : at + line.findLastIndex(byte => !isBlank(byte)) + 1
}

const isBlank = (byte: number): boolean => byte === 32 || byte === 9

/**
 * Gives more rank to regions of a single line of old_text whose line begins and ends with the same tokens: what a line
 * assigns to, or calls, says more than what it has in common with others.
 */
export function rankedByEdges<R extends Ranked>(haystack: Haystack, regions: readonly R[]): R[] {
  const edges = new Map<Ranked['old'], string[]>()
  return regions.map(region => {
    const { old } = region
    if (!edges.has(old)) edges.set(old, edgesOf(old.source))
    return { ...region, rank: region.rank + edgeBonus(haystack, region, edges.get(old)!) }
  })
}

/** The tokens of `sought`; none if it says nothing about the edges of a line. */
function edgesOf(sought: string): string[] {
  const line = sought.trim()
  const tokens = line.includes('\n') ? [] : tokensOf(line)
  return tokens.length < LEAST_TOKENS && line === sought ? [] : tokens
}

function edgeBonus(haystack: Haystack, { start, end }: Ranked, tokens: readonly string[]): number {
  if (tokens.length === 0) return 0
  const [from, to] = [lineStart(haystack, start, true), lineEnd(haystack, end, true)]
  if (to - from > LONGEST_STATEMENT || haystack.bytes.subarray(from, to - 1).some(isBreakByte)) return 0
  const has = tokensOf(haystack.text(from, to))
  return (tokens[0] === has[0] ? SAME_FIRST : 0) + (tokens.at(-1) === has.at(-1) ? SAME_LAST : 0)
}
