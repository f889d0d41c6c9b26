// What a new text repeats of the item that it is to replace: models send back what they were shown. Does not know what
// is done about it.
import { decode } from '../text/encoding.ts'
import { LineTable, splitAtBreaks } from '../text/lines.ts'
import type { CodeBlock, Heading, Item } from './outline.ts'

/** The heading line of a section, the fences of a code block, the doc comment of a symbol. */
export type Repeated = 'heading' | 'fences' | 'comment'

/**
 * What `new_text` begins with that stays where the content of `item` is replaced, and would be there twice; undefined
 * where it begins with nothing of the kind. Blank lines, blanks around a line and the marks of a quote don't count.
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

/** Both of them: a text that only opens a fence is broken. */
function repeatsFences(
  put: readonly string[],
  { start_line, fence, prefix }: CodeBlock,
  own: (line: number) => string
): boolean {
  if (fence === undefined || without(put[0]!, prefix) !== without(own(start_line), prefix)) return false
  const last = without(put.findLast((line, i) => i > 0 && line !== '') ?? '', prefix)
  return last.length >= fence.markup.length && [...last].every(sign => sign === fence.markup[0])
}

/** What opens a comment: of two in one style, one below the other, the second is mostly the first, written again. */
const OPENING = /^(?:\/\*\*?|\/\/[/!]?|--|;+|#(?![[!]))/

/**
 * What follows the opening of a line that may stand above or below a doc comment: a rule or a banner, a note to
 * oneself, a word to a linter or compiler (`noqa`, `go:noinline`, `type: ignore`).
 */
const NOT_DOC =
  /^\s*(?:[-=*~#/_+]{3}|(?:TODO|FIXME|XXX|HACK)\b|@ts\b|prettier-|biome-|eslint|no(?:qa|lint|sonar)\b|(?:c8|v8|istanbul) |pragma\b|pylint:|[a-z]+:\S|(?:type|mypy|ruff|pyright|rubocop|shellcheck|fmt|isort)\b:? ?(?:ignore|disable|off|skip|on))/i

/** What opens a comment that says what is below it; undefined of any other line. */
function openingOfDoc(line: string): string | undefined {
  const opening = OPENING.exec(line)?.[0]
  return opening === undefined || NOT_DOC.test(line.slice(opening.length)) ? undefined : opening
}

function isSameComment(line: string, own: string): boolean {
  const opening = openingOfDoc(line)
  return line === own || (opening !== undefined && opening === openingOfDoc(own))
}
