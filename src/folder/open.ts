// Assembles the parts of the workspace: opens a root, sweeps and closes it. Does not know HTTP, or what can be done
// with files.
import { setMaxListeners } from 'node:events'
import type { History } from '../log/api.ts'
import { openHistory } from '../log/folder-log.ts'
import type { Workspace, WorkspaceOptions } from '../workspace/api.ts'
import { fence } from './locks/fence.ts'
import type { NotReady } from '../workspace/failure.ts'
import { BatchRecords } from './commit/batch-record.ts'
import { Followers } from '../recording/follow.ts'
import { Intents, mayLive, sweepIntents } from './commit/intents.ts'
import { Recorder } from '../recording/recorder.ts'
import { settleAll, type Settling } from './settle.ts'
import { Journal } from './commit/journal.ts'
import { LockFiles } from './locks/lock-file.ts'
import { Locks } from './locks/lock.ts'
import { RootLock, type Servers } from './locks/root-lock.ts'
import { LivenessSockets } from './locks/liveness.ts'
import { isOfFile } from './locks/names.ts'
import { SILENCE, thisOwner, type Observer } from './locks/owner.ts'
import { BackgroundWork } from '../workspace/background.ts'
import { BufferPool } from '../workspace/buffer-pool.ts'
import { below, join, split } from '../workspace/path.ts'
import type { Root } from './root/pin.ts'
import { makePolicy, matcher } from '../workspace/policy.ts'
import { announcePresence, type Presence } from './locks/other-servers.ts'
import { openRoot } from './root/root.ts'
import { recover, type Recovery } from './recovery.ts'
import { fenceServers, peersOf, serversOf } from './servers.ts'
import { checkState, hasRoom, openState, type State } from './state.ts'
import { ripgrepPath } from './find/ripgrep.ts'
import { FileWorkspace, type OpenRoot } from './file-workspace.ts'
import { PresentHashes } from './present-hashes.ts'
import { Running } from '../workspace/running.ts'
import { Turns } from './turns.ts'

type Report = NonNullable<WorkspaceOptions['report']>

/** In ms between two searches for what dead servers left; none of them counts as silent sooner than `SILENCE`. */
const SWEEP = SILENCE
/** Bytes of large files (over `SYNC_IO_BYTES`) that are edited at once. A bound on memory; chosen, not measured. */
const MEMORY = 256e6

/**
 * Opens a root, and first removes or takes back what killed servers left. Throws if root or state folder can't be used,
 * and Occupied.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const root = openRoot(options.root, options.confinement, options.threads)
  let intents
  let sockets
  let presence
  let history
  try {
    const state = openState(options.stateDir)
    const real = root.real() ?? state.path
    if (below(state.path, real) !== null) throw new Error('the root must not lie in the state folder')
    const me = thisOwner()
    // A server that writes nothing can't conflict with another.
    if (!options.readOnly) {
      presence = await announcePresence({
        root: real,
        state,
        hostname: me.hostname,
        report: options.report ?? (() => {})
      })
    }
    sockets = new LivenessSockets(state.live)
    if (await sockets.announce(me.nonce)) me.announced = true
    if (options.lock === 'local') me.local = true
    const observer: Observer = { me, hasEnded: nonce => sockets!.hasEnded(nonce) }
    intents = new Intents(state.intents, me)
    let trim = (): void => {}
    history = await openHistoryOf({ options, state, observer, intents }, () => trim())
    const canFind = (await ripgrepPath()) !== null
    const keeper = new RootKeeper({ options, root, state, observer, intents, sockets, presence, history, canFind })
    trim = () => keeper.trimInBackground()
    await keeper.sweep()
    keeper.keepSweeping()
    const policy = makePolicy({ ...options, stateDir: state.path })
    return new FileWorkspace(keeper.opened, policy, keeper)
  } catch (error) {
    await history?.close()
    intents?.close()
    sockets?.close()
    presence?.withdraw()
    root.close()
    throw error
  }
}

/** Null: no history is kept. */
function openHistoryOf(
  { options, state, observer, intents }: Pick<Parts, 'options' | 'state' | 'observer' | 'intents'>,
  grown: () => void
): Promise<History> | null {
  if (options.history === 'off') return null
  return openHistory({
    folder: state.history,
    nonce: observer.me.nonce,
    level: options.history === 'meta' ? 'meta' : 'full',
    isPrivate: matcher(options.historyPrivate),
    grown,
    size: options.historySize,
    isAlive: nonce => mayLive(state.intents, nonce, observer),
    // A running edit sees by the generation that it must not go on; the next one joins first.
    stayAlive: () => {
      if (!intents.exists()) intents.renew()
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
  canFind: boolean
}

/** Keeps a root in order from when it is opened until it is closed. */
class RootKeeper {
  /** What users of the files need. */
  readonly opened: OpenRoot
  readonly #options: WorkspaceOptions
  readonly #state: State
  readonly #observer: Observer
  readonly #sockets: LivenessSockets
  readonly #batches: BatchRecords
  readonly #lockFiles: LockFiles
  readonly #servers: Servers
  readonly #rootLock: RootLock
  readonly #locks: Locks
  readonly #report: Report
  readonly #recovery: Recovery
  readonly #presence: Presence | undefined
  /** Null: there is no history. */
  readonly #settling: Settling | null
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> | null = null
  /** Removes history that is too old or too large. */
  readonly #trimming = new BackgroundWork(
    () => this.#trimHistory(),
    error => this.#report({ event: 'sweep_failed', reason: String(error) })
  )
  #closed: Promise<void> | null = null
  readonly #closing = new AbortController()

  constructor({ options, root, state, observer, intents, sockets, presence, history, canFind }: Parts) {
    this.#presence = presence
    this.#options = options
    this.#state = state
    this.#sockets = sockets
    this.#observer = observer
    this.#report = options.report ?? (() => {})
    const journal = new Journal(state, observer, options.durability)
    this.#batches = new BatchRecords(state, observer, options.durability, () => journal.lookAgain())
    this.#lockFiles = new LockFiles(state, observer, this.#report)
    const usable = (): NotReady | null => checkState(state, () => this.#report({ event: 'state_restored' }))
    this.#servers = serversOf({ state, observer, intents, sockets, checkState: usable, report: this.#report })
    this.#rootLock = new RootLock({
      nonce: observer.me.nonce,
      files: this.#lockFiles,
      servers: this.#servers,
      mayBeAlone: state.isLocal && observer.me.announced === true,
      fence: nonces => fenceServers(root, state, nonces, path => this.#batches.names(path)),
      aloneChanged: isAlone => history?.setAlone(isAlone),
      // Writes the history of all files. A closed history has written it already.
      leaving: async () => (this.#closed === null ? history?.flush() : undefined),
      report: this.#report
    })
    sockets.onChange = () => this.#rootLock.look()
    this.#locks = new Locks({
      secret: state.secret,
      timeout: options.lockTimeout,
      root: this.#rootLock,
      peers: peersOf({ state, observer }),
      socket: process.platform === 'linux',
      files: options.lock === 'shared' ? this.#lockFiles : null,
      unproven: name => this.#report({ event: 'lock_socket_unproven', socket: `@${name}` }),
      waited: options.meter?.locked,
      // The next server reads from the disk what this process has in memory on the file.
      leaving: async realPath => history?.leave(realPath),
      fence: (realPath, temps) => {
        if (!isOfFile(realPath)) return
        const { folder } = split(realPath)
        // What a batch has begun is completed, or taken back, by the next server that looks at the file.
        fence(
          root,
          realPath,
          temps.filter(temp => !this.#batches.names(join(folder, temp)))
        )
      }
    })
    const { durability } = options
    // Many finds may listen.
    setMaxListeners(0, this.#closing.signal)
    this.#recovery = {
      root,
      journal,
      batches: this.#batches,
      durability,
      locks: this.#locks,
      report: this.#report
    }
    this.#settling = history && {
      history,
      root,
      acquire: realPath => this.#locks.acquire(realPath),
      recover: realPath => recover(this.#recovery, realPath),
      report: this.#report,
      audit: options.audit
    }
    this.opened = {
      options,
      root,
      secret: state.secret,
      checkState: usable,
      hasRoom: () => hasRoom(state),
      locks: this.#locks,
      mayBeLeft: ({ alone_since }) => journal.mayHold(alone_since),
      recover: (realPath, object) => recover(this.#recovery, realPath, object),
      running: new Running(),
      hashes: new PresentHashes(options.maxFileSize),
      settling: this.#settling,
      followers: history && new Followers(history),
      closing: this.#closing.signal,
      stateDir: state.path,
      canFind,
      intents,
      batches: this.#batches,
      journal,
      buffers: new BufferPool(Math.max(MEMORY, options.maxFileSize)),
      turns: new Turns(),
      recorder: new Recorder({
        history,
        required: options.history === 'required',
        durable: options.durability === 'full',
        report: this.#report
      })
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    this.#trimming.stop()
    this.opened.followers?.close()
    this.#closing.abort()
    await this.opened.running.close()
    await this.#sweeping?.catch(() => {})
    await this.#trimming.ended()
    await this.#settling?.history.close()
    await this.#rootLock.close()
    this.opened.intents.close()
    // A server that remains may learn that it is alone.
    await this.#servers.tell()
    this.#sockets.close()
    this.#presence?.withdraw()
    this.opened.root.close()
    this.#options.meter?.closed()
  }

  /** Every minute from now on, but not while a sweep is still running. */
  keepSweeping(): void {
    this.#timer = setInterval(() => {
      if (this.#sweeping === null && !this.opened.root.disk.hangs) {
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
    // Before the temp files are removed: they show which changes never happened.
    if (this.#settling !== null && !this.#options.readOnly) await settleAll(this.#settling)
    await sweepIntents(this.#state.intents, this.#observer, this.opened.root, {
      isKept: path => this.#batches.names(path),
      report: this.#report
    })
    await this.#sockets.sweep(() => this.opened.journal.isEmpty())
    this.#rootLock.look()
    await this.#trimHistory()
  }

  /** Removes old history in the background, but not while closing, which ends a segment too. */
  trimInBackground(): void {
    this.#trimming.again()
  }

  async #trimHistory(): Promise<void> {
    const { historyDays: days, historySize: bytes, readOnly } = this.#options
    const swept = readOnly ? undefined : await this.#settling?.history.sweep({ days, bytes })
    if (swept !== undefined) this.#options.meter?.history(swept.bytes)
  }
}
