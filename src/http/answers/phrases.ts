// How texts are shown in sentences: quoted, shortened in the middle, joined. Does not know failures.
import type { OutlineEntry } from '../../engine/failure.ts'
import { CUT_MARK, excerpt } from '../../engine/text/encoding.ts'
import { withInvisibleNamed } from './invisible.ts'

/** The longest text that a problem repeats, in UTF-16 units. */
export const ECHO_MAX = 500

/** Shortens a text to about `max` units; a mark in the middle says what was left out. */
export const cut = (text: string, max = ECHO_MAX): string => excerpt(text, max)

/**
 * A text in quotes, on one line; invisible characters are named. A text of more than about `max` units ends with `…`
 * after as many whole lines as fit, or in its first line if that is very long.
 */
export function quote(text: string, max = 80): string {
  const shown = text.length <= max ? text : firstLines(text, max)
  return withInvisibleNamed(JSON.stringify(shown === text ? text : `${shown}…`))
}

/** The longest first line to quote whole, as a multiple of the units that are quoted otherwise. Chosen. */
const LONG_LINE = 1.5

function firstLines(text: string, max: number): string {
  // A text that was cut before has a mark in its middle; don't cut through the mark.
  const whole = text.slice(0, CUT_MARK.exec(text)?.index)
  const lines = whole.slice(0, Math.max(0, `${whole}\n`.lastIndexOf('\n', max))).trimEnd()
  const first = /^\s*.*/.exec(whole)![0]
  if (lines !== '') return lines
  return first.length <= LONG_LINE * max ? first : whole.slice(0, max).replace(/[\ud800-\udbff]$/, '')
}

/** Units shown before the first difference between two texts. */
const LEAD = 20

/**
 * Quotes two different texts, without the lines that both begin with. If their beginnings look alike, shows both from
 * shortly before the first difference.
 */
export function quoteApart(...texts: [string, string]): [string, string] {
  const [own, there] = texts.map(text => text.split('\n')) as [string[], string[]]
  let same = 0
  while (same < Math.min(own.length, there.length) - 1 && own[same] === there[same]) same++
  const [a, b] = [own, there].map(lines => lines.slice(same).join('\n')) as [string, string]
  const quoted: [string, string] = [quote(a), quote(b)]
  if (quoted[0] !== quoted[1]) return quoted
  let at = 0
  while (a[at] === b[at]) at++
  const from = (text: string): string => quote(`…${text.slice(at - LEAD).replace(/^[\udc00-\udfff]/, '')}`)
  return [from(a), from(b)]
}

/** Joins sentences; omits empty ones. */
export const sentences = (...each: string[]): string => each.filter(sentence => sentence !== '').join(' ')

export const NOTHING_WRITTEN = 'Nothing was written.'

/** The text with its first letter in upper case. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `a, b and c`. */
export const listed = (items: readonly (string | number)[], last = 'and'): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`

/** `line 3`, `lines 3 and 10`; lists at most ten. `areAll`: there are no other lines. */
export function linesListed(lines: readonly number[], areAll = true): string {
  const distinct = [...new Set(lines)]
  const first = distinct.slice(0, 10)
  const rest = distinct.length - first.length
  const more = areAll ? `${rest} more` : 'more'
  const named = areAll && rest === 0 ? listed(first) : `${first.join(', ')} and ${more}`
  return `line${distinct.length === 1 ? '' : 's'} ${named}`
}

/** `line 3`, `lines 3 to 5`. */
export const span = ([first, last]: readonly [number, number]): string =>
  first === last ? `line ${first}` : `lines ${first} to ${last}`

/** A place: lines; or, if the last one comes before the first, the gap before a line. */
export const placed = (lines: readonly [number, number]): string =>
  lines[1] < lines[0] ? `before line ${lines[0]}` : `at ${span(lines)}`

/** `1 time`, `3 times`, `2 entries`. */
export const counted = (n: number, noun: string): string =>
  `${n} ${n === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`

/** `7 times`; where the lines below it are fewer, `7 times on 4 lines`. */
export const timesOn = (times: number, lines: number): string =>
  lines === times ? counted(times, 'time') : `${counted(times, 'time')} on ${counted(lines, 'line')}`

/** A symbol's name, qualified by its parent: `Parser.parse`. */
export const qualifiedName = ({ name = '', parent }: OutlineEntry): string =>
  parent === undefined ? name : `${parent}.${name}`

/** An encoding's name for a sentence: `UTF-16LE`, `windows-1252`. */
export const encodingShown = (encoding: string): string =>
  encoding === 'unknown-8bit'
    ? 'in an 8-bit encoding that is not known'
    : /^(?:windows|unknown)/.test(encoding)
      ? encoding
      : (ENCODING_NAMES.get(encoding) ?? encoding.toUpperCase())

/**
 * Says that a file isn't UTF-8, and what it was read as; empty for one that is, and where the cause of a miss says it.
 * `shown`: its name.
 */
export const notUtf8 = (failure: object, shown: string): string => {
  const { read_as, cause } = failure as { read_as?: string; cause?: { type: string } }
  if (read_as === undefined || cause?.type === 'encoding') return ''
  return read_as === 'unknown-8bit'
    ? `${shown} is not UTF-8, and its encoding is not known.`
    : `${shown} is not UTF-8, but most likely ${encodingShown(read_as)}.`
}

const ENCODING_NAMES = new Map([
  ['shift_jis', 'Shift_JIS'],
  ['big5', 'Big5']
])
