// The lines that recorded splices are on, with the surrounding text, for display.
import { lfLineEnd, lfLineStart } from '../text/lf-lines.ts'
import {
  breakEndIn,
  countBreaksIn,
  isBreakByte,
  isInsideCrlfIn,
  isLineStart,
  lastBreakEndIn,
  LF
} from '../text/lines.ts'
import { bomLength } from '../text/encoding.ts'
import { Text } from '../text/text.ts'
import type { RecordedSplice } from './change.ts'

/** The place of one splice. Lines are 1-based, counted as in `inspect`. */
export interface SplicePlace {
  /** The first line that it touches, before and after the change. */
  start_line: number
  new_start_line: number
  /** How many of its lines a diff would show. */
  lines_removed: number
  lines_added: number
  /**
   * The text before and after the splice: the rest of its lines and up to three more lines, within `AROUND` bytes. Only
   * `\n` ends a line here, as in a diff.
   */
  before: Buffer
  after: Buffer
}

/** The line counts of all places, in order; lines that several places share count once. */
export function lineCountsOf(places: readonly SplicePlace[]): Pick<SplicePlace, 'lines_removed' | 'lines_added'> {
  let [lines_removed, lines_added] = [0, 0]
  let [end, newEnd] = [0, 0]
  for (const place of places) {
    const { start_line, new_start_line } = place
    lines_removed += place.lines_removed - (place.lines_removed > 0 && start_line <= end ? 1 : 0)
    lines_added += place.lines_added - (place.lines_added > 0 && new_start_line <= newEnd ? 1 : 0)
    end = Math.max(end, start_line + place.lines_removed - 1)
    newEnd = Math.max(newEnd, new_start_line + place.lines_added - 1)
  }
  return { lines_removed, lines_added }
}

/** Lines of context on each side. */
const CONTEXT = 3
const NOTHING = Buffer.alloc(0)
/** Bytes of text kept on each side. Bounds the size of a record; chosen, not measured. */
export const AROUND = 2048

/** An offset, and the line that it is on. */
export interface KnownLine {
  offset: number
  line: number
}

/**
 * The place of each splice of `original` (sorted, disjoint), in order. Their texts don't overlap, so together they are
 * never longer than the original, however close the splices are. Linear in the text; with `known` lines (ascending),
 * linear in the bytes between them and the splices.
 */
export function placesOf(
  original: Buffer,
  splices: readonly RecordedSplice[],
  known: readonly KnownLine[] = []
): SplicePlace[] {
  const text = new Text([original])
  const starts = new LineStarts(original)
  const knownStarts = new LineStarts(original)
  let hint = 0
  let counted: number = bomLength(original)
  let line = 1
  let shift = 0
  /** The end of the text kept after the previous splice. */
  let kept = 0
  return splices.map(({ start, old, insert }, i) => {
    const end = start + old.length
    const from = starts.around(start)
    for (; hint < known.length && known[hint]!.offset <= start; hint++) {
      const begin = knownStarts.around(known[hint]!.offset)
      if (begin > counted) [counted, line] = [begin, known[hint]!.line]
    }
    if (from > counted) {
      line += countBreaksIn(original, counted, from)
      counted = from
    }
    const joins = insert.length === 0 ? from < start : !isBreakByte(insert.at(-1)!)
    const next = joins || !isLineStart(text, end) ? (original[end] ?? -1) : -1
    // Lines appended after a last line without a break, or removed from there, leave that line as it is.
    const skipped = from < start && end === original.length && areLinesBehind(old, insert) ? 1 : 0
    const removed = linesOf(from < start, old, next) - skipped
    const added = linesOf(from < start, insert, next) - skipped
    const place = {
      start_line: line + skipped,
      new_start_line: line + shift + skipped,
      lines_removed: removed,
      lines_added: added,
      before: copyOf(before(original, start, kept)),
      after: copyOf(after(original, end, splices[i + 1]?.start ?? original.length))
    }
    kept = end + place.after.length
    shift += added - removed
    return place
  })
}

/**
 * Splices close to each other mostly have no text: creating hundreds of thousands of empty buffers would dominate the
 * run time.
 */
const copyOf = (view: Buffer): Buffer => (view.length === 0 ? NOTHING : Buffer.from(view))

/** Starts of lines, asked from left to right: looks at each byte once, however long a line is. */
class LineStarts {
  readonly #bytes: Buffer
  #start: number
  #seen = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#start = bomLength(bytes)
  }

  /** The start of the line that `offset` is on, even if `offset` is between `\r` and `\n`. */
  around(offset: number): number {
    const to = isInsideCrlfIn(this.#bytes, offset) ? offset - 1 : offset
    if (to > this.#seen) {
      const end = lastBreakEndIn(this.#bytes.subarray(this.#seen, to))
      if (end > 0) this.#start = this.#seen + end
      this.#seen = to
    }
    return this.#start
  }
}

/** Whether lines are appended after a last line without a break, or removed so that such a line ends the text. */
function areLinesBehind(old: Buffer, insert: Buffer): boolean {
  const lines = old.length === 0 ? insert : insert.length === 0 && !isBreakByte(old.at(-1)!) ? old : NOTHING
  return isBreakByte(lines[0] ?? -1) && breakEndIn(lines, 0) < lines.length
}

/**
 * How many lines a splice's bytes are on, counting text before it on the first line and text after it on the last;
 * `next` is the first byte of the latter, or -1.
 */
function linesOf(hasHead: boolean, middle: Buffer, next: number): number {
  const breaks = countBreaksIn(middle, 0, middle.length, next)
  if (next !== -1) return breaks + 1
  const last = middle.at(-1)
  const isUnended = last === undefined ? hasHead : !isBreakByte(last)
  return breaks + (isUnended ? 1 : 0)
}

/** The text before `start`, from `least` at the earliest. */
function before(bytes: Buffer, start: number, least: number): Buffer {
  const floor = Math.max(least, start - AROUND)
  const near = bytes.subarray(floor, start)
  const isWhole = floor === 0 || bytes[floor - 1] === LF
  let at = near.lastIndexOf(LF) + 1
  for (let lines = 0; lines < CONTEXT && at > 0; lines++) {
    const earlier = lfLineStart(near, at - 1)
    if (earlier === 0 && !isWhole) break
    at = earlier
  }
  return near.subarray(at)
}

/** The text from `end` on, up to `most` at the latest. */
function after(bytes: Buffer, end: number, most: number): Buffer {
  const near = bytes.subarray(end, Math.min(most, end + AROUND))
  let at = end > 0 && bytes[end - 1] === LF ? 0 : lfLineEnd(near, 0)
  for (let lines = 0; lines < CONTEXT && at < near.length; lines++) {
    const later = lfLineEnd(near, at)
    if (end + later < Math.min(most, bytes.length) && near[later - 1] !== LF) break
    at = later
  }
  return near.subarray(0, at)
}
