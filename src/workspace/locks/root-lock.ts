// The lock on the whole root: the one server that holds it is alone, and takes no locks of single files. Does not know
// those, or how servers find each other. States and proof: docs/decisions/alone.md.
import type { HeldFile, LockFiles } from './lock-file.ts'

/** What is known of the servers on this root, by the records in the state folder. */
export interface Servers {
  /** Whether this server's own record is there; synchronous. */
  stands(): boolean
  /** Grows when the record is made anew. */
  generation(): number
  renew(): void
  /** Whether another server that edits may be there. False is certain. */
  others(): Promise<boolean>
  /** Asks the others to look who is there. Never throws. */
  tell(): void
}

export interface RootLockOptions {
  files: LockFiles
  servers: Servers
  /** Whether this server may keep the lock: all that is known of others must be so at once. */
  mayBeAlone: boolean
  /**
   * Removes the temp files that these servers, by their nonces, have recorded: they held the root lock and never
   * released it. Where it throws, nobody edits.
   */
  fence(nonces: readonly string[]): void
  report: (event: { event: string; [key: string]: unknown }) => void
}

/** The right to take the lock of a file; where `entry` isn't null, no other server is there and none is needed. */
export interface Pass {
  /** Names this pass, and no other, ever. */
  readonly entry: string | null
  /** Whether what was known when it was given still holds; synchronous. */
  held(): boolean
  leave(): void
}

/** While this server is alone. */
interface Alone {
  readonly hold: HeldFile
  /** Edits that rely on it. */
  users: number
  /** Another server has come: no more of them. */
  leaving: boolean
}

/** The name of the lock among those of files, which are digests. */
const KEY = 'root'
/**
 * In ms between two looks at who is there: a server that runs on another kernel can't tell us that it has come, and
 * waits so long. Chosen.
 */
const LOOK = 2_000

export class RootLock {
  readonly #options: RootLockOptions
  readonly #timer: NodeJS.Timeout
  #alone: Alone | null = null
  /** The generation of our record with which this server has passed: whoever came later sees it. */
  #passed = -1
  #count = 0
  #joining: Promise<boolean> | null = null
  #releasing: Promise<void> = Promise.resolve()
  #looking: Promise<void> | null = null
  /** Somebody came or went while it was being looked. */
  #lookAgain = false
  #closed = false

  constructor(options: RootLockOptions) {
    this.#options = options
    this.#timer = setInterval(() => {
      if (this.#alone !== null) this.look()
    }, LOOK).unref()
  }

  /** Before each edit. Waits for the server that is alone at most until `deadline` (of performance.now()); then null. */
  async enter(deadline: number): Promise<Pass | null> {
    for (;;) {
      const pass = this.#pass()
      if (pass !== null) return pass
      if (!(await this.#joinOnce(deadline)) || performance.now() >= deadline) return this.#pass()
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
    if (this.#passed !== generation || !servers.stands()) return null
    const isKnown = (): boolean => servers.generation() === generation && servers.stands()
    const alone = this.#alone
    if (alone === null || alone.leaving) return { entry: null, held: isKnown, leave() {} }
    // We were silent, and another server has taken it.
    if (!alone.hold.held()) return null
    alone.users++
    return {
      entry: `${alone.hold.entry}.${this.#count++}`,
      held: () => isKnown() && alone.hold.held(),
      leave: () => {
        alone.users--
        this.#releaseIfLeft(alone)
      }
    }
  }

  /**
   * Holds the root lock for a moment: nobody is alone then, and nobody who was can write any more. Keeps it if no other
   * server is there. False: not until `deadline`.
   */
  async #join(deadline: number): Promise<boolean> {
    const { files, servers, fence, mayBeAlone } = this.#options
    if (this.#alone !== null) {
      this.#passed = -1
      this.#release(this.#alone)
    }
    await this.#releasing
    if (!servers.stands()) servers.renew()
    const generation = servers.generation()
    // Not before our record is there: from then on, whoever looks sees us.
    servers.tell()
    const hold = await files.hold(KEY, deadline)
    if (hold === null) return false
    let kept = false
    try {
      if (hold.unreleased.length > 0) {
        fence(hold.unreleased.map(entry => entry.slice(0, entry.indexOf('.'))))
        hold.forget()
      }
      kept = mayBeAlone && !this.#closed && !(await servers.others())
      this.#passed = generation
      if (kept) this.#alone = { hold, users: 0, leaving: false }
    } finally {
      if (!kept) await hold.release()
    }
    return true
  }

  /** Sees who is there, when another server may have come or gone. Never throws. */
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
    const isAlone = this.#alone !== null
    if (this.#passed === -1 || this.#closed || (await servers.others()) !== isAlone) return
    const alone = this.#alone
    if (alone !== null) {
      alone.leaving = true
      this.#releaseIfLeft(alone)
    } else if (mayBeAlone) {
      // One who holds it is just passing, and will be seen.
      await this.#joinOnce(performance.now())
    }
  }

  #releaseIfLeft(alone: Alone): void {
    if (alone.leaving && alone.users === 0 && this.#alone === alone) this.#release(alone)
  }

  #release({ hold }: Alone): void {
    this.#alone = null
    this.#releasing = hold.release().catch((error: unknown) => {
      this.#options.report({ event: 'unlock_failed', reason: String(error) })
    })
  }

  /** When no edit runs any more. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#looking
    await this.#joining?.catch(() => {})
    if (this.#alone !== null) this.#release(this.#alone)
    await this.#releasing
  }
}
