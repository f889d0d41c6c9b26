// Creates a file where there is none, or replaces the one whose hash was given. Does not know what a plan does;
// commit-new.ts and edit.ts touch the disk.
import { fail, ok } from '../result.ts'
import type { Created, CreateTarget, Edited } from '../workspace/api.ts'
import { changeFile, type FileEditRequest, type FileToChange, type WriteContext } from './edit.ts'
import { announce, auditDone, auditedBy, notDone } from '../change/announce.ts'
import { alreadyThere, measured, pastOf, recordedBy, refusalToReplace, runPlan } from '../change/run-plan.ts'
import { codeOf } from '../workspace/errno.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { commitNew, foldersBetween } from './commit/commit-new.ts'
import { refusalOfName } from '../workspace/odd-name.ts'
import { namesFolder, split } from '../workspace/path.ts'
import { mayWrite, type Missing } from './root/pin.ts'
import type { FileInfo, FileResult } from '../workspace/results.ts'
import { failedBy, MOVED, type WriteMode } from './file-access.ts'

type CreateRequest<T, F> = FileEditRequest<T, F, Created<T>, CreateTarget>

export function createFile<T, F>(
  context: WriteContext,
  request: CreateRequest<T, F>
): Promise<FileResult<Created<T>, F | FileFailure>> {
  const { asked, target, options } = request
  return context.files.change<Created<T>, F | FileFailure>(asked, options, {
    async admit({ pin, absent }) {
      const refusal = pin === null ? refusalToMake(context, absent, target) : refusalToReplace(target)
      if (refusal === null) return null
      return pin === null ? fail(refusal) : { ...fail(refusal), ...(await context.files.hash(pin)) }
    },
    work: (found, mode) =>
      found.pin === null
        ? makeFile(context, request, { absent: found.absent, mode })
        : replaceFile(context, request, { ...found, mode })
  })
}

async function replaceFile<T, F>(
  context: WriteContext,
  request: CreateRequest<T, F>,
  file: FileToChange
): Promise<FileResult<Created<T>, F | FileFailure>> {
  const refusal = refusalToReplace(request.target)
  if (refusal !== null) return { ...fail(refusal), ...(await context.files.hash(file.pin)) }
  const replaced = (edited: Edited<T>): Created<T> => ({ ...edited, created: false })
  const { options } = request
  const changed = await changeFile<T, F>(
    context,
    {
      ...request,
      options: {
        origin: { operation: 'create' },
        ...options,
        outcome: (edited, texts) => options.outcome?.(replaced(edited), texts)
      }
    },
    file
  )
  return changed.ok ? ok(replaced(changed.value)) : changed
}

async function makeFile<T, F>(
  context: WriteContext,
  { asked, target, plan, options: changeOptions }: CreateRequest<T, F>,
  { absent, mode }: { absent: Missing; mode: WriteMode }
): Promise<FileResult<Created<T>, F | FileFailure | typeof MOVED>> {
  const { options, root, intents, files } = context
  const { origin = { operation: 'create' }, outcome } = changeOptions
  let info: FileInfo = {}
  try {
    const refusal = refusalToMake(context, absent, target)
    if (refusal !== null) return fail(refusal)
    if (!absent.relative.equals(asked.relative)) info = { resolved_path: absent.relative.toString() }
    const file = {
      path: absent.relative,
      digest: null,
      bytes: () => Buffer.alloc(0),
      lock: mode.name === 'commit' ? mode.lock : null
    }
    const recorder = context.recorder.begin(file)
    const listeners = { file, recorder, audited: auditedBy(context, changeOptions)?.change(file.path, null) }
    const made = await runPlan(plan, { path: asked.path, ...info, exists: false, history: () => pastOf(recorder) })
    if (!made.ok) return { ...info, ...made }
    const { planned, content, digest } = made.value
    const { description, attributes, removes, toggles } = planned
    const new_hash = await digest
    const would = {
      path: asked.path,
      ...info,
      changed: removes !== true,
      created: removes !== true,
      new_hash,
      file_size: content.size,
      description
    }
    if (mode.name === 'dry_run') return ok({ ...would, warnings: [] })
    if (removes === true) {
      const kept = (texts: boolean, edit_id?: string): unknown =>
        outcome?.({ ...would, ...(edit_id !== undefined && { edit_id }), warnings: [] }, texts)
      await recorder?.note(origin, kept, toggles)
      return ok({ ...would, ...recordedBy(recorder, []) })
    }
    const done = { ...would, file_hash: new_hash }
    const record = async (temp: string, made_folders: readonly Buffer[]): Promise<void> =>
      announce(listeners, {
        origin,
        planned,
        digest: new_hash,
        size: content.size,
        temp,
        made_folders,
        outcome: (edit_id, texts) => outcome?.({ ...done, edit_id, warnings: [] }, texts)
      })
    let written
    try {
      const at = { root, intents, durability: options.durability, lock: mode.lock }
      written = await measured(context, content.size, () => commitNew(at, absent, { ...content, attributes }, record))
    } finally {
      if (written?.ok === true) {
        auditDone(listeners)
        recorder?.done(content.pieces, new_hash)
      } else notDone(listeners)
    }
    if (written.ok) return ok({ ...done, ...recordedBy(recorder, written.value) })
    return { ...info, ...written, ...(await files.currentInfo({ relative: absent.relative, isFolder: false })) }
  } catch (error) {
    // Something has come, or a folder above it has gone, perhaps with another request that failed: look again.
    if (['EEXIST', 'ENOENT', 'ENOTDIR', 'RACED'].includes(codeOf(error))) return { ...info, ...fail(MOVED) }
    return failedBy(error, info)
  }
}

/**
 * In bytes: of a longer absolute path the system can't tell where a descriptor leads, so what lies there could be made
 * but not be edited.
 */
const REAL_LIMIT = 4095

/**
 * What can be known before anything is touched; null: nothing is against it. `coming`: folders below the root that will
 * have been made by then.
 */
export function refusalToMake(
  { root, files }: WriteContext,
  absent: Missing,
  target: CreateTarget,
  coming: readonly Buffer[] = []
): FileFailure | null {
  // Whoever gives a hash counts on content that isn't there: to make the file all the same would hide that it was
  // removed.
  if (target.expected_hash !== undefined) {
    const failure = files.notFound(absent, 'edit')
    return failure.code === 'FILE_NOT_FOUND' ? { ...failure, missing: 'expected' } : failure
  }
  const { folder: parent } = split(absent.relative)
  const inFolder = [absent.folder, ...coming].some(there => there.equals(parent))
  const odd = refusalOfName(target, inFolder)
  if (odd !== null) return odd
  if (absent.dangling === 'last') return alreadyThere(target.if_none_match)
  if (absent.dangling === 'before') return notADirectory
  // A folder's name; nothing is guessed.
  if (namesFolder(target.path)) return { code: 'NOT_A_FILE', type: 'trailing_slash' }
  const real = root.real()
  if (real !== null && real.length + 1 + absent.relative.length > REAL_LIMIT) {
    return { code: 'INVALID_PATH', reason: 'too_long' }
  }
  let folder
  try {
    folder = root.openFolder(absent.folder)
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return notADirectory
    throw error
  }
  try {
    if (!mayWrite(folder.at('.'))) return { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
  } finally {
    folder.close()
  }
  const isMissing = foldersBetween(absent.folder, split(absent.relative).folder).some(
    folder => !coming.some(other => other.equals(folder))
  )
  return !target.create_parents && isMissing ? { code: 'FILE_NOT_FOUND', missing: 'parent' } : null
}

export const notADirectory: FileFailure = { code: 'NOT_A_FILE', type: 'not_a_directory' }
