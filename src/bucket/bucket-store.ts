// A bucket as a store of files: changes one object at a time, on the condition that it is still the version that was
// read. Does not know plans, or the order of steps in a change.
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CommitHooks,
  CommitRefusal,
  CommittedFile,
  FileStore,
  FoundContent,
  OpenPlaces,
  FilePlace,
  FilePlaces,
  FileChange
} from '../change/store.ts'
import { OVERTAKEN } from '../change/store.ts'
import type { FileBefore, Recorder } from '../recording/recorder.ts'
import { newAttempt, StoreUnavailable } from '../object-store/store.ts'
import { fail, ok } from '../result.ts'
import type { Client, CommonOptions, CreateTarget } from '../workspace/api.ts'
import type { FileFailure, FileWarning } from '../workspace/failure.ts'
import { refusalOfName } from '../workspace/odd-name.ts'
import { split } from '../workspace/path.ts'
import type { FileLocked, Queues } from '../workspace/queue.ts'
import type { FailedFile, FileInfo, ManyResult, RequestedPath } from '../workspace/results.ts'
import { isStill, readContent, type ObjectContent, type ReadContext } from './content.ts'
import type { LastWrites } from './last-writes.ts'
import type { Objects } from './objects.ts'
import type { UnknownChanges } from './unknown.ts'

export interface BucketStoreOptions extends ReadContext {
  options: CommonOptions
  objects: Objects
  recorder: Recorder
  /**
   * Queues the requests of this process for each object; otherwise the store would refuse each as often as others come
   * first.
   */
  turns: Queues
  /** Changes whose outcome isn't known, as no answer came. */
  unknown: Pick<UnknownChanges, 'add'>
  /** Null: no history is kept. */
  lastWrites: LastWrites | null
}

/** A key. Whether it has an object is known once it is read. */
interface BucketPlace extends FilePlace {
  isThere: undefined
  requested: RequestedPath
}

/** The first pause before a change starts again from reading, in ms; chosen, not measured. */
const PAUSE = 5
const LONGEST_PAUSE = 250
/** Metadata entry: the SHA-256 of the object. */
const DIGEST = 'editd-sha256'

export class BucketStore implements FileStore<BucketPlace, ObjectContent> {
  readonly options: CommonOptions
  readonly recorder: Recorder
  readonly refusesRemovals: FileFailure = { code: 'DELETE_NOT_ALLOWED', reason: 'bucket' }
  /**
   * Writes the object for toggles too, even without a change of bytes: it then names its record, which the next change
   * must follow.
   */
  readonly writesToggles = true
  readonly isSame = (): boolean => false
  readonly refusalToRestore = (): FileFailure => this.refusesRemovals
  // A bucket has no folders, and its objects have no modes or owners.
  readonly foldersFor = (): readonly Buffer[] => []
  readonly attributesOf = (): undefined => undefined
  readonly lossesOf = (): FileWarning[] => []
  readonly #context: BucketStoreOptions

  constructor(context: BucketStoreOptions) {
    this.options = context.options
    this.recorder = context.recorder
    this.#context = context
  }

  async open(requested: readonly RequestedPath[]): Promise<ManyResult<OpenPlaces<BucketPlace>, FileFailure>> {
    const refusals = requested.map(one => this.#refusalOf(one))
    const at = refusals.findIndex(refusal => refusal !== null)
    if (at !== -1) return { ...fail(refusals[at]!), at }
    const places = requested.map((one): BucketPlace => ({
      path: one.relative,
      info: {},
      isThere: undefined,
      requested: one
    }))
    const deadline = this.#context.turns.deadline()
    return ok({
      places,
      hold: client => this.#hold(places, client, deadline),
      again: attempt => this.#pause(places[0]!, attempt, deadline),
      release: async () => {}
    })
  }

  #refusalOf({ relative }: RequestedPath): FileFailure | null {
    const { objects } = this.#context
    return relative.length === 0
      ? (objects.refusal('list', relative) ?? { code: 'NOT_A_FILE', type: 'directory' })
      : objects.refusal('edit', relative)
  }

  /** Waits for earlier requests in this process. Other processes show up when the object is written. */
  async #hold(
    places: readonly BucketPlace[],
    client: Client | undefined,
    deadline: number
  ): Promise<ManyResult<FilePlaces<BucketPlace>, FileFailure>> {
    const { turns, options } = this.#context
    const place = places[0]!
    const asking = performance.now()
    let beginning = asking
    let isHeld = true
    /** Metered like the wait for a lock in a folder. */
    const waited = (until: number): void => options.meter?.locked((until - asking) / 1000, isHeld)
    const locked = async (reason: FileLocked['reason']): Promise<FailedFile<FileFailure>> => {
      isHeld = false
      beginning = performance.now()
      return this.#locked(place, reason)
    }
    const turn = await turns.acquire(place.path, deadline)
    if (!turn.ok) {
      const failed = await locked(turn.failure.reason)
      waited(beginning)
      return { ...failed, at: 0 }
    }
    const release = async (): Promise<void> => {
      await turn.value.release()
      waited(beginning)
    }
    if (client?.isGone() === true) {
      const failed = await locked('client_gone')
      await release()
      return { ...failed, at: 0 }
    }
    beginning = performance.now()
    const again = async (attempt: number): Promise<FailedFile<FileFailure> | null> => {
      const late = await this.#pause(place, attempt, deadline)
      if (late === null && client?.isGone() === true) return locked('client_gone')
      if (late !== null) isHeld = false
      beginning = performance.now()
      return late
    }
    return ok({ places, again, release })
  }

  /** Null: the change may be retried now. */
  async #pause(place: BucketPlace, attempt: number, deadline: number): Promise<FailedFile<FileFailure> | null> {
    const pause = Math.min(PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE)
    if (performance.now() + pause >= deadline) return this.#locked(place, 'timeout')
    // Jitter, so that not all retry at once.
    await sleep(pause * Math.random())
    return null
  }

  async #locked(place: BucketPlace, reason: FileLocked['reason']): Promise<FailedFile<FileFailure>> {
    // Reads the object only after a timeout: during a flood that would cost a read for each rejected request, and after
    // the client has gone no one needs it.
    const known = reason === 'timeout' ? await this.infoNow(place) : {}
    return { ...fail({ code: 'FILE_LOCKED', reason, retry_after: 1 }), ...known }
  }

  async notFound({ path }: BucketPlace): Promise<FileFailure> {
    const { objects } = this.#context
    return (await objects.isFolder(path)) ? { code: 'NOT_A_FILE', type: 'directory' } : objects.notFound(path, 'edit')
  }

  async refusalToMake(
    { path, requested: { isFolder } }: BucketPlace,
    target: CreateTarget
  ): Promise<FileFailure | null> {
    const { objects } = this.#context
    if (target.expected_hash !== undefined) {
      const failure = await objects.notFound(path, 'edit')
      return failure.code === 'FILE_NOT_FOUND' ? { ...failure, missing: 'expected' } : failure
    }
    const { folder } = split(path)
    // Costs a request, so only for names that may be refused.
    if ((refusalOfName(target, true) ?? refusalOfName(target, false)) !== null) {
      const odd = refusalOfName(target, await objects.isFolder(folder))
      if (odd !== null) return odd
    }
    if (await objects.isFolder(path)) return { code: 'NOT_A_FILE', type: 'directory' }
    if (isFolder) return { code: 'NOT_A_FILE', type: 'trailing_slash' }
    if (await objects.fileAbove(path)) return { code: 'NOT_A_FILE', type: 'not_a_directory' }
    const isMissing = !target.create_parents && !(await objects.isFolder(folder))
    return isMissing ? { code: 'FILE_NOT_FOUND', missing: 'parent' } : null
  }

  before(
    { path }: BucketPlace,
    content: ObjectContent | null
  ): Pick<FileBefore, 'lock' | 'unchanged' | 'landed' | 'last'> {
    const { store, lastWrites } = this.#context
    return {
      lock: null,
      landed: content?.landed.map(({ attempt }) => attempt) ?? [],
      last: content === null ? undefined : lastWrites?.of(path, content),
      unchanged: () => isStill(store, path.toString(), content)
    }
  }

  /** Empty if the file may not be used, or is too large to be read. */
  async infoNow({ requested }: BucketPlace): Promise<FileInfo> {
    if (this.#refusalOf(requested) !== null) return {}
    const taken: (() => void)[] = []
    try {
      const read = await readContent(this.#context, requested.relative.toString(), taken)
      return read?.ok === true ? { file_hash: read.value.digest } : {}
    } finally {
      for (const release of taken) release()
    }
  }

  async read(
    [place]: readonly BucketPlace[],
    taken: (() => void)[]
  ): Promise<ManyResult<readonly FoundContent<ObjectContent>[], FileFailure>> {
    const { path, requested } = place!
    const read = await readContent(this.#context, path.toString(), taken)
    if (read === null) return ok([{ snapshot: null, refused: null }])
    if (!read.ok) return ok([{ snapshot: null, refused: read }])
    const { bytes, digest } = read.value
    if (requested.isFolder) {
      const refused = { ...fail<FileFailure>({ code: 'NOT_A_FILE', type: 'file_as_directory' }), file_hash: digest }
      return ok([{ snapshot: null, refused }])
    }
    this.options.meter?.read(bytes.length)
    return ok([{ snapshot: read.value, refused: null }])
  }

  async commit(
    [change]: readonly FileChange<BucketPlace, ObjectContent>[],
    { announce, notDone }: CommitHooks
  ): Promise<{ ok: true; value: readonly CommittedFile[] } | { ok: false; failure: CommitRefusal }> {
    const { store, lastWrites, unknown } = this.#context
    const { place, snapshot, content, digest, audited } = change!
    const { path } = place
    let attempt = ''
    let edit_id: string | undefined
    try {
      const ids = await announce([], [undefined])
      edit_id = ids[0]
      attempt = edit_id ?? newAttempt()
      const hash = await digest
      const proof = edit_id === undefined ? {} : lastWrites?.metadata(path, edit_id, hash)
      const write = {
        bytes: content!.pieces,
        if: snapshot?.condition ?? ('absent' as const),
        attempt,
        metadata: { [DIGEST]: hash, ...proof }
      }
      if ((await store.write(path.toString(), write)) === null) {
        notDone()
        return fail({ at: 0, failure: OVERTAKEN })
      }
      if (edit_id !== undefined) lastWrites?.wrote(path, edit_id)
      return ok([{ warnings: [] }])
    } catch (error) {
      if (error instanceof StoreUnavailable && error.unknown) {
        unknown.add({
          path,
          attempt,
          isRecorded: edit_id !== undefined,
          hash_before: snapshot?.digest ?? null,
          hash_after: await digest,
          size_after: content!.size,
          audited
        })
      } else notDone()
      throw error
    }
  }
}
