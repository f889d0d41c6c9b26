// Finds regions that have all of old_text, word for word, plus something inserted within a line: an argument, a
// condition. Such a region lacks nothing, even if the insertion is long beside a short old_text.
import { lineStartBefore, lineStartIn, textEndIn } from '../text/lines.ts'
import { type Budget, LONGEST_LINE } from './budget.ts'
import type { Haystack } from './haystack.ts'
import { type Region, regionAt } from './regions.ts'
import { type Word, wordsOf } from './words.ts'

// Thresholds. Chosen, not measured.

/** UTF-16 units of the longest old_text to check. */
const LONGEST = 2000
/** Least words of old_text: fewer may occur in order by chance. */
const LEAST_WORDS = 5
/** Most words that may be inserted. */
const MOST_WORDS = 100
/** How many lines above a region to try as its first line. */
const LINES_ABOVE = 3
/** Least score of such a region, and its lead in rank: less than the lead that decides between two candidates. */
const LEAST_SCORE = 0.82
const AHEAD = 0.01

/** The regions; one that only has an insertion comes first, though it isn't scored above the best of the others. */
export function withInsertions(haystack: Haystack, regions: readonly Region[], budget: Budget): Region[] {
  const [rank, score] = [Math.max(...regions.map(one => one.rank)), Math.max(...regions.map(one => one.score))]
  return regions.map(region => {
    const whole = wholeOf(haystack, region, budget)
    return whole === undefined ? region : { ...whole, rank: rank + AHEAD, score: Math.max(LEAST_SCORE, score) }
  })
}

/** The region, or one that begins above it, if it has all of old_text plus an insertion in one place. */
function wholeOf(haystack: Haystack, region: Region, budget: Budget): Region | undefined {
  const { start, end, old } = region
  if (region.folded === 1 || region.elided === true || old.source.length > LONGEST) return undefined
  const words = wordsOf(old.source).slice(0, -1)
  if (words.length < LEAST_WORDS) return undefined
  const isOneLine = !old.source.trim().includes('\n')
  // For a single line, the region may be only a part of it.
  const to = isOneLine ? Math.min(textEndIn(haystack.bytes, end), end + LONGEST_LINE) : end
  for (const from of isOneLine ? startsBefore(haystack, start, words[0]!.text) : startsAbove(haystack, start)) {
    const there = wordsOf(haystack.text(from, to)).slice(0, -1)
    const last = isOneLine ? words.length + 1 : there.length
    for (let count = last; count <= Math.min(there.length, words.length + MOST_WORDS); count++) {
      if (!isInserted(words, there.slice(0, count))) continue
      // Keep white space at the ends as old_text has it.
      const own = /^\s/.test(old.source) ? from : from + there[0]!.gap.length
      const length = there.slice(0, count).reduce((sum, { gap, text }) => sum + gap + text, '')
      return regionAt(haystack, old, own, isOneLine ? from + Buffer.byteLength(length, haystack.encoding) : to, budget)
    }
  }
  return undefined
}

/** The start of the region, and the starts of the lines above it. */
function startsAbove({ bytes }: Haystack, start: number): number[] {
  const starts = [start]
  while (starts.at(-1)! > 0 && starts.length <= LINES_ABOVE) {
    starts.push(lineStartBefore(bytes, starts.at(-1)!, LONGEST_LINE))
  }
  return starts
}

/** The start of the region, and the last place of `word` before it on its line, if any. */
function startsBefore(haystack: Haystack, start: number, word: string): number[] {
  const line = lineStartIn(haystack.bytes, start, LONGEST_LINE)
  const before = haystack.text(line, start)
  const at = before.lastIndexOf(word)
  return at === -1 ? [start] : [start, line + Buffer.byteLength(before.slice(0, at), haystack.encoding)]
}

/**
 * Whether `there` is `words` plus an insertion in one place between them, on one line, with balanced brackets, wherever
 * the insertion may be placed.
 */
function isInserted(words: readonly Word[], there: readonly Word[]): boolean {
  const more = there.length - words.length
  if (more <= 0) return false
  const isSame = (at: number, other: number): boolean => words[at]!.text === there[other]!.text
  let [from, to] = [words.length, 0]
  while (from > 0 && isSame(from - 1, from - 1 + more)) from--
  while (to < words.length && isSame(to, to)) to++
  const [first, last] = [Math.max(1, from), Math.min(to, words.length - 1)]
  const places = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
  return places.length > 0 && places.every(at => isWithinLine(there.slice(at, at + more + 1)))
}

/** Whether words, the last being the one after them, are part of a line and close the brackets that they open. */
function isWithinLine(words: readonly Word[]): boolean {
  let depth = 0
  for (const { text } of words.slice(0, -1)) {
    depth += /[([{]/.test(text) ? 1 : /[)\]}]/.test(text) ? -1 : 0
    if (depth < 0) return false
  }
  return depth === 0 && !words.some(({ gap }) => gap.includes('\n'))
}
