// Moves among the edits that are meant. The history has a move as two edits of one batch, one for each path; both are
// undone or redone together, so that exactly one file has the content. Does not know what is done with them.
import { fail, ok, type Result } from '../result.ts'
import type { EditRecord } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'
import type { Meant } from './meant-edits.ts'
import type { HistoryFailure, UndoVerb } from './operation.ts'
import { findByIds, isHalf, otherHalfOf, pathOf } from './past-edits.ts'

/**
 * Adds the other half of each move when one half, or part of it, is among the edits. `known`: records of some of them.
 * NOTHING_TO_UNDO if the caller may not see the other half, or it isn't kept any more.
 */
export async function withMoves(
  workspace: Workspace,
  verb: UndoVerb,
  meant: readonly Meant[],
  known: readonly EditRecord[]
): Promise<Result<Meant[], HistoryFailure | FileFailure>> {
  const ids = new Set(meant.map(({ selection }) => selection.edit_id))
  const there = new Set(known.map(({ edit_id }) => edit_id))
  const found = await findByIds(
    workspace,
    [...ids].filter(id => !there.has(id))
  )
  if (!found.ok) return found
  const records = [...known, ...found.value.edits.map(({ record }) => record)]
  const halves = new Map(records.filter(isHalf).map(record => [record.edit_id, record]))
  /** Batches that were already read: one batch may have many moves. */
  const batches = new Map<string, readonly EditRecord[]>()
  const whole: Meant[] = []
  for (const one of meant) {
    const { edit_id } = one.selection
    const half = halves.get(edit_id)
    if (half === undefined) {
      whole.push(one)
      continue
    }
    const other = await otherHalfOf(workspace, half, batches)
    if (!other.ok) return other
    if (other.value === undefined) {
      return fail({ code: 'NOTHING_TO_UNDO', verb, reason: 'half_of_move', edit_ids: [edit_id] })
    }
    const { edit_id: other_half } = other.value
    whole.push({ path: one.path, selection: { edit_id }, other_half })
    if (ids.has(other_half)) continue
    ids.add(other_half)
    const selection = { edit_id: other_half }
    whole.push({ path: pathOf(other.value), selection, other_half: edit_id, added: true })
  }
  return ok(whole)
}
