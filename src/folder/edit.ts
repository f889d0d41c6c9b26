// Changes a file that is there: the checks, the plan and, under its lock, the writing. Does not know what a plan does.
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  ChangeOptions,
  Edited,
  FileTarget,
  Planned,
  PlannedFile,
  Planner,
  WorkspaceOptions
} from '../workspace/api.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import type { BatchRecords } from './commit/batch-record.ts'
import { attributesOf, canGive, commit, lossesOf, type Change } from './commit/commit.ts'
import { codeOf } from '../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../workspace/failure.ts'
import { hasSeveralNames, writeInPlace } from './commit/in-place.ts'
import type { Intents } from './commit/intents.ts'
import type { Journal } from './commit/journal.ts'
import { remove } from './commit/remove.ts'
import { announce, auditDone, auditedBy, notDone } from '../change/announce.ts'
import type { FileRecorder, Recorder } from '../recording/recorder.ts'
import type { Lock } from '../workspace/queue.ts'
import type { Locks } from './locks/lock.ts'
import { OWN_UID } from './own-ids.ts'
import { split } from '../workspace/path.ts'
import { mayWrite, type Missing, type Pin, type Root } from './root/pin.ts'
import { measured, pastOf, recordedBy, runPlan, staleness } from '../change/run-plan.ts'
import type { RequestedPath, FailedFile, FileResult } from '../workspace/results.ts'
import { failedBy, type FileAccess, type FoundFile, type WriteMode } from './file-access.ts'
import { areSame, digestOf } from '../workspace/content.ts'
import type { Snapshot } from './text-file.ts'
import type { Turns } from './turns.ts'
import { withSnapshot } from './with-snapshot.ts'

/** What every change works with. */
export interface WriteContext {
  options: WorkspaceOptions
  root: Root
  intents: Intents
  batches: BatchRecords
  journal: Journal
  locks: Locks
  files: FileAccess
  buffers: BufferPool
  turns: Turns
  recorder: Recorder
}

/** One request to change a file. */
export interface FileEditRequest<T, F, D, Target extends FileTarget = FileTarget> {
  asked: RequestedPath
  target: Target
  options: ChangeOptions<D>
  plan: Planner<T, F>
}

export function editFile<T, F>(
  context: WriteContext,
  request: FileEditRequest<T, F, Edited<T>>
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const notFound = (absent: Missing): FailedFile<FileFailure> => fail(context.files.notFound(absent, 'edit'))
  const change = () =>
    context.files.change<Edited<T>, F | FileFailure>(request.asked, request.options, {
      admit: ({ absent }) => (absent === null ? null : notFound(absent)),
      work: async ({ pin, info, absent }, mode) =>
        pin === null ? notFound(absent) : changeFile(context, request, { pin, info, absent, mode })
    })
  return request.options.dry_run ? change() : context.turns.take(change)
}

/** The file that is to be changed, and whether it really will be. */
export type FileToChange = FoundFile & { mode: WriteMode }

/** Takes what the change needs, the memory and the file's bytes, and gives it back. */
export async function changeFile<T, F>(
  context: WriteContext,
  request: FileEditRequest<T, F, Edited<T>>,
  file: FileToChange
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const { files } = context
  const { pin } = file
  const unwritable = refusalToWrite(pin, file.mode.name === 'dry_run')
  if (unwritable !== null) return { ...fail(unwritable), ...(await files.hash(pin)) }
  return withSnapshot(context, pin, snapshot => changeContent(context, request, file, snapshot))
}

/** The checks of what was read, the plan and, in a commit, the writing. */
async function changeContent<T, F>(
  context: WriteContext,
  { asked, target, plan, options }: FileEditRequest<T, F, Edited<T>>,
  { pin, info, mode }: FileToChange,
  snapshot: Snapshot
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const file_hash = snapshot.digest
  const failed = <G>(failure: G): FailedFile<G> => ({ ...fail(failure), file_hash })
  if (context.options.requireHash && target.expected_hash === undefined) {
    return failed({ code: 'PRECONDITION_REQUIRED' })
  }
  const encoding = binaryEncodingOf(snapshot.bytes, snapshot.hasNul)
  if (encoding !== null) return failed({ code: 'BINARY_FILE', encoding, file_size: snapshot.bytes.length })
  const stale = staleness(target, file_hash)
  const { origin = { operation: 'edit' }, outcome } = options
  const file = {
    path: pin.relative,
    digest: snapshot.digest,
    bytes: () => snapshot.bytes,
    // A file that was replaced may still look as it did: where times are coarse, its contents are compared.
    unchanged: () => pin.inPlace() && snapshot.unchanged(),
    lock: mode.name === 'commit' ? mode.lock : null
  }
  const recorder = context.recorder.begin(file)
  const listeners = { file, recorder, audited: auditedBy(context, options)?.change(file.path, file.digest) }
  let hashing: Promise<unknown> | undefined
  try {
    const attributes = attributesOf(pin)
    const known: PlannedFile = { path: asked.path, exists: true, attributes, history: () => pastOf(recorder) }
    if (info.resolved_path !== undefined) known.resolved_path = info.resolved_path
    if (stale !== null) known.stale = stale
    const made = await runPlan(plan, known, snapshot)
    if (!made.ok) return failed(made.failure)
    if (stale !== null) return failed(stale)
    const { planned, content, digest } = made.value
    const { description, original, removes } = planned
    hashing = digest
    const unremovable = removes === true ? refusalToRemoveAgain(context, options) : null
    if (unremovable !== null) return failed(unremovable)
    if (original !== undefined) snapshot.bytes = original
    const changed = removes === true || !areSame(content.pieces, content.size, snapshot.bytes)
    /**
     * What is answered once it is done; `new_hash` is known by then. No member is set twice: that gives each of these
     * objects a shape of its own, and whoever reads them 25 us more to do.
     */
    const edited = (
      new_hash: string,
      others: Pick<Edited<T>, 'file_hash' | 'warnings' | 'edit_id' | 'write_strategy' | 'removed'>
    ): Edited<T> => ({
      path: asked.path,
      changed,
      hash_before: file_hash,
      new_hash,
      file_size: content.size,
      description,
      ...info,
      ...others
    })
    if (mode.name === 'dry_run' || !changed) {
      const would = edited(await digest, {
        file_hash,
        warnings: changed && removes !== true ? lossesOf(pin, 'rename') : []
      })
      if (mode.name === 'dry_run') return ok(would)
      const named = (edit_id = recorder?.edit_id) => ({ ...would, ...(edit_id !== undefined && { edit_id }) })
      await recorder?.note(origin, (texts, edit_id) => outcome?.(named(edit_id), texts), planned.toggles)
      return ok(named())
    }
    const record = async (temp?: string): Promise<void> => {
      const new_hash = await digest
      await announce(listeners, {
        origin,
        planned,
        digest: removes === true ? null : new_hash,
        size: content.size,
        ...(removes === true && { attributes }),
        ...(temp !== undefined && { temp }),
        outcome: (edit_id, texts) =>
          outcome?.(edited(new_hash, { file_hash: new_hash, edit_id, warnings: lossesOf(pin, 'rename') }), texts)
      })
    }
    // While the digest is still being made, the result is written; nothing gets its name before both are done.
    const written = await measured(context, content.size, () =>
      write(context, { pin, snapshot, digest, pieces: content.pieces, size: content.size, record }, planned, mode.lock)
    )
    const new_hash = await digest
    if (written.ok) {
      auditDone(listeners)
      await reportSave(context, recorder, pin, snapshot, written.value)
      recorder?.done(removes === true ? null : content.pieces, new_hash)
      const { warnings, ...how } = written.value
      return ok(edited(new_hash, { file_hash: new_hash, ...how, ...recordedBy(recorder, warnings) }))
    }
    notDone(listeners)
    return { ...written, ...(await context.files.currentInfo({ relative: pin.relative, isFolder: false })) }
  } catch (error) {
    notDone(listeners)
    return failedBy(error, { file_hash })
  } finally {
    // Where the writing failed first: the next request must not get the buffer while its bytes are still being hashed.
    await hashing?.catch(() => {})
  }
}

/**
 * Keeps, and reports, what another program saved between the last look and the rename. Never throws: the change is
 * made.
 */
export async function reportSave(
  { options }: WriteContext,
  recorder: FileRecorder | null,
  pin: Pin,
  snapshot: Snapshot,
  { warnings, write_strategy }: { warnings: FileWarning[]; write_strategy?: 'in_place' }
): Promise<void> {
  const path = pin.relative.toString()
  try {
    const save = write_strategy === undefined ? snapshot.written() : null
    if (save === null) return
    warnings.push('save_replaced')
    options.report?.({ event: 'save_replaced', path })
    await recorder?.keepSave(save, await digestOf([save], save.length))
  } catch (error) {
    // It is too large for the memory, or can't be read.
    if (!warnings.includes('save_replaced')) warnings.push('save_replaced')
    options.report?.({ event: 'save_lost', path, reason: codeOf(error) })
  }
}

async function write(
  { options, root, intents, journal, locks }: WriteContext,
  change: Change,
  { removes, made_folders = [] }: Pick<Planned<unknown>, 'removes' | 'made_folders'>,
  lock: Lock
): Promise<Result<{ warnings: FileWarning[]; write_strategy?: 'in_place'; removed?: true }, FileFailure>> {
  const { durability, report = () => {} } = options
  const context = { root, intents, journal, locks, durability, lock, report }
  if (removes === true) {
    const removed = await remove(context, change, made_folders)
    return removed.ok ? ok({ warnings: removed.value, removed: true }) : removed
  }
  const renamed = await commit(context, change)
  if (renamed.ok) return ok({ warnings: renamed.value })
  if (renamed.failure.code !== 'UNRENAMABLE') return fail(renamed.failure)
  const written = await writeInPlace(context, change)
  return written.ok ? ok({ warnings: written.value, write_strategy: 'in_place' }) : written
}

/** Whoever may not remove files may not repeat a removal that an undo took back either. Null: nothing is against it. */
export const refusalToRemoveAgain = (
  { options }: WriteContext,
  { origin, may_delete = options.allowDelete }: Pick<ChangeOptions<unknown>, 'origin' | 'may_delete'>
): FileFailure | null =>
  origin?.operation === 'redo' && !may_delete ? { code: 'DELETE_NOT_ALLOWED', reason: 'setting' } : null

/**
 * A rename would silently replace a file that nobody was meant to write, so its mode is asked, for root too. Where the
 * mode lets its owner write it, and that is this process, only its file system can be against it, which says so when it
 * is written: unless `asks`, that is left to it, as the question costs as much as a read.
 */
export function refusalToWrite(pin: Pin, asks = true): FileFailure | null {
  const { mode, uid } = pin.stat
  if ((mode & 0o200n) === 0n) return { code: 'PERMISSION_DENIED', reason: 'read_only_file' }
  if (!asks && Number(uid) === OWN_UID) return null
  if (asks && hasSeveralNames(pin) && !(canGive(attributesOf(pin)) && mayWrite(split(pin.real).folder))) {
    return { code: 'PERMISSION_DENIED', reason: 'several_names' }
  }
  return pin.writable() ? null : { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
}
