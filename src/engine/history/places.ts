// Where recorded splices are, in lines, with the text around them, for people. Does not know files or who reads it.
import { lfLineEnd, lfLineStart } from '../text/lf-lines.ts'
import { countBreaksIn, isBreakByte, isLineStart, LF, lineAround, startOfLineAround } from '../text/lines.ts'
import { bomLength } from '../text/encoding.ts'
import { Text } from '../text/text.ts'
import type { RecordedSplice } from './change.ts'

/** Where one splice is. Lines are 1-based, those of `inspect`. */
export interface SplicePlace {
  /** The first line that it touches, before and after the change. */
  start_line: number
  new_start_line: number
  /** Lines of it that a diff would show. */
  lines_removed: number
  lines_added: number
  /**
   * The text before and after it: the rest of its lines and up to three lines more, as far as `AROUND` bytes reach.
   * Only `\n` ends a line here, as in a diff.
   */
  before: Buffer
  after: Buffer
}

/** Lines of context on each side. */
const CONTEXT = 3
const NOTHING = Buffer.alloc(0)
/** Bytes kept of the text on each side. A bound on the size of a record; chosen, not measured. */
export const AROUND = 2048

/** An offset, and the line that it is on. */
export interface KnownLine {
  offset: number
  line: number
}

/**
 * The place of each splice of `original`, in order. Linear in the text; where lines are `known`, ascending, in what is
 * between them and the splices.
 */
export function placesOf(
  original: Buffer,
  splices: readonly RecordedSplice[],
  known: readonly KnownLine[] = []
): SplicePlace[] {
  const text = new Text([original])
  let hint = 0
  let counted: number = bomLength(original)
  let line = 1
  let shift = 0
  return splices.map(({ start, old, insert }) => {
    const end = start + old.length
    const from = startOfLineAround(text, start)
    for (; hint < known.length && known[hint]!.offset <= start; hint++) {
      const begin = startOfLineAround(text, known[hint]!.offset)
      if (begin > counted) [counted, line] = [begin, known[hint]!.line]
    }
    if (from > counted) {
      line += countBreaksIn(original, counted, from)
      counted = from
    }
    const joins = insert.length === 0 ? from < start : !isBreakByte(insert.at(-1)!)
    const tail = joins || !isLineStart(text, end) ? text.slice(end, lineAround(text, end).next) : NOTHING
    const removed = linesOf(from < start, old, tail)
    const added = linesOf(from < start, insert, tail)
    const place = {
      start_line: line,
      new_start_line: line + shift,
      lines_removed: removed,
      lines_added: added,
      before: Buffer.from(before(original, start)),
      after: Buffer.from(after(original, end))
    }
    shift += added - removed
    return place
  })
}

/** How many lines a splice's bytes take part in: with what stands before and after them on the first and last line. */
function linesOf(hasHead: boolean, middle: Buffer, tail: Buffer): number {
  const breaks = countBreaksIn(middle, 0, middle.length, tail[0] ?? -1)
  if (tail.length > 0) return breaks + 1
  const last = middle.at(-1)
  const isUnended = last === undefined ? hasHead : !isBreakByte(last)
  return breaks + (isUnended ? 1 : 0)
}

function before(bytes: Buffer, start: number): Buffer {
  const lineStart = lfLineStart(bytes, start)
  if (start - lineStart > AROUND) return bytes.subarray(start - AROUND, start)
  let at = lineStart
  for (let lines = 0; lines < CONTEXT && at > 0; lines++) {
    const earlier = lfLineStart(bytes, at - 1)
    if (start - earlier > AROUND) break
    at = earlier
  }
  return bytes.subarray(at, start)
}

function after(bytes: Buffer, end: number): Buffer {
  const own = end > 0 && bytes[end - 1] === LF ? end : lfLineEnd(bytes, end)
  if (own - end > AROUND) return bytes.subarray(end, end + AROUND)
  let at = own
  for (let lines = 0; lines < CONTEXT && at < bytes.length; lines++) {
    const later = lfLineEnd(bytes, at)
    if (later - end > AROUND) break
    at = later
  }
  return bytes.subarray(end, at)
}
