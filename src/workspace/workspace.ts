// Edit and read: the one way through path, policy, lock, reading, plan and commit. Knows no HTTP and not what a plan does.
import { resolve } from 'node:path'
import { encodingOf, isBinary } from '../engine/encoding.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Edited, Failed, FileTarget, Planner, ReadFile, Workspace, WorkspaceOptions } from './api.ts'
import { commit, lossesOf, type Change } from './commit.ts'
import { failureOf } from './errno.ts'
import type { FileFailure } from './failure.ts'
import { recoverInPlace, writeInPlace } from './in-place.ts'
import { Intents, sweepIntents } from './intents.ts'
import { Journal } from './journal.ts'
import { LockFiles } from './lock-file.ts'
import { Locks, type Lock } from './lock.ts'
import { nearPaths } from './near.ts'
import { thisOwner, type Owner } from './owner.ts'
import { below, relativePath } from './path.ts'
import { gone, type Missing, type Pin, type Root } from './pin.ts'
import { makePolicy, type Policy } from './policy.ts'
import { openRoot } from './root.ts'
import { openState, type State } from './state.ts'
import { digestOf, readWhole, shortHash } from './text-file.ts'

export type * from './api.ts'

type Report = NonNullable<WorkspaceOptions['report']>
/** What an answer tells of the file; filled in as it becomes known. */
type About = { path: string, resolved_path?: string, file_hash?: string }

/** In ms between two searches for what dead servers left. */
const SWEEP = 60_000
const ATTEMPTS = 3
const draining: FileFailure = { code: 'NOT_READY', reason: 'draining', retry_after: 5 }
const changedMeanwhile: FileFailure = { code: 'STALE_FILE', reason: 'changed_meanwhile' }

/** Opens a root, and first removes or takes back what servers left that were killed. Throws if root or state folder can't be used. */
export async function openWorkspace (options: WorkspaceOptions): Promise<Workspace> {
  const root = openRoot(options.root, options.confinement)
  let intents
  try {
    const state = openState(options.stateDir)
    if (below(state.path, root.real() ?? state.path) !== null) throw new Error('the root must not lie in the state folder')
    const me = thisOwner()
    intents = new Intents(state.intents, me)
    const workspace = new FileWorkspace(options, root, state, me, intents)
    await workspace.sweep()
    return workspace
  } catch (error) {
    intents?.close()
    root.close()
    throw error
  }
}

class FileWorkspace implements Workspace {
  readonly root: string
  readonly #options: WorkspaceOptions
  readonly #root: Root
  readonly #roots: string[]
  readonly #state: State
  readonly #me: Owner
  readonly #intents: Intents
  readonly #journal: Journal
  readonly #files: LockFiles | null
  readonly #locks: Locks
  readonly #policy: Policy
  readonly #report: Report
  readonly #timer: NodeJS.Timeout
  #running = 0
  #idle: (() => void) | null = null
  #closed: Promise<void> | null = null

  constructor (options: WorkspaceOptions, root: Root, state: State, me: Owner, intents: Intents) {
    this.root = root.real()?.toString() ?? options.root
    this.#options = options
    this.#root = root
    this.#roots = [...new Set([this.root, resolve(options.root)])]
    this.#state = state
    this.#me = me
    this.#intents = intents
    this.#report = options.report ?? (() => {})
    this.#journal = new Journal(state, me, options.durability)
    this.#files = options.lock === 'shared' ? new LockFiles(state.locks, me, this.#report) : null
    this.#locks = new Locks({ secret: state.secret, timeout: options.lockTimeout, socket: process.platform === 'linux', files: this.#files })
    this.#policy = makePolicy({ ...options, stateDir: state.path })
    this.#timer = setInterval(() => {
      this.sweep().catch(error => this.#report({ event: 'sweep_failed', reason: String(error) }))
    }, SWEEP).unref()
  }

  edit<T, F> (target: FileTarget, options: { dry_run: boolean }, plan: Planner<T, F>): Promise<{ ok: true, value: Edited<T> } | Failed<F | FileFailure>> {
    return this.#run(target, async (asked, about): Promise<Result<Edited<T>, F | FileFailure>> => {
      if (this.#options.readOnly) return fail({ code: 'READ_ONLY' })
      if (options.dry_run) return this.#withPin(asked, 'edit', about, pin => this.#change(pin, target, plan, about, null))
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const place = await this.#withPin<Buffer, never>(asked, 'edit', about, async pin => ok(pin.relative))
        if (!place.ok) return place
        const done = await this.#locked(place.value, asked, about, (pin, lock) => this.#change(pin, target, plan, about, lock))
        if (done !== null) return done
      }
      return fail(changedMeanwhile)
    })
  }

  read (target: FileTarget): Promise<{ ok: true, value: ReadFile } | Failed<FileFailure>> {
    return this.#run(target, (relative, about) => this.#withPin(relative, 'read', about, async (pin): Promise<Result<ReadFile, FileFailure>> => {
      const read = await readWhole(pin, this.#options.maxFileSize)
      if (!read.ok) return read
      const { bytes, digest, stat } = read.value
      read.value.close()
      const file_hash = shortHash(digest)
      about.file_hash = file_hash
      if (isStale(target, file_hash)) return stale(target)
      return ok({ ...about, file_hash, bytes, encoding: encodingOf(bytes), modified_at: new Date(Number(stat.mtimeNs / 1_000_000n)) })
    }))
  }

  ready (): FileFailure | null {
    if (this.#closed !== null) return draining
    return this.#root.real() === null ? gone : null
  }

  close (): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close (): Promise<void> {
    clearInterval(this.#timer)
    if (this.#running > 0) await new Promise<void>(resolve => { this.#idle = resolve })
    this.#intents.close()
    this.#root.close()
  }

  /** Removes what dead servers left: temp files, locks, half-written files. */
  async sweep (): Promise<void> {
    this.#files?.sweep()
    await this.#recover()
    sweepIntents(this.#state.intents, this.#me, this.#root, this.#report)
  }

  #recover (only?: Buffer): Promise<void> {
    const context = { root: this.#root, journal: this.#journal, durability: this.#options.durability }
    return recoverInPlace(context, async (relative, work) => {
      if (only !== undefined) {
        await work()
        return true
      }
      const lock = await this.#locks.acquire(relative)
      if (!lock.ok) return false
      try { await work() } finally { await lock.value.release() }
      return true
    }, this.#report, only)
  }

  /** What every request has in common: the path's letters, counting what runs, and what system errors mean. */
  async #run<T, F> (target: FileTarget, work: (asked: Buffer, about: About) => Promise<Result<T, F | FileFailure>>): Promise<{ ok: true, value: T } | Failed<F | FileFailure>> {
    if (this.#closed !== null) return { ok: false, failure: draining, path: target.path }
    const path = relativePath(target.path, this.#roots)
    if (!path.ok) return { ...path, path: target.path }
    const about: About = { path: path.value === '' ? '.' : path.value }
    this.#running++
    try {
      const result = await work(Buffer.from(path.value), about)
      return result.ok ? result : { ...about, ...result }
    } catch (error) {
      const failure = failureOf(error)
      if (failure === null) throw error
      return { ...about, ok: false, failure }
    } finally {
      if (--this.#running === 0) this.#idle?.()
    }
  }

  /** Pins a file that may be used so, and closes the pin when the work is done. */
  async #withPin<T, F> (asked: Buffer, use: 'edit' | 'read', about: About, work: (pin: Pin) => Promise<Result<T, F>>): Promise<Result<T, F | FileFailure>> {
    const pinned = this.#root.pin(asked)
    if (!pinned.ok) return fail(pinned.failure.code === 'MISSING' ? this.#missing(pinned.failure, use) : pinned.failure)
    const pin = pinned.value
    try {
      if (!pin.relative.equals(asked)) about.resolved_path = pin.relative.toString()
      const refusal = this.#policy.judge(use, pin.real, pin.relative) ?? refusalOfType(pin)
      return refusal === null ? await work(pin) : fail(refusal)
    } finally { pin.close() }
  }

  #missing ({ relative }: Missing, use: 'edit' | 'read'): FileFailure {
    const root = this.#root.real()
    if (root === null) return gone
    const refusal = this.#policy.judge(use, Buffer.concat([root, Buffer.from('/'), relative]), relative)
    if (refusal !== null) return refusal
    const near = nearPaths(this.#root, relative, pin => this.#policy.judge(use, pin.real, pin.relative) === null)
    return near.length === 0 ? { code: 'FILE_NOT_FOUND' } : { code: 'FILE_NOT_FOUND', did_you_mean: near }
  }

  /** Under the lock of `place`, a real path below the root. Null: what was asked for is elsewhere by now. */
  async #locked<T, F> (place: Buffer, asked: Buffer, about: About, work: (pin: Pin, lock: Lock) => Promise<Result<T, F>>): Promise<Result<T, F | FileFailure> | null> {
    const lock = await this.#locks.acquire(place)
    if (!lock.ok) {
      // Not where a flood is turned away: it would read the file each time.
      if (lock.failure.code === 'FILE_LOCKED' && lock.failure.reason !== 'queue_full') await this.#lookAgain(asked, about)
      return lock
    }
    try {
      if (lock.value.tookOver) await this.#recover(place)
      const done = await this.#withPin(asked, 'edit', about, async (pin): Promise<Result<T | null, F>> => {
        return pin.relative.equals(place) ? await work(pin, lock.value) : ok(null)
      })
      if (!done.ok) return done
      return done.value === null ? null : ok(done.value)
    } finally { await lock.value.release() }
  }

  /** The checks, the plan and, with a lock, the writing. */
  async #change<T, F> (pin: Pin, target: FileTarget, plan: Planner<T, F>, about: About, lock: Lock | null): Promise<Result<Edited<T>, F | FileFailure>> {
    const unwritable = refusalToWrite(pin)
    if (unwritable !== null) {
      await this.#hash(pin, about)
      return fail(unwritable)
    }
    const read = await readWhole(pin, this.#options.maxFileSize)
    if (!read.ok) return read
    const snapshot = read.value
    try {
      const hash_before = shortHash(snapshot.digest)
      about.file_hash = hash_before
      if (this.#options.requireHash && target.expected_hash === undefined) return fail({ code: 'PRECONDITION_REQUIRED' })
      const encoding = encodingOf(snapshot.bytes)
      if (isBinary(encoding)) return fail({ code: 'BINARY_FILE', encoding, file_size: snapshot.bytes.length })
      if (isStale(target, hash_before)) return stale(target)

      const planned = plan(snapshot.bytes)
      if (!planned.ok) return planned
      const { pieces, description } = planned.value
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
      const digest = await digestOf(pieces, size)
      const changed = digest !== snapshot.digest
      const result = { ...about, changed, hash_before, new_hash: shortHash(digest), file_size: size, description }
      if (!changed || lock === null) return ok({ ...result, file_hash: hash_before, warnings: changed ? lossesOf(pin, 'rename') : [] })

      const written = await this.#write({ pin, snapshot, pieces, size, digest }, lock)
      if (written.ok) return ok({ ...result, file_hash: result.new_hash, ...written.value })
      await this.#lookAgain(pin.relative, about)
      return written
    } finally { snapshot.close() }
  }

  async #write (change: Change, lock: Lock): Promise<Result<{ warnings: string[], write_strategy?: 'in_place' }, FileFailure>> {
    const context = { root: this.#root, intents: this.#intents, journal: this.#journal, durability: this.#options.durability, held: () => lock.held() }
    const renamed = await commit(context, change)
    if (renamed.ok) return ok({ warnings: renamed.value })
    if (renamed.failure.code !== 'UNRENAMABLE') return fail(renamed.failure)
    const written = await writeInPlace(context, change)
    return written.ok ? ok({ warnings: written.value, write_strategy: 'in_place' }) : written
  }

  /** The hash for an answer that something else is the matter with; without it if it can't be had. */
  async #hash (pin: Pin, about: About): Promise<void> {
    delete about.file_hash
    try {
      const read = await readWhole(pin, this.#options.maxFileSize)
      if (!read.ok) return
      about.file_hash = shortHash(read.value.digest)
      read.value.close()
    } catch {}
  }

  async #lookAgain (asked: Buffer, about: About): Promise<void> {
    delete about.file_hash
    try { await this.#withPin(asked, 'edit', about, async pin => ok(await this.#hash(pin, about))) } catch {}
  }
}

function refusalOfType ({ stat }: Pin): FileFailure | null {
  if (stat.isFile()) return null
  const type = stat.isDirectory() ? 'directory' : stat.isFIFO() ? 'fifo' : stat.isSocket() ? 'socket' : 'device'
  return { code: 'NOT_A_FILE', type }
}

/** A rename would silently replace a file that nobody was meant to write, so its mode is asked, for root too. */
function refusalToWrite (pin: Pin): FileFailure | null {
  if ((pin.stat.mode & 0o200n) === 0n) return { code: 'PERMISSION_DENIED', reason: 'read_only_file' }
  return pin.writable() ? null : { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
}

const isStale = (target: FileTarget, hash: string): boolean => target.expected_hash !== undefined && target.expected_hash !== hash

const stale = (target: FileTarget): { ok: false, failure: FileFailure } =>
  fail({ code: 'STALE_FILE', reason: 'expected_hash', ...(target.expected_hash === undefined ? {} : { expected_hash: target.expected_hash }) })
