// A plan made from known splices.
import { LineIndex } from '../text/line-index.ts'
import type { Plan } from './plan.ts'
import type { Placed } from './piece-table.ts'
import { placedBytes, type Splices } from './splice.ts'

/** The plan that applies exactly these splices to `original`. */
export function planOfSplices(original: Buffer, splices: Splices): Plan {
  const places = placedBytes(splices.list)
  const placements = splices.list.map(({ start, end, insert }, i): Placed => {
    const operation = start === end ? 'insert' : insert.length === 0 ? 'delete' : 'replace'
    return {
      edit_index: 0,
      operation,
      ...places[i]!,
      inserted_by_edit: undefined,
      old: original.subarray(start, end),
      insert,
      span: undefined
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
