// Likely mistakes in an inserted text: a placeholder for omitted lines, copied line numbers, another edit format, a
// byte-order mark in the wrong place.
import { bomLength, excerpt } from '../text/encoding.ts'
import { isBreakByte, splitAtBreaks } from '../text/lines.ts'
import type { Placed } from './piece-table.ts'
import { isEditMarker, isHunkHeader, leakedLine } from '../suggest/edit-formats.ts'
import { isCertainPlaceholder } from '../suggest/placeholders.ts'
import { mayBeNumbered, withoutLineNumbers } from '../suggest/readings.ts'

/** A likely mistake. `line`: 1-based, in the new text; `text`: that line, cut. */
export interface NewTextWarning {
  edit_index: number
  type: 'placeholder' | 'line_numbers' | 'diff' | 'markers' | 'byte_order_mark'
  line: number
  text: string
}

/** UTF-16 units of a line that a warning shows. */
export const SHOWN = 80
/**
 * How many lines of a kind we search for in the replaced text, and in how many of its bytes we look for numbers and
 * markers.
 */
const MOST_SOUGHT = 20
const NUMBERED_BYTES = 1 << 16

/**
 * Likely mistakes in `put` that `replaced` doesn't already have: the first placeholder line ("// ... existing code
 * ..."), line numbers before at least two lines, the first `@@` line of a diff (unless the text replaces nothing,
 * because then it may be a diff), the first marker of an edit format or of the call itself. At most one of each kind;
 * linear in both texts.
 * `replaced` is examined only if something was found, and never decoded as a whole: it may be longer than any string.
 */
export function warningsOfNewText(put: string, replaced: Buffer, edit_index: number): NewTextWarning[] {
  const lines = splitAtBreaks(put)
  const trimmed = lines.map(line => line.trim())
  const warnings: NewTextWarning[] = []
  const warn = (type: NewTextWarning['type'], at: number): void => {
    warnings.push({ edit_index, type, line: at + 1, text: excerpt(trimmed[at]!, SHOWN) })
  }
  /** The first line of a kind that isn't in the replaced text, or -1. */
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
  const leaked = leakedLine(trimmed)
  const marker = leaked !== -1 && !isLineOf(replaced, trimmed[leaked]!) ? leaked : firstNew(isEditMarker)
  if (marker !== -1 && !firstLines(replaced).some(line => isEditMarker(line.trim()))) warn('markers', marker)
  return warnings
}

/**
 * A warning for each edit that inserts a text beginning with a byte-order mark anywhere but at the start of the result:
 * there, even after another mark, it is only an invisible character. No warning if the replaced text began with a mark.
 */
export function misplacedMarks(placements: readonly Placed[]): NewTextWarning[] {
  const found: NewTextWarning[] = []
  for (const { edit_index, new_start, old, insert } of placements) {
    if (new_start === 0 || bomLength(insert) === 0 || bomLength(old) > 0) continue
    if (found.at(-1)?.edit_index !== edit_index) found.push({ edit_index, type: 'byte_order_mark', line: 1, text: '' })
  }
  return found
}

/** Whether a line of `bytes` equals this text, ignoring blanks around it. */
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

/** The lines of the first 64 KiB; the last one may be incomplete. */
const firstLines = (bytes: Buffer): string[] => splitAtBreaks(bytes.toString('utf8', bomLength(bytes), NUMBERED_BYTES))

/** Three dots after a colon are an empty body in Python. `lines` must be trimmed. */
function isEmptyBody(lines: readonly string[], at: number): boolean {
  const isFilled = (line: string): boolean => line !== ''
  return lines[at] === '...' && lines.slice(0, at).findLast(isFilled)?.endsWith(':') === true
}

function isNumbered(lines: readonly string[]): boolean {
  // Hardly any text has such a line; this check takes a tenth of the time of the rest.
  if (!lines.some(mayBeNumbered)) return false
  return lines.filter(line => line.trim() !== '').length > 1 && withoutLineNumbers(lines.join('\n')) !== undefined
}
