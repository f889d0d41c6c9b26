// A bounded number of splices for the same result: where there are very many, neighbours are one. Does not know what
// they are for.
import { firstIndex } from '../text/bisect.ts'
import type { Splice } from './splice.ts'

/**
 * Splices of one change that are kept apart. What the history does takes time and memory for each: a change of ten
 * thousand holds up a server for 50 to 100 ms where it is recorded, one of a million did for 9 s (measured).
 */
const MOST_SPLICES = 10_000

/**
 * The same change of `original` in at most `most` splices: neighbours become one, with the text between them, the
 * nearest first, and evenly where they are equally near. The list itself where it isn't longer. O(n log m) for n
 * splices, where m is the widest distance in bytes.
 */
export function fewSplices(list: readonly Splice[], original: Buffer, most = MOST_SPLICES): readonly Splice[] {
  return list.length <= most ? list : groupsOf(list, most).map(group => joined(list, original, group))
}

/** Gives the index that the splice with this index, of `list`, has in what `fewSplices` makes of it. */
export function fewIndexes(list: readonly Splice[], most = MOST_SPLICES): (index: number) => number {
  if (list.length <= most) return index => index
  const groups = groupsOf(list, most)
  return index => firstIndex(groups.length, at => groups[at]!.to > index)
}

/** Splices by their index, `to` exclusive. */
interface Group {
  from: number
  to: number
}

/**
 * At most `most` groups: within each all splices are as near as the least power of two allows. None has more than twice
 * the members that an even share has, so that equal distances don't make one group of all.
 */
function groupsOf(list: readonly Splice[], most: number): Group[] {
  const members = 2 * Math.ceil(list.length / most)
  for (let distance = 1; ; distance *= 2) {
    const groups: Group[] = []
    for (let i = 0; i < list.length && groups.length <= most; i++) {
      const last = groups.at(-1)
      if (last === undefined || i - last.from === members || list[i]!.start - list[i - 1]!.end > distance) {
        groups.push({ from: i, to: i + 1 })
      } else last.to = i + 1
    }
    if (groups.length <= most) return groups
  }
}

function joined(list: readonly Splice[], original: Buffer, { from, to }: Group): Splice {
  if (to - from === 1) return list[from]!
  const parts: Buffer[] = []
  for (let i = from; i < to; i++) {
    if (i > from) parts.push(original.subarray(list[i - 1]!.end, list[i]!.start))
    parts.push(list[i]!.insert)
  }
  return { start: list[from]!.start, end: list[to - 1]!.end, insert: Buffer.concat(parts) }
}
