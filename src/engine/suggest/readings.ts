// The texts that old_text may stand for: as sent, and without line numbers, escapes, entities, a fence or another
// format of edits that were copied or added by mistake. Does not know the file that is searched.
import { type EditSide, newSide, type Sides, sidesOfDiff, sidesOfMarked } from './edit-formats.ts'
import { type Folded, type FoldedLine, fold, linesOf } from './fold.ts'
import { type Pattern, patternOf } from './verify.ts'

/** What was taken away from the text as it was sent. */
export type Reading = 'as_sent' | 'line_numbers' | 'escapes' | 'entities' | 'fence' | 'diff' | 'markers'

/** One reading of old_text, folded; its breaks are `\n`. */
export interface OldText {
  reading: Reading
  /**
   * Takes the same away from another text with the same breaks, as from new_text, if it is there at all. Null: it is
   * there in part only, or it isn't clear which part is meant.
   */
  read: (text: string, side: EditSide) => string | null
  source: string
  folded: Folded
  /** All lines, and those that aren't blank. */
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
 * The readings of `text`, whose breaks are `\n`, as sent first; those that are blank or the same as another are left
 * out.
 */
export function readings(text: string): Pick<OldText, 'reading' | 'read' | 'source'>[] {
  const found: Pick<OldText, 'reading' | 'read' | 'source'>[] = []
  const add = (reading: Reading, read: OldText['read']): void => {
    const source = read(text, 'old')
    if (source !== null && source.trim() !== '' && !found.some(other => other.source === source)) {
      found.push({ reading, read, source })
    }
  }
  const isNumbered = withoutLineNumbers(text) !== undefined
  const plain = isNumbered ? withoutNumbers : asSent
  add('as_sent', asSent)
  add('line_numbers', sent => (plain(sent) === sent && hasLineNumber(sent) ? null : plain(sent)))
  if (hasEscapes(plain(text))) {
    add('escapes', sent => unescaped(plain(sent)))
    add('escapes', sent => withPlainQuotes(plain(sent)))
    add('escapes', sent => withPlainIndents(plain(sent)))
    if (!isNumbered) add('escapes', sent => withoutNumbers(unescaped(sent)))
  }
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
 * A text without the Markdown fence around it, if it has one; null where it has only one half of it, or halves of two.
 */
function withoutFence(text: string): string | null {
  const opened = text.replace(/^```[\w-]*\n/, '')
  const closed = opened.replace(/\n```\s*$/, '')
  if (opened === text) return closed === opened && !/^```/m.test(text) ? text : null
  return closed === opened || !hasWholeFences(closed) ? null : closed
}

/** Whether each fence that a text opens is closed in it. Only one that opens has a language. */
function hasWholeFences(text: string): boolean {
  let isOpen = false
  for (const [, language = ''] of text.matchAll(/^[ \t]*```(.*)$/gm)) {
    if (isOpen && language.trim() !== '') return false
    isOpen = !isOpen
  }
  return !isOpen
}

const withoutNumbers = (text: string): string => withoutLineNumbers(text) ?? text

/** Whether a line begins with a number as a viewer puts it there, and not as a list or a mapping has it. */
const hasLineNumber = (text: string): boolean => text.split('\n').some(line => /^[ \t]*\d+(?:\t|→|\|| \| )/.test(line))

/** The number before a line, with what sets it apart: `12: `, `12→`; undefined where there is none. */
export function numberBefore(line: string): number | undefined {
  const found = NUMBERED.exec(line)
  return found === null ? undefined : Number(found[1])
}

const NUMBERED = /^[ \t]*(\d+)(\t|→|: ?|\|| \| ?)(.*)$/
/** Share of the lines with text that must have a number; else nothing is read off. */
const NUMBERED_SHARE = 0.75

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
    if (number > previous) growing++
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
const hasEscapes = (text: string): boolean => /\\[nt"'`\\$ur]/.test(text)

/** Every escape replaced by what it stands for; unknown ones are kept. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/g, (all: string, hex: string | undefined, sign: string) =>
    hex !== undefined ? String.fromCharCode(parseInt(hex, 16)) : (MEANING[sign] ?? all)
  )

/** Only quotes, `$` and backslashes unescaped: for code whose own strings hold `\n`. */
const withPlainQuotes = (text: string): string => text.replace(/\\(["'`$\\])/g, '$1')

/** Only the tabs that lines begin with unescaped: for code whose own strings hold `\n`. */
const withPlainIndents = (text: string): string => text.replace(/^(?:\\t)+/gm, tabs => '\t'.repeat(tabs.length / 2))

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
