// The texts that old_text may stand for: as sent, and without line numbers, escapes, entities or a fence that were
// copied or added by mistake. Does not know the file that is searched.
import { type Folded, type FoldedLine, fold, linesOf } from './fold.ts'
import { type Pattern, patternOf } from './verify.ts'

/** What was taken away from the text as it was sent. */
export type Reading = 'as_sent' | 'line_numbers' | 'escapes' | 'entities' | 'fence'

/** One reading of old_text, folded; its breaks are `\n`. */
export interface OldText {
  reading: Reading
  source: string
  folded: Folded
  /** All lines, and those that aren't blank. */
  lines: FoldedLine[]
  filled: FoldedLine[]
  pattern: Pattern
}

export function oldTextOf(source: string, reading: Reading = 'as_sent'): OldText {
  const folded = fold(source)
  const lines = linesOf(folded)
  return {
    reading,
    source,
    folded,
    lines,
    filled: lines.filter(line => line.to > line.from),
    pattern: patternOf(folded.codes)
  }
}

/**
 * The readings of `text`, whose breaks are `\n`, as sent first; those that are blank or the same as another are left
 * out.
 */
export function readings(text: string): { reading: Reading; source: string }[] {
  const found: { reading: Reading; source: string }[] = []
  const add = (reading: Reading, source: string | undefined) => {
    if (source !== undefined && source.trim() !== '' && !found.some(other => other.source === source)) {
      found.push({ reading, source })
    }
  }
  add('as_sent', text)
  const plain = withoutLineNumbers(text)
  add('line_numbers', plain)
  const current = plain ?? text
  if (hasEscapes(current)) {
    const literal = unescaped(current)
    add('escapes', literal)
    add('escapes', withPlainQuotes(current))
    if (plain === undefined) add('escapes', withoutLineNumbers(literal))
  }
  add('entities', withoutEntities(current))
  add('fence', withoutFence(current))
  return found
}

/** A text without the Markdown fence around it; undefined where there is none. */
function withoutFence(text: string): string | undefined {
  return /^```[\w-]*\n/.test(text) ? text.replace(/^```[\w-]*\n/, '').replace(/\n```\s*$/, '') : undefined
}

const NUMBERED = /^[ \t]*(\d+)(\t|→|: ?|\|| \| ?)(.*)$/
/**
 * Share of the lines with text that must have a number, and how far one may be from the last; else nothing is read off.
 */
const NUMBERED_SHARE = 0.75
const MOST_LEAP = 50

/**
 * The text without the numbers before its lines; undefined unless three quarters of the lines have one, and they grow.
 */
export function withoutLineNumbers(text: string): string | undefined {
  let previous = -1
  let growing = 0
  let filled = 0
  const lines = text.split('\n').map(line => {
    if (line.trim() === '') return line
    filled++
    const found = NUMBERED.exec(line)
    if (found === null) return line
    const number = Number(found[1])
    if (previous === -1 || (number > previous && number - previous <= MOST_LEAP)) growing++
    previous = number
    return found[3]!
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

/** Whether there is anything to unescape. */
export const hasEscapes = (text: string): boolean => /\\[nt"'`\\$ur]/.test(text)

/** Every escape replaced by what it stands for; unknown ones are kept. */
export const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (all: string, hex: string | undefined, sign: string) =>
    hex !== undefined ? String.fromCharCode(parseInt(hex, 16)) : (MEANING[sign] ?? all)
  )

/** Only quotes, `$` and backslashes unescaped: for code whose own strings hold `\n`. */
export const withPlainQuotes = (text: string): string => text.replace(/\\(["'`$\\])/g, '$1')

/** The entities of a text replaced by their signs; undefined where there are none. */
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
