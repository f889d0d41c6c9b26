// Edits of a file that an answer names: who made them, and their state. Does not know why they are named.
import type { NamedEditOnWire } from '../../schemas/history.ts'
import { keptOf, reviewOf } from '../engine/undo/baseline.ts'
import { IndexSet } from '../engine/undo/index-set.ts'
import { undoStates } from '../engine/undo/units.ts'
import type { FileWithPast } from '../workspace/api.ts'

/** Those edits of a file that have these ids, newest first. */
export function editsOfFile(
  { changes, records, verdicts }: Pick<FileWithPast, 'changes' | 'records' | 'verdicts'>,
  ids: ReadonlySet<string>
): NamedEditOnWire[] {
  const states = undoStates(changes)
  const kept = keptOf(verdicts)
  return records
    .filter(({ edit_id }) => ids.has(edit_id))
    .reverse()
    .map(({ edit_id, batch_id, operation, at, token, agent, session, reason }) => {
      const { state, undone, count } = states.get(edit_id)!
      const review = reviewOf(undone, kept.get(edit_id) ?? new IndexSet(), count)
      return {
        edit_id,
        batch_id,
        operation,
        at: new Date(at).toISOString(),
        token,
        agent,
        session,
        reason,
        state,
        review
      }
    })
}
