// Limits the number of splices without changing the result: merges neighbours if there are very many.
import { firstIndex } from '../text/bisect.ts'
import type { Splice } from './splice.ts'

/**
 * Splices of one change that are kept apart. The history needs time and memory for each: recording a change of ten
 * thousand splices blocks a server for 50 to 100 ms, one of a million did for 9 s (measured).
 */
const MOST_SPLICES = 10_000

/**
 * Reduces a change of `original` to at most `most` splices: merges neighbours, with the text between them, the closest
 * first, and evenly if they are equally close. Returns the list itself if it isn't longer. O(n log m) for n splices,
 * where m is the largest distance in bytes.
 */
export function fewSplices(list: readonly Splice[], original: Buffer, most = MOST_SPLICES): readonly Splice[] {
  return list.length <= most ? list : groupsOf(list, most).map(group => joined(list, original, group))
}

/** Returns a function that maps the index of a splice of `list` to its index in the result of `fewSplices`. */
export function fewIndexes(list: readonly Splice[], most = MOST_SPLICES): (index: number) => number {
  if (list.length <= most) return index => index
  const groups = groupsOf(list, most)
  return index => firstIndex(groups.length, at => groups[at]!.to > index)
}

/** A range of splice indexes, `to` exclusive. */
interface Group {
  from: number
  to: number
}

/**
 * At most `most` groups: neighbours within a group are no farther apart than the smallest sufficient power of two. No
 * group has more than twice an even share of members, so that equal distances don't put everything into one group.
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
