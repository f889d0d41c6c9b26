// A plan made of splices that are known already. Does not know where they come from.
import { LineIndex } from '../text/line-index.ts'
import type { Plan } from './plan.ts'
import type { Placed } from './piece-table.ts'
import type { Splices } from './splice.ts'

/** The plan of `original` that makes just these splices of it. */
export function planOfSplices(original: Buffer, splices: Splices): Plan {
  let shift = 0
  const placements = splices.list.map(({ start, end, insert }): Placed => {
    const new_start = start + shift
    shift += insert.length - (end - start)
    const operation = start === end ? 'insert' : insert.length === 0 ? 'delete' : 'replace'
    return {
      edit_index: 0,
      operation,
      start,
      end,
      inserted_by_edit: undefined,
      old: original.subarray(start, end),
      insert,
      span: undefined,
      new_start,
      new_end: new_start + insert.length
    }
  })
  return {
    splices,
    line_index: new LineIndex(original),
    pieces: splices.apply(original),
    placements,
    edits_applied: [],
    left_alone: [],
    newTextWarnings: []
  }
}
