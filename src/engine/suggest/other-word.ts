// Finds a short text that is there except for one word: the word was renamed since, or remembered wrongly.
import { LETTER, TOKEN, WORD } from '../text/words.ts'
import { type Budget, BYTES_A_STEP, LARGEST_TEXT, LONGEST_LINE } from './budget.ts'
import type { Haystack } from './haystack.ts'

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/**
 * Least UTF-16 units, without white space, that must be left without the missing word, and at least as many as that
 * word has: fewer may occur by chance.
 */
const LEAST_SAME = 6
/** UTF-16 units of the longest word to find. */
const LONGEST_WORD = 60

const BLANK = String.raw`[^\S\n]`
const isWord = (token: string | undefined): boolean => token !== undefined && token.search(WORD) === 0
const escaped = (token: string): string => token.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)

/**
 * The one place (bytes, end exclusive) that has the tokens of `sought`, a single line, except for one word that the
 * text lacks: the place has another word there, and the same one wherever that word is repeated. White space may
 * differ. Undefined if there is no such place or more than one, if more than one word is missing, or if too little is
 * left without it. One pass over the text for each word, and one for the place.
 */
export function withOtherWord(
  haystack: Haystack,
  sought: string,
  budget: Budget
): { start: number; end: number } | undefined {
  const { bytes, encoding } = haystack
  if (sought.length > LONGEST_LINE || sought.trim().includes('\n') || bytes.length > LARGEST_TEXT) return undefined
  const tokens = sought.match(TOKEN) ?? []
  const words = [...new Set(tokens.filter(isWord))]
  if (!budget.spend((words.length + 1) * (bytes.length / BYTES_A_STEP))) return undefined
  const text = haystack.text(0, bytes.length)
  const missing = words.find(word => isMissing(text, word))
  if (missing === undefined || words.some(word => word !== missing && isMissing(text, word))) return undefined
  const same = tokens.filter(token => token !== missing).join('').length
  if (same < Math.max(LEAST_SAME, missing.length)) return undefined
  const [found, second] = text.matchAll(patternOf(sought, tokens, missing))
  if (found === undefined || second !== undefined) return undefined
  const start = Buffer.byteLength(text.slice(0, found.index), encoding)
  return { start, end: start + Buffer.byteLength(found[0], encoding) }
}

/** Whether a text lacks a word, even as a part of a longer word. */
const isMissing = (text: string, word: string): boolean =>
  !text.includes(word) || text.search(new RegExp(`(?<!${LETTER})${escaped(word)}(?!${LETTER})`, 'u')) === -1

/** A pattern for the tokens, with optional white space where `sought` has some, and any word in place of `missing`. */
function patternOf(sought: string, tokens: readonly string[], missing: string): RegExp {
  const parts = tokens.map((token, i) => {
    const before = i === 0 ? '' : `${BLANK}${isWord(token) && isWord(tokens[i - 1]) ? '+' : '*'}`
    if (token !== missing) return before + escaped(token)
    const isNamed = tokens.indexOf(missing) < i
    const name = isNamed ? String.raw`\1(?!${LETTER})` : `(${LETTER}{1,${LONGEST_WORD}})(?!${LETTER})`
    return `${before}(?<!${LETTER})${name}`
  })
  const indent = /^[^\S\n]/.test(sought) ? `(?:^${BLANK}*)?` : ''
  const end = sought.endsWith('\n') ? String.raw`(?:\r?\n)?` : ''
  return new RegExp(indent + parts.join('') + end, 'gmu')
}
