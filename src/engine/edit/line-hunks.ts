// Which lines of two texts differ, as ranges of bytes. Does not know what is done with them.
import { diffArrays } from 'diff/lib/diff/array.js'
import { isBreakByte, isInsideCrlfIn } from '../text/lines.ts'
import { commonLead, commonTrail } from './common.ts'
import { nameLines } from './line-names.ts'

/** The bytes `from` to `to` (exclusive) of one text that became the bytes `otherFrom` to `otherTo` of the other. */
export interface LineHunk {
  from: number
  to: number
  otherFrom: number
  otherTo: number
}

/** Lines that only one side has, up to which a stretch without a line of its own in it is compared line by line. */
const MOST_EDITS = 200
/** Lines of two texts that are compared as a whole before lines that occur once are sought. */
const MOST_WHOLE = 4000
/** Steps of all these comparisons together; one in which n lines differ takes n². About 0.2 s, measured. */
const MOST_STEPS = 2_000_000

/** The steps that are left of those that the comparisons of one change may take. */
export interface Steps {
  steps: number
}

/** For all that is compared of one change. */
export const stepsOfComparison = (): Steps => ({ steps: MOST_STEPS })

/**
 * The lines in which two texts differ, in order; between two hunks at least one line is the same. Where few lines differ
 * in texts of few, there are no fewer that do, as long as steps are `left`. Otherwise lines that occur once in each text
 * are found whatever their number; what lies between two of these is compared line by line only where few lines differ,
 * as long as steps are left, and is one hunk otherwise. Of texts of very many lines, all between the
 * lines that they begin and end with alike is one hunk. Linear in the bytes, and O(n log n) for n lines.
 */
export function lineHunks(old: Buffer, now: Buffer, left: Steps): LineHunk[] {
  const { lead, trail } = commonLines(old, now)
  const a = old.subarray(lead, old.length - trail)
  const b = now.subarray(lead, now.length - trail)
  if (a.length === 0 && b.length === 0) return []
  const named = a.length > 0 && b.length > 0 ? nameLines(a, b) : undefined
  if (named === undefined) {
    return [{ from: lead, to: lead + a.length, otherFrom: lead, otherTo: lead + b.length }]
  }
  return hunksOf(named, lead, left)
}

/** How many bytes two texts begin, and the rest of them ends, with alike, in whole lines. */
function commonLines(a: Buffer, b: Buffer): { lead: number; trail: number } {
  const isStart = (bytes: Buffer, at: number): boolean =>
    at === 0 || (isBreakByte(bytes[at - 1]!) && !isInsideCrlfIn(bytes, at))
  const areStarts = (atA: number, atB: number): boolean => isStart(a, atA) && isStart(b, atB)
  let lead = commonLead(a, b)
  if (lead === a.length && lead === b.length) return { lead, trail: 0 }
  while (!areStarts(lead, lead)) lead--
  let trail = commonTrail(a, b, Math.min(a.length, b.length) - lead)
  while (trail > 0 && !areStarts(a.length - trail, b.length - trail)) trail--
  return { lead, trail }
}

/** The hunks of texts that begin at `shift` in both. */
function hunksOf({ a, b, count }: NonNullable<ReturnType<typeof nameLines>>, shift: number, left: Steps): LineHunk[] {
  const hunks: LineHunk[] = []
  const add = (from: number, to: number, otherFrom: number, otherTo: number): void => {
    const last = hunks.at(-1)
    const bytes = {
      from: shift + a.starts[from]!,
      to: shift + a.starts[to]!,
      otherFrom: shift + b.starts[otherFrom]!,
      otherTo: shift + b.starts[otherTo]!
    }
    if (last?.to === bytes.from && last.otherTo === bytes.otherFrom) {
      last.to = bytes.to
      last.otherTo = bytes.otherTo
    } else hunks.push(bytes)
  }
  const all = { from: 0, to: a.names.length, otherFrom: 0, otherTo: b.names.length }
  if (all.to + all.otherTo <= MOST_WHOLE && compareStretch(a.names, b.names, all, left, add)) return hunks
  let [from, otherFrom] = [0, 0]
  for (const [at, otherAt] of [...anchors(a.names, b.names, count), [a.names.length, b.names.length] as const]) {
    const stretch = { from, to: at, otherFrom, otherTo: otherAt }
    compareStretch(a.names, b.names, stretch, left, add, true)
    from = at + 1
    otherFrom = otherAt + 1
  }
  return hunks
}

/** Pairs of indexes of lines that each side has once, the most that are in one order on both sides. */
function anchors(a: Int32Array, b: Int32Array, names: number): [number, number][] {
  const [places, otherPlaces] = [onlyPlaces(a, names), onlyPlaces(b, names)]
  // The longest rising run of places in `b`: `tails[n]` is the pair that the best run of n + 1 pairs ends with.
  const pairs: [number, number][] = []
  const before: number[] = []
  const tails: number[] = []
  for (let at = 0; at < a.length; at++) {
    const name = a[at]!
    const otherAt = otherPlaces[name]!
    if (places[name]! < 0 || otherAt < 0) continue
    // As `firstIndex`, with which all of this takes 1.1 to 1.4 times as long (100,000 lines, measured).
    let [low, high] = [0, tails.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (pairs[tails[middle]!]![1] < otherAt) low = middle + 1
      else high = middle
    }
    before.push(low === 0 ? -1 : tails[low - 1]!)
    tails[low] = pairs.push([at, otherAt]) - 1
  }
  const run: [number, number][] = []
  for (let last = tails.at(-1) ?? -1; last >= 0; last = before[last]!) run.push(pairs[last]!)
  return run.reverse()
}

/** Where each line stands; -1 where it doesn't, -2 where it does more than once. */
function onlyPlaces(lines: Int32Array, names: number): Int32Array {
  const places = new Int32Array(names).fill(-1)
  for (let at = 0; at < lines.length; at++) places[lines[at]!] = places[lines[at]!] === -1 ? at : -2
  return places
}

/**
 * Adds the hunks of a stretch of lines, and says whether it did. Where too many lines differ, it does so only if the
 * stretch is to be added `anyway`, as one hunk. Takes what steps that takes from those that are left.
 */
function compareStretch(
  a: Int32Array,
  b: Int32Array,
  { from, to, otherFrom, otherTo }: LineHunk,
  left: Steps,
  add: (from: number, to: number, otherFrom: number, otherTo: number) => void,
  anyway = false
): boolean {
  while (from < to && otherFrom < otherTo && a[from] === b[otherFrom]) {
    from++
    otherFrom++
  }
  while (from < to && otherFrom < otherTo && a[to - 1] === b[otherTo - 1]) {
    to--
    otherTo--
  }
  if (from === to && otherFrom === otherTo) return true
  const most = Math.min(MOST_EDITS, Math.floor(Math.sqrt(left.steps)))
  const isPlain = from === to || otherFrom === otherTo || Math.abs(to - from - (otherTo - otherFrom)) > most
  const parts = isPlain
    ? undefined
    : diffArrays([...a.subarray(from, to)], [...b.subarray(otherFrom, otherTo)], { maxEditLength: most })
  if (!isPlain) left.steps -= parts === undefined ? most ** 2 : countEdits(parts) ** 2
  if (parts === undefined) {
    if (anyway) add(from, to, otherFrom, otherTo)
    return anyway
  }
  for (const { added, removed, count } of parts) {
    const [end, otherEnd] = [from + (added ? 0 : count), otherFrom + (removed ? 0 : count)]
    if (added || removed) add(from, end, otherFrom, otherEnd)
    from = end
    otherFrom = otherEnd
  }
  return true
}

const countEdits = (parts: readonly { added: boolean; removed: boolean; count: number }[]): number =>
  parts.reduce((sum, { added, removed, count }) => (added || removed ? sum + count : sum), 0)
