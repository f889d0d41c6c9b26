// One editor per file: a queue in this process, then the root lock; where this server isn't alone on the root, then the
// host's socket and the lock file. Does not know files other than the lock's.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fail, ok, type Result } from '../../result.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import { Queues, type Lock, type Turn } from '../../workspace/queue.ts'
import type { LockFiles } from './lock-file.ts'
import { proofBy } from './names.ts'
import type { Peers } from './peers.ts'
import { randomTempName, tempName } from '../../workspace/temp-name.ts'
import type { Pass, RootLock } from './root-lock.ts'
import { holdSocket, type HeldSocket, type WantedSocket } from './socket-lock.ts'

interface LocksOptions {
  /** Shared by all servers on this root. */
  secret: Buffer
  /** In ms, over all stages. */
  timeout: number
  /** Null: other servers may always be there. */
  root: RootLock | null
  /** The servers that only a socket keeps apart from this one; by default there are none. */
  peers?: Peers
  /** Whether processes of this host are kept apart by a socket (Linux). */
  socket: boolean
  /** Null: no lock file. */
  files: LockFiles | null
  /**
   * Removes these temp files beside the file, those of earlier holders that never released and may be suspended
   * (fence.ts). Where it throws, nobody gets the lock.
   */
  fence(realPath: Buffer, temps: readonly string[]): void
  /** Runs before another process can acquire this file. Must not reject. */
  leaving?: (realPath: Buffer) => Promise<void>
  /** Reports a socket whose holder doesn't prove that it is a server. */
  unproven?: (name: string) => void
  /** Reports how long each lock was waited for, in seconds, and whether it was acquired. */
  waited?: ((seconds: number, isHeld: boolean) => void) | undefined
}

interface Waiting {
  isGone(): boolean
}

interface Wait {
  /** On the clock of performance.now(). For callers that acquire several locks, always in the order of their paths. */
  deadline?: number
  /** The client; it gets nothing if it has gone by its turn. */
  client?: Waiting | undefined
}

/** What a lock has before its lock file. */
interface Entered {
  /** Null: there is no root lock. */
  pass: Pass | null
  /** The socket; null: it needs none. */
  taken: HeldSocket | null
  /** Whether it does without a socket that it should have. */
  isBare?: true
}

export class Locks {
  readonly #options: LocksOptions
  readonly #queues: Queues
  #released = 0

  constructor(options: LocksOptions) {
    this.#options = options
    this.#queues = new Queues(options.timeout)
  }

  /**
   * Acquires the lock of the file at this real path below the root. First come, first served. Once it returns, nothing
   * that an earlier holder was about to do to the file can take effect. Failure: FILE_LOCKED (timeout, queue_full,
   * client_gone). Throws the system's errors.
   */
  acquire(realPath: Buffer, { deadline = this.deadline(), client }: Wait = {}): Promise<Result<Lock, FileFailure>> {
    const { waited } = this.#options
    return waited === undefined
      ? this.#acquire(realPath, deadline, client)
      : this.#acquireTimed(realPath, deadline, client, waited)
  }

  async #acquireTimed(
    realPath: Buffer,
    deadline: number,
    client: Waiting | undefined,
    waited: NonNullable<LocksOptions['waited']>
  ): Promise<Result<Lock, FileFailure>> {
    const start = performance.now()
    const lock = await this.#acquire(realPath, deadline, client)
    waited((performance.now() - start) / 1000, lock.ok)
    return lock
  }

  async #acquire(realPath: Buffer, deadline: number, client: Waiting | undefined): Promise<Result<Lock, FileFailure>> {
    const queue = realPath.toString('latin1')
    const turn = await this.#queues.turn(queue, deadline)
    if (!turn.ok) return turn

    let pass: Turn = 'next'
    let kept = false
    const undo: (() => void | Promise<void>)[] = []
    const release = async (): Promise<void> => {
      try {
        for (const step of undo.reverse()) await step()
      } finally {
        this.#released++
        this.#queues.pass(queue, pass)
      }
    }
    try {
      // Another process waits for this file too, and has been woken: let it in first. Chosen, not measured.
      if (turn.value === 'yield_to_other_process') await sleep(2)
      let digest: string | undefined
      const key = (): string => (digest ??= this.#digest(realPath))
      const entered = await this.#enter(key, deadline)
      if (entered === null) return fail({ code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1 })
      const { taken, isBare } = entered
      undo.push(() => entered.pass?.leave())
      const alone_since = entered.pass?.alone_since ?? null
      if (taken !== null) {
        undo.push(() => {
          if (taken.isWanted()) pass = 'yield_to_other_process'
          taken.release()
        })
      }
      const file = alone_since === null ? await this.#options.files?.hold(key(), deadline) : undefined
      if (file === null) return fail({ code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1 })
      if (file !== undefined) undo.push(file.release)
      if (taken !== null || file !== undefined) undo.push(() => this.#options.leaving?.(realPath))
      if (file !== undefined && file.unreleased.length > 0) {
        this.#options.fence(
          realPath,
          file.unreleased.map(entry => this.#tempName(entry))
        )
        file.forget()
      }
      if (client?.isGone()) return fail({ code: 'FILE_LOCKED', reason: 'client_gone', retry_after: 1 })
      kept = true
      return ok({
        // Nobody needs to compute it: without a lock file, temp files are found by their server's record.
        temp: file === undefined ? randomTempName() : this.#tempName(file.entry),
        alone_since,
        held: () =>
          (entered.pass?.held() ?? true) &&
          (file?.held() ?? true) &&
          // A server that takes no lock files may have come.
          !(isBare === true && this.#options.peers?.isAnyLocal() === true),
        release
      })
    } finally {
      if (!kept) await release()
    }
  }

  /** The root lock, and the host's socket where one is needed. Null: not until `deadline`. */
  async #enter(key: () => string, deadline: number): Promise<Entered | null> {
    const { root, socket } = this.#options
    const pass = root === null ? null : await root.enter(deadline)
    if (root !== null && pass === null) return null
    if (!socket || (pass !== null && pass.alone_since !== null)) return { pass, taken: null }
    let taken: HeldSocket | null | 'unproven' = null
    try {
      taken = await holdSocket(this.#wanted(`editd-${key()}`), deadline)
    } finally {
      if (taken === null) pass?.leave()
    }
    if (taken === null) return null
    // All others take the lock file too, which is enough.
    return taken === 'unproven' ? { pass, taken: null, isBare: true } : { pass, taken }
  }

  #wanted(name: string): WantedSocket {
    const { peers, files, unproven } = this.#options
    let isReported = false
    return {
      name,
      proofOf: nonce => this.#digest(proofBy(name, nonce)),
      waitOn: () => {
        if (peers?.serversHave(name) === true) return true
        if (!isReported) unproven?.(name)
        isReported = true
        return files === null || peers?.isAnyLocal() === true
      }
    }
  }

  /** `Lock.alone_since` of a lock acquired now without waiting. */
  get aloneSince(): string | null {
    return this.#options.root?.aloneSince ?? null
  }

  /** How many locks this process has acquired and released. */
  get released(): number {
    return this.#released
  }

  /** Until when a lock requested now may be waited for. */
  deadline(): number {
    return this.#queues.deadline()
  }

  /** 24 hex digits that can't be guessed without the secret, but the next holder of the lock file can compute. */
  #tempName(entry: string): string {
    return tempName(this.#digest(entry))
  }

  #digest(of: Buffer | string): string {
    return createHmac('sha256', this.#options.secret).update(of).digest('hex')
  }
}
