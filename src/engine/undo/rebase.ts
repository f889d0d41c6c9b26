// Carries a plan over from the text that it was made for to the present text, as `git rebase` does with a commit; but
// only if no line that it touches was changed meanwhile. Does not know what was asked.
import type { Placed } from '../edit/piece-table.ts'
import type { LeftAlone, Plan } from '../edit/plan.ts'
import { type Splice, Splices } from '../edit/splice.ts'
import { firstIndex } from '../text/bisect.ts'
import { LineIndex } from '../text/line-index.ts'
import { isLineStart, lineAround, lineNumbers, lineStarts, markLength, startOfLineAround } from '../text/lines.ts'
import { Text } from '../text/text.ts'
import { askableId } from './change.ts'
import { type EarlierState, type EarlierText, isWholeLines, type ByteRange, stretchOf } from './earlier-text.ts'
import { BASE } from './spans.ts'

/**
 * The lines that a splice touches. An insertion between two lines touches both: it was made for what is between them.
 */
function touchedBy(text: Text, { start, end }: ByteRange): ByteRange {
  if (start < end || !isLineStart(text, start)) {
    const to = start < end && isLineStart(text, end) ? end : lineAround(text, end).next
    return { start: startOfLineAround(text, start), end: to }
  }
  return { start: startOfLineAround(text, Math.max(0, start - 1)), end: lineAround(text, start).next }
}

/** Where a range is in another text, if its bytes are there in one piece. */
type Elsewhere = (range: ByteRange) => ByteRange | undefined

/**
 * By how many bytes a splice of `text` is further on in `other`; undefined if a line that it touches isn't there
 * unchanged.
 */
function shiftOf({ start, end }: ByteRange, text: Text, other: Text, find: Elsewhere): number | undefined {
  const lines = touchedBy(text, { start, end })
  const there = lines.start < lines.end ? find(lines) : undefined
  if (there === undefined || !isWholeLines(other, there)) return undefined
  // At the edge of the text nothing shows whether others inserted at the same place.
  if (start === end && start === lines.start && there.start > markLength(other)) return undefined
  if (start === end && end === lines.end && there.end < other.length) return undefined
  return there.start - lines.start
}

/**
 * A plan for an earlier text, as a plan for `present` that does the same to the same lines. Undefined if a line that it
 * touches, or one beside an insertion, was changed since; or if it has places outside its splices.
 */
export function rebasedPlan(plan: Plan, earlier: EarlierText, present: Buffer): Plan | undefined {
  const now = new Text([present])
  const moved: (Splice & { from: Splice; shift: number })[] = []
  for (const from of plan.splices.list) {
    const shift = shiftOf(from, earlier.text, now, range => stretchOf(earlier, range))
    if (shift === undefined) return undefined
    moved.push({ start: from.start + shift, end: from.end + shift, insert: from.insert, from, shift })
  }
  const line_index = new LineIndex(present)
  const placements: Placed[] = []
  for (const placed of plan.placements) {
    // Splices that begin at the same place have the same shift.
    const around = moved[firstIndex(moved.length, i => moved[i]!.from.start > placed.start) - 1]
    if (around === undefined || placed.end > around.from.end) return undefined
    const { shift } = around
    placements.push(
      shifted(placed, shift, line_index.lineOf(placed.start + shift) - plan.line_index.lineOf(placed.start))
    )
  }
  const splices = new Splices(moved, present.length)
  return {
    ...plan,
    splices,
    line_index,
    pieces: splices.apply(present),
    placements,
    left_alone: plan.left_alone.map(others => leftAloneNow(others, earlier, line_index))
  }
}

function shifted(placed: Placed, bytes: number, lines: number): Placed {
  const { start, end, new_start, new_end, span } = placed
  return {
    ...placed,
    start: start + bytes,
    end: end + bytes,
    new_start: new_start + bytes,
    new_end: new_end + bytes,
    span: span && {
      start_line: span.start_line + lines,
      end_line: span.end_line + lines,
      new_start_line: span.new_start_line + lines,
      new_end_line: span.new_end_line + lines
    }
  }
}

/** Leaves out lines that have changed. */
function leftAloneNow({ lines, ...others }: LeftAlone, earlier: EarlierText, index: LineIndex): LeftAlone {
  const { offsets } = lineStarts(
    earlier.text,
    lines.flatMap(line => [line, line + 1])
  )
  const now = lines.flatMap((_, i) => {
    const there = stretchOf(earlier, { start: offsets[2 * i]!, end: offsets[2 * i + 1]! })
    return there === undefined ? [] : [index.lineOf(there.start)]
  })
  return { ...others, lines: now }
}

/**
 * The splices of a plan for `present`, in the earlier text. Undefined if a line that they touch, or one beside an
 * insertion, isn't as it was there.
 */
export function splicesInEarlier({ splices }: Plan, earlier: EarlierText, present: Buffer): Splices | undefined {
  const now = new Text([present])
  const find: Elsewhere = range => {
    const at = earlier.spans.findIndex(
      ({ now: start, bytes, remains }) => remains && start <= range.start && range.start < start + bytes.length
    )
    if (at === -1) return undefined
    const start = earlier.text.startOf(at) + range.start - earlier.spans[at]!.now
    const was = { start, end: start + range.end - range.start }
    return was.end <= earlier.text.length && stretchOf(earlier, was)?.end === range.end ? was : undefined
  }
  const list: Splice[] = []
  for (const splice of splices.list) {
    const shift = shiftOf(splice, now, earlier.text, find)
    if (shift === undefined) return undefined
    list.push({ start: splice.start + shift, end: splice.end + shift, insert: splice.insert })
  }
  return new Splices(list, earlier.text.length)
}

/**
 * A change of a text that was made after an earlier state of it, by the id that callers know. Its first and last line;
 * an end before its start: lines were only removed there. No lines: nothing of it is left, or it is an undo or redo.
 */
export interface ChangeSince {
  edit_id: string
  /** By another program. */
  outside?: true
  start_line?: number
  end_line?: number
}

/** The changes that were made after an earlier state: the newest of them, that first, and how many there are. */
export interface ChangesSince {
  newest: ChangeSince[]
  total: number
}

/**
 * The changes after the one with index `at`, at most `most` of them, with their lines in the result of `splices`, which
 * don't touch them. `pieces`: that result.
 */
export function changesSince(
  { weave }: EarlierText,
  { changes, at }: EarlierState,
  { splices, pieces, most }: Pick<Plan, 'splices' | 'pieces'> & { most: number }
): ChangesSince {
  const total = changes.length - at - 1
  const first = changes.length - Math.min(most, total)
  const places = new Map<number, ByteRange>()
  const add = (unit: number, start: number, end: number) => {
    const change = weave.units.changeOf[unit]!
    if (change >= first) places.set(change, { start: places.get(change)?.start ?? start, end })
  }
  let now = 0
  for (const { visible, inserter, deleters, length } of weave.spans) {
    if (visible && inserter !== BASE) add(inserter, now, now + length)
    if (visible) now += length
    // Text that came and went since leaves no trace.
    else if (inserter === BASE || weave.units.changeOf[inserter]! <= at) {
      for (const unit of deleters) if (weave.units.isApplied(unit)) add(unit, now, now)
    }
  }
  const afterSplices = (offset: number): number =>
    splices.list.reduce(
      (sum, { start, end, insert }) => (start < offset ? sum + insert.length - (end - start) : sum),
      offset
    )
  const edges = [...places.values()].flatMap(({ start, end }) => {
    const [from, to] = [afterSplices(start), afterSplices(end)]
    return [from, Math.max(from, to - 1)]
  })
  const { lines } = lineNumbers(new Text(pieces), edges)
  const linesOf = new Map(
    [...places].map(([change, { start, end }], i) => {
      const start_line = lines[2 * i]!
      return [change, { start_line, end_line: start === end ? start_line - 1 : lines[2 * i + 1]! }]
    })
  )
  const newest = changes.slice(first).map((change, i): ChangeSince => ({
    edit_id: askableId(change),
    ...(change.outside && { outside: change.outside }),
    ...linesOf.get(first + i)
  }))
  return { newest: newest.reverse(), total }
}
