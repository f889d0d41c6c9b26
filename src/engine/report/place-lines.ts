// The lines that a plan changes, before and after it.
import { type ChangedSplices, changedSplices } from '../edit/changed-splices.ts'
import type { LineSpan } from '../edit/piece-table.ts'
import type { Plan } from '../edit/plan.ts'
import { type PlacedBytes, placedBytes } from '../edit/splice.ts'
import { breakAt, isInsideCrlf, isLineEnd, isLineStart } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { changedLineNumbers } from './line-numbers.ts'

/** Computed once for all reports of a plan. */
export interface PlaceLines {
  before: Text
  after: Text
  /** What really changes. */
  changed: ChangedSplices
  /** The place of each of these changes. */
  places: readonly PlacedBytes[]
  /** The lines of each that a diff would show. */
  spans: LineSpan[]
  /** Two numbers for each: the lines on which it begins and ends, in the original and in the result. */
  oldLines: number[]
  newLines: number[]
  totalBefore: number
  totalAfter: number
}

export function placeLines(
  original: Buffer,
  plan: Pick<Plan, 'splices' | 'line_index' | 'pieces'>,
  changed = changedSplices(original, plan.splices.list)
): PlaceLines {
  const before = new Text([original])
  const after = new Text(plan.pieces)
  const places = placedBytes(changed.list)
  return { before, after, changed, places, ...linesOf(before, after, plan, places) }
}

/** The lines of some places. */
export function linesOf(
  before: Text,
  after: Text,
  { line_index, splices }: Pick<Plan, 'splices' | 'line_index'>,
  places: readonly PlacedBytes[]
): Pick<PlaceLines, 'spans' | 'oldLines' | 'newLines' | 'totalBefore' | 'totalAfter'> {
  const oldEdges: number[] = []
  const newEdges: number[] = []
  for (const { start, end, new_start, new_end } of places) {
    oldEdges.push(start, end)
    newEdges.push(new_start, new_end)
  }
  const old = line_index.lineNumbers(oldEdges)
  const now = changedLineNumbers(after, line_index, splices, newEdges)
  const spans = places.map((place, index): LineSpan => {
    const start = old.lines[2 * index]!
    const end = old.lines[2 * index + 1]!
    const newStart = now.lines[2 * index]!
    const newEnd = now.lines[2 * index + 1]!
    const clean = endsClean(before, after, place)
    const end_line = clean ? end - 1 : Math.min(end, old.total)
    const new_end_line = clean ? newEnd - 1 : Math.min(newEnd, now.total)
    // A change that begins after the text of a line leaves that line as it is; if it is all there, it changed the
    // break.
    const skipped = startsAfterLine(before, after, place) && (start < end_line || newStart < new_end_line) ? 1 : 0
    return {
      // Splitting or forming a `\r\n` also changes the line before. At the start of a text there is no line before:
      // that `\r` belongs to another edit.
      start_line: joinsCrlf(before, after, place) ? Math.max(1, start - 1) : start + skipped,
      end_line,
      new_start_line: separatesCrlf(before, after, place) ? Math.max(1, newStart - 1) : newStart + skipped,
      new_end_line
    }
  })
  return { spans, oldLines: old.lines, newLines: now.lines, totalBefore: old.total, totalAfter: now.total }
}

/** Whether a change begins at the end of a line's text, and that line still ends there with the same break. */
function startsAfterLine(before: Text, after: Text, { start, new_start, end, new_end }: PlacedBytes): boolean {
  if (isLineStart(before, start) || isLineStart(after, new_start)) return false
  return (
    isLineEnd(before, start) &&
    isLineEnd(after, new_start) &&
    isLineEnd(before, end) &&
    isLineEnd(after, new_end) &&
    keepsBreak(before, after, { start, new_start, end })
  )
}

/**
 * Whether the line that ends at `start` keeps its break. A line that becomes the last one, or was it, counts as
 * unchanged if the text lacks a final break as before.
 */
function keepsBreak(
  before: Text,
  after: Text,
  { start, new_start, end }: Pick<PlacedBytes, 'start' | 'new_start' | 'end'>
): boolean {
  if (start === before.length) return true
  if (new_start === after.length) return !isLineStart(before, end)
  return breakAt(before, start).kind === breakAt(after, new_start).kind
}

/** Whether both the replaced text and its replacement end at a line start. */
const endsClean = (before: Text, after: Text, { end, new_end }: PlacedBytes): boolean =>
  isLineStart(before, end) && isLineStart(after, new_end)

// At a text's first byte there is no line before; the other half of the pair belongs to another edit.
const joinsCrlf = (before: Text, after: Text, { start, new_start }: PlacedBytes): boolean =>
  start > 0 && isLineStart(before, start) && isInsideCrlf(after, new_start)

const separatesCrlf = (before: Text, after: Text, { start, new_start }: PlacedBytes): boolean =>
  new_start > 0 && isLineStart(after, new_start) && isInsideCrlf(before, start)
