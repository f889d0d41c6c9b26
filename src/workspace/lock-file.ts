// The lock between hosts and containers: a folder in the state folder, kept fresh by proper-lockfile. Knows no queue and no sockets.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, type Stats, unlinkSync, utimes, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { lock } from 'proper-lockfile'
import { codeOf, quietly } from './errno.ts'
import { isDead, parseOwner, type Owner } from './owner.ts'
import { readText } from './text-file.ts'

export interface HeldFile {
  /** Whether nobody has taken it from us; synchronous. */
  held (): boolean
  /** It was taken from a holder that died or fell silent. */
  readonly tookOver: boolean
  release (): Promise<void>
}

// proper-lockfile's exit hook (signal-exit) would end the process on a write beyond the limit on file size, which Node alone survives.
// It stands back where somebody else listens.
process.on('SIGXFSZ', () => {})

type Done = (error: Error | null) => void

/** In ms: a lock file that nobody touched for so long belongs to nobody. */
const STALE = 10_000
/** In ms: what a rival that also took over needs to show itself. */
const SETTLE = 50

/**
 * Lock files in `folder`, a folder of the state that all servers share.
 * A lock is a folder that appears in one rename together with the entry that names its owner, so there is never one without the other;
 * the entry's name is new each time, so holding, and releasing what is ours and nothing else, are one system call each.
 */
export class LockFiles {
  readonly #folder: string
  readonly #me: Owner
  readonly #report: (event: { event: string, [key: string]: unknown }) => void
  readonly #entries = new Map<string, string>()
  readonly #taken = new Set<string>()
  #count = 0

  constructor (folder: string, me: Owner, report: (event: { event: string, [key: string]: unknown }) => void) {
    this.#folder = folder
    this.#me = me
    this.#report = report
  }

  /** Waits at most until `deadline` (of performance.now()); then null. */
  async hold (key: string, deadline: number): Promise<HeldFile | null> {
    const path = join(this.#folder, key)
    let held = await this.#try(path)
    for (let wait = 5; held === null; held = await this.#try(path)) {
      if (this.#takeOver(path)) continue
      if (performance.now() >= deadline) return null
      await sleep(wait * (0.5 + Math.random()))
      wait = Math.min(wait * 2, 100)
    }
    return held
  }

  async #try (path: string): Promise<HeldFile | null> {
    let compromised = false
    let release: () => Promise<void>
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
    const entry = join(path, this.#entries.get(path) ?? '')
    const tookOver = this.#taken.delete(path)
    const held = (): boolean => !compromised && existsSync(entry)
    const letGo = async (): Promise<void> => {
      // Fails if it isn't ours any more, and then the folder has another's entry and stays.
      quietly(() => unlinkSync(entry))
      this.#entries.delete(path)
      // It may have been given up already, as compromised.
      await release().catch(() => quietly(() => rmdirSync(path)))
    }
    if (!tookOver) return { held, tookOver, release: letGo }
    this.#report({ event: 'lock_taken_over' })
    await sleep(SETTLE)
    if (held()) return { held, tookOver, release: letGo }
    await letGo()
    return null
  }

  /** Moves a dead holder's lock out of the way. True if the way is free now. */
  #takeOver (path: string): boolean {
    try {
      const entry = entriesOf(path)[0]
      if (entry === undefined) return true
      const owner = parseOwner(readText(join(path, entry)))
      const age = Date.now() - statSync(path).mtimeMs
      return owner !== null && isDead(owner, age, this.#me) && this.#moveAway(path, entry)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return true
      throw error
    }
  }

  /** One rename, so only one of several rivals does it; what it got is looked at afterwards, and put back if it was a living one's. */
  #moveAway (path: string, entry: string): boolean {
    const away = `${path}.dead.${randomBytes(8).toString('hex')}`
    renameSync(path, away)
    if (!existsSync(join(away, entry))) {
      // A rival took over between our look and our rename.
      quietly(() => renameSync(away, path))
      return false
    }
    rmSync(away, { recursive: true, force: true })
    this.#taken.add(path)
    return true
  }

  /** Removes what dead processes left in the folder. */
  sweep (): void {
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name)
      // Such a folder lives for an instant, between being made and being renamed.
      if (!name.includes('.')) this.#takeOver(path)
      else if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - STALE) rmSync(path, { recursive: true, force: true })
    }
  }

  /** What proper-lockfile sees as the file system: synchronous where that is cheaper than a thread's round trip, and its `mkdir` makes the folder with its owner in it. */
  readonly #fs = {
    utimes,
    stat: (path: string, done: (error: Error | null, stat?: Stats) => void) => {
      let found: Stats
      try { found = statSync(path) } catch (error) { return done(asError(error)) }
      done(null, found)
    },
    mkdir: (path: string, done: Done) => this.#answer(done, () => this.#make(path)),
    rmdir: (path: string, done: Done) => this.#answer(done, () => this.#remove(path)),
    rmdirSync: (path: string) => rmSync(join(path, this.#entries.get(path) ?? ''), { force: true })
  }

  #answer (done: Done, work: () => void): void {
    try { work() } catch (error) {
      return done(asError(error))
    }
    done(null)
  }

  #make (path: string): void {
    const taken = (): Error => Object.assign(new Error('held'), { code: 'EEXIST' })
    // A missing folder is the usual case, and cheaper to ask for than to fail on.
    if (existsSync(path) && entriesOf(path).length > 0) throw taken()
    const entry = `${this.#me.nonce}.${this.#count++}`
    const temp = `${path}.${entry}`
    mkdirSync(temp, { mode: 0o700 })
    try {
      writeFileSync(join(temp, entry), JSON.stringify(this.#me), { mode: 0o600, flag: 'wx' })
      renameSync(temp, path)
    } catch (error) {
      // Without a free descriptor Node 24 fails here with an error that says nothing; the one that led here does.
      quietly(() => rmSync(temp, { recursive: true, force: true }))
      throw codeOf(error) === 'ENOTEMPTY' ? taken() : error
    }
    this.#entries.set(path, entry)
  }

  /** Called for a lock of ours, empty by now, and for one that nobody keeps fresh. */
  #remove (path: string): void {
    try { rmdirSync(path) } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY') throw error
      const entry = entriesOf(path)[0]
      if (entry !== undefined && statSync(path).mtimeMs < Date.now() - STALE) this.#moveAway(path, entry)
    }
  }
}

/** The names in a lock's folder; none where it is gone, as its holder may remove it at any moment. */
export function entriesOf (path: string): string[] {
  try { return readdirSync(path) } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

const asError = (error: unknown): Error => error instanceof Error ? error : new Error(String(error))
