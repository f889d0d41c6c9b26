// What differs between two short texts, piece by piece, and of which kind each difference is. Does not know files.
import { distance } from 'fastest-levenshtein'
import { withoutEntities } from '../readings.ts'
import { changedRanges } from './changed-ranges.ts'
import { isName } from './code-names.ts'
import { plainDashes, plainQuotes } from './typography.ts'

/** What a difference is about, finer than an answer says it. */
export type DifferenceKind =
  | 'indentation'
  | 'tabs'
  | 'trailing_space'
  | 'final_newline'
  | 'blank_lines'
  | 'spacing'
  | 'joined_or_split'
  | 'nbsp'
  | 'invisible'
  | 'unicode_form'
  | 'case'
  | 'quotes'
  | 'dashes'
  | 'html_entities'
  | 'over_escaped'
  | 'punctuation'
  | 'typo'
  | 'word'
  | 'renamed'
  | 'comment'
  | 'lines_dropped'
  | 'lines_added'
  | 'content'

/** A difference: the piece of old_text and that of the file, with the words beside them where the pieces are blank. */
export interface WordHunk {
  kind: DifferenceKind
  expected: string
  found: string
}

const TOKEN = /\n|[^\S\n]+|&(?:lt|gt|amp|quot|apos|nbsp|#\d+);|[\p{L}\p{M}\p{N}_$]+|[^]/gu
/** The same with escapes of white space as tokens of their own. */
const TOKEN_OR_ESCAPE = new RegExp(String.raw`\\[nrt]|${TOKEN.source}`, 'gu')
const ESCAPE = /\\[nrt]/g
/** UTF-16 units of both texts, above which only what lies between their common beginning and end is compared. */
const MOST_UNITS = 60_000
/** Tokens of both texts, and of their differences, above which all is one difference. */
const MOST_TOKENS = 6000
const MOST_EDITS = 400
/** Tokens by which a difference is slid back to where a line begins; beyond, it isn't whole lines. */
const MOST_SLID = 200
/** Edits, and UTF-16 units, of a word that is mistyped; another word is renamed. */
const TYPO_EDITS = 2
const TYPO_LENGTH = { least: 4, most: 99 }

/**
 * The differences in order; where there are too many, a single one, of all between the first and the last. The breaks
 * of both are `\n`.
 */
export function hunksOf(expected: string, found: string): WordHunk[] {
  if (expected.length + found.length <= MOST_UNITS) {
    const hunks = hunksWithin(expected, found)
    if (hunks !== undefined) return hunks
  }
  const [old, there] = betweenSame(expected, found, LINES)
  const hunks = old.length + there.length <= MOST_UNITS ? hunksWithin(old, there) : undefined
  if (hunks !== undefined) return hunks
  const [first, second] = betweenSame(expected, found, WORDS)
  return [{ kind: 'content', expected: first, found: second }]
}

function hunksWithin(expected: string, found: string): WordHunk[] | undefined {
  // An escape is a token where the texts haven't the same ones; elsewhere it may as well be `C:\temp`.
  const token = hasSameEscapes(expected, found) ? TOKEN : TOKEN_OR_ESCAPE
  const tokens = (text: string): string[] => text.match(token) ?? []
  const [a, b] = [tokens(expected), tokens(found)]
  const changes = a.length + b.length > MOST_TOKENS ? undefined : changedRanges(a, b, MOST_EDITS)
  return changes?.map(({ from, to, otherFrom, otherTo }) => hunkOf(a, b, [from, to], [otherFrom, otherTo]))
}

const hasSameEscapes = (a: string, b: string): boolean => {
  const [escapes, others] = [a, b].map(text => (text.match(ESCAPE) ?? []).sort().join(''))
  return escapes === others
}

/** What must not be parted where texts are the same: the characters of a line, of a word. */
const LINES = /[^\n]/
const WORDS = /[\p{L}\p{M}\p{N}_$\ud800-\udfff]/u

/** What lies between the beginning that two texts have in common and their common end. */
function betweenSame(a: string, b: string, whole: RegExp): [string, string] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  while (start > 0 && whole.test(a[start - 1]!)) start--
  let same = 0
  const most = Math.min(a.length, b.length) - start
  while (same < most && a[a.length - 1 - same] === b[b.length - 1 - same]) same++
  while (same > 0 && whole.test(a[a.length - same]!)) same--
  return [a.slice(start, a.length - same), b.slice(start, b.length - same)]
}

function hunkOf(
  a: readonly string[],
  b: readonly string[],
  [fromA, toA]: [number, number],
  [fromB, toB]: [number, number]
): WordHunk {
  const [x, y] = [a.slice(fromA, toA).join(''), b.slice(fromB, toB).join('')]
  if (x.trim() !== '' || y.trim() !== '') {
    if (x !== '' && y !== '') {
      const kind = kindOf(x, y, false)
      const isNamed = kind === 'renamed' && (isName(a, fromA, toA) || isName(b, fromB, toB))
      return { kind: kind === 'renamed' && !isNamed ? 'word' : kind, expected: x, found: y }
    }
    const lines = x === '' ? wholeLines(b, fromB, toB) : wholeLines(a, fromA, toA)
    const piece = lines ?? (x === '' ? y : x)
    const [expected, found] = x === '' ? ['', piece] : [piece, '']
    return { kind: kindOf(expected, found, lines !== undefined), expected, found }
  }
  const starts = isStart(a[fromA - 1] ?? b[fromB - 1])
  // A gap is shown with the words on both sides; at the start of a line with the word after it.
  const [before, after] = [starts ? '' : a[fromA - 1]!, /\n/.test(a[toA] ?? '\n') ? '' : a[toA]!]
  return { kind: blankKind(x, y, starts, after === ''), expected: before + x + after, found: before + y + after }
}

/**
 * The tokens `from` to `to`, which one text has more than the other, as whole lines; undefined where they aren't. What
 * stands before them may be as well what ends them, so they are slid back to where a line begins: jsdiff puts a
 * difference as late as it can.
 */
function wholeLines(all: readonly string[], from: number, to: number): string | undefined {
  const isWhole = (from: number, to: number) => isStart(all[from - 1]) && (to === all.length || all[to - 1] === '\n')
  for (let by = 0; by <= MOST_SLID && from - by >= 0; by++) {
    if (isWhole(from - by, to - by)) return all.slice(from - by, to - by).join('')
    if (all[from - by - 1] !== all[to - by - 1]) break
  }
  // The last lines of a text that doesn't end with a break.
  return all[from] === '\n' && to === all.length ? all.slice(from + 1, to).join('') : undefined
}

const isStart = (before: string | undefined): boolean => before === undefined || before === '\n'

function blankKind(x: string, y: string, starts: boolean, ends: boolean): DifferenceKind {
  if (/[\u00a0\u202f\u3000\u2000-\u200f]/.test(x + y)) return 'nbsp'
  const breaks = (text: string) => text.split('\n').length - 1
  if (breaks(x) !== breaks(y)) {
    return starts || (breaks(x) > 0 && breaks(y) > 0) || ends ? 'blank_lines' : 'joined_or_split'
  }
  if (starts) return /\t/.test(x) !== /\t/.test(y) ? 'tabs' : 'indentation'
  return ends ? 'trailing_space' : 'spacing'
}

/** Characters of no width: format characters, variation selectors. */
const ZERO_WIDTH = /[\p{Cf}\ufe00-\ufe0f]+/gu
const bare = (text: string): string => text.replace(/\s+/g, '')
const plainSigns = (text: string): string => plainDashes(plainQuotes(text)).replaceAll('\u2026', '...')
const plainEscapes = (text: string): string => text.replace(/\\[nrt]/g, '').replaceAll('\\', '')
const COMMENT = /^\s*(?:\/\/|\/\*|<!--|(?:#|--)\s)|(?:\*\/|-->)\s*$/
const COMMENT_LINE = /^\s*(?:\*|#|--|;|%)\s*[\p{L}\p{N}]/u

/**
 * The kind of a difference that isn't only white space. `atLine`: whole lines of one text stand where the other has
 * none.
 */
function kindOf(x: string, y: string, atLine: boolean): DifferenceKind {
  const [a, b] = [bare(x), bare(y)]
  if (a.normalize('NFC') === b.normalize('NFC')) return a === b ? 'spacing' : 'unicode_form'
  if (a.replace(ZERO_WIDTH, '') === b.replace(ZERO_WIDTH, '')) return 'invisible'
  if (a.toLowerCase() === b.toLowerCase()) return 'case'
  if (plainQuotes(a) === plainQuotes(b)) return 'quotes'
  if (plainSigns(a) === plainSigns(b)) return 'dashes'
  if ((withoutEntities(a) ?? a) === (withoutEntities(b) ?? b)) return 'html_entities'
  if (plainEscapes(a) === plainEscapes(b)) return 'over_escaped'
  if ((a === '' || b === '') && (COMMENT.test(x + y) || (atLine && COMMENT_LINE.test(x + y)))) return 'comment'
  if (atLine && a === '') return 'lines_dropped'
  if (atLine && b === '') return 'lines_added'
  if (!/[\p{L}\p{N}]/u.test(a + b)) return 'punctuation'
  if (!/^[\p{L}\p{M}\p{N}_$]+$/u.test(a) || !/^[\p{L}\p{M}\p{N}_$]+$/u.test(b)) return 'content'
  if (isNumber(a) || isNumber(b)) return 'word'
  return a.length >= TYPO_LENGTH.least && a.length <= TYPO_LENGTH.most && distance(a, b) <= TYPO_EDITS
    ? 'typo'
    : 'renamed'
}

const isNumber = (word: string): boolean => /^\p{N}/u.test(word)
