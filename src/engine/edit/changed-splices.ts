// What splices really change: reduced to the lines, and within these to the bytes, that differ. Both reports and
// records of a change are based on this.
import { isUtf8 } from 'node:buffer'
import { bomLength } from '../text/encoding.ts'
import { breakEndIn, CR, isBreakByte, isInsideCrlfIn, LF, lineStartIn, textEndIn } from '../text/lines.ts'
import { commonLead, commonTrail } from './common.ts'
import { lineHunks, type Steps, stepsOfComparison } from './line-hunks.ts'
import type { Splice } from './splice.ts'

/**
 * A splice, and how many bytes around it belong to the compared unit: whole lines, or a replacement within one line.
 */
export interface ChangedSplice extends Splice {
  readonly lead: number
  readonly trail: number
}

export interface ChangedSplices {
  /** Sorted and disjoint; each changes something, and no two changes made from one splice share a line. */
  list: readonly ChangedSplice[]
  /** For each splice, the index of its first change; then the total number of changes. */
  first: readonly number[]
}

/** Bytes of a line that are examined on each side of a short splice. */
const REACH = 4096

/**
 * What `splices` (sorted, disjoint) really change in `original`; the resulting text is the same. Inserted or removed
 * whole lines begin at a line start, wherever the splice began. About linear in the bytes of the splices and of the
 * lines that they begin and end in, as long as these aren't longer than the splices and 4 KiB. If too many lines differ
 * to be compared, only the common start and end are excluded. `asMade`: splices aren't extended to whole lines, so no
 * byte outside them is examined.
 */
export function changedSplices(original: Buffer, splices: readonly Splice[], asMade = false): ChangedSplices {
  const list: ChangedSplice[] = []
  const first: number[] = []
  const left = stepsOfComparison()
  for (const [i, splice] of splices.entries()) {
    first.push(list.length)
    const { start, end, insert } = splice
    if (!hasBreak(insert) && !hasBreak(original.subarray(start, end))) {
      addDiffering(list, original.subarray(start, end), insert, start)
      continue
    }
    const floor = Math.max(splices[i - 1]?.end ?? 0, list.at(-1)?.end ?? 0)
    const room = { floor, ceiling: splices[i + 1]?.start ?? original.length }
    const { from, to } = asMade ? { from: start, to: end } : widened(original, splice, room)
    const old = original.subarray(from, to)
    const now =
      from === start && to === end
        ? insert
        : Buffer.concat([original.subarray(from, start), insert, original.subarray(end, to)])
    addHunks(list, { old, now, start: from }, left)
  }
  first.push(list.length)
  return { list, first }
}

const hasBreak = (bytes: Buffer): boolean => textEndIn(bytes, 0) < bytes.length

function addHunks(
  list: ChangedSplice[],
  { old, now, start }: { old: Buffer; now: Buffer; start: number },
  left: Steps
): void {
  for (const { from, to, otherFrom, otherTo } of lineHunks(old, now, left)) {
    addDiffering(list, old.subarray(from, to), now.subarray(otherFrom, otherTo), start + from)
  }
}

function addDiffering(list: ChangedSplice[], old: Buffer, now: Buffer, start: number): void {
  const { lead, trail } = alike(old, now)
  if (lead + trail === old.length && lead + trail === now.length) return
  list.push({
    start: start + lead,
    end: start + old.length - trail,
    insert: now.subarray(lead, now.length - trail),
    lead,
    trail
  })
}

/**
 * The range of a splice extended to whole lines, unless the extension is longer than the splice and `REACH` (then no
 * other line can be equal), or contains another splice.
 */
function widened(
  original: Buffer,
  { start, end, insert }: Splice,
  { floor, ceiling }: { floor: number; ceiling: number }
): { from: number; to: number } {
  const reach = Math.max(REACH, end - start + insert.length)
  const at = isInsideCrlfIn(original, start) ? start - 1 : start
  const mark = bomLength(original)
  const least = at >= mark ? Math.max(floor, mark) : at
  const begin = lineStartIn(original, at, Math.min(reach, at - least))
  const beginsLine =
    begin === mark || begin === 0 || (isBreakByte(original[begin - 1]!) && !isInsideCrlfIn(original, begin))
  const from = at >= floor && beginsLine ? begin : start
  const lastOf = (bytes: Buffer): number => bytes.at(-1) ?? (start > from ? original[start - 1]! : beginsLine ? LF : -1)
  const endsLine = (last: number): boolean => isBreakByte(last) && !(last === CR && original[end] === LF)
  if (end === original.length || [original.subarray(start, end), insert].every(bytes => endsLine(lastOf(bytes)))) {
    return { from, to: end }
  }
  const limit = Math.min(ceiling, end + reach)
  const textEnd = textEndIn(original, end, limit)
  const next = textEnd < limit ? breakEndIn(original, textEnd) : textEnd
  const isWhole = next <= ceiling && (textEnd < limit || textEnd === original.length)
  return { from, to: isWhole ? next : end }
}

/**
 * How many bytes two texts have in common at the start, and in the rest at the end, without splitting a `\r\n` or, if
 * both are UTF-8, a character.
 */
function alike(old: Buffer, now: Buffer): { lead: number; trail: number } {
  let whole: boolean | undefined
  const isParted = (bytes: Buffer, at: number): boolean =>
    isInsideCrlfIn(bytes, at) || ((bytes[at]! & 0xc0) === 0x80 && (whole ??= isUtf8(old) && isUtf8(now)))
  let lead = commonLead(old, now)
  while (lead > 0 && (isParted(old, lead) || isParted(now, lead))) lead--
  let trail = commonTrail(old, now, Math.min(old.length, now.length) - lead)
  while (trail > 0 && (isParted(old, old.length - trail) || isParted(now, now.length - trail))) trail--
  return { lead, trail }
}
