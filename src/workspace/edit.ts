// Changes a file that is there: the checks, the plan and, under its lock, the writing. Does not know what a plan does.
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Edited, FileTarget, Planned, PlannedFile, Planner, WorkspaceOptions } from './api.ts'
import type { BufferPool } from './buffer-pool.ts'
import { commit, lossesOf, type Change } from './commit/commit.ts'
import type { FileFailure, FileWarning, StaleFile } from './failure.ts'
import { writeInPlace } from './commit/in-place.ts'
import type { Intents } from './commit/intents.ts'
import type { Journal } from './commit/journal.ts'
import type { Lock } from './locks/lock.ts'
import type { Missing, Pin, Root } from './root/pin.ts'
import type { Content } from './commit/temp.ts'
import {
  failedBy,
  type RequestedPath,
  type FailedFile,
  type FileAccess,
  type FileResult,
  type FoundFile,
  type WriteMode
} from './file-access.ts'
import { SYNC_IO_BYTES, areSame, digestOf, readWhole, shortHash, type Snapshot } from './text-file.ts'

/** What every change works with. */
export interface WriteContext {
  options: WorkspaceOptions
  root: Root
  intents: Intents
  journal: Journal
  files: FileAccess
  buffers: BufferPool
}

/** One request to change a file. */
export interface FileEditRequest<T, F, Target extends FileTarget = FileTarget> {
  asked: RequestedPath
  target: Target
  dry_run: boolean
  plan: Planner<T, F>
}

export function editFile<T, F>(
  context: WriteContext,
  request: FileEditRequest<T, F>
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const notFound = (absent: Missing): FailedFile<FileFailure> => fail(context.files.notFound(absent, 'edit'))
  return context.files.change<Edited<T>, F | FileFailure>(request.asked, request.dry_run, {
    admit: async ({ absent }) => (absent === null ? null : notFound(absent)),
    work: async (found, mode) =>
      found.pin === null ? notFound(found.absent) : changeFile(context, request, { ...found, mode })
  })
}

/** The file that is to be changed, and whether it really will be. */
export type FileToChange = FoundFile & { mode: WriteMode }

/** Takes what the change needs, the memory and the file's bytes, and gives it back. */
export async function changeFile<T, F>(
  context: WriteContext,
  request: FileEditRequest<T, F>,
  file: FileToChange
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const { options, files, buffers } = context
  const { pin } = file
  const unwritable = refusalToWrite(pin)
  if (unwritable !== null) return { ...fail(unwritable), ...(await files.hash(pin)) }
  const size = Number(pin.stat.size)
  // One that is too large isn't read at all.
  const release =
    size <= SYNC_IO_BYTES || size > options.maxFileSize ? nothing : await buffers.take(size, options.lockTimeout)
  if (release === null) return fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 })
  try {
    const read = await readWhole(pin, options.maxFileSize, size => buffers.buffer(size))
    if (!read.ok) return read
    const snapshot = read.value
    try {
      return await changeContent(context, request, { ...file, snapshot })
    } finally {
      snapshot.close()
      buffers.reuse(snapshot.bytes)
    }
  } finally {
    release()
  }
}

const nothing = (): void => {}

/** The checks of what was read, the plan and, in a commit, the writing. */
async function changeContent<T, F>(
  context: WriteContext,
  { asked, target, plan }: FileEditRequest<T, F>,
  { pin, info, mode, snapshot }: FileToChange & { snapshot: Snapshot }
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const file_hash = shortHash(snapshot.digest)
  const failed = <G>(failure: G): FailedFile<G> => ({ ...fail(failure), file_hash })
  if (context.options.requireHash && target.expected_hash === undefined) {
    return failed({ code: 'PRECONDITION_REQUIRED' })
  }
  const encoding = binaryEncodingOf(snapshot.bytes)
  if (encoding !== null) return failed({ code: 'BINARY_FILE', encoding, file_size: snapshot.bytes.length })
  const stale = staleness(target, file_hash)
  let hashing: Promise<unknown> | undefined
  try {
    const planned = await runPlan(
      plan,
      { path: asked.path, ...info, exists: true, ...(stale !== null && { stale }) },
      snapshot
    )
    if (!planned.ok) return failed(planned.failure)
    if (stale !== null) return failed(stale)
    const { content, digest, description, original } = planned.value
    hashing = digest
    if (original !== undefined) snapshot.bytes = original
    const changed = !areSame(content.pieces, content.size, snapshot.bytes)
    // While the digest is still being made, the result is written; nothing gets its name before both are done.
    const written =
      changed && mode.name === 'commit' ? await write(context, { pin, snapshot, digest, ...content }, mode.lock) : null
    const new_hash = shortHash(await digest)
    const hashes = { hash_before: file_hash, new_hash }
    const edited = { path: asked.path, ...info, changed, ...hashes, file_size: content.size, description }
    if (written === null) return ok({ ...edited, file_hash, warnings: changed ? lossesOf(pin, 'rename') : [] })
    if (written.ok) return ok({ ...edited, file_hash: new_hash, ...written.value })
    return { ...written, ...(await context.files.currentInfo({ relative: pin.relative, isFolder: false })) }
  } catch (error) {
    return failedBy(error, { file_hash })
  } finally {
    // Where the writing failed first: the next request must not get the buffer while its bytes are still being hashed.
    await hashing?.catch(() => {})
  }
}

/** A plan with what it comes to on disk. The digest may still be in the making. */
interface PlanOutput<T> extends Planned<T> {
  content: Content
  digest: Promise<string>
}

/** `before`: what is there now; nothing for a new file. */
export async function runPlan<T, F>(
  plan: Planner<T, F>,
  file: PlannedFile,
  before: Pick<Snapshot, 'bytes' | 'marks'> = { bytes: Buffer.alloc(0), marks: [] }
): Promise<Result<PlanOutput<T>, F>> {
  const { bytes, marks } = before
  const planned = await plan(bytes, file)
  if (!planned.ok) return planned
  const { pieces, original = bytes } = planned.value
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const digest = digestOf(pieces, size, original, marks)
  // It is awaited after the writing, which reports its failure. One that comes before that, or beside a failure of the
  // writing, must not count as an unhandled rejection.
  digest.catch(() => {})
  return ok({ ...planned.value, content: { pieces, size }, digest })
}

async function write(
  { options, root, intents, journal }: WriteContext,
  change: Change,
  lock: Lock
): Promise<Result<{ warnings: FileWarning[]; write_strategy?: 'in_place' }, FileFailure>> {
  const context = { root, intents, journal, durability: options.durability, lock, report: options.report ?? (() => {}) }
  const renamed = await commit(context, change)
  if (renamed.ok) return ok({ warnings: renamed.value })
  if (renamed.failure.code !== 'UNRENAMABLE') return fail(renamed.failure)
  const written = await writeInPlace(context, change)
  return written.ok ? ok({ warnings: written.value, write_strategy: 'in_place' }) : written
}

/** A rename would silently replace a file that nobody was meant to write, so its mode is asked, for root too. */
function refusalToWrite(pin: Pin): FileFailure | null {
  if ((pin.stat.mode & 0o200n) === 0n) return { code: 'PERMISSION_DENIED', reason: 'read_only_file' }
  return pin.writable() ? null : { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
}

/** Null if the file is what the request expects. */
export function staleness({ expected_hash }: FileTarget, hash: string): StaleFile | null {
  return expected_hash === undefined || expected_hash === hash
    ? null
    : { code: 'STALE_FILE', reason: 'expected_hash', expected_hash }
}
