// Which lines of two texts differ, as ranges of bytes. Does not know what is done with them.
import { diffArrays } from 'diff/lib/diff/array.js'
import { isBreakByte, isInsideCrlfIn } from '../text/lines.ts'
import { commonLead, commonTrail } from './common.ts'
import { nameLines } from './line-names.ts'

/** Bytes `from` to `to` (exclusive) of one text that became bytes `otherFrom` to `otherTo` of the other. */
export interface LineHunk {
  from: number
  to: number
  otherFrom: number
  otherTo: number
}

/** How many lines may differ in a stretch without unique lines for it to be compared line by line. */
const MOST_EDITS = 200
/** Lines of two texts that are compared as a whole before we search for lines that occur once. */
const MOST_WHOLE = 4000
/** Steps of all these comparisons together; one with n differing lines takes n². About 0.2 s, measured. */
const MOST_STEPS = 2_000_000

/** The remaining steps for the comparisons of one change. */
export interface Steps {
  steps: number
}

/** One budget for all comparisons of one change. */
export const stepsOfComparison = (): Steps => ({ steps: MOST_STEPS })

/**
 * The lines in which two texts differ, in order; between two hunks at least one line is equal. For short texts with few
 * differences the result is minimal, as long as steps are `left`. Otherwise lines that occur once in each text are
 * matched, however many there are; the stretch between two of these is compared line by line only if few lines differ
 * and steps are left, and is one hunk otherwise. For texts of very many lines, everything between the common start and
 * end is one hunk. Linear in the bytes, and O(n log n) for n lines.
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

/** How many bytes two texts have in common at the start, and in the rest at the end, in whole lines. */
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

/** The hunks of texts that both begin at offset `shift`. */
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

/** Pairs of indexes of lines that occur once on each side: the longest list in the same order on both sides. */
function anchors(a: Int32Array, b: Int32Array, names: number): [number, number][] {
  const [places, otherPlaces] = [onlyPlaces(a, names), onlyPlaces(b, names)]
  // The longest increasing sequence of places in `b`: `tails[n]` is the last pair of the best sequence of n + 1 pairs.
  const pairs: [number, number][] = []
  const before: number[] = []
  const tails: number[] = []
  for (let at = 0; at < a.length; at++) {
    const name = a[at]!
    const otherAt = otherPlaces[name]!
    if (places[name]! < 0 || otherAt < 0) continue
    // Inlined `firstIndex`: calling it makes all of this take 1.1 to 1.4 times as long (100,000 lines, measured).
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

/** The place of each line; -1 if it doesn't occur, -2 if it occurs more than once. */
function onlyPlaces(lines: Int32Array, names: number): Int32Array {
  const places = new Int32Array(names).fill(-1)
  for (let at = 0; at < lines.length; at++) places[lines[at]!] = places[lines[at]!] === -1 ? at : -2
  return places
}

/**
 * Adds the hunks of a stretch of lines, and returns whether it did. If too many lines differ, adds the stretch as one
 * hunk if `anyway` is set, else nothing. Deducts the steps used from `left`.
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
