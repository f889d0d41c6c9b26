// The differences between two short texts, piece by piece, with the kind of each.
import { distance } from 'fastest-levenshtein'
import { withoutLastLf } from '../../text/lines.ts'
import { withoutEntities } from '../readings.ts'
import { changedRanges } from './changed-ranges.ts'
import { isName } from './code-names.ts'
import { plainDashes, plainQuotes } from './typography.ts'

/** What a difference is about, in more detail than an answer shows. */
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

/**
 * A difference: the pieces of old_text and of the file, with the words next to them if the pieces are blank. `lines`:
 * the lines it touches, as keys: those of the file, or those of old_text that the file lacks; two differences within
 * one line have one key. `line`: the 0-based lines of old_text and of the file, if it is within one line of each.
 */
export interface WordHunk {
  kind: DifferenceKind
  expected: string
  found: string
  lines: string[]
  line?: [own: number, there: number]
}

const TOKEN = /\n|[^\S\n]+|&(?:lt|gt|amp|quot|apos|nbsp|#\d+);|[\p{L}\p{M}\p{N}_$]+|[^]/gu
/** Like `TOKEN`, with escapes of white space as tokens of their own. */
const TOKEN_OR_ESCAPE = new RegExp(String.raw`\\[nrt]|${TOKEN.source}`, 'gu')
const ESCAPE = /\\[nrt]/g
/** UTF-16 units of both texts above which we compare only what lies between their common beginning and end. */
const MOST_UNITS = 60_000
/** Tokens of both texts, and edits between them, above which everything is one difference. */
const MOST_TOKENS = 6000
const MOST_EDITS = 400
/** Most tokens to slide a difference back to the start of a line; beyond, it isn't whole lines. */
const MOST_SLID = 200
/** Most edits, and least and most UTF-16 units, of a mistyped word; any other word is renamed. */
const TYPO_EDITS = 2
const TYPO_LENGTH = { least: 4, most: 99 }

/**
 * The differences in order; if there are too many, a single one that covers all between the first and the last. Both
 * texts must have `\n` breaks.
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
  return [{ kind: 'content', expected: first, found: second, lines: linesFrom(0, first, second) }]
}

function hunksWithin(expected: string, found: string): WordHunk[] | undefined {
  // Escapes are tokens only if the texts have different ones; otherwise it may as well be `C:\temp`.
  const token = hasSameEscapes(expected, found) ? TOKEN : TOKEN_OR_ESCAPE
  const tokens = (text: string): string[] => text.match(token) ?? []
  const [a, b] = [tokens(expected), tokens(found)]
  const changes = a.length + b.length > MOST_TOKENS ? undefined : changedRanges(a, b, MOST_EDITS)
  const [linesOfA, linesOfB] = [lineNumbers(a), lineNumbers(b)]
  return changes?.map(({ from, to, otherFrom, otherTo }) =>
    hunkOf({ all: a, lines: linesOfA, from, to }, { all: b, lines: linesOfB, from: otherFrom, to: otherTo })
  )
}

/** For each token, and for the end, the 0-based number of its line. */
function lineNumbers(tokens: readonly string[]): number[] {
  let line = 0
  return [0, ...tokens.map(token => (token === '\n' ? ++line : line))]
}

/** The keys of the lines that a difference touches, from line `start` of the file. */
function linesFrom(start: number, expected: string, found: string): string[] {
  const [own, there] = [expected, found].map(text => withoutLastLf(text).split('\n').length)
  return Array.from(
    { length: Math.max(own!, there!) },
    (_, i) => `${start + Math.min(i, there! - 1)}${i < there! ? '' : `-${i}`}`
  )
}

const hasSameEscapes = (a: string, b: string): boolean => {
  const [escapes, others] = [a, b].map(text => (text.match(ESCAPE) ?? []).sort().join(''))
  return escapes === others
}

/** Characters that the common beginning and end must not cut apart: those of a line, of a word. */
const LINES = /[^\n]/
const WORDS = /[\p{L}\p{M}\p{N}_$\ud800-\udfff]/u

/** What lies between the common beginning of two texts and their common end. */
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

/** The tokens `from` to `to` (exclusive) of a text, and the line of each of its tokens. */
interface TokenRange {
  all: readonly string[]
  lines: readonly number[]
  from: number
  to: number
}

function hunkOf(own: TokenRange, there: TokenRange): WordHunk {
  const [x, y] = [own, there].map(({ all, from, to }) => all.slice(from, to).join('')) as [string, string]
  const lines = linesFrom(there.lines[there.from]!, x, y)
  const line = /\n/.test(x + y) ? {} : { line: [own.lines[own.from]!, there.lines[there.from]!] as [number, number] }
  if (x.trim() !== '' || y.trim() !== '') {
    if (x !== '' && y !== '') {
      const kind = kindOf(x, y, false)
      const isNamed = kind === 'renamed' && [own, there].some(({ all, from, to }) => isName(all, from, to))
      return { kind: kind === 'renamed' && !isNamed ? 'word' : kind, expected: x, found: y, lines, ...line }
    }
    const range = x === '' ? there : own
    const whole = wholeLines(range)
    const piece = whole?.text ?? (x === '' ? y : x)
    const [expected, found] = x === '' ? ['', piece] : [piece, '']
    return {
      kind: kindOf(expected, found, whole !== undefined),
      expected,
      found,
      ...(whole === undefined ? { lines, ...line } : { lines: keysOf(whole, range, x === '' ? '' : 'old_text:') })
    }
  }
  const [a, b] = [own.all, there.all]
  const starts = isStart(a[own.from - 1] ?? b[there.from - 1])
  // Show a gap with the words on both sides; at the start of a line only with the word after it.
  const [before, after] = [starts ? '' : a[own.from - 1]!, /\n/.test(a[own.to] ?? '\n') ? '' : a[own.to]!]
  const kind = blankKind(x, y, starts, after === '')
  return { kind, expected: before + x + after, found: before + y + after, lines }
}

/** Whole lines, and the index of their first token. */
interface WholeLines {
  text: string
  start: number
}

/** The keys of those whole lines that aren't blank. */
const keysOf = ({ text, start }: WholeLines, { lines }: TokenRange, of: string): string[] =>
  text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [`${of}${lines[start]! + i}`]))

/**
 * The tokens of a range, which only one text has, as whole lines; undefined if they aren't. If the same tokens also
 * precede them, slide back to where a line begins: jsdiff puts a difference as late as it can.
 */
function wholeLines({ all, from, to }: TokenRange): WholeLines | undefined {
  const isWhole = (from: number, to: number) => isStart(all[from - 1]) && (to === all.length || all[to - 1] === '\n')
  const at = (start: number, end: number): WholeLines => ({ text: all.slice(start, end).join(''), start })
  for (let by = 0; by <= MOST_SLID && from - by >= 0; by++) {
    if (isWhole(from - by, to - by)) return at(from - by, to - by)
    if (all[from - by - 1] !== all[to - by - 1]) break
  }
  // The last lines of a text that doesn't end with a break.
  return all[from] === '\n' && to === all.length ? at(from + 1, to) : undefined
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

/** Characters without width: format characters, variation selectors. */
const ZERO_WIDTH = /[\p{Cf}\ufe00-\ufe0f]+/gu
const bare = (text: string): string => text.replace(/\s+/g, '')
const plainSigns = (text: string): string => plainDashes(plainQuotes(text)).replaceAll('\u2026', '...')
const plainEscapes = (text: string): string => text.replace(/\\[nrt]/g, '').replaceAll('\\', '')
/** Comments: blocks, and lines from a sign on that begins them. */
const COMMENTS = /\/\*[^]*?(?:\*\/|$)|<!--[^]*?(?:-->|$)|^[^\S\n]*(?:\/\/|(?:#|--)\s).*$/gm
const COMMENT_LINES = /^\s*(?:\*|#|--|;|%)\s*[\p{L}\p{N}].*$|^\s*\*\/\s*$/gmu
/** Signs that turn the code after them into a comment. */
const COMMENT_SIGN = /^\s*(?:\/\/+|\/\*+|<!--|(?:#|--)\s)\s*$/

/**
 * Whether a piece is nothing but comments, or only the sign that begins one; code with a comment isn't. `atLine`: it is
 * whole lines.
 */
function isComment(piece: string, atLine: boolean): boolean {
  if (COMMENT_SIGN.test(piece)) return true
  const code = piece.replace(COMMENTS, '')
  return (atLine ? code.replace(COMMENT_LINES, '') : code).trim() === ''
}

/**
 * The kind of a difference that isn't only white space. `atLine`: one text has whole lines where the other has none.
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
  if ((a === '' || b === '') && isComment(x + y, atLine)) return 'comment'
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
