// What an edit that was made for another state of its file would do in this one, with what the history knows of that
// state. Does not know what else can be wrong with it.
import type { EarlierState } from '../engine/history/lines-now.ts'
import type { Task } from '../engine/task.ts'
import { fail, ok, type Result } from '../result.ts'
import type { PlanMaker } from '../workers/plan.ts'
import type { FileHistory, PlannedFile } from '../workspace/api.ts'
import { unlessUnreadable } from '../workspace/errno.ts'
import type { StaleFile } from '../workspace/failure.ts'

/** The file, and the edit that expects another one. */
interface StaleEdit extends Pick<PlannedFile, 'history'> {
  /** Must not be used afterwards. */
  original: Buffer
  task: Task
}

/** The failure, with what the edit comes to now. Rejects where a thread fails. */
export async function staleNow(
  planMaker: PlanMaker,
  { original, task, history }: StaleEdit,
  stale: StaleFile
): Promise<Result<never, StaleFile>> {
  // Other edits say themselves what they are about.
  const isOfLines = task.change.operation === 'edit_lines'
  const earlier = isOfLines ? await stateExpected(stale, history) : undefined
  return fail({ ...stale, now: await planMaker.replan(original, { ...task, earlier }) })
}

/** Undefined where the history can't be read now, too: the file has changed, whatever can be told of it. */
async function stateExpected(
  { expected_hash }: StaleFile,
  history: PlannedFile['history']
): Promise<EarlierState | undefined> {
  if (expected_hash === undefined) return undefined
  const past = await unlessUnreadable(async () => ok(await history()))
  return past.ok ? stateOf(past.value, expected_hash) : undefined
}

/** The latest state of a file that had this hash; undefined where none is known. */
function stateOf({ changes, records }: FileHistory, hash: string): EarlierState | undefined {
  const byId = new Map(records.map(record => [record.edit_id, record]))
  for (let at = changes.length - 1; at >= 0; at--) {
    const { hash_before, hash_after } = byId.get(changes[at]!.edit_id) ?? {}
    if (hash_after?.startsWith(hash) === true) return { changes, at }
    if (hash_before?.startsWith(hash) === true) return { changes, at: at - 1 }
  }
  return undefined
}
