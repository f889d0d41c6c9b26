// What an edit for an earlier state of its file would do in the present state, using what the history knows about the
// earlier one. Does not know what else can be wrong with the edit.
import type { EarlierState } from '../engine/undo/lines-now.ts'
import type { Task } from '../engine/task.ts'
import { fail, ok, type Result } from '../result.ts'
import type { PlanMaker } from '../workers/plan.ts'
import type { FileHistory, PlannedFile } from '../workspace/api.ts'
import { unlessUnreadable } from '../workspace/errno.ts'
import type { StaleFile } from '../workspace/failure.ts'

/** The file, and an edit that expects another state of it. */
interface StaleEdit extends Pick<PlannedFile, 'history'> {
  /** Must not be used afterwards. */
  original: Buffer
  task: Task
}

/** The failure, with what the edit would do now. Rejects if a thread fails. */
export async function staleNow(
  planMaker: PlanMaker,
  { original, task, history }: StaleEdit,
  stale: StaleFile
): Promise<Result<never, StaleFile>> {
  // Other edits name the text that they change.
  const isOfLines = task.change.operation === 'edit_lines'
  const earlier = isOfLines ? await stateExpected(stale, history) : undefined
  return fail({ ...stale, now: await planMaker.replan(original, { ...task, earlier }) })
}

/** Undefined also if the history can't be read: the file has changed in any case. */
async function stateExpected(
  { expected_hash }: StaleFile,
  history: PlannedFile['history']
): Promise<EarlierState | undefined> {
  if (expected_hash === undefined) return undefined
  const past = await unlessUnreadable(async () => ok(await history()))
  return past.ok ? stateOf(past.value, expected_hash) : undefined
}

/** The latest state of a file that had this hash; undefined if none is known. */
function stateOf({ changes, records }: FileHistory, hash: string): EarlierState | undefined {
  const byId = new Map(records.map(record => [record.edit_id, record]))
  for (let at = changes.length - 1; at >= 0; at--) {
    const { hash_before, hash_after } = byId.get(changes[at]!.edit_id) ?? {}
    if (hash_after?.startsWith(hash) === true) return { changes, at }
    if (hash_before?.startsWith(hash) === true) return { changes, at: at - 1 }
  }
  return undefined
}
