// An edit that was made for another version of its file: carried over to the present one, or what it would do there.
// Does not know what else can be wrong with the edit.
import { MAX_OTHERS } from '../../schemas/outcome.ts'
import { isRecordedId } from '../engine/undo/change.ts'
import type { EarlierState } from '../engine/undo/earlier-text.ts'
import type { ChangesSince } from '../engine/undo/rebase.ts'
import type { UnencodableText } from '../engine/failure.ts'
import type { Task } from '../engine/task.ts'
import { fail, ok, type Result } from '../result.ts'
import type { PlanMaker } from '../workers/plan.ts'
import type { FileHistory, Planned, PlannedFile } from '../workspace/api.ts'
import { decodedOf } from '../workspace/decoded-text.ts'
import { unlessUnreadable } from '../workspace/errno.ts'
import type { OtherChanges, StaleFile } from '../workspace/failure.ts'
import type { Reads } from '../workspace/reads.ts'
import { shortHash } from './file-hash.ts'
import type { Reported } from './syntax-guard.ts'

/** The file, and an edit that expects another version of it. */
interface StaleEdit extends PlannedFile {
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
  const earlier = isOfLines ? (await versionIn(history, stale))?.state : undefined
  return fail({ ...stale, now: await planMaker.replan(original, { ...task, earlier }) })
}

/**
 * Carries the edit over from the version that it expects: one of the history, or one that was read lately. If that
 * isn't possible, the failure says what the edit would do now, and what was changed since. Rejects if a thread fails.
 */
export async function rebased(
  { planMaker, reads }: { planMaker: PlanMaker; reads: Reads },
  edit: StaleEdit,
  stale: StaleFile
): Promise<Result<Planned<Reported>, StaleFile | UnencodableText>> {
  const { original, task, ...file } = edit
  const version = await versionOf(file, stale, reads)
  if (version === undefined) return staleNow(planMaker, edit, stale)
  const { path, exists } = file
  const made = await planMaker.rebase(
    original,
    { ...task, earlier: version.state, most_since: MAX_OTHERS },
    { path, exists }
  )
  if (!made.ok) {
    const { failure } = made
    if (failure.code !== 'NOT_REBASED') return fail(failure)
    return fail({ ...stale, now: failure.now, since: failure.since && othersOf(failure.since, version) })
  }
  const { since: changes, earlier, description, ...plan } = made.value
  // What others did is said with the first step of a batch.
  const since = file.rebased === undefined ? changes : { newest: [], total: 0 }
  const from = shortHash(stale.expected_hash!)
  return ok({
    ...plan,
    rebased: earlier,
    description: { ...description, rebased: { from, ...othersOf(since, version) } }
  })
}

/** A version of a file; `history`: with its later changes, if these are known. */
interface Version {
  state: EarlierState | { text: Buffer }
  history?: FileHistory
}

async function versionOf(
  { rebased, history, path, resolved_path = path }: PlannedFile,
  stale: StaleFile,
  reads: Reads
): Promise<Version | undefined> {
  if (rebased !== undefined) return { state: { text: rebased } }
  const known = await versionIn(history, stale)
  if (known !== undefined) return known
  const read = reads.textOf(resolved_path, stale.expected_hash ?? '')
  if (read === undefined) return undefined
  return { state: { text: (await decodedOf(read))?.text ?? read } }
}

/** The latest version with the expected hash; undefined: none is known, or the history can't be read. */
async function versionIn(
  history: PlannedFile['history'],
  { expected_hash }: StaleFile
): Promise<{ state: EarlierState; history: FileHistory } | undefined> {
  if (expected_hash === undefined) return undefined
  const past = await unlessUnreadable(async () => ok(await history()))
  const state = past.ok ? stateOf(past.value, expected_hash) : undefined
  return past.ok && state !== undefined ? { state, history: past.value } : undefined
}

/** The latest state with this hash; undefined: none is known. */
function stateOf({ changes, records }: FileHistory, hash: string): EarlierState | undefined {
  const byId = new Map(records.map(record => [record.edit_id, record]))
  for (let at = changes.length - 1; at >= 0; at--) {
    const { hash_before, hash_after } = byId.get(changes[at]!.edit_id) ?? {}
    if (hash_after?.startsWith(hash) === true) return { changes, at }
    if (hash_before?.startsWith(hash) === true) return { changes, at: at - 1 }
  }
  return undefined
}

/** Changes since a version as answers list them. */
function othersOf({ newest, total }: ChangesSince, { history }: Version): OtherChanges {
  const others = newest.map(({ edit_id, ...change }) => ({
    edit_id: isRecordedId(edit_id) ? edit_id : undefined,
    agent: history?.records.find(record => record.edit_id === edit_id)?.agent,
    ...change
  }))
  return { others, more_others: total > newest.length ? total - newest.length : undefined }
}
