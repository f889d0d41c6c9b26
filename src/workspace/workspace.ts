// What can be done with files, and where the parts of the workspace are put together: opens a root, sweeps and closes
// it. Does not know HTTP, or what a plan does.
import type { History } from '../history/api.ts'
import { Cursor } from '../history/cursor.ts'
import { openHistory } from '../history/history.ts'
import type { Stored } from '../history/record.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  BatchDone,
  BatchStep,
  ChangeOptions,
  ChangesPage,
  ChangesQuery,
  Consumer,
  Created,
  CreateTarget,
  Edited,
  Entries,
  FailedAccess,
  FileTarget,
  FileWithPast,
  Follower,
  HistoryPage,
  HistoryQuery,
  Key,
  Looked,
  PageRequest,
  Planner,
  ReviewTarget,
  Workspace,
  WorkspaceOptions
} from './api.ts'
import { changeFiles } from './batch.ts'
import { createFile } from './create.ts'
import { editFile, staleness, type WriteContext } from './edit.ts'
import type { CursorFailure, FileFailure, KeyFailure, RequestInFlight } from './failure.ts'
import { fence } from './locks/fence.ts'
import { BatchRecords } from './commit/batch-record.ts'
import { Followers, nextChanges, type Where } from './history/follow.ts'
import { Intents, mayLive, sweepIntents } from './commit/intents.ts'
import { onceByKey, type KeyedRequest } from './history/keys.ts'
import { pastEdits } from './history/past.ts'
import { Recorder } from './history/recorder.ts'
import { giveVerdict } from './history/verdicts.ts'
import { settle, settleAll, type Settling } from './history/settle.ts'
import { Journal } from './commit/journal.ts'
import { listFolder } from './list.ts'
import { LockFiles } from './locks/lock-file.ts'
import { Locks } from './locks/lock.ts'
import { RootLock, type Servers } from './locks/root-lock.ts'
import { LivenessSockets } from './locks/liveness.ts'
import { isOfFile } from './locks/names.ts'
import { SILENCE, thisOwner, type Observer } from './locks/owner.ts'
import { BufferPool } from './buffer-pool.ts'
import { recallFile } from './recall.ts'
import { below, join, split } from './root/path.ts'
import type { Pin, Root } from './root/pin.ts'
import { makePolicy, matcher, type Policy } from './root/policy.ts'
import { announce, type Presence } from './locks/other-servers.ts'
import { openRoot } from './root/root.ts'
import { recover, type Recovery } from './recovery.ts'
import { scanPinned } from './scan.ts'
import { fenceServers, serversOf } from './servers.ts'
import { openState, type State } from './state.ts'
import { shortHash } from './text-file.ts'
import { FileAccess } from './file-access.ts'

export type * from './api.ts'

type Report = NonNullable<WorkspaceOptions['report']>
type BatchAnswer<T, F> = Promise<{ ok: true; value: BatchDone<T> } | (FailedAccess<F | FileFailure> & { at: number })>
type Answer<T, F = never> = Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>>

/** In ms between two searches for what dead servers left; none of them counts as silent sooner than `SILENCE`. */
const SWEEP = SILENCE
/** Bytes of large files (over `SYNC_IO_BYTES`) that are edited at once. A bound on memory; chosen, not measured. */
const MEMORY = 256e6
const readOnly = fail<FileFailure>({ code: 'READ_ONLY' })
const deleteNotAllowed = fail<FileFailure>({ code: 'DELETE_NOT_ALLOWED', reason: 'setting' })
const noHistory = fail({ code: 'HISTORY_GONE', reason: 'off' } as const)

/**
 * Opens a root, and first removes or takes back what servers left that were killed. Throws if root or state folder
 * can't be used, and Occupied.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const root = openRoot(options.root, options.confinement)
  let intents
  let sockets
  let presence
  let history
  try {
    const state = openState(options.stateDir)
    const real = root.real() ?? state.path
    if (below(state.path, real) !== null) throw new Error('the root must not lie in the state folder')
    const me = thisOwner()
    // Who writes nothing loses nothing.
    if (!options.readOnly) {
      presence = await announce({ root: real, state, hostname: me.hostname, report: options.report ?? (() => {}) })
    }
    sockets = new LivenessSockets(state.live)
    if (await sockets.announce(me.nonce)) me.announced = true
    if (options.group !== undefined) me.group = options.group
    const observer: Observer = { me, hasEnded: nonce => sockets!.hasEnded(nonce) }
    intents = new Intents(state.intents, me)
    let trim = (): void => {}
    history = await openHistoryOf({ options, state, observer, intents }, () => trim())
    const workspace = new FileWorkspace({ options, root, state, observer, intents, sockets, presence, history })
    trim = () => workspace.trimInBackground()
    await workspace.sweep()
    workspace.keepSweeping()
    return workspace
  } catch (error) {
    await history?.close()
    intents?.close()
    sockets?.close()
    presence?.withdraw()
    root.close()
    throw error
  }
}

/** Null: none is kept. */
function openHistoryOf(
  { options, state, observer, intents }: Pick<Parts, 'options' | 'state' | 'observer' | 'intents'>,
  rotated: () => void
): Promise<History> | null {
  if (options.history === 'off') return null
  return openHistory({
    folder: state.history,
    nonce: observer.me.nonce,
    level: options.history === 'meta' ? 'meta' : 'full',
    isPrivate: matcher(options.historyPrivate),
    rotated,
    isAlive: nonce => mayLive(state.intents, nonce, observer),
    // An edit that is being made sees by the generation that it must not take place; the next one joins first.
    stayAlive: () => {
      if (!intents.stands()) intents.renew()
      return intents.generation
    },
    report: options.report ?? (() => {})
  })
}

interface Parts {
  options: WorkspaceOptions
  root: Root
  state: State
  observer: Observer
  intents: Intents
  sockets: LivenessSockets
  presence: Presence | undefined
  history: History | null
}

class FileWorkspace implements Workspace {
  readonly root: string
  readonly confinement: Root['confinement']
  readonly #options: WorkspaceOptions
  readonly #state: State
  readonly #observer: Observer
  readonly #sockets: LivenessSockets
  readonly #batches: BatchRecords
  readonly #lockFiles: LockFiles
  readonly #servers: Servers
  readonly #rootLock: RootLock
  readonly #locks: Locks
  readonly #policy: Policy
  readonly #report: Report
  readonly #files: FileAccess
  readonly #context: WriteContext
  readonly #recovery: Recovery
  readonly #presence: Presence | undefined
  /** Null: there is no history. */
  readonly #settling: Settling | null
  /** The same. */
  readonly #followers: Followers | null
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | null = null
  #trimming: Promise<void> | null = null
  #closed: Promise<void> | null = null

  constructor({ options, root, state, observer, intents, sockets, presence, history }: Parts) {
    this.#presence = presence
    this.confinement = root.confinement
    this.root = root.real()?.toString() ?? options.root
    this.#options = options
    this.#state = state
    this.#sockets = sockets
    this.#observer = observer
    this.#report = options.report ?? (() => {})
    this.#batches = new BatchRecords(state, observer, options.durability)
    this.#lockFiles = new LockFiles(state, observer, this.#report)
    this.#servers = serversOf({ state, observer, intents, sockets, report: this.#report })
    this.#rootLock = new RootLock({
      nonce: observer.me.nonce,
      files: this.#lockFiles,
      servers: this.#servers,
      mayBeAlone: state.isLocal && observer.me.announced === true,
      fence: nonces => fenceServers(root, state, nonces, path => this.#batches.names(path)),
      // Servers of one group edit beside each other.
      aloneChanged: isAlone => history?.setAlone(isAlone && options.group === undefined),
      report: this.#report
    })
    sockets.onChange = () => this.#rootLock.look()
    this.#locks = new Locks({
      secret: state.secret,
      timeout: options.lockTimeout,
      root: this.#rootLock,
      group: options.group !== undefined,
      socket: process.platform === 'linux',
      files: options.lock === 'shared' ? this.#lockFiles : null,
      fence: (realPath, temps) => {
        if (!isOfFile(realPath)) return
        const { folder } = split(realPath)
        // What a batch has begun is completed, or taken back, by whoever looks at the file next.
        fence(
          root,
          realPath,
          temps.filter(temp => !this.#batches.names(join(folder, temp)))
        )
      }
    })
    const journal = new Journal(state, observer, options.durability)
    const { durability } = options
    this.#recovery = {
      root,
      journal,
      batches: this.#batches,
      durability,
      acquire: name => this.#locks.acquire(name),
      report: this.#report
    }
    this.#settling = history && {
      history,
      root,
      acquire: realPath => this.#locks.acquire(realPath),
      recover: realPath => recover(this.#recovery, realPath),
      report: this.#report
    }
    this.#followers = history && new Followers({ history, mayRead: this.#mayRead })
    this.#policy = makePolicy({ ...options, stateDir: state.path })
    this.#files = new FileAccess({
      options,
      root,
      policy: this.#policy,
      locks: this.#locks,
      recover: realPath => recover(this.#recovery, realPath)
    })
    this.#context = {
      options,
      root,
      intents,
      batches: this.#batches,
      journal,
      files: this.#files,
      buffers: new BufferPool(Math.max(MEMORY, options.maxFileSize)),
      recorder: new Recorder({
        history,
        required: options.history === 'required',
        durable: options.durability === 'full',
        report: this.#report
      })
    }
  }

  edit<T, F>(target: FileTarget, options: ChangeOptions<Edited<T>>, plan: Planner<T, F>): Answer<Edited<T>, F> {
    return this.#files.run<Edited<T>, F>(target, 'edit', async asked =>
      this.#options.readOnly ? readOnly : editFile(this.#context, { asked, target, options, plan })
    )
  }

  create<T, F>(target: CreateTarget, options: ChangeOptions<Created<T>>, plan: Planner<T, F>): Answer<Created<T>, F> {
    return this.#files.run<Created<T>, F>(target, 'edit', async asked =>
      this.#options.readOnly ? readOnly : createFile(this.#context, { asked, target, options, plan })
    )
  }

  async batch<T, F>(steps: readonly BatchStep<T, F>[], options: ChangeOptions<BatchDone<T>>): BatchAnswer<T, F> {
    if (this.#options.readOnly) return { ...readOnly, path: steps[0]?.target.path ?? '.', at: 0 }
    const removal = this.#options.allowDelete ? -1 : steps.findIndex(({ operation }) => operation === 'remove')
    if (removal !== -1) return { ...deleteNotAllowed, path: steps[removal]!.target.path, at: removal }
    return this.#files.runAll(
      steps.map(({ target }) => target),
      'edit',
      asked => {
        const settling = this.#settling
        const newId = settling && (() => settling.history.nextId())
        return changeFiles<T, F>(this.#context, { steps, asked, options, newId })
      }
    )
  }

  look<R>(target: FileTarget, use: { file: () => Consumer<R>; directory: PageRequest }): Answer<Looked<R>> {
    return this.#files.run(target, 'look', asked =>
      this.#files.pinned<Looked<R>, FileFailure>(asked, 'look', async ({ pin, info }) => {
        const facts = { path: asked.path, ...info }
        if (pin.stat.isDirectory()) {
          if (target.expected_hash !== undefined) return fail({ code: 'NOT_A_FILE', type: 'directory' })
          return ok({ type: 'directory', ...facts, ...(await this.#list(pin, use.directory)) })
        }
        const read = await scanPinned(pin, this.#options.maxFileSize, use.file)
        if (!read.ok) return read
        const { stat, digest, value } = read.value
        const file_hash = shortHash(digest)
        const stale = staleness(target, file_hash)
        if (stale !== null) return { ...fail(stale), file_hash }
        const modified_at = new Date(Number(stat.mtimeNs / 1_000_000n))
        return ok({ type: 'file', ...facts, file_hash, file_size: Number(stat.size), modified_at, value })
      })
    )
  }

  async #list(pin: Pin, page: PageRequest): Promise<Entries> {
    const folder = this.#context.root.openFolder(pin.relative)
    try {
      return await listFolder(folder, page, this.#policy.hiddenIn(pin.real))
    } finally {
      folder.close()
    }
  }

  recall<T, F>(target: Pick<FileTarget, 'path'>, work: (file: FileWithPast) => Promise<Result<T, F>>): Answer<T, F> {
    return this.#files.run<T, F>(target, 'look', async asked => {
      if (this.#settling === null) return noHistory
      const { history } = this.#settling
      return recallFile<T, F>({ ...this.#context, history }, asked, work)
    })
  }

  async history(query: HistoryQuery): Promise<Result<HistoryPage, FileFailure>> {
    const settling = this.#settling
    if (settling === null) return noHistory
    const { path, under, ...others } = query
    const where = this.#where({ path, under })
    if (!where.ok) return where
    const past = {
      history: settling.history,
      mayRead: this.#mayRead,
      settle: (stored: Stored) => settle(settling, stored)
    }
    return ok(await pastEdits(past, { ...others, ...where.value }))
  }

  /** The real paths of what a query asks for. */
  #where(asked: { path: string | undefined; under: string | undefined }): Result<Where, FileFailure> {
    const where: Where = {}
    for (const name of ['path', 'under'] as const) {
      const given = asked[name]
      if (given === undefined) continue
      const real = this.#files.realPath(given)
      if (!real.ok) return real
      where[name] = real.value
    }
    return ok(where)
  }

  /** Whether the file at this real path may be read, whether it is there or not. */
  readonly #mayRead = (path: Buffer): boolean => this.#files.refusal('read', path) === null

  async changes({
    after,
    path,
    under,
    onGone,
    ...waiting
  }: ChangesQuery): Promise<Result<ChangesPage, FileFailure | CursorFailure>> {
    const where = this.#where({ path, under })
    if (!where.ok) return where
    const following = await this.follow(after)
    if (!following.ok) return following
    const follower = following.value
    onGone?.(() => follower.end())
    try {
      const told = await nextChanges(follower, { ...waiting, ...where.value })
      return told.ok ? ok({ told: told.value, next_after: follower.after.toString() }) : told
    } finally {
      follower.end()
    }
  }

  async follow(after?: string): Promise<Result<Follower, FileFailure | CursorFailure>> {
    if (this.#followers === null) return noHistory
    const cursor = after === undefined ? null : Cursor.parse(after)
    if (after !== undefined && cursor === null) return fail({ code: 'INVALID_CURSOR' })
    return this.#followers.follow(cursor)
  }

  endFollowing(): void {
    this.#followers?.close()
  }

  async review(target: ReviewTarget): Promise<Result<null, FileFailure | RequestInFlight>> {
    const { readOnly: isReadOnly, durability } = this.#options
    if (isReadOnly) return readOnly
    const history = this.#settling?.history
    if (history === undefined) return noHistory
    const giving = { history, durable: durability === 'full', report: this.#report }
    return this.#files.counted(() => giveVerdict(giving, target))
  }

  async keyed<T>(
    request: KeyedRequest,
    work: (key: Key) => Promise<T>,
    pathsIn: (outcome: unknown) => readonly string[] = () => [],
    use: 'edit' | 'read' = 'edit'
  ): Promise<Result<{ done: T } | { replayed: unknown }, KeyFailure>> {
    const settling = this.#settling
    if (settling === null) return noHistory
    const { history, acquire } = settling
    const { secret } = this.#state
    const keys = {
      history,
      secret,
      acquire,
      settle: (stored: Stored) => settle(settling, stored),
      refusalOf: (path: Buffer) => this.#files.refusal(use, path)
    }
    return onceByKey(keys, request, work, pathsIn)
  }

  ready(): FileFailure | null {
    const failure = this.#files.ready()
    const isWritable = this.#options.history !== 'required' || !this.degraded()
    if (failure !== null || isWritable) return failure
    return { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 }
  }

  degraded(): boolean {
    return this.#context.recorder.degraded
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    this.endFollowing()
    await this.#files.close()
    await this.#sweeping?.catch(() => {})
    await this.#trimming
    await this.#settling?.history.close()
    await this.#rootLock.close()
    this.#context.intents.close()
    // Who is left alone may say so.
    await this.#servers.tell()
    this.#sockets.close()
    this.#presence?.withdraw()
    this.#context.root.close()
  }

  /** Every minute from now on, but not while a sweep is still running. */
  keepSweeping(): void {
    this.#timer = setInterval(() => {
      if (this.#sweeping === null) {
        this.sweep().catch(error => this.#report({ event: 'sweep_failed', reason: String(error) }))
      }
    }, SWEEP).unref()
  }

  /** Removes what dead servers left: temp files, locks, half-written files. */
  sweep(): Promise<void> {
    this.#sweeping = this.#sweep().finally(() => {
      this.#sweeping = null
    })
    return this.#sweeping
  }

  async #sweep(): Promise<void> {
    await this.#lockFiles.sweep()
    await recover(this.#recovery)
    // Before the temp files are removed: by them it is known what did not take place.
    if (this.#settling !== null && !this.#options.readOnly) await settleAll(this.#settling)
    await sweepIntents(this.#state.intents, this.#observer, this.#context.root, {
      isKept: path => this.#batches.names(path),
      report: this.#report
    })
    await this.#sockets.sweep(() => this.#context.journal.isEmpty())
    this.#rootLock.look()
    await this.#trimHistory()
  }

  /** Not while it closes, which ends a segment too. */
  trimInBackground(): void {
    if (this.#closed !== null) return
    this.#trimming ??= this.#trimHistory()
      .catch(error => this.#report({ event: 'sweep_failed', reason: String(error) }))
      .finally(() => {
        this.#trimming = null
      })
  }

  /** Removes what is too old or too much. */
  async #trimHistory(): Promise<void> {
    const { historyDays: days, historySize: bytes, readOnly } = this.#options
    if (!readOnly) await this.#settling?.history.sweep({ days, bytes })
  }
}
