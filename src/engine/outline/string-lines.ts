// Lines that begin inside a string, where indentation is part of a value: finds them, and keeps them as they were sent.
import type { LineEdit } from '../edit/request.ts'
import { ANY_BREAK, splitAtBreaks } from '../text/lines.ts'
import type { Language } from './languages/language.ts'
import type { Node } from './node.ts'
import type { Lines } from './outline.ts'

/** The lines, within a range, that begin inside a string, including code evaluated in it; sorted. */
export function stringLines(
  root: Node,
  { strings, docstring_in }: Language,
  { start_line, end_line }: Lines
): number[] {
  const lines = new Set<number>()
  const start = { row: start_line - 1, column: 0 }
  for (const node of root.descendantsOfType(strings, start, { row: end_line, column: 0 })) {
    const { startPosition: from, endPosition: to, parent } = node!
    if (docstring_in !== undefined && parent?.type === docstring_in) continue
    const last = Math.min(to.column === 0 ? to.row : to.row + 1, end_line)
    for (let line = Math.max(from.row + 2, start_line); line <= last; line++) lines.add(line)
  }
  return [...lines].sort((a, b) => a - b)
}

/** The lines of the result that a whole-line edit inserts. */
export const linesPutIn = ({ start_line, new_text }: LineEdit): Lines => ({
  start_line,
  end_line: start_line + splitAtBreaks(new_text).length - 1
})

/**
 * Restores some inserted lines of `edit` to their form in `sent`, its text before indentation. `lines` are lines of the
 * result.
 */
export function withLinesAsSent(edit: LineEdit, sent: string, lines: readonly number[]): LineEdit {
  if (lines.length === 0) return edit
  const kept = new Set(lines)
  const put = splitAtBreaks(edit.new_text)
  const breaks = edit.new_text.match(ANY_BREAK) ?? []
  const were = splitAtBreaks(sent)
  // Only the number of blank lines before the text may differ.
  const shift = firstFilled(were) - firstFilled(put)
  const text = put.map(
    (line, i) => (kept.has(edit.start_line + i) ? (were[i + shift] ?? line) : line) + (breaks[i] ?? '')
  )
  return { ...edit, new_text: text.join('') }
}

const firstFilled = (lines: readonly string[]): number => lines.findIndex(line => !/^[ \t]*$/.test(line))
