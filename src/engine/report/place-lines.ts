// On which lines the places of a plan are, before and after it. Does not know what is shown of them.
import type { LineSpan, Placed } from '../edit/piece-table.ts'
import type { Plan } from '../edit/plan.ts'
import { isInsideCrlf, isLineEnd, isLineStart } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { changedLineNumbers } from './line-numbers.ts'

/** Found once for all that is said of a plan. */
export interface PlaceLines {
  before: Text
  after: Text
  /** Of each place: the lines that a diff would show. */
  spans: LineSpan[]
  /** Of each place, two: the lines of the result on which it begins and ends. */
  newLines: number[]
  totalBefore: number
  totalAfter: number
}

export function placeLines(
  original: Buffer,
  { placements, splices, line_index, pieces }: Pick<Plan, 'placements' | 'splices' | 'line_index' | 'pieces'>
): PlaceLines {
  const before = new Text([original])
  const after = new Text(pieces)
  const oldEdges: number[] = []
  const newEdges: number[] = []
  for (const { start, end, new_start, new_end } of placements) {
    oldEdges.push(start, end)
    newEdges.push(new_start, new_end)
  }
  const old = line_index.lineNumbers(oldEdges)
  const now = changedLineNumbers(after, line_index, splices, newEdges)
  const spans = placements.map((placed, index): LineSpan => {
    if (placed.span !== undefined) return placed.span
    const start = old.lines[2 * index]!
    const end = old.lines[2 * index + 1]!
    const newStart = now.lines[2 * index]!
    const newEnd = now.lines[2 * index + 1]!
    const clean = endsClean(before, after, placed)
    const end_line = clean ? end - 1 : Math.min(end, old.total)
    const new_end_line = clean ? newEnd - 1 : Math.min(newEnd, now.total)
    // What begins after the text of a line leaves that line as it is, but for its break; where that is all, the break
    // has changed.
    const skipped = startsAfterLine(before, after, placed) && (start < end_line || newStart < new_end_line) ? 1 : 0
    return {
      // A change that parts a \r from its \n, or makes a pair of two, also changes the line before.
      start_line: joinsCrlf(before, after, placed) ? start - 1 : start + skipped,
      end_line,
      new_start_line: separatesCrlf(before, after, placed) ? newStart - 1 : newStart + skipped,
      new_end_line
    }
  })
  return { before, after, spans, newLines: now.lines, totalBefore: old.total, totalAfter: now.total }
}

/** Whether a change begins where the text of a line ends, and that line still ends there. */
function startsAfterLine(before: Text, after: Text, { start, new_start, end, new_end }: Placed): boolean {
  if (isLineStart(before, start) || isLineStart(after, new_start)) return false
  return isLineEnd(before, start) && isLineEnd(after, new_start) && isLineEnd(before, end) && isLineEnd(after, new_end)
}

/** Whether both what was replaced and what replaces it end where a line does. */
const endsClean = (before: Text, after: Text, { end, new_end }: Placed): boolean =>
  isLineStart(before, end) && isLineStart(after, new_end)

// At a text's first byte there is no line before: there the other half of the pair is of another edit.
const joinsCrlf = (before: Text, after: Text, { start, new_start }: Placed): boolean =>
  start > 0 && isLineStart(before, start) && isInsideCrlf(after, new_start)

const separatesCrlf = (before: Text, after: Text, { start, new_start }: Placed): boolean =>
  new_start > 0 && isLineStart(after, new_start) && isInsideCrlf(before, start)
