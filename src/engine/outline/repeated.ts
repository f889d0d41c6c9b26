// Detects what a new text repeats of the item that it replaces: models send back what they were shown.
import { decode } from '../text/encoding.ts'
import { LineTable, splitAtBreaks } from '../text/lines.ts'
import type { CodeBlock, Heading, Item } from './outline.ts'

/** The heading line of a section, the fences of a code block, the doc comment of a symbol. */
export type Repeated = 'heading' | 'fences' | 'comment'

/**
 * The part at the start of `new_text` that a replacement of the content of `item` would keep, and therefore duplicate;
 * undefined if there is none. Ignores blank lines, blanks around a line and quote marks.
 */
export function repeatedIn(original: Buffer, item: Item, new_text: string): Repeated | undefined {
  const lines = splitAtBreaks(new_text)
  const put = lines.slice(lines.findIndex(line => line.trim() !== '')).map(line => line.trim())
  const table = new LineTable(original)
  const own = (line: number): string => decode(table.bytesOf(line)).text.trim()
  switch (item.kind) {
    case 'heading':
      return repeatsHeading(put, item, own) ? 'heading' : undefined
    case 'code_block':
      return repeatsFences(put, item, own) ? 'fences' : undefined
    case 'front_matter':
      return undefined
    default:
      return item.comment_start_line !== undefined && isSameComment(put[0]!, own(item.comment_start_line))
        ? 'comment'
        : undefined
  }
}

const MARKS = /^(#{1,6})[ \t]+(.*)$/
const withoutClosingMarks = (line: string): string => line.replace(/[ \t]+#+$/, '')
const without = (line: string, prefix: string): string =>
  line.startsWith(prefix.trim()) ? line.slice(prefix.trim().length).trim() : line

function repeatsHeading(
  put: readonly string[],
  { start_line, heading_line, name, level, prefix }: Heading,
  own: (line: number) => string
): boolean {
  const [, marks = '', text] = MARKS.exec(withoutClosingMarks(without(put[0]!, prefix))) ?? []
  if (marks.length === level && text === name) return true
  return Array.from({ length: heading_line - start_line + 1 }, (_, i) => own(start_line + i)).every(
    (line, i) => withoutClosingMarks(without(put[i] ?? '', prefix)) === withoutClosingMarks(without(line, prefix))
  )
}

/** Requires both fences: a text that only opens one is broken. */
function repeatsFences(
  put: readonly string[],
  { start_line, fence, prefix }: CodeBlock,
  own: (line: number) => string
): boolean {
  if (fence === undefined || without(put[0]!, prefix) !== without(own(start_line), prefix)) return false
  const last = without(put.findLast((line, i) => i > 0 && line !== '') ?? '', prefix)
  return last.length >= fence.markup.length && [...last].every(sign => sign === fence.markup[0])
}

/**
 * The opening of a comment: if two comments of one style follow each other, the second is mostly the first one,
 * rewritten.
 */
const OPENING = /^(?:\/\*\*?|\/\/[/!]?|--|;+|#(?![[!]))/

/**
 * What follows the opening in a comment line that isn't documentation: a rule or a banner, a note to oneself, a
 * directive for a linter or compiler (`noqa`, `go:noinline`, `type: ignore`).
 */
const NOT_DOC =
  /^\s*(?:[-=*~#/_+]{3}|(?:TODO|FIXME|XXX|HACK)\b|@ts\b|prettier-|biome-|eslint|no(?:qa|lint|sonar)\b|(?:c8|v8|istanbul) |pragma\b|pylint:|[a-z]+:\S|(?:type|mypy|ruff|pyright|rubocop|shellcheck|fmt|isort)\b:? ?(?:ignore|disable|off|skip|on))/i

/** The opening of a comment that documents what is below it; undefined for any other line. */
function openingOfDoc(line: string): string | undefined {
  const opening = OPENING.exec(line)?.[0]
  return opening === undefined || NOT_DOC.test(line.slice(opening.length)) ? undefined : opening
}

function isSameComment(line: string, own: string): boolean {
  const opening = openingOfDoc(line)
  return line === own || (opening !== undefined && opening === openingOfDoc(own))
}
