// Where two lists differ, as ranges.
import { diffArrays } from 'diff/lib/diff/array.js'

/** The items `from` to `to` (exclusive) of one list that became the items `otherFrom` to `otherTo` of the other. */
export interface ChangedRange {
  from: number
  to: number
  otherFrom: number
  otherTo: number
}

/**
 * The ranges in which two lists differ, in order, with at least one common item between two of them. Undefined if more
 * than `mostEdits` items are in only one of the lists.
 */
export function changedRanges(
  list: readonly string[],
  other: readonly string[],
  mostEdits: number
): ChangedRange[] | undefined {
  const parts = diffArrays(list as string[], other as string[], { maxEditLength: mostEdits })
  if (parts === undefined) return undefined
  const ranges: ChangedRange[] = []
  let [at, otherAt] = [0, 0]
  let open: ChangedRange | undefined
  for (const { added, removed, value } of parts) {
    if (!added && !removed) open = undefined
    else if (open === undefined) ranges.push((open = { from: at, to: at, otherFrom: otherAt, otherTo: otherAt }))
    if (!added) at += value.length
    if (!removed) otherAt += value.length
    if (open !== undefined) [open.to, open.otherTo] = [at, otherAt]
  }
  return ranges
}
