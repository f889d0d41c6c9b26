// A folder as a store of files: opens and holds the places of a change, reads them, and commits it in the way that
// fits. Does not know plans, or the order of a change.
import type {
  FoundContent,
  CommitHooks,
  CommitRefusal,
  CommittedFile,
  FileStore,
  OpenPlaces,
  FilePlace,
  FilePlaces,
  FileChange
} from '../change/store.ts'
import { alreadyThere } from '../change/checks.ts'
import type { FileAttributes } from '../log/record.ts'
import type { FileBefore, Recorder } from '../recording/recorder.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Client, CreateTarget, WorkspaceOptions } from '../workspace/api.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import { codeOf, failureAt, MOVED } from '../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../workspace/failure.ts'
import { refusalOfName } from '../workspace/odd-name.ts'
import { namesFolder, split } from '../workspace/path.ts'
import type { Lock } from '../workspace/queue.ts'
import type { FailedFile, FileInfo, ManyResult, RequestedPath } from '../workspace/results.ts'
import type { Running } from '../workspace/running.ts'
import { BatchError, type BatchFile } from './commit/batch-member.ts'
import type { BatchRecords } from './commit/batch-record.ts'
import { attributesOf, canGive, commit, lossesOf, type Change } from './commit/commit.ts'
import { commitBatch, type BatchRefusal } from './commit/commit-batch.ts'
import { commitNew, foldersBetween } from './commit/commit-new.ts'
import { hasSeveralNames, writeInPlace } from './commit/in-place.ts'
import type { Intents } from './commit/intents.ts'
import type { Journal } from './commit/journal.ts'
import { remove } from './commit/remove.ts'
import { failedBy, realPathOf, type FileAccess, type OpenPath } from './file-access.ts'
import type { Locks } from './locks/lock.ts'
import { OWN_UID } from './own-ids.ts'
import { mayWrite, same, type FileId, type Missing, type Pin, type Root } from './root/pin.ts'
import { readPinned, takeMemory } from './read-pinned.ts'
import type { Snapshot } from './snapshot.ts'

export interface FolderStoreOptions {
  options: WorkspaceOptions
  recorder: Recorder
  root: Root
  intents: Intents
  batches: BatchRecords
  journal: Journal
  locks: Locks
  files: FileAccess
  buffers: BufferPool
  running: Running
  /** Whether a dead holder of this lock may have left its file half done. */
  mayBeLeft: (lock: Lock) => boolean
  /**
   * Takes back what a dead holder of this file's lock may have left half done; throws if that can't be done now, and is
   * false if a holder who may not be dead is writing.
   */
  recover: (realPath: Buffer, object?: FileId) => Promise<boolean>
}

/** What a path leads to, pinned, or a path without an object. `lock` is null while it isn't held. */
export interface FolderPlace extends FilePlace {
  found: OpenPath
  lock: Lock | null
}

/** Places, and the locks' state before they were opened: while it is the same, nobody has changed a file since. */
interface OpenedBefore {
  places: readonly FolderPlace[]
  released: number
  aloneSince: string | null
}

const beingWritten: FileFailure = { code: 'FILE_LOCKED', reason: 'in_place', retry_after: 5 }
const notADirectory: FileFailure = { code: 'NOT_A_FILE', type: 'not_a_directory' }
/**
 * In bytes: the system can't tell where a descriptor leads if the absolute path is longer, so a file there could be
 * made but not edited.
 */
const REAL_LIMIT = 4095

export class FolderStore implements FileStore<FolderPlace, Snapshot> {
  readonly options: WorkspaceOptions
  readonly recorder: Recorder
  readonly refusesRemovals = null
  readonly writesToggles = false
  readonly #context: FolderStoreOptions

  constructor(context: FolderStoreOptions) {
    this.options = context.options
    this.recorder = context.recorder
    this.#context = context
  }

  async open(requested: readonly RequestedPath[]): Promise<ManyResult<OpenPlaces<FolderPlace>, FileFailure>> {
    const { released, aloneSince } = this.#context.locks
    const opened = await this.#openAll(requested, null)
    if (!opened.ok) return opened
    const places = opened.value
    return ok({
      places,
      hold: client => this.#hold(requested, { places, released, aloneSince }, client),
      release: () => closeAll(places)
    })
  }

  async #openAll(
    requested: readonly RequestedPath[],
    locks: readonly Lock[] | null
  ): Promise<ManyResult<FolderPlace[], FileFailure>> {
    const places: FolderPlace[] = []
    try {
      for (const [at, one] of requested.entries()) {
        const opened = await this.#context.files.open(one, 'edit').catch((error: unknown) => failedBy(error, {}))
        if (!opened.ok) return { ...opened, at }
        places.push(placeOf(opened.value, one, locks?.[at] ?? null))
      }
      return ok(places)
    } finally {
      if (places.length < requested.length) await closeAll(places)
    }
  }

  /** Acquires the locks of the real paths, in path order, and looks again at what is there. */
  async #hold(
    requested: readonly RequestedPath[],
    opened: OpenedBefore,
    client: Client | undefined
  ): Promise<ManyResult<FilePlaces<FolderPlace>, FileFailure | typeof MOVED>> {
    const { locks, running, mayBeLeft, recover } = this.#context
    // A single file stays pinned while waiting for its lock; many would need too many descriptors.
    const one = opened.places.length === 1 ? opened.places[0]! : null
    if (one === null) await closeAll(opened.places)
    const own: Lock[] = []
    const lockOf: Lock[] = []
    let places: readonly FolderPlace[] = []
    let isUntouched = one !== null
    let at = 0
    const release = async (): Promise<void> => {
      try {
        for (let lock = own.pop(); lock !== undefined; lock = own.pop()) await lock.release()
      } finally {
        // Close last: it may wait for the disk, and others needn't wait for it.
        await closeAll(places)
      }
    }
    let isKept = false
    try {
      const deadline = locks.deadline()
      let last: FolderPlace | undefined
      for (at of inOrderOfPaths(opened.places)) {
        const place = opened.places[at]!
        const { path } = place
        if (last === undefined || !last.path.equals(path)) {
          const acquire = (): Promise<Result<Lock, FileFailure>> => locks.acquire(path, { deadline, client })
          const lock = await (one === null ? acquire() : running.keeping(one.found.pin, acquire))
          if (!lock.ok) return { ...(await this.#notHeld(lock.failure, requested[at]!)), at }
          own.push(lock.value)
          const isLeft = mayBeLeft(lock.value)
          if (isLeft && !(await recover(path, place.found.pin?.stat))) {
            return { ...(await this.#notHeld(beingWritten, requested[at]!)), at }
          }
          const { alone_since } = lock.value
          isUntouched &&= !isLeft && alone_since !== null && alone_since === opened.aloneSince
        }
        last = place
        lockOf[at] = own.at(-1)!
      }
      // No server edited the file since it was pinned, so the pin is as good as new.
      const isNew = isUntouched && locks.released === opened.released
      if (one !== null && isStillThere(one, requested[0]!, isNew)) {
        one.lock = lockOf[0]!
        places = opened.places
      } else {
        if (one !== null) await closeAll(opened.places)
        const reopened = await this.#openAll(requested, lockOf)
        if (!reopened.ok) return reopened
        places = reopened.value
        if (!places.every(({ path }, i) => path.equals(opened.places[i]!.path))) return { ...fail(MOVED), at: 0 }
      }
      isKept = true
      return ok({ places, release })
    } catch (error) {
      return { ...failedBy(error, {}), at }
    } finally {
      if (!isKept) await release()
    }
  }

  /** Why a file can't be changed now, with what is known of it. */
  async #notHeld(failure: FileFailure, requested: RequestedPath): Promise<FailedFile<FileFailure>> {
    const reason = failure.code === 'FILE_LOCKED' ? failure.reason : undefined
    // Under a flood, reading the file for each refused request costs too much; a client that has gone needs no answer.
    const isUnread = reason === 'queue_full' || reason === 'client_gone'
    return { ...fail(failure), ...(!isUnread && (await this.#context.files.currentInfo(requested))) }
  }

  isSame({ found: { pin: a } }: FolderPlace, { found: { pin: b } }: FolderPlace): boolean {
    return a !== null && b !== null && same(a.stat, b.stat)
  }

  notFound({ found }: FolderPlace): FileFailure {
    return this.#context.files.notFound(found.absent!, 'edit')
  }

  refusalToMake({ found }: FolderPlace, target: CreateTarget, coming: readonly Buffer[]): FileFailure | null {
    const { root } = this.#context
    const absent = found.absent!
    // A caller who gives a hash expects existing content: making the file would hide that it was removed.
    if (target.expected_hash !== undefined) {
      const failure = this.#context.files.notFound(absent, 'edit')
      return failure.code === 'FILE_NOT_FOUND' ? { ...failure, missing: 'expected' } : failure
    }
    const { folder: parent } = split(absent.relative)
    const inFolder = [absent.folder, ...coming].some(there => there.equals(parent))
    const odd = refusalOfName(target, inFolder)
    if (odd !== null) return odd
    if (absent.dangling === 'last') return alreadyThere(target.if_none_match)
    if (absent.dangling === 'before') return notADirectory
    // The path is a folder's; don't guess a file name.
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
    const isMissing = foldersOf(absent).some(folder => !coming.some(other => other.equals(folder)))
    return !target.create_parents && isMissing ? { code: 'FILE_NOT_FOUND', missing: 'parent' } : null
  }

  refusalToRestore({ found }: FolderPlace): FileFailure | null {
    return canGive(attributesOf(found.pin!)) ? null : { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
  }

  foldersFor({ found }: FolderPlace): readonly Buffer[] {
    return found.absent === null ? [] : foldersOf(found.absent)
  }

  attributesOf({ found }: FolderPlace): FileAttributes {
    return attributesOf(found.pin!)
  }

  lossesOf({ found }: FolderPlace, names: number): FileWarning[] {
    return lossesOf(found.pin!, 'rename', names)
  }

  before({ found: { pin }, lock }: FolderPlace, snapshot: Snapshot | null): Pick<FileBefore, 'lock' | 'unchanged'> {
    if (pin === null || snapshot === null) return { lock }
    // A replaced file may look the same: with coarse times, contents are compared.
    return { lock, unchanged: () => pin.inPlace() && snapshot.unchanged() }
  }

  infoNow({ path }: FolderPlace): Promise<FileInfo> {
    return this.#context.files.currentInfo({ relative: path, isFolder: false })
  }

  async read(
    places: readonly FolderPlace[],
    taken: (() => void)[],
    { isDry }: { isDry: boolean }
  ): Promise<ManyResult<readonly FoundContent<Snapshot>[], FileFailure>> {
    const { files } = this.#context
    const found: FoundContent<Snapshot>[] = []
    const pins = places.map(({ found: { pin } }) => pin)
    const refused = await takeMemory(this.#context, pins, taken)
    if (refused !== null) return refused
    const asks = isDry || places.length > 1
    for (const [at, pin] of pins.entries()) {
      try {
        const unwritable = pin === null ? null : refusalToWrite(pin, asks)
        if (unwritable !== null) {
          found.push({ snapshot: null, refused: { ...fail(unwritable), ...(await files.hash(pin!)) } })
        } else if (pin === null) found.push(NOTHING_THERE)
        else {
          const read = await readPinned(this.#context, pin, taken)
          found.push(read.ok ? { snapshot: read.value, refused: null } : { snapshot: null, refused: read })
        }
      } catch (error) {
        return { ...failedBy(error, {}), at }
      }
    }
    return ok(found)
  }

  async commit(
    changes: readonly FileChange<FolderPlace, Snapshot>[],
    hooks: CommitHooks
  ): Promise<{ ok: true; value: readonly CommittedFile[] } | { ok: false; failure: CommitRefusal }> {
    const isNew = (at: number): boolean => changes[at]!.snapshot === null
    try {
      const done = await (changes.length === 1 ? this.#commitOne(changes[0]!, hooks) : this.#commitAll(changes, hooks))
      if (done.ok) return done
      const { at, failure } = done.failure
      // In a batch: what was to be made is there by now. Alone, that throws EEXIST.
      const isThere = changes.length > 1 && isNew(at) && failure.code === 'STALE_FILE'
      return fail({ at, failure: isThere ? MOVED : failure })
    } catch (error) {
      const at = error instanceof BatchError ? error.at : 0
      const failure = failureAt(error, isNew(at))
      if (failure === null) throw error
      return fail({ at, failure })
    }
  }

  /** Commits a single name with one rename, without a batch record. */
  async #commitOne(
    change: FileChange<FolderPlace, Snapshot>,
    hooks: CommitHooks
  ): Promise<Result<[CommittedFile], BatchRefusal>> {
    let isDone = false
    try {
      const done = await this.#write(change, hooks)
      isDone = done.ok
      return done.ok ? ok([done.value]) : fail({ at: 0, failure: done.failure })
    } finally {
      if (!isDone) hooks.notDone()
    }
  }

  async #write(
    { place, snapshot, content, digest, attributes, made_folders }: FileChange<FolderPlace, Snapshot>,
    { announce }: CommitHooks
  ): Promise<Result<CommittedFile, FileFailure>> {
    const { durability, report = () => {} } = this.options
    const { root, intents, journal, locks } = this.#context
    const { pin, absent } = place.found
    const context = { root, intents, journal, locks, durability, report, lock: place.lock! }
    if (pin === null || snapshot === null) {
      const made = await commitNew(context, absent!, { ...content!, attributes }, async (temp, folders) => {
        await announce(folders, [temp])
      })
      return made.ok ? ok({ warnings: made.value }) : made
    }
    const record = async (temp?: string): Promise<void> => {
      await announce([], [temp])
    }
    const { pieces, size } = content ?? NO_CONTENT
    const change: Change = { pin, snapshot, digest, pieces, size, record }
    if (content === null) {
      const removed = await remove(context, change, made_folders)
      return removed.ok ? ok({ warnings: removed.value }) : removed
    }
    const renamed = await commit(context, change)
    if (renamed.ok) return ok({ warnings: renamed.value })
    if (renamed.failure.code !== 'UNRENAMABLE') return fail(renamed.failure)
    const written = await writeInPlace(context, change)
    return written.ok ? ok({ warnings: written.value, write_strategy: 'in_place' }) : written
  }

  async #commitAll(
    changes: readonly FileChange<FolderPlace, Snapshot>[],
    { folders, announce, notDone }: CommitHooks
  ): Promise<Result<CommittedFile[], BatchRefusal>> {
    const { durability, report = () => {} } = this.options
    const files: BatchFile[] = []
    for (const change of changes) files.push(await batchFileOf(change))
    const temps = changes.map(({ content, place: { lock } }) => (content === null ? undefined : lock!.temp))
    return commitBatch({ ...this.#context, durability, report }, files, {
      folders,
      record: async made => {
        await announce(made.folders, temps)
      },
      notDone
    })
  }
}

const NO_CONTENT = { pieces: [], size: 0 }
const NOTHING_THERE = { snapshot: null, refused: null }

/**
 * The indices of the places in path order, so that all who acquire several locks use one order. Stable for one file.
 */
const inOrderOfPaths = (places: readonly FolderPlace[]): number[] =>
  places.length === 1 ? [0] : [...places.keys()].sort((a, b) => places[a]!.path.compare(places[b]!.path))

function placeOf(found: OpenPath, requested: RequestedPath, lock: Lock | null): FolderPlace {
  const path = realPathOf(found)
  // If links lead to nothing, the place is elsewhere too.
  const isElsewhere = found.pin === null && !path.equals(requested.relative)
  const info = isElsewhere ? { resolved_path: path.toString() } : found.info
  return { path, info, isThere: found.pin !== null, found, lock }
}

async function closeAll(places: readonly FolderPlace[]): Promise<void> {
  for (let i = places.length - 1; i >= 0; i--) await places[i]!.found.close()
}

/** Whether the path still leads to the pinned object; else marks the pin as perhaps replaced. */
function isStillThere({ found: { pin } }: FolderPlace, { relative }: RequestedPath, isNew: boolean): boolean {
  if (pin === null) return false
  // If no link led there, an object still in its place is what the path leads to.
  if (pin.relative.equals(relative) && pin.renew(isNew)) return true
  pin.replaced = true
  return false
}

const foldersOf = ({ folder, relative }: Missing): Buffer[] => foldersBetween(folder, split(relative).folder)

async function batchFileOf({
  place: { path, found, lock },
  snapshot,
  content,
  digest,
  attributes,
  made_folders,
  same_as
}: FileChange<FolderPlace, Snapshot>): Promise<BatchFile> {
  const present = found.pin !== null && snapshot !== null ? { pin: found.pin, snapshot } : null
  const named = { path, lock: lock! }
  if (content === null) return { ...named, present: present!, content, digest: null, made_folders }
  return { ...named, present, content, digest: await digest, attributes, same_as }
}

/**
 * A rename would silently replace a write-protected file, so the mode is checked, for root too. If the mode lets its
 * owner write and this process is the owner, only the file system can refuse, which shows on writing: unless `asks`,
 * don't check further, as that costs as much as a read.
 */
function refusalToWrite(pin: Pin, asks: boolean): FileFailure | null {
  const { mode, uid } = pin.stat
  if ((mode & 0o200n) === 0n) return { code: 'PERMISSION_DENIED', reason: 'read_only_file' }
  if (!asks && Number(uid) === OWN_UID) return null
  if (asks && hasSeveralNames(pin) && !(canGive(attributesOf(pin)) && mayWrite(split(pin.real).folder))) {
    return { code: 'PERMISSION_DENIED', reason: 'several_names' }
  }
  return pin.writable() ? null : { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
}
