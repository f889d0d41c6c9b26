// Which lines of two texts differ, as ranges of bytes. Does not know what is done with them.
import { diffArrays } from 'diff/lib/diff/array.js'
import { breakEndIn, textEndIn } from '../text/lines.ts'

/** The bytes `from` to `to` (exclusive) of one text that became the bytes `otherFrom` to `otherTo` of the other. */
export interface LineHunk {
  from: number
  to: number
  otherFrom: number
  otherTo: number
}

/** Lines that only one side has, up to which a stretch without a line of its own in it is compared line by line. */
const MOST_EDITS = 200

/**
 * The lines in which two texts differ, in order; between two hunks at least one line is the same. Lines that occur once
 * in each text are found whatever their number; what lies between two of these is compared line by line only where few
 * lines differ, and is one hunk otherwise. O(n log n) for n lines.
 */
export function lineHunks(old: Buffer, now: Buffer): LineHunk[] {
  const names = new Map<string, number>()
  const [a, b] = [numbered(old, names), numbered(now, names)]
  const hunks: LineHunk[] = []
  const add = (from: number, to: number, otherFrom: number, otherTo: number): void => {
    const last = hunks.at(-1)
    const bytes = {
      from: a.starts[from]!,
      to: a.starts[to]!,
      otherFrom: b.starts[otherFrom]!,
      otherTo: b.starts[otherTo]!
    }
    if (last?.to === bytes.from && last.otherTo === bytes.otherFrom) {
      last.to = bytes.to
      last.otherTo = bytes.otherTo
    } else hunks.push(bytes)
  }
  let [from, otherFrom] = [0, 0]
  for (const [at, otherAt] of [...anchors(a.lines, b.lines, names.size), [a.lines.length, b.lines.length] as const]) {
    compareStretch(a.lines, b.lines, { from, to: at, otherFrom, otherTo: otherAt }, add)
    from = at + 1
    otherFrom = otherAt + 1
  }
  return hunks
}

/** The lines of a text as numbers, the same for the same line; where each begins, and where the last one ends. */
function numbered(text: Buffer, names: Map<string, number>): { lines: number[]; starts: number[] } {
  const lines: number[] = []
  const starts = [0]
  for (let at = 0; at < text.length;) {
    const textEnd = textEndIn(text, at)
    const end = textEnd === text.length ? textEnd : breakEndIn(text, textEnd)
    const line = text.toString('latin1', at, end)
    let name = names.get(line)
    if (name === undefined) names.set(line, (name = names.size))
    lines.push(name)
    starts.push((at = end))
  }
  return { lines, starts }
}

/** Pairs of indexes of lines that each side has once, the most that are in one order on both sides. */
function anchors(a: readonly number[], b: readonly number[], names: number): [number, number][] {
  const places = [placesOf(a, names), placesOf(b, names)] as const
  // The longest rising run of places in `b`: `tails[n]` is the pair that the best run of n + 1 pairs ends with.
  const pairs: [number, number][] = []
  const before: number[] = []
  const tails: number[] = []
  for (let at = 0; at < a.length; at++) {
    const name = a[at]!
    const otherAt = places[1][name]!
    if (places[0][name]! < 0 || otherAt < 0) continue
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
function placesOf(lines: readonly number[], names: number): Int32Array {
  const places = new Int32Array(names).fill(-1)
  for (let at = 0; at < lines.length; at++) places[lines[at]!] = places[lines[at]!] === -1 ? at : -2
  return places
}

/** Adds the hunks of a stretch of lines. */
function compareStretch(
  a: readonly number[],
  b: readonly number[],
  { from, to, otherFrom, otherTo }: LineHunk,
  add: (from: number, to: number, otherFrom: number, otherTo: number) => void
): void {
  while (from < to && otherFrom < otherTo && a[from] === b[otherFrom]) {
    from++
    otherFrom++
  }
  while (from < to && otherFrom < otherTo && a[to - 1] === b[otherTo - 1]) {
    to--
    otherTo--
  }
  if (from === to && otherFrom === otherTo) return
  const isPlain = from === to || otherFrom === otherTo
  const parts = isPlain
    ? undefined
    : diffArrays(a.slice(from, to), b.slice(otherFrom, otherTo), { maxEditLength: MOST_EDITS })
  if (parts === undefined) {
    add(from, to, otherFrom, otherTo)
    return
  }
  for (const { added, removed, count } of parts) {
    const [end, otherEnd] = [from + (added ? 0 : count), otherFrom + (removed ? 0 : count)]
    if (added || removed) add(from, end, otherFrom, otherEnd)
    from = end
    otherFrom = otherEnd
  }
}
