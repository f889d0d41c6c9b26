// Finds where lines of an earlier state of a text are now.
import { isRangeIn, type LineRange } from '../edit/request.ts'
import { LineIndex } from '../text/line-index.ts'
import { isLineStart, lineStarts } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import {
  type EarlierState,
  type EarlierText,
  earlierText,
  isWholeLines,
  type ByteRange,
  stretchOf
} from './earlier-text.ts'

export interface LinesNow extends LineRange {
  /** The text there has changed, or lines were inserted at that place. Then this range is what is there now. */
  changed?: true
}

interface Gap extends ByteRange {
  isBetween: boolean
}

/**
 * Where `lines` of an earlier state are in `present`. Undefined if unknown: the record doesn't reach back, is
 * inconsistent, or that text had no such lines. Linear in the text and in the record.
 */
export function linesNow(present: Buffer, state: EarlierState, lines: readonly LineRange[]): LinesNow[] | undefined {
  const earlier = earlierText(present, state)
  if (earlier === undefined) return undefined
  const { offsets, total } = lineStarts(
    earlier.text,
    lines.flatMap(({ start_line, end_line }) => [start_line, end_line + 1])
  )
  if (!lines.every(range => isRangeIn(range, total))) return undefined
  const now = new Text([present])
  const index = new LineIndex(present)
  return lines.map(({ start_line, end_line }, i) => {
    const range = { start: offsets[2 * i]!, end: offsets[2 * i + 1]! }
    const gap = gapOf(earlier, range, present.length)
    const found = end_line < start_line ? placeIn(now, index, gap) : wholeLines(now, index, stretchOf(earlier, range))
    return found ?? { ...linesOf(index, gap), changed: true }
  })
}

/** The gap between the remaining text before a range and after it; `isBetween`: the bytes next to the range remain. */
function gapOf({ spans, text }: EarlierText, { start, end }: ByteRange, length: number): Gap {
  const last = start === 0 ? -1 : text.pieceAt(start - 1)
  const first = text.pieceAt(end)
  let before = last
  while (before >= 0 && !spans[before]!.remains) before--
  let behind = first
  while (behind < spans.length && !spans[behind]!.remains) behind++
  const nowOf = (at: number, offset: number) => spans[at]!.now + offset - text.startOf(at)
  return {
    start: before < 0 ? 0 : nowOf(before, Math.min(start, text.startOf(before + 1))),
    end: behind === spans.length ? length : nowOf(behind, Math.max(end, text.startOf(behind))),
    isBetween: before === last && behind === first
  }
}

/** Undefined if the range isn't whole lines. */
function wholeLines(now: Text, index: LineIndex, range: ByteRange | undefined): LineRange | undefined {
  return range !== undefined && isWholeLines(now, range) ? linesOf(index, range) : undefined
}

/** The place of an empty range; undefined if text is there now, or no line begins there. */
function placeIn(now: Text, index: LineIndex, { start, end, isBetween }: Gap): LineRange | undefined {
  const isAtEnd = start === now.length
  if (!isBetween || end > start || !(isAtEnd || isLineStart(now, start))) return undefined
  const { lines, total } = index.lineNumbers([start])
  const start_line = isAtEnd ? total + 1 : lines[0]!
  return { start_line, end_line: start_line - 1 }
}

/** The lines that the bytes are on; if there are no bytes, the place before that line. */
function linesOf(index: LineIndex, { start, end }: ByteRange): LineRange {
  const { lines } = index.lineNumbers([start, Math.max(start, end - 1)])
  return { start_line: lines[0]!, end_line: end === start ? lines[0]! - 1 : lines[1]! }
}
