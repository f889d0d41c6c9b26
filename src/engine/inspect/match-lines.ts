// Matches as an answer lists them: line, columns, the line's text, and the lines around it. Does not know what was sought.
import { decodeByColumn, excerptAround, ShownLine, utf16Length } from '../text/encoding.ts'
import { type Line, lineAround, lineFrom, lineNumbers, markLength } from '../text/lines.ts'
import { Text } from '../text/text.ts'

/**
 * Lines are 1-based, columns 1-based in UTF-16 units, `column_end` exclusive; for a match over several lines, those on
 * its first line. `lossy`: a shown line holds bytes that aren't UTF-8.
 */
export interface SearchMatch {
  line_number: number
  column_start: number
  column_end: number
  line_content: string
  /** Present if lines around it were asked for, and there are any. */
  context_before?: string[]
  context_after?: string[]
  lossy?: true
}

/** UTF-16 units shown of a line. */
export const LINE_LENGTH = 400

/** The matches at these byte ranges of a text, which are in order. */
export function matchLines(
  text: Text,
  ranges: readonly { start: number; end: number }[],
  context_lines: number
): SearchMatch[] {
  const { lines } = lineNumbers(
    text,
    ranges.map(({ start }) => start)
  )
  let line: Line = { start: 0, end: 0, next: 0 }
  let shown = new ShownLine(Buffer.alloc(0))
  let around: LinesAround = {}
  let counted = { offset: 0, columns: 0 }
  const columnsTo = (offset: number): number => {
    counted = { offset, columns: counted.columns + utf16Length(text.slice(counted.offset, offset)) }
    return counted.columns
  }
  return ranges.map(({ start, end }, index) => {
    // Many matches may be on one long line: read it once.
    if (index === 0 || start >= line.next) {
      line = lineAround(text, start)
      shown = new ShownLine(text.slice(line.start, line.end))
      around = linesAround(text, line, context_lines)
      counted = { offset: line.start, columns: 0 }
    }
    const from = columnsTo(start)
    const to = columnsTo(Math.min(end, line.end))
    return {
      line_number: lines[index]!,
      column_start: from + 1,
      column_end: to + 1,
      line_content: shown.around(start - line.start, from, LINE_LENGTH),
      ...(shown.lossy && { lossy: true }),
      ...around
    }
  })
}

type LinesAround = Pick<SearchMatch, 'context_before' | 'context_after' | 'lossy'>

/** The lines before and after a line, at most `count` of each; without a member where there are none. */
export function linesAround(text: Text, line: Line, count: number): LinesAround {
  const before: Line[] = []
  const after: Line[] = []
  const first = markLength(text)
  for (let at = line.start; before.length < count && at > first; at = before[0]!.start) {
    before.unshift(lineAround(text, at - 1))
  }
  for (let at = line.next; after.length < count && at < text.length; at = after.at(-1)!.next) {
    after.push(lineFrom(text, at))
  }
  const decoded = [before, after].map(lines => lines.map(({ start, end }) => decodeByColumn(text.slice(start, end))))
  const [context_before = [], context_after = []] = decoded.map(lines =>
    lines.map(({ text }) => excerptAround(text, 0, LINE_LENGTH))
  )
  return {
    ...(before.length > 0 && { context_before }),
    ...(after.length > 0 && { context_after }),
    ...(decoded.flat().some(({ lossy }) => lossy) && { lossy: true })
  }
}
