// Leases of idempotency keys among all servers of a bucket: an object names the server that carries out the request,
// for as long as that may take. Does not know what requests do.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  newAttempt,
  StoreRefused,
  StoreUnavailable,
  type ObjectStore,
  type Version,
  type WriteCondition
} from '../../object-store/store.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import type { Lock } from '../../workspace/queue.ts'
import { faultOf, notReady } from '../store-failure.ts'
import { KEYS } from './names.ts'
import { UnchangedSince } from './unchanged-since.ts'

interface KeyLeasesOptions {
  store: ObjectStore
  nonce: string
  /** In ms: how long to wait for a key that another server holds. */
  wait: number
  /** In ms; for tests. */
  lease?: number
}

type KeyHold = Omit<Lock, 'temp'>

/**
 * In ms. The holder uses the first half: it begins no write of a file after that. The second half covers a write still
 * under way then (`writeDeadline`). Chosen, not measured.
 */
const LEASE = 180_000
/** In ms, between two attempts. */
const LOOK = 200

export class KeyLeases {
  readonly #options: KeyLeasesOptions
  readonly #lease: number
  /** Versions of keys that other servers hold. */
  readonly #seen = new UnchangedSince()

  constructor(options: KeyLeasesOptions) {
    this.#options = options
    this.#lease = options.lease ?? LEASE
  }

  /**
   * Acquires a key; `name`: the name of its lock. FILE_LOCKED: another server is carrying out a request with this key,
   * or was killed while it did; the key becomes free when its lease ends, by this process's clock. NOT_READY: the store
   * doesn't answer, or refuses the key.
   */
  async acquire(name: Buffer): Promise<Result<KeyHold, FileFailure>> {
    try {
      return await this.#acquire(name)
    } catch (error) {
      if (!isOfStore(error)) throw error
      // Whether or not the key was acquired, no part of the request was carried out.
      const isOfKey = error instanceof StoreRefused && !error.isOfAll
      return fail(
        isOfKey ? { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 } : notReady(faultOf(error))
      )
    }
  }

  async #acquire(name: Buffer): Promise<Result<KeyHold, FileFailure>> {
    const digest = createHash('sha256').update(name).digest('hex')
    const end = performance.now() + this.#options.wait
    for (;;) {
      const held = await this.#take(digest, 'absent')
      if (held !== null) return ok(held)
      const condition = await this.#mayTakeOver(digest)
      if (condition !== null) {
        const taken = await this.#take(digest, condition)
        if (taken !== null) return ok(taken)
      }
      if (performance.now() >= end) return fail({ code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1 })
      await sleep(LOOK)
    }
  }

  /** Removes the leases that killed servers left. */
  async sweep(): Promise<void> {
    const { store } = this.#options
    for (let after: string | null = KEYS; after !== null;) {
      const page = await store.list(KEYS, { after })
      for (const { key, version } of page.keys) {
        const digest = key.slice(KEYS.length)
        // Acquire it first, so that no other server holds it when it is removed.
        if (this.#isOver(digest, version)) await (await this.#take(digest, { is: version }))?.release()
      }
      after = page.next_after
    }
  }

  async #take(digest: string, condition: WriteCondition): Promise<KeyHold | null> {
    const { store, nonce } = this.#options
    const key = KEYS + digest
    const since = performance.now()
    // Unique content, so that the version is unique too.
    const attempt = newAttempt()
    const bytes = Buffer.from(JSON.stringify({ server: nonce, attempt }))
    const written = await store.write(key, { bytes, if: condition, attempt })
    if (written === null || written.version === null) return null
    this.#seen.forget(digest)
    const held = () => performance.now() - since < this.#lease / 2
    return {
      alone_since: null,
      held,
      // After that it may be another server's. A failure is ignored: the request has its answer, and the sweep removes
      // the lease.
      release: async () => {
        if (!held()) return
        await store.remove(key).catch((error: unknown) => {
          if (!isOfStore(error)) throw error
        })
      }
    }
  }

  async #mayTakeOver(digest: string): Promise<WriteCondition | null> {
    const there = await this.#options.store.head(KEYS + digest)
    if (there === null) return 'absent'
    return this.#isOver(digest, there.version) ? { is: there.version, landed: there.landed } : null
  }

  /** Whether this version has existed for a whole lease, by this process's clock. */
  #isOver(digest: string, version: Version): boolean {
    return this.#seen.age(digest, version) >= this.#lease
  }
}

const isOfStore = (error: unknown): boolean => error instanceof StoreRefused || error instanceof StoreUnavailable
