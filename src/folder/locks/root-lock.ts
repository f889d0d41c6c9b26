// The root lock: each server has one for the whole root; while it keeps it, no other server edits, and files need no
// locks between servers. Does not know file locks, or how servers find each other. States and proof:
// docs/decisions/alone.md.
import type { HeldFile, LockFiles } from './lock-file.ts'

/** What the records in the state folder show of the servers on this root. */
export interface Servers {
  /** Whether this server's own record exists; synchronous. */
  exists(): boolean
  /** Incremented each time the record is made again. */
  generation(): number
  renew(): void
  /** Throws if the state folder was replaced, or can't be used. */
  checkState(): void
  /** Whether another editing server may be there. False is certain. */
  others(): Promise<boolean>
  /** Asks the other servers to look who is there. Never rejects. */
  tell(): Promise<void>
}

interface RootLockOptions {
  /** This server's nonce. */
  nonce: string
  files: LockFiles
  servers: Servers
  /** Whether this server may keep the lock; if not, others can't be seen reliably. */
  mayBeAlone: boolean
  /**
   * Removes the temp files recorded by the servers with these nonces, which held their root lock and never released it.
   * If it throws, nobody edits.
   */
  fence(nonces: readonly string[]): void
  /** Called when this server starts or stops being alone. */
  aloneChanged?(isAlone: boolean): void
  /** Called when this server was alone, before others can edit. Must not reject. */
  leaving?(): Promise<void>
  report: (event: { event: string; [key: string]: unknown }) => void
}

/** The right to acquire the lock of a file. */
export interface Pass {
  /**
   * Identifies the period in which this server is alone, and file locks between servers aren't needed; each period has
   * another value. Null: another server may be there.
   */
  readonly alone_since: string | null
  /** Whether the facts on which it was given still hold; synchronous. */
  held(): boolean
  leave(): void
}

/** A period in which this server is alone. */
interface Alone {
  readonly hold: HeldFile
  /** How many edits rely on it. */
  users: number
  /** Another server has come: no further edits may rely on it. */
  leaving: boolean
}

/** Prefix of the names of root locks; those of file locks are digests. */
const PREFIX = 'root-'
/**
 * In ms between two looks at who is there: a server on another kernel can't notify us that it has come, and waits this
 * long. Chosen.
 */
const LOOK = 2_000

/**
 * In ms: how long after a look that found our record and our root lock edits begin without another look; each still
 * looks before its rename (`held`). An edit that starts just before another server takes over is wasted, but others
 * take a silent server's place only after ten seconds. With 16 clients, leaving out one look takes an edit to 0.94 ×
 * its main-thread time.
 */
const FRESH = 100

export class RootLock {
  readonly #options: RootLockOptions
  /** The name of this server's own lock. */
  readonly #key: string
  readonly #timer: NodeJS.Timeout
  #alone: Alone | null = null
  /** The generation of our record with which this server has passed: a server that came later sees it. */
  #passed = -1
  /** On the clock of performance.now(). */
  #freshUntil = -Infinity
  #joining: Promise<boolean> | null = null
  #releasing: Promise<void> = Promise.resolve()
  #looking: Promise<void> | null = null
  /** Another server came or went during the look. */
  #lookAgain = false
  #closed = false

  constructor(options: RootLockOptions) {
    this.#options = options
    this.#key = PREFIX + options.nonce
    this.#timer = setInterval(() => {
      if (this.#alone !== null) this.look()
    }, LOOK).unref()
  }

  /** `Pass.alone_since` of the next pass; null also if that pass must be waited for. */
  get aloneSince(): string | null {
    const alone = this.#alone
    return alone === null || alone.leaving || this.#passed !== this.#options.servers.generation()
      ? null
      : alone.hold.entry
  }

  /**
   * Call it before each edit. Waits for the server that is alone, at most until `deadline` (of performance.now()); then
   * null.
   */
  async enter(deadline: number): Promise<Pass | null> {
    for (;;) {
      const pass = this.#pass()
      if (pass !== null) return pass
      // It may share an attempt with an earlier deadline, and then makes its own.
      await this.#joinOnce(deadline)
      if (performance.now() >= deadline) return this.#pass()
    }
  }

  #joinOnce(deadline: number): Promise<boolean> {
    this.#joining ??= this.#join(deadline).finally(() => {
      this.#joining = null
    })
    return this.#joining
  }

  #pass(): Pass | null {
    const { servers } = this.#options
    const generation = servers.generation()
    if (this.#passed !== generation) return null
    const alone = this.#alone !== null && !this.#alone.leaving ? this.#alone : null
    const isHeld = (): boolean =>
      servers.generation() === generation && servers.exists() && alone?.hold.held() !== false
    const held = (): boolean => {
      const is = isHeld()
      this.#freshUntil = is ? performance.now() + FRESH : -Infinity
      return is
    }
    // If not, we were silent, and another server took us for gone.
    if (performance.now() >= this.#freshUntil && !held()) return null
    if (alone === null) return { alone_since: null, held, leave() {} }
    alone.users++
    return {
      alone_since: alone.hold.entry,
      held,
      leave: () => {
        alone.users--
        this.#releaseIfLeft(alone)
      }
    }
  }

  /**
   * Passes the root locks of all others: then no other server is alone, and none that was can still write. Acquires our
   * own, and keeps it if there is no other server. False: not done by `deadline`.
   */
  async #join(deadline: number): Promise<boolean> {
    const { files, servers, mayBeAlone } = this.#options
    if (this.#alone !== null && !this.#isEnding(this.#alone)) {
      this.#passed = -1
      this.#release(this.#alone)
    }
    await this.#releasing
    servers.checkState()
    if (!servers.exists()) servers.renew()
    const generation = servers.generation()
    // Only now that our record exists: any server that looks from now on sees us.
    servers.tell()
    // A server whose lock we didn't list reads the records after we made ours, and gives its lock back.
    for (const key of files.list(PREFIX)) {
      if (key === this.#key) continue
      const passed = await this.#take(key, deadline)
      if (passed === null) return false
      await passed.release()
    }
    if (!mayBeAlone || this.#alone !== null) {
      this.#passed = generation
      return true
    }
    const hold = await this.#take(this.#key, deadline)
    if (hold === null) return false
    let kept = false
    try {
      kept = !this.#closed && !(await servers.others())
      this.#passed = generation
      if (kept) {
        this.#alone = { hold, users: 0, leaving: false }
        this.#options.aloneChanged?.(true)
      }
    } finally {
      if (!kept) await hold.release()
    }
    return true
  }

  /** Whether edits that began while it was alone still run, and can take effect. */
  #isEnding(alone: Alone): boolean {
    return alone.leaving && this.#options.servers.exists() && alone.hold.held()
  }

  /** A root lock, after removing what earlier holders recorded; null: not acquired by `deadline`. */
  async #take(key: string, deadline: number): Promise<HeldFile | null> {
    const hold = await this.#options.files.hold(key, deadline)
    if (hold === null || hold.unreleased.length === 0) return hold
    try {
      this.#options.fence(hold.unreleased.map(entry => entry.slice(0, entry.indexOf('.'))))
      hold.forget()
    } catch (error) {
      await hold.release()
      throw error
    }
    return hold
  }

  /** Looks who is there, when another server may have come or gone. Never throws. */
  look(): void {
    this.#lookAgain = true
    this.#looking ??= this.#lookWhileAsked()
      .catch((error: unknown) => this.#options.report({ event: 'look_failed', reason: String(error) }))
      .finally(() => {
        this.#looking = null
      })
  }

  async #lookWhileAsked(): Promise<void> {
    while (this.#lookAgain && !this.#closed) {
      this.#lookAgain = false
      await this.#look()
    }
  }

  async #look(): Promise<void> {
    const { servers, mayBeAlone } = this.#options
    if (this.#passed === -1 || this.#closed) return
    // Without a record, others can't notify us.
    const isOnlyOne = servers.exists() && !(await servers.others())
    const alone = this.#alone
    if (alone !== null && !isOnlyOne) {
      alone.leaving = true
      this.#releaseIfLeft(alone)
    }
    if (alone === null && isOnlyOne && mayBeAlone) await this.#joinOnce(performance.now())
  }

  #releaseIfLeft(alone: Alone): void {
    if (alone.leaving && alone.users === 0 && this.#alone === alone) this.#release(alone)
  }

  #release({ hold }: Alone): void {
    this.#alone = null
    this.#options.aloneChanged?.(false)
    this.#releasing = this.#leave(hold)
  }

  async #leave(hold: HeldFile): Promise<void> {
    await this.#options.leaving?.()
    await hold.release()
  }

  /** Call it when no edit runs any more. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#looking
    await this.#joining?.catch(() => {})
    if (this.#alone !== null) this.#release(this.#alone)
    await this.#releasing
  }
}
