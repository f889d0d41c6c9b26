// The texts that old_text may stand for: as sent, and without what was copied or added by mistake. Knows no file.
import { withoutEntities } from './entities.ts'
import { hasEscapes, unescaped, withPlainQuotes } from './escapes.ts'
import { type Folded, type FoldedLine, fold, linesOf } from './fold.ts'
import { withoutLineNumbers } from './line-numbers.ts'
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
