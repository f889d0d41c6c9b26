// Tracks whether an object store is usable: from the outcomes of requests, by asking a store that has been quiet, and
// by testing again what a server needs. Doesn't confirm a write once the store can't be trusted. Does not know what
// requests are for.
import { setTimeout as sleep } from 'node:timers/promises'
import { OWN } from '../object-store/address.ts'
import { Unsafe } from '../object-store/probe.ts'
import { StoreRefused, StoreUnavailable, StoreUnsafe, type ObjectStore } from '../object-store/store.ts'
import { codeOf } from '../error-code.ts'
import type { CommonOptions } from '../workspace/api.ts'
import { coalesce } from '../log/coalesce.ts'
import { faultOf, type StoreFault } from './store-failure.ts'

/** In ms between two attempts while the store is unusable. Chosen, not measured. */
const LOOK = 5000
/** In ms between two checks while the store is being written to. */
const CHECK = 60_000
/** In ms: a store that answered within this time counts as usable. */
const FRESH = 1000
/**
 * In ms: how long any other store has to answer. FRESH and PATIENCE together are the longest time to notice that it
 * doesn't.
 */
const PATIENCE = 1500
/** Any key, for the cheapest request: whether it exists. */
const ANY = `${OWN}/secret`

/** The reason that is reported. */
function reasonOf(error: unknown): string {
  if (error instanceof StoreRefused) return error.reason
  if (error instanceof Unsafe) return error.message
  const cause = error instanceof StoreUnavailable ? error.cause : error
  return codeOf(cause) || (cause instanceof Error ? cause.name : 'unknown')
}

/** Wraps a store and watches its health. */
export class StoreHealth implements ObjectStore {
  readonly #store: ObjectStore
  readonly #report: NonNullable<CommonOptions['report']>
  readonly #timer: NodeJS.Timeout
  #fault: StoreFault | null = null
  /** On the clock of performance.now(). */
  #checkedAt = performance.now()
  /** When we last tested whether one object is denied, or all. */
  #deniedAt = -Infinity
  #isWritten = false
  /** Whether the bucket kept old versions when conditions were last found to work; null: not known. */
  #wasVersioned: boolean | null
  readonly #look = coalesce(() =>
    this.#seen(() => this.#store.head(ANY)).then(
      () => {},
      () => {}
    )
  )
  readonly check = coalesce(() => this.#checkAll())

  constructor(store: ObjectStore, report: NonNullable<CommonOptions['report']>) {
    this.#store = store
    this.#report = report
    this.#wasVersioned = store.isVersioned
    this.#timer = setInterval(() => this.#tick(), LOOK).unref()
  }

  get name(): string {
    return this.#store.name
  }

  get answeredAt(): number {
    return this.#store.answeredAt
  }

  get isVersioned(): boolean | null {
    return this.#store.isVersioned
  }

  /** Why the store is unusable, as far as that is known; null: it is usable. */
  get fault(): StoreFault | null {
    return this.#fault
  }

  /** Returns the fault, after asking a store that hasn't answered for a second. */
  async ask(): Promise<StoreFault | null> {
    const start = performance.now()
    if (this.#fault === null && start - this.answeredAt >= FRESH) {
      await Promise.race([this.#look(), sleep(PATIENCE, undefined, { ref: false })])
      if (this.answeredAt < start) this.#become('store_unavailable', 'no answer')
    }
    return this.#fault
  }

  get: ObjectStore['get'] = (...given) => this.#seen(() => this.#store.get(...given))
  open: ObjectStore['open'] = (...given) => this.#seen(() => this.#store.open(...given))
  head: ObjectStore['head'] = (...given) => this.#seen(() => this.#store.head(...given))
  remove: ObjectStore['remove'] = (...given) => this.#seen(() => this.#store.remove(...given))
  list: ObjectStore['list'] = (...given) => this.#seen(() => this.#store.list(...given))

  write: ObjectStore['write'] = async (...given) => {
    if (this.#fault === 'store_unsafe') throw new StoreUnsafe('the object store ignores conditions')
    const written = await this.#seen(() => this.#store.write(...given))
    this.#isWritten = true
    this.#wasVersioned ??= this.isVersioned
    // With versioning on, a store may decide differently which of two writes was first: test it again.
    if (this.isVersioned !== this.#wasVersioned) await this.check()
    if (this.#isUnsafe()) throw new StoreUnsafe('the object store ignores conditions', { unknown: true })
    return written
  }

  now(): number {
    return this.#store.now()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#store.close()
  }

  #isUnsafe(): boolean {
    return this.#fault === 'store_unsafe'
  }

  #tick(): void {
    const isDue = performance.now() - this.#checkedAt >= CHECK
    if (this.#fault === 'store_unavailable') this.#look()
    else if (this.#fault === 'store_refused' || (isDue && (this.#isWritten || this.#isUnsafe()))) this.check()
  }

  async #checkAll(): Promise<void> {
    this.#isWritten = false
    try {
      let before: boolean | null
      do {
        before = this.isVersioned
        await this.#store.check()
        // If versioning was switched during the check, not all of it tested the present state.
      } while (this.isVersioned !== before)
      this.#wasVersioned = before
      this.#become(null)
    } catch (error) {
      this.#become(faultOf(error), reasonOf(error))
    }
    this.#checkedAt = performance.now()
  }

  async #seen<T>(work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      const done = await work()
      if (this.#fault === 'store_unavailable') this.#become(null)
      return done
    } catch (error) {
      // If the store answered other requests meanwhile, it isn't down.
      const isMute = error instanceof StoreUnavailable && this.answeredAt < start
      if (isMute) this.#become('store_unavailable', reasonOf(error))
      if (!(error instanceof StoreRefused)) throw error
      if (error.isOfAll) this.#become('store_refused', error.reason)
      else if (error.reason === 'AccessDenied') await this.#checkRights()
      throw this.#fault === 'store_refused' ? new StoreRefused(error.reason, error.message, true) : error
    }
  }

  /** Finds out whether access is denied to one object or to all of them. */
  async #checkRights(): Promise<void> {
    if (performance.now() - this.#deniedAt < LOOK) return
    await this.check()
    this.#deniedAt = performance.now()
  }

  #become(fault: StoreFault | null, reason?: string): void {
    // A store that was refused or unsafe stays so, even if it doesn't answer for a while.
    if (fault === this.#fault || (fault === 'store_unavailable' && this.#fault !== null)) return
    this.#fault = fault
    this.#report(fault === null ? { event: 'store_available' } : { event: 'store_unavailable', reason })
  }
}
