// After a miss: whether the caller's own edit of that file was taken back by somebody, so that it isn't made again. Does
// not know why an edit missed, or sentences.
import { standingOf } from '../engine/history/units.ts'
import type { Author, EditRecord, FileHistory } from '../workspace/api.ts'
import type { Planner } from '../workspace/workspace.ts'
import type { Failed, TakenBackEdit } from './operation.ts'
import { isOwn } from './past-edits.ts'

/** The failures of an edit that was made for another text than the file has. */
const MISSES = ['STALE_FILE', 'NO_MATCH', 'ALREADY_APPLIED']

/**
 * A planner that looks for it where it fails so, and what adds what was found to the failure of the call. The history is
 * read only then.
 */
export function tellingTakenBack<T, F extends { code: string }>(
  caller: Author | undefined,
  planner: Planner<T, F>
): { planner: Planner<T, F>; told: (failed: Failed) => Failed } {
  let taken_back: TakenBackEdit | undefined
  return {
    async planner(original, file) {
      const planned = await planner(original, file)
      if (planned.ok || caller?.agent === undefined || !MISSES.includes(planned.failure.code)) return planned
      taken_back = takenBack(await file.history(), caller)
      return planned
    },
    told: failed => (taken_back === undefined ? failed : { ...failed, taken_back })
  }
}

/** The caller's edit that was taken back last, if somebody else did that and it isn't made again since. */
export function takenBack({ changes, records }: FileHistory, caller: Author): TakenBackEdit | undefined {
  const standing = standingOf(changes)
  const known = new Map(records.map(record => [record.edit_id, record]))
  const undoOf = ({ edit_id }: EditRecord): EditRecord | undefined => {
    const { state, by = '' } = standing.get(edit_id) ?? {}
    return state === undefined || state === 'applied' ? undefined : known.get(by)
  }
  const own = records.findLast(record => {
    const undo = undoOf(record)
    return undo?.operation === 'undo' && isOwn(record, caller) && !isOwn(undo, caller)
  })
  const undo = own && undoOf(own)
  if (own === undefined || undo === undefined) return undefined
  const { edit_id: undone_by, agent, reason: note } = undo
  return {
    edit_id: own.edit_id,
    undone_by,
    ...(agent !== undefined && { agent }),
    ...(note !== undefined && { note })
  }
}
