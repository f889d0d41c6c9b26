// The lock between hosts and containers: a folder in the state folder, kept fresh by proper-lockfile. Does not know the
// queue, sockets or temp files.
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  type Stats,
  unlinkSync,
  utimes,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lock } from 'proper-lockfile'
import { codeOf, quietly } from '../../workspace/errno.ts'
import { lifeOf, parseOwner, type Life, type Observer } from './owner.ts'
import { readText } from '../snapshot.ts'

export interface HeldFile {
  /** Unique id of this hold. */
  readonly entry: string
  /**
   * The entries of earlier holders that never released: they may be suspended, and not know that they lost the lock.
   */
  readonly unreleased: readonly string[]
  /** Whether the lock is still ours; synchronous. */
  held(): boolean
  /** Call it when nothing that the unreleased holders do can take effect any more. */
  forget(): void
  /** Never rejects: what can't be removed is taken over later. */
  release(): Promise<void>
}

type Report = (event: { event: string; [key: string]: unknown }) => void

// proper-lockfile's exit hook (signal-exit) would end the process on a write beyond the limit on file size, which Node
// alone survives. It does nothing if there is another listener.
process.on('SIGXFSZ', () => {})

type Done = (error: Error | null) => void

/**
 * In ms: a lock file that nobody touched for this long may be taken over. proper-lockfile touches it twice in that
 * time, and this is its own default.
 */
const STALE = 10_000
/** In ms: how long a rival that took over too needs to become visible. Chosen, not measured. */
const SETTLE = 50

/**
 * Lock files in `locks`, a folder of the state that all servers share. A lock is a folder that appears in one rename
 * together with the entry that names its owner, so there is never one without the other; the entry's name is new each
 * time, so holding, and releasing what is ours and nothing else, are one system call each. A lock that is taken over is
 * moved to `unreleased`, in one rename too: the next holder finds it there, even if the one who moved it is killed
 * right after.
 */
export class LockFiles {
  readonly #locks: string
  readonly #unreleased: string
  readonly #observer: Observer
  readonly #report: Report
  /** Holders, and attempts to become one, in this process, by path. */
  readonly #holds = new Map<string, Hold>()
  #count = 0

  constructor(folders: { locks: string; unreleased: string }, observer: Observer, report: Report) {
    this.#locks = folders.locks
    this.#unreleased = folders.unreleased
    this.#observer = observer
    this.#report = report
  }

  /** Keys with this prefix, of locks that are held, or were taken over and not forgotten. */
  list(prefix: string): string[] {
    const names = [...readdirSync(this.#locks), ...readdirSync(this.#unreleased)]
    return [...new Set(names)].filter(name => name.startsWith(prefix) && !name.includes('.'))
  }

  /** Waits at most until `deadline` (of performance.now()); then null. One caller at a time for each key. */
  async hold(key: string, deadline: number): Promise<HeldFile | null> {
    const hold = new Hold(key, join(this.#locks, key))
    this.#holds.set(hold.path, hold)
    let held = null
    try {
      held = await this.#try(hold)
      for (let wait = 5; held === null; held = await this.#try(hold)) {
        const cleared = await this.#clear(key)
        if (cleared === 'moved') hold.tookOver = true
        if (cleared !== 'held') continue
        if (performance.now() >= deadline) return null
        await sleep(wait * (0.5 + Math.random()))
        wait = Math.min(wait * 2, 100)
      }
      return held
    } finally {
      if (held === null) this.#holds.delete(hold.path)
    }
  }

  async #try(hold: Hold): Promise<HeldFile | null> {
    const { key, path } = hold
    let compromised = false
    let release: () => Promise<void>
    hold.entry = `${this.#observer.me.nonce}.${this.#count++}`
    hold.released = false
    try {
      release = await lock(path, {
        lockfilePath: path,
        realpath: false,
        stale: STALE,
        fs: this.#fs,
        onCompromised: error => {
          compromised = true
          this.#report({ event: 'lock_compromised', reason: error.message })
        }
      })
    } catch (error) {
      if (codeOf(error) === 'ELOCKED') return null
      throw error
    }
    const entry = join(path, hold.entry)
    const held = (): boolean => !compromised && existsSync(entry)
    const letGo = async (): Promise<void> => {
      // Fails if it isn't ours any more; then the folder has another server's entry and stays.
      quietly(() => unlinkSync(entry))
      hold.released = true
      // It may have been given up already, as compromised.
      await release().catch(() => quietly(() => rmdirSync(path)))
    }
    if (hold.tookOver) {
      hold.tookOver = false
      this.#report({ event: 'lock_taken_over' })
      await sleep(SETTLE)
      if (!held()) {
        await letGo()
        return null
      }
    }
    let unreleased: Unreleased[]
    try {
      unreleased = this.#unreleasedOf(key)
    } catch (error) {
      await letGo()
      throw error
    }
    return {
      entry: hold.entry,
      unreleased: unreleased.flatMap(({ entries }) => entries),
      held,
      forget: () => this.#forget(key, unreleased),
      release: () =>
        letGo().finally(() => {
          this.#holds.delete(path)
        })
    }
  }

  /** Locks that were moved away; more can only come while we don't hold the lock. */
  #unreleasedOf(key: string): Unreleased[] {
    const folder = join(this.#unreleased, key)
    // Nothing there is the usual case, and cheaper to ask for than to fail on.
    if (!existsSync(folder)) return []
    return entriesOf(folder).map(name => ({ path: join(folder, name), entries: entriesOf(join(folder, name)) }))
  }

  #forget(key: string, unreleased: readonly Unreleased[]): void {
    if (unreleased.length === 0) return
    for (const { path } of unreleased) rmSync(path, { recursive: true, force: true })
    // Another may have been moved there, or is just about to be.
    quietly(() => rmdirSync(join(this.#unreleased, key)))
  }

  /**
   * Moves a dead or silent holder's lock away, so that its place is `free`; `moved`: this call did it. `held`: a living
   * server has it.
   */
  async #clear(key: string): Promise<'free' | 'moved' | 'held'> {
    const path = join(this.#locks, key)
    try {
      const entry = entriesOf(path)[0]
      if (entry === undefined) return 'free'
      if ((await this.#lifeOf(join(path, entry), path)) === 'alive') return 'held'
      return this.#moveAway(key, entry) ? 'moved' : 'held'
    } catch (error) {
      // Its holder has released it in between.
      if (codeOf(error) === 'ENOENT') return 'free'
      throw error
    }
  }

  /** Liveness of the server that wrote this entry; `touched` is the path it touches while it lives. */
  async #lifeOf(entry: string, touched: string): Promise<Life> {
    const owner = parseOwner(readText(entry))
    return owner === null ? 'alive' : lifeOf(owner, Date.now() - statSync(touched).mtimeMs, this.#observer)
  }

  /**
   * One rename, so only one of several rivals succeeds; the lock moved is checked afterwards, and put back if its
   * holder lives.
   */
  #moveAway(key: string, entry: string): boolean {
    const path = join(this.#locks, key)
    const folder = join(this.#unreleased, key)
    const away = join(folder, randomBytes(8).toString('hex'))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    renameSync(path, away)
    if (existsSync(join(away, entry))) return true
    // A rival took over between our look and our rename. If its place is taken meanwhile, its lock stays among the
    // unreleased, and it will find that it has lost the lock.
    quietly(() => renameSync(away, path))
    quietly(() => rmdirSync(folder))
    return false
  }

  /** Removes what dead processes left, and moves the locks of silent ones away, who may come back. */
  async sweep(): Promise<void> {
    for (const name of readdirSync(this.#locks)) {
      const path = join(this.#locks, name)
      if (!name.includes('.')) {
        if ((await this.#clear(name)) === 'free') quietly(() => rmdirSync(path))
      }
      // Such a folder exists only for an instant, between being made and being renamed.
      else if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - STALE) {
        rmSync(path, { recursive: true, force: true })
      }
    }
    for (const key of readdirSync(this.#unreleased)) await this.#sweepUnreleased(key)
  }

  async #sweepUnreleased(key: string): Promise<void> {
    for (const found of this.#unreleasedOf(key)) {
      try {
        const lives = await Promise.all(found.entries.map(entry => this.#lifeOf(join(found.path, entry), found.path)))
        if (lives.every(life => life === 'dead')) this.#forget(key, [found])
      } catch (error) {
        // The present holder of the lock has dealt with it.
        if (codeOf(error) !== 'ENOENT') throw error
      }
    }
  }

  /**
   * The file system as proper-lockfile sees it: synchronous where that is cheaper than a thread's round trip, and its
   * `mkdir` makes the folder with its owner in it (why: docs/decisions/lock.md). One object for all locks, as
   * proper-lockfile probes the precision of times once for each.
   */
  readonly #fs = {
    utimes,
    stat: (path: string, done: (error: Error | null, stat?: Stats) => void) => {
      let found: Stats
      try {
        found = statSync(path)
      } catch (error) {
        return done(asError(error))
      }
      done(null, found)
    },
    mkdir: (path: string, done: Done) => answer(done, () => this.#make(path)),
    rmdir: (path: string, done: Done) => answer(done, () => this.#remove(path)),
    rmdirSync: (path: string) => rmSync(join(path, this.#holds.get(path)?.entry ?? ''), { force: true })
  }

  #make(path: string): void {
    const taken = (): Error => Object.assign(new Error('held'), { code: 'EEXIST' })
    // A missing folder is the usual case, and cheaper to ask for than to fail on.
    if (existsSync(path) && entriesOf(path).length > 0) throw taken()
    const entry = this.#holds.get(path)?.entry ?? ''
    const temp = `${path}.${entry}`
    mkdirSync(temp, { mode: 0o700 })
    try {
      writeFileSync(join(temp, entry), JSON.stringify(this.#observer.me), { mode: 0o600, flag: 'wx' })
      renameSync(temp, path)
    } catch (error) {
      // Without a free descriptor Node 24 fails here with an error that says nothing; the original error does.
      quietly(() => rmSync(temp, { recursive: true, force: true }))
      throw codeOf(error) === 'ENOTEMPTY' ? taken() : error
    }
  }

  /** Called for a lock of ours, empty by now, and for one that nobody keeps fresh. */
  #remove(path: string): void {
    try {
      rmdirSync(path)
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY') throw error
      const hold = this.#holds.get(path)
      const entry = entriesOf(path)[0]
      if (hold === undefined || hold.released || entry === undefined || statSync(path).mtimeMs >= Date.now() - STALE) {
        return
      }
      hold.tookOver = this.#moveAway(hold.key, entry)
    }
  }
}

/** One caller's attempt to get a lock. */
class Hold {
  readonly key: string
  readonly path: string
  entry = ''
  released = false
  /** Whether this caller moved a holder's lock away. */
  tookOver = false
  constructor(key: string, path: string) {
    this.key = key
    this.path = path
  }
}

/** A folder below `unreleased` with what was in the lock that was moved there. */
interface Unreleased {
  path: string
  entries: string[]
}

/** The names in a lock's folder; none where it is gone, as its holder may remove it at any moment. */
function entriesOf(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

function answer(done: Done, work: () => void): void {
  try {
    work()
  } catch (error) {
    return done(asError(error))
  }
  done(null)
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
