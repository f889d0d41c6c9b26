// Changes a file that is there: the checks, the plan and, under its lock, the writing. Knows not what a plan does.
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Edited, FileTarget, Planned, PlannedFile, Planner, WorkspaceOptions } from './api.ts'
import { commit, lossesOf, type Change } from './commit.ts'
import type { FileFailure, FileWarning, StaleFile } from './failure.ts'
import { writeInPlace } from './in-place.ts'
import type { Intents } from './intents.ts'
import type { Journal } from './journal.ts'
import type { Lock } from './lock.ts'
import type { BufferPool } from './buffer-pool.ts'
import type { Missing, Pin, Root } from './pin.ts'
import type { Content } from './temp.ts'
import { AT_ONCE, areSame, digestOf, type HashCheckpoint, readWhole, shortHash } from './text-file.ts'
import type { FileInfo, FileAccess } from './file-access.ts'

/** What writing takes. */
export interface WriteContext {
  options: WorkspaceOptions
  root: Root
  intents: Intents
  journal: Journal
  files: FileAccess
  buffers: BufferPool
}

export function editFile<T, F>(
  writing: WriteContext,
  asked: Buffer,
  about: FileInfo,
  target: FileTarget,
  dry_run: boolean,
  plan: Planner<T, F>
): Promise<Result<Edited<T>, F | FileFailure>> {
  const { files: way } = writing
  if (dry_run) return way.pinned(asked, 'edit', about, pin => changeFile(writing, pin, about, target, plan, null))
  const missing = async (spot: Missing): Promise<Result<never, FileFailure>> => fail(way.notFound(spot, 'edit'))
  return way.locked<Edited<T>, F | FileFailure>(
    asked,
    about,
    { onFound: async pin => ok(pin.relative), onMissing: missing },
    lock => ({ onFound: pin => changeFile(writing, pin, about, target, plan, lock), onMissing: missing })
  )
}

/** Without a lock it is a dry run. */
export async function changeFile<T, F>(
  writing: WriteContext,
  pin: Pin,
  about: FileInfo,
  target: FileTarget,
  plan: Planner<T, F>,
  lock: Lock | null
): Promise<Result<Edited<T>, F | FileFailure>> {
  const { options, files: way } = writing
  const unwritable = refusalToWrite(pin)
  if (unwritable !== null) {
    await way.hash(pin, about)
    return fail(unwritable)
  }
  const size = Number(pin.stat.size)
  // One that is too large isn't read at all.
  const release =
    size <= AT_ONCE || size > options.maxFileSize ? nothing : await writing.buffers.take(size, options.lockTimeout)
  if (release === null) return fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 })
  try {
    return await changeRead(writing, pin, about, target, plan, lock)
  } finally {
    release()
  }
}

const nothing = (): void => {}

async function changeRead<T, F>(
  writing: WriteContext,
  pin: Pin,
  about: FileInfo,
  target: FileTarget,
  plan: Planner<T, F>,
  lock: Lock | null
): Promise<Result<Edited<T>, F | FileFailure>> {
  const { options, files: way } = writing
  const read = await readWhole(pin, options.maxFileSize, size => writing.buffers.buffer(size))
  if (!read.ok) return read
  const snapshot = read.value
  let hashing: Promise<unknown> | undefined
  try {
    const hash_before = shortHash(snapshot.digest)
    about.file_hash = hash_before
    if (options.requireHash && target.expected_hash === undefined) return fail({ code: 'PRECONDITION_REQUIRED' })
    const encoding = binaryEncodingOf(snapshot.bytes)
    if (encoding !== null) return fail({ code: 'BINARY_FILE', encoding, file_size: snapshot.bytes.length })
    const stale = staleness(target, hash_before)
    const planned = await runPlan(
      plan,
      snapshot.bytes,
      { ...about, exists: true, ...(stale !== null && { stale }) },
      snapshot.marks
    )
    if (!planned.ok) return planned
    if (stale !== null) return fail(stale)
    const { content, digest, description, original } = planned.value
    hashing = digest
    if (original !== undefined) snapshot.bytes = original
    const changed = !areSame(content.pieces, content.size, snapshot.bytes)
    // While the sum goes on, the result is written; nothing gets its name before both are done.
    const done = changed && lock !== null ? await write(writing, { pin, snapshot, digest, ...content }, lock) : null
    const new_hash = shortHash(await digest)
    const result = { ...about, changed, hash_before, new_hash, file_size: content.size, description }
    if (done === null) {
      return ok({ ...result, file_hash: hash_before, warnings: changed ? lossesOf(pin, 'rename') : [] })
    }
    if (done.ok) return ok({ ...result, file_hash: new_hash, ...done.value })
    await way.refreshHash(pin.relative, about)
    return done
  } finally {
    snapshot.close()
    // Where the writing failed first: the next one must not be given the bytes while they are still looked at.
    await hashing?.catch(() => {})
    writing.buffers.reuse(snapshot.bytes)
  }
}

/** A plan with what it comes to on disk. The sum may still be going on. */
interface PlanOutput<T> extends Planned<T> {
  content: Content
  digest: Promise<string>
}

export async function runPlan<T, F>(
  plan: Planner<T, F>,
  original: Buffer,
  file: PlannedFile,
  marks: readonly HashCheckpoint[] = []
): Promise<Result<PlanOutput<T>, F>> {
  const planned = await plan(original, file)
  if (!planned.ok) return planned
  const { pieces } = planned.value
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const digest = digestOf(pieces, size, planned.value.original ?? original, marks)
  // It is waited for after the writing, which tells of a failure. One before that, or of both, must not count as one
  // that nobody hears of.
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
