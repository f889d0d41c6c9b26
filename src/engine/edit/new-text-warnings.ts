// What looks like a mistake in an inserted text: a placeholder for lines left out, line numbers copied along,
// another format of edits, a byte-order mark where none is read. Does not know answers.
import { bomLength, excerpt } from '../text/encoding.ts'
import { isBreakByte, splitAtBreaks } from '../text/lines.ts'
import type { Placed } from './piece-table.ts'
import { isEditMarker, isHunkHeader } from '../suggest/edit-formats.ts'
import { isCertainPlaceholder } from '../suggest/placeholders.ts'
import { withoutLineNumbers } from '../suggest/readings.ts'

/** A possible mistake. `line`: 1-based, in the new text; `text`: that line, cut. */
export interface NewTextWarning {
  edit_index: number
  type: 'placeholder' | 'line_numbers' | 'diff' | 'markers' | 'byte_order_mark'
  line: number
  text: string
}

/** UTF-16 units of a line that a warning shows. */
export const SHOWN = 80
/** Lines of a kind that are looked for in the replaced text, and bytes of that in which numbers and markers are. */
const MOST_SOUGHT = 20
const NUMBERED_BYTES = 1 << 16

/**
 * What in `put` looks like a mistake and isn't there in `replaced`: the first line that stands for others ("// ...
 * existing code ..."), numbers before at least two lines, the first `@@` line of a diff (but a text that replaces
 * nothing may be a diff), the first marker of an edit format. At most one of each kind; linear in both texts.
 * `replaced` is looked at only where something was found, and never decoded whole: it may be longer than any string.
 */
export function warningsOfNewText(put: string, replaced: Buffer, edit_index: number): NewTextWarning[] {
  const lines = splitAtBreaks(put)
  const trimmed = lines.map(line => line.trim())
  const warnings: NewTextWarning[] = []
  const warn = (type: NewTextWarning['type'], at: number): void => {
    warnings.push({ edit_index, type, line: at + 1, text: excerpt(trimmed[at]!, SHOWN) })
  }
  /** Where the first line of a kind is that isn't in what is replaced, or -1. */
  const firstNew = (isMistake: (line: string, at: number) => boolean): number => {
    for (let at = 0, sought = 0; at < trimmed.length && sought < MOST_SOUGHT; at++) {
      if (!isMistake(trimmed[at]!, at)) continue
      if (!isLineOf(replaced, trimmed[at]!)) return at
      sought++
    }
    return -1
  }
  const placeholder = firstNew((line, at) => isCertainPlaceholder(line) && !isEmptyBody(trimmed, at))
  if (placeholder !== -1) warn('placeholder', placeholder)
  if (isNumbered(lines) && !isNumbered(firstLines(replaced))) {
    warn(
      'line_numbers',
      trimmed.findIndex(line => line !== '')
    )
  }
  const header = firstNew(isHunkHeader)
  if (header !== -1 && replaced.length > 0 && !replaced.includes('@@ -')) warn('diff', header)
  const marker = firstNew(isEditMarker)
  if (marker !== -1 && !firstLines(replaced).some(line => isEditMarker(line.trim()))) warn('markers', marker)
  return warnings
}

/**
 * A warning for each edit that puts in a text which begins with a byte-order mark, where that doesn't come to stand at
 * the start of the result: behind another mark, too, it is only an invisible character. None where the replaced text
 * began with one.
 */
export function misplacedMarks(placements: readonly Placed[]): NewTextWarning[] {
  const found: NewTextWarning[] = []
  for (const { edit_index, new_start, old, insert } of placements) {
    if (new_start === 0 || bomLength(insert) === 0 || bomLength(old) > 0) continue
    if (found.at(-1)?.edit_index !== edit_index) found.push({ edit_index, type: 'byte_order_mark', line: 1, text: '' })
  }
  return found
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

/** Three dots after a colon are Python's way to write an empty body. `lines` are without white space around them. */
function isEmptyBody(lines: readonly string[], at: number): boolean {
  const isFilled = (line: string): boolean => line !== ''
  return lines[at] === '...' && lines.slice(0, at).findLast(isFilled)?.endsWith(':') === true
}

function isNumbered(lines: readonly string[]): boolean {
  // Hardly any text has a line that begins with a digit: that is found out in a tenth of the time of the rest.
  if (!lines.some(line => /^\s*\d/.test(line))) return false
  return lines.filter(line => line.trim() !== '').length > 1 && withoutLineNumbers(lines.join('\n')) !== undefined
}
