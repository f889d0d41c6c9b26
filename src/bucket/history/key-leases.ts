// Who carries out the request with an idempotency key now, over all servers of a bucket: an object for each, for as long as
// the request may take. Does not know what requests ask for.
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
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
import { Since } from './since.ts'

export interface KeyLeasesOptions {
  store: ObjectStore
  nonce: string
  /** In ms: how long one that is held by another is waited for. */
  wait: number
  /** In ms; for tests. */
  lease?: number
}

export type KeyHold = Omit<Lock, 'temp'>

/**
 * In ms. Its first half is the holder's: no write of a file is begun after it. The second is for a write that is under
 * way then (`writeDeadline`). Chosen, not measured.
 */
const LEASE = 180_000
/** In ms, between two looks. */
const LOOK = 200

export class KeyLeases {
  readonly #options: KeyLeasesOptions
  readonly #lease: number
  /** Versions of keys that others hold. */
  readonly #seen = new Since()

  constructor(options: KeyLeasesOptions) {
    this.#options = options
    this.#lease = options.lease ?? LEASE
  }

  /**
   * `name`: that of the key's lock. FILE_LOCKED: another carries out a request with this key, or did when it was killed: the
   * key can be had when its time is over, as seen from here. NOT_READY: the store doesn't answer, or refuses the key.
   */
  async acquire(name: Buffer): Promise<Result<KeyHold, FileFailure>> {
    try {
      return await this.#acquire(name)
    } catch (error) {
      if (!isOfStore(error)) throw error
      // Whatever came of the key, nothing of the request was done.
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

  /** Removes what servers left that were killed. */
  async sweep(): Promise<void> {
    const { store } = this.#options
    for (let after: string | null = KEYS; after !== null;) {
      const page = await store.list(KEYS, { after })
      for (const { key, version } of page.keys) {
        const digest = key.slice(KEYS.length)
        // Taken over first: no other can have it when it is removed.
        if (this.#isOver(digest, version)) await (await this.#take(digest, { is: version }))?.release()
      }
      after = page.next_after
    }
  }

  async #take(digest: string, condition: WriteCondition): Promise<KeyHold | null> {
    const { store, nonce } = this.#options
    const key = KEYS + digest
    const since = performance.now()
    // Its content is unique, so that its version is.
    const attempt = randomBytes(12).toString('hex')
    const bytes = Buffer.from(JSON.stringify({ server: nonce, attempt }))
    const written = await store.write(key, { bytes, if: condition, attempt })
    if (written === null || written.version === null) return null
    this.#seen.forget(digest)
    const held = () => performance.now() - since < this.#lease / 2
    return {
      alone_since: null,
      held,
      // Later it may be another's. What is left goes with the sweep: the request was answered by what it came to.
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

  /** Whether this version is there for as long as a lease is, as seen from here. */
  #isOver(digest: string, version: Version): boolean {
    return this.#seen.age(digest, version) >= this.#lease
  }
}

const isOfStore = (error: unknown): boolean => error instanceof StoreRefused || error instanceof StoreUnavailable
