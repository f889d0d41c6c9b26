// What looks like a mistake in an inserted text: a placeholder for lines left out, line numbers copied along. Does not
// know answers.
import { bomLength, excerpt } from '../text/encoding.ts'
import { isBreakByte, splitAtBreaks } from '../text/lines.ts'
import { isCertainPlaceholder } from '../suggest/placeholders.ts'
import { withoutLineNumbers } from '../suggest/readings.ts'

/** A possible mistake. `line`: 1-based, in the new text; `text`: that line, cut. */
export interface NewTextWarning {
  edit_index: number
  type: 'placeholder' | 'line_numbers'
  line: number
  text: string
}

/** UTF-16 units of a line that a warning shows. */
export const SHOWN = 80
/** Placeholders that are looked for in the replaced text, and bytes of that in which numbers are. */
const MOST_SOUGHT = 20
const NUMBERED_BYTES = 1 << 16

/**
 * What in `put` looks like a mistake and isn't there in `replaced`: the first line that stands for others ("// ...
 * existing code ..."), and numbers before at least two lines. At most one of each kind; linear in both texts.
 * `replaced` is looked at only where something was found, and never decoded whole: it may be longer than any string.
 */
export function warningsOfNewText(put: string, replaced: Buffer, edit_index: number): NewTextWarning[] {
  const lines = splitAtBreaks(put)
  const placeholders = [...lines.keys()].filter(i => isCertainPlaceholder(lines[i]!.trim()) && !isEmptyBody(lines, i))
  const numbered = isNumbered(lines)
  if (placeholders.length === 0 && !numbered) return []
  const caution = (type: NewTextWarning['type'], at: number): NewTextWarning => ({
    edit_index,
    type,
    line: at + 1,
    text: excerpt(lines[at]!.trim(), SHOWN)
  })
  const placeholder = placeholders.slice(0, MOST_SOUGHT).find(i => !isLineOf(replaced, lines[i]!.trim()))
  return [
    ...(placeholder === undefined ? [] : [caution('placeholder', placeholder)]),
    ...(numbered && !isNumbered(firstLines(replaced))
      ? [
          caution(
            'line_numbers',
            lines.findIndex(line => line.trim() !== '')
          )
        ]
      : [])
  ]
}

/** Whether a line of `bytes` is this text, but for blanks around it. */
function isLineOf(bytes: Buffer, text: string): boolean {
  const wanted = Buffer.from(text)
  const mark = bomLength(bytes)
  for (let at = bytes.indexOf(wanted, mark); at !== -1; at = bytes.indexOf(wanted, at + 1)) {
    let [start, end] = [at, at + wanted.length]
    while (start > mark && isBlank(bytes[start - 1]!)) start--
    while (end < bytes.length && isBlank(bytes[end]!)) end++
    if ((start === mark || isBreakByte(bytes[start - 1]!)) && (end === bytes.length || isBreakByte(bytes[end]!))) {
      return true
    }
  }
  return false
}

const isBlank = (byte: number): boolean => byte === 32 || byte === 9

/** The lines of the first 64 KiB; of the last one perhaps only a part. */
const firstLines = (bytes: Buffer): string[] => splitAtBreaks(bytes.toString('utf8', bomLength(bytes), NUMBERED_BYTES))

/** Three dots after a colon are Python's way to write an empty body. */
function isEmptyBody(lines: readonly string[], at: number): boolean {
  return (
    lines[at]!.trim() === '...' &&
    lines
      .slice(0, at)
      .findLast(line => line.trim() !== '')
      ?.trimEnd()
      .endsWith(':') === true
  )
}

function isNumbered(lines: readonly string[]): boolean {
  return lines.filter(line => line.trim() !== '').length > 1 && withoutLineNumbers(lines.join('\n')) !== undefined
}
