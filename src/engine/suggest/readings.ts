// The texts that old_text may mean: as sent, and without line numbers, escapes, entities, a fence or another edit
// format that was copied or added by mistake.
import { type EditSide, newSide, type Sides, sidesOfDiff, sidesOfMarked } from './edit-formats.ts'
import { type Folded, type FoldedLine, fold, linesOf } from './fold.ts'
import { type Pattern, patternOf } from './verify.ts'

/** What was removed from the text as sent. */
export type Reading = 'as_sent' | 'line_numbers' | 'escapes' | 'unescaped' | 'entities' | 'fence' | 'diff' | 'markers'

/** One reading of old_text, folded, with `\n` breaks. */
export interface OldText {
  reading: Reading
  /**
   * Removes the same additions from another text with the same breaks, such as new_text, if it has them. Null if it has
   * only some of them, or it isn't clear which part is meant.
   */
  read: (text: string, side: EditSide) => string | null
  source: string
  folded: Folded
  /** All lines, and the lines that aren't blank. */
  lines: FoldedLine[]
  filled: FoldedLine[]
  pattern: Pattern
}

const asSent = (text: string): string => text

export function oldTextOf(source: string, reading: Reading = 'as_sent', read: OldText['read'] = asSent): OldText {
  const folded = fold(source)
  const lines = linesOf(folded)
  return {
    reading,
    read,
    source,
    folded,
    lines,
    filled: lines.filter(line => line.to > line.from),
    pattern: patternOf(folded.codes)
  }
}

/**
 * The readings of `text` (with `\n` breaks), the one as sent first; without blank ones and duplicates.
 */
export function readings(text: string): Pick<OldText, 'reading' | 'read' | 'source'>[] {
  const found: Pick<OldText, 'reading' | 'read' | 'source'>[] = []
  const add = (reading: Reading, read: OldText['read']): void => {
    const source = read(text, 'old')
    if (source !== null && source.trim() !== '' && !found.some(other => other.source === source)) {
      found.push({ reading, read, source })
    }
  }
  const close = withoutLineNumbers(text, CLOSE)
  const isNumbered = close !== undefined
  // Where a line follows its number directly, as `grep -n` writes it, no space is the viewer's.
  const numbered = isNumbered && /^\S/m.test(close) ? CLOSE : LISTED
  const plain = isNumbered ? (sent: string) => withoutLineNumbers(sent, numbered) ?? sent : asSent
  add('as_sent', asSent)
  add('line_numbers', sent => (plain(sent) === sent && hasLineNumber(sent) ? null : plain(sent)))
  if (hasEscapes(plain(text))) {
    add('escapes', sent => unescaped(plain(sent)))
    add('escapes', sent => withPlainQuotes(plain(sent)))
    add('escapes', sent => withPlainIndents(plain(sent)))
    if (!isNumbered) add('escapes', sent => withoutLineNumbers(unescaped(sent), LISTED) ?? unescaped(sent))
  }
  if (JSON_MEMBER.test(text)) add('unescaped', sent => (JSON_MEMBER.test(sent) ? jsonEscaped(sent) : null))
  add('entities', sent => withoutEntities(plain(sent)) ?? plain(sent))
  add('fence', sent => withoutFence(plain(sent)))
  const [reading, sidesOf] =
    sidesOfMarked(text) === undefined ? (['diff', sidesOfDiff] as const) : (['markers', sidesOfMarked] as const)
  const sides = sidesOf(text, 'old')
  if (sides !== undefined) {
    add(reading, (sent, side) => (side === 'old' ? oldSide(sidesOf(sent, 'old')) : newSide(sidesOf, sides, sent)))
  }
  return found
}

const oldSide = (sides: Sides | undefined): string | null => sides?.old ?? null

/**
 * A text without the Markdown fence around it, if it has one; null if it has only half of one, or halves of two.
 */
function withoutFence(text: string): string | null {
  const opened = text.replace(/^```[\w-]*\n/, '')
  const closed = opened.replace(/\n```\s*$/, '')
  if (opened === text) return closed === opened && !/^```/m.test(text) ? text : null
  return closed === opened || !hasWholeFences(closed) ? null : closed
}

/** Whether every fence opened in the text is also closed. Only an opening fence has a language. */
function hasWholeFences(text: string): boolean {
  let isOpen = false
  for (const [, language = ''] of text.matchAll(/^[ \t]*```(.*)$/gm)) {
    if (isOpen && language.trim() !== '') return false
    isOpen = !isOpen
  }
  return !isOpen
}

/**
 * A number and what a viewer writes around it: `12→`, `12: `, `12 │ `, `12:a1b|`, `12#ZP:`, `L12: `, `Line 12: `,
 * `<line 12>`, `NAME:12:`. Then the space after it, which may belong to the line.
 */
const VIEWED = [
  String.raw`(\d+)(?:\t|→|:[0-9a-f]{2,4}\||#[A-Z]{2}:|\||(?::| ?[│┃]| \|)( ?))`,
  String.raw`(?:L|[Ll]ine )(\d+):( ?)`,
  String.raw`<line (\d+)>( ?)`,
  String.raw`[\w./\\-]{1,200}\.\w{1,20}[:-](\d+)[:-](?:\d+:)?( ?)`
].join('|')
/** Viewers also write numbers as a list has them: `12. `, `12) `, `[12] `, `12-`. */
const LISTS = String.raw`(\d+)(?:[.)] |-)|\[(\d+)\] `

const NUMBERED = new RegExp(String.raw`^[ \t]*(?:${VIEWED})`)
const LISTED = new RegExp(String.raw`^[ \t]*(?:${VIEWED}|${LISTS})`)
/** The space after the number isn't part of the match. */
const CLOSE = new RegExp(LISTED.source.replaceAll('( ?)', '()'))
/** What every numbered line begins with, but hardly any other. */
const MAYBE_NUMBERED = /^\s*(?:\d|L\d|[Ll]ine \d|<line \d|[\w./\\-]{1,200}\.\w{1,20}[:-]\d)/

/** Whether a line may begin with a number as a viewer writes it; cheap. */
export const mayBeNumbered = (line: string): boolean => MAYBE_NUMBERED.test(line)

/** Whether a line begins with a number as a viewer writes it, not as in a list or a mapping. */
const hasLineNumber = (text: string): boolean =>
  text.split('\n').some(line => NUMBERED.test(line) && !/^[ \t]*\d+: ?/.test(line))

/** The number before a line, with its separator: `12: `, `12→`; undefined if there is none. */
export function numberBefore(line: string): number | undefined {
  const found = NUMBERED.exec(line)
  return found === null ? undefined : numberIn(found)
}

const numberIn = (found: RegExpExecArray): number => Number(found.slice(1).find(group => /^\d/.test(group ?? '')))

/** Least share of the lines with text that must have a number; with fewer, we remove nothing. */
const NUMBERED_SHARE = 0.75

/**
 * The text without the numbers before its lines; undefined unless three quarters of the lines have one and they grow.
 */
export function withoutLineNumbers(text: string, numbered = NUMBERED): string | undefined {
  let previous = -1
  let growing = 0
  let filled = 0
  const lines = text.split('\n').map(line => {
    if (line.trim() === '') return line
    filled++
    const found = numbered.exec(line)
    if (found === null) return line
    const number = numberIn(found)
    if (number > previous) growing++
    previous = number
    return line.slice(found[0].length)
  })
  return filled > 0 && growing / filled >= NUMBERED_SHARE ? lines.join('\n') : undefined
}

const MEANING: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '',
  '"': '"',
  "'": "'",
  '`': '`',
  '\\': '\\',
  $: '$',
  '\n': '\n'
}

const hasEscapes = (text: string): boolean => /\\[nt"'`\\$ur]/.test(text)

/** Replaces every escape by its character; keeps unknown ones. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (all: string, hex: string | undefined, sign: string) =>
    hex !== undefined ? String.fromCharCode(parseInt(hex, 16)) : (MEANING[sign] ?? all)
  )

/** Unescapes only quotes, `$` and backslashes: for code with `\n` in its own strings. */
const withPlainQuotes = (text: string): string => text.replace(/\\(["'`$\\])/g, '$1')

/** Unescapes only tabs at the start of lines: for code with `\n` in its own strings. */
const withPlainIndents = (text: string): string => text.replace(/^(?:\\t)+/gm, tabs => '\t'.repeat(tabs.length / 2))

/** A member of a JSON object, or a string, whose value has a raw line break or a backslash. */
const JSON_MEMBER = /^\s*(?:"[^"\\\n]{1,200}"\s*:\s*)?"[^"]{0,1000}[\\\n][^"]{0,1000}"\s*,?\s*$/

/** The last string of the text as JSON writes the value that it shows. */
const jsonEscaped = (text: string): string =>
  text.replace(/"([^"]*)"(\s*,?\s*)$/, (_all, value: string, rest: string) => JSON.stringify(value) + rest)

/** Replaces entities by their characters; undefined if there are none. */
export function withoutEntities(text: string): string | undefined {
  if (!/&(?:lt|gt|amp|quot|#0?39|apos|nbsp);/.test(text)) return undefined
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replace(/&#0?39;|&apos;/g, "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
}
