// What is done with files, and the one place where it is put together: opens a root, sweeps it, closes it. Knows no
// HTTP and not what a plan does.
import { encodingOf } from '../engine/text/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  Consumer,
  Created,
  CreateTarget,
  Edited,
  FailedAccess,
  FileTarget,
  Listing,
  Looked,
  PageRequest,
  Planner,
  ReadFile,
  Scanned,
  Workspace,
  WorkspaceOptions
} from './api.ts'
import { createFile } from './create.ts'
import { editFile, staleness, type WriteContext } from './edit.ts'
import type { FileFailure } from './failure.ts'
import { fence } from './fence.ts'
import { recoverInPlace } from './in-place.ts'
import { Intents, sweepIntents } from './intents.ts'
import { Journal } from './journal.ts'
import { listFolder } from './list.ts'
import { LockFiles } from './lock-file.ts'
import { Locks } from './lock.ts'
import { LivenessSockets } from './liveness.ts'
import { thisOwner, type Observer, type Owner } from './owner.ts'
import { BufferPool } from './buffer-pool.ts'
import { below } from './path.ts'
import type { Pin, Root } from './pin.ts'
import { makePolicy, type Policy } from './policy.ts'
import { announce, type Presence } from './presence.ts'
import { openRoot } from './root.ts'
import { scanPinned } from './scan.ts'
import { openState, type State } from './state.ts'
import { readWhole, shortHash } from './text-file.ts'
import { FileAccess, type FileInfo } from './file-access.ts'

export type * from './api.ts'

type Report = NonNullable<WorkspaceOptions['report']>
type Answer<T, F = never> = Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>>

/** In ms between two searches for what dead servers left. */
const SWEEP = 60_000
/** Bytes of large files that are edited at once. */
const MEMORY = 256e6
const readOnly = fail<FileFailure>({ code: 'READ_ONLY' })

/**
 * Opens a root, and first removes or takes back what servers left that were killed. Throws if root or state folder
 * can't be used, and Occupied.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const root = openRoot(options.root, options.confinement)
  let intents
  let sockets
  let presence
  try {
    const state = openState(options.stateDir)
    const real = root.real() ?? state.path
    if (below(state.path, real) !== null) throw new Error('the root must not lie in the state folder')
    const me = thisOwner()
    // Who writes nothing loses nothing.
    if (!options.readOnly)
      presence = await announce({ root: real, state, hostname: me.hostname, report: options.report ?? (() => {}) })
    sockets = new LivenessSockets(state.live)
    if (await sockets.announce(me.nonce)) me.announced = true
    intents = new Intents(state.intents, me)
    const workspace = new FileWorkspace({ options, root, state, me, intents, sockets, presence })
    await workspace.sweep()
    workspace.keepSweeping()
    return workspace
  } catch (error) {
    intents?.close()
    sockets?.close()
    presence?.withdraw()
    root.close()
    throw error
  }
}

interface Parts {
  options: WorkspaceOptions
  root: Root
  state: State
  me: Owner
  intents: Intents
  sockets: LivenessSockets
  presence: Presence | undefined
}

class FileWorkspace implements Workspace {
  readonly root: string
  readonly confinement: Root['confinement']
  readonly #options: WorkspaceOptions
  readonly #state: State
  readonly #observer: Observer
  readonly #sockets: LivenessSockets
  readonly #lockFiles: LockFiles | null
  readonly #locks: Locks
  readonly #policy: Policy
  readonly #report: Report
  readonly #files: FileAccess
  readonly #writing: WriteContext
  readonly #presence: Presence | undefined
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | null = null
  #closed: Promise<void> | null = null

  constructor({ options, root, state, me, intents, sockets, presence }: Parts) {
    this.#presence = presence
    this.confinement = root.confinement
    this.root = root.real()?.toString() ?? options.root
    this.#options = options
    this.#state = state
    this.#sockets = sockets
    this.#observer = { me, hasEnded: nonce => sockets.hasEnded(nonce) }
    this.#report = options.report ?? (() => {})
    this.#lockFiles = options.lock === 'shared' ? new LockFiles(state, this.#observer, this.#report) : null
    this.#locks = new Locks({
      secret: state.secret,
      timeout: options.lockTimeout,
      socket: process.platform === 'linux',
      files: this.#lockFiles
    })
    this.#policy = makePolicy({ ...options, stateDir: state.path })
    this.#files = new FileAccess({
      options,
      root,
      policy: this.#policy,
      locks: this.#locks,
      recover: place => this.#recover(place)
    })
    this.#writing = {
      options,
      root,
      intents,
      journal: new Journal(state, this.#observer, options.durability),
      files: this.#files,
      buffers: new BufferPool(Math.max(MEMORY, options.maxFileSize))
    }
  }

  edit<T, F>(target: FileTarget, { dry_run }: { dry_run: boolean }, plan: Planner<T, F>): Answer<Edited<T>, F> {
    return this.#files.run<Edited<T>, F>(target, async (asked, about) =>
      this.#options.readOnly ? readOnly : editFile(this.#writing, asked, about, target, dry_run, plan)
    )
  }

  create<T, F>(target: CreateTarget, { dry_run }: { dry_run: boolean }, plan: Planner<T, F>): Answer<Created<T>, F> {
    return this.#files.run<Created<T>, F>(target, async (asked, about) =>
      this.#options.readOnly ? readOnly : createFile(this.#writing, asked, about, target, dry_run, plan)
    )
  }

  read(target: FileTarget): Answer<ReadFile> {
    return this.#files.run(target, (asked, about) =>
      this.#files.pinned(asked, 'read', about, async (pin): Promise<Result<ReadFile, FileFailure>> => {
        const read = await readWhole(pin, this.#options.maxFileSize)
        if (!read.ok) return read
        const { bytes, digest, stat, close } = read.value
        close()
        const facts = factsOf(target, about, digest)
        return facts.ok
          ? ok({ ...facts.value, bytes, encoding: encodingOf(bytes), modified_at: timeOf(stat.mtimeNs) })
          : facts
      })
    )
  }

  scan<R>(target: FileTarget, consumer: () => Consumer<R>): Answer<Scanned<R>> {
    return this.#files.run(target, (asked, about) =>
      this.#files.pinned(asked, 'read', about, pin => this.#scan(pin, target, about, consumer))
    )
  }

  list({ path, ...page }: { path: string } & PageRequest): Answer<Listing> {
    return this.#files.run({ path }, (asked, about) =>
      this.#files.pinned(asked, 'look', about, async (pin): Promise<Result<Listing, FileFailure>> =>
        pin.stat.isDirectory() ? this.#list(pin, about, page) : fail({ code: 'NOT_A_FILE', type: 'not_a_directory' })
      )
    )
  }

  look<R>(target: FileTarget, use: { file: () => Consumer<R>; directory: PageRequest }): Answer<Looked<R>> {
    return this.#files.run(target, (asked, about) =>
      this.#files.pinned(asked, 'look', about, async (pin): Promise<Result<Looked<R>, FileFailure>> => {
        if (!pin.stat.isDirectory()) {
          const scanned = await this.#scan(pin, target, about, use.file)
          return scanned.ok ? ok({ type: 'file', ...scanned.value }) : scanned
        }
        if (target.expected_hash !== undefined) return fail({ code: 'NOT_A_FILE', type: 'directory' })
        const listed = await this.#list(pin, about, use.directory)
        return ok({ type: 'directory', ...listed.value })
      })
    )
  }

  async #scan<R>(
    pin: Pin,
    target: FileTarget,
    about: FileInfo,
    consumer: () => Consumer<R>
  ): Promise<Result<Scanned<R>, FileFailure>> {
    const read = await scanPinned(pin, this.#options.maxFileSize, consumer)
    if (!read.ok) return read
    const { stat, digest, value } = read.value
    const facts = factsOf(target, about, digest)
    return facts.ok
      ? ok({ ...facts.value, file_size: Number(stat.size), modified_at: timeOf(stat.mtimeNs), value })
      : facts
  }

  async #list(pin: Pin, about: FileInfo, page: PageRequest): Promise<{ ok: true; value: Listing }> {
    const folder = this.#writing.root.openFolder(pin.relative)
    try {
      return ok({ ...about, ...(await listFolder(folder, page, this.#policy.hiddenIn(pin.real))) })
    } finally {
      folder.close()
    }
  }

  ready(): FileFailure | null {
    return this.#files.ready()
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#files.close()
    await this.#sweeping?.catch(() => {})
    this.#writing.intents.close()
    this.#sockets.close()
    this.#presence?.withdraw()
    this.#writing.root.close()
  }

  /** Every minute from now on, but not while a sweep is still running. */
  keepSweeping(): void {
    this.#timer = setInterval(() => {
      if (this.#sweeping === null)
        this.sweep().catch(error => this.#report({ event: 'sweep_failed', reason: String(error) }))
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
    await this.#lockFiles?.sweep()
    await this.#recover()
    await sweepIntents(this.#state.intents, this.#observer, this.#writing.root, this.#report)
    await this.#sockets.sweep(() => this.#writing.journal.isEmpty())
  }

  /** `only`: what was left of this file, whose lock we have. */
  #recover(only?: Buffer): Promise<boolean> {
    const { root, journal } = this.#writing
    return recoverInPlace(
      { root, journal, durability: this.#options.durability, report: this.#report },
      async (relative, work) => {
        if (only !== undefined) {
          await work()
          return true
        }
        const lock = await this.#locks.acquire(relative)
        if (!lock.ok) return false
        try {
          fence(root, relative, lock.value)
          await work()
        } finally {
          await lock.value.release()
        }
        return true
      },
      only
    )
  }
}

/** What is said of a file that was read, or that it isn't the one that is expected. */
function factsOf(
  target: FileTarget,
  about: FileInfo,
  digest: string
): Result<{ path: string; resolved_path?: string; file_hash: string }, FileFailure> {
  const file_hash = shortHash(digest)
  about.file_hash = file_hash
  const stale = staleness(target, file_hash)
  return stale === null ? ok({ ...about, file_hash }) : fail(stale)
}

const timeOf = (nanoseconds: bigint): Date => new Date(Number(nanoseconds / 1_000_000n))
