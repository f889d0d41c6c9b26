// Finds the lines of a text that have most words of a single line that was rewritten.
import { breakEndIn, lineStartIn, textEndIn } from '../text/lines.ts'
import { TOKEN_OF_LETTERS, WORD_PART } from '../text/words.ts'
import { type Budget, BYTES_A_STEP, LARGEST_TEXT, LONGEST_LINE } from './budget.ts'
import type { Haystack } from './haystack.ts'
import { oldTextOf } from './readings.ts'
import { ranked, type Region } from './regions.ts'
import { rawLikeness } from './verify.ts'

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/** Most words to search for (the longest), and places of a word above which it says nothing. */
const MOST_WORDS = 8
const MOST_PLACES = 500
/** Most lines to compare. */
const MOST_LINES = 6

/**
 * The lines (at most six) that have most words of `text`, as regions for it, if `text` is a single line; with their
 * indentation or break where `text` has some. Only whole words and signs count in their rank and score. One pass over
 * the haystack for each word.
 */
export function likeLines(haystack: Haystack, text: string, budget: Budget): Region[] {
  const sought = text.trim()
  if (sought.length > LONGEST_LINE || sought.includes('\n') || haystack.bytes.length > LARGEST_TEXT) return []
  const old = oldTextOf(text)
  return linesWith(haystack, sought, budget).flatMap(start => {
    const lineEnd = textEndIn(haystack.bytes, start)
    if (lineEnd - start > LONGEST_LINE || !budget.spend((lineEnd - start) * sought.length)) return []
    const line = haystack.text(start, lineEnd)
    const found = line.trim()
    const raw = rawLikeness(sought, found, budget)
    const { share, both } = inCommon(sought.match(TOKEN_OF_LETTERS)!, found.match(TOKEN_OF_LETTERS)!)
    const inner = start + Buffer.byteLength(line.slice(0, line.indexOf(found)), haystack.encoding)
    const from = /^\s/.test(text) ? start : inner
    const end = text.endsWith('\n')
      ? Math.min(haystack.bytes.length, breakEndIn(haystack.bytes, lineEnd))
      : inner + Buffer.byteLength(found, haystack.encoding)
    return [{ ...ranked(both, raw), rank: ranked((share + both) / 2, raw).rank, start: from, end, old }]
  })
}

/** What two token lists have in common, in order: as a share of the first, and of both; weighted by token length. */
function inCommon(tokens: readonly string[], others: readonly string[]): { share: number; both: number } {
  let row = new Uint16Array(others.length + 1)
  for (const token of tokens) {
    const next = new Uint16Array(others.length + 1)
    for (let i = 0; i < others.length; i++) {
      const same = token === others[i] ? row[i]! + token.length : 0
      next[i + 1] = Math.max(same, row[i + 1]!, next[i]!)
    }
    row = next
  }
  const same = row.at(-1)!
  const length = lengthOf(tokens)
  return { share: same / length, both: (2 * same) / (length + lengthOf(others)) }
}

const lengthOf = (tokens: readonly string[]): number => tokens.reduce((sum, token) => sum + token.length, 0)

/** The starts of the lines that have most of the words, weighted by word length. */
function linesWith({ bytes, encoding }: Haystack, sought: string, budget: Budget): number[] {
  const words = [...new Set(sought.match(WORD_PART))].sort((a, b) => b.length - a.length).slice(0, MOST_WORDS)
  const shares = new Map<number, number>()
  for (const word of words) {
    for (const start of startsWith(bytes, Buffer.from(word, encoding), budget)) {
      shares.set(start, (shares.get(start) ?? 0) + word.length)
    }
  }
  return [...shares]
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MOST_LINES)
    .map(([start]) => start)
}

/** The starts of the lines that contain a word; empty if the word is too frequent. */
function startsWith(bytes: Buffer, word: Buffer, budget: Budget): Set<number> {
  const starts = new Set<number>()
  if (!budget.spend(bytes.length / BYTES_A_STEP)) return starts
  let places = 0
  for (let at = bytes.indexOf(word); at !== -1; at = bytes.indexOf(word, at + word.length)) {
    if (++places > MOST_PLACES) return new Set()
    const start = lineStartIn(bytes, at, LONGEST_LINE + 1)
    if (at - start <= LONGEST_LINE) starts.add(start)
  }
  return starts
}
