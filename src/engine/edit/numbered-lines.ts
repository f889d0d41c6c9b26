// Detects single lines inserted with their own line number, as a viewer shows it.
import { decode, excerpt } from '../text/encoding.ts'
import type { LineIndex } from '../text/line-index.ts'
import { lineAround, splitAtBreaks } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { mayBeNumbered, numberBefore } from '../suggest/readings.ts'
import { type NewTextWarning, SHOWN } from './new-text-warnings.ts'
import type { Placed } from './piece-table.ts'

/** Bytes examined of a text, and of a line of the file. */
const LOOKED_AT = 4096

/**
 * A warning for each edit that inserts one line beginning with a number. Several numbers are seldom intended, but one
 * often is (the key of a mapping, the first column of a table). So it counts only if it is the number of a line that
 * the edit replaces, or inserts before, and if neither that line nor its neighbours begin with a number. For an edit of
 * several places only the first is examined.
 */
export function numberedLines(
  original: Buffer,
  { placements, line_index }: { placements: readonly Placed[]; line_index: LineIndex }
): NewTextWarning[] {
  const found: NewTextWarning[] = []
  let last = -1
  for (const { edit_index, insert, start, end } of placements) {
    if (edit_index === last) continue
    last = edit_index
    const line = onlyLineOf(insert)
    const number = line && numberBefore(line.text)
    if (line === undefined || number === undefined) continue
    const firstLine = line_index.breaksBefore(start) + 1
    const lastLine = line_index.breaksBefore(Math.max(start, end - 1)) + 1
    if (number < firstLine || number > lastLine || isNumberedAround(new Text([original]), start, end)) continue
    found.push({ edit_index, type: 'line_numbers', line: line.line, text: excerpt(line.text.trim(), SHOWN) })
  }
  return found
}

/**
 * The only non-blank line of a text, and its number there; undefined if there is none, or several, or if the first one
 * can't begin with a number.
 */
function onlyLineOf(bytes: Buffer): { line: number; text: string } | undefined {
  if (bytes.length === 0 || bytes.length > LOOKED_AT) return undefined
  const text = bytes.toString()
  if (!mayBeNumbered(text)) return undefined
  const lines = splitAtBreaks(text)
  const isFilled = (line: string): boolean => line.trim() !== ''
  const at = lines.findIndex(isFilled)
  return lines.findLastIndex(isFilled) === at ? { line: at + 1, text: lines[at]! } : undefined
}

/** Whether the line at `start`, the one at `end` or the one above begins with a number. */
function isNumberedAround(text: Text, start: number, end: number): boolean {
  const here = lineAround(text, start)
  const above = lineAround(text, Math.max(0, here.start - 1))
  const below = lineAround(text, Math.min(text.length, Math.max(end, here.next)))
  return [above, here, lineAround(text, end), below].some(
    line => numberBefore(decode(text.slice(line.start, Math.min(line.end, line.start + LOOKED_AT))).text) !== undefined
  )
}
