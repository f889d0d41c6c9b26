// Whether an object store can be used: by what requests come to, by a look where nothing was asked of late, and by trying
// again what a server needs of it. A write on which the store can't be trusted any more isn't answered as done. Does not
// know what is asked of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { OWN } from '../object-store/address.ts'
import { Unsafe } from '../object-store/probe.ts'
import { StoreRefused, StoreUnavailable, StoreUnsafe, type ObjectStore } from '../object-store/store.ts'
import { codeOf } from '../error-code.ts'
import type { CommonOptions } from '../workspace/api.ts'
import { together } from '../log/together.ts'
import { faultOf, type StoreFault } from './store-failure.ts'

/** In ms between two looks while it can't be used. Chosen, not measured. */
const LOOK = 5000
/** In ms between two checks while it is written to. */
const CHECK = 60_000
/** In ms: who asks about a store that has answered within this time is told that it can be used. */
const FRESH = 1000
/** In ms: else it has so long to answer. Both together are the longest that it takes to notice that it doesn't. */
const PATIENCE = 1500
/** A key of which it is asked whether it is there: the cheapest request. */
const ANY = `${OWN}/secret`

/** What is reported of it. */
function reasonOf(error: unknown): string {
  if (error instanceof StoreRefused) return error.reason
  if (error instanceof Unsafe) return error.message
  const cause = error instanceof StoreUnavailable ? error.cause : error
  return codeOf(cause) || (cause instanceof Error ? cause.name : 'unknown')
}

/** The same store. */
export class StoreHealth implements ObjectStore {
  readonly #store: ObjectStore
  readonly #report: NonNullable<CommonOptions['report']>
  readonly #timer: NodeJS.Timeout
  #fault: StoreFault | null = null
  /** Of performance.now(). */
  #checkedAt = performance.now()
  /** When it was last tried whether one object is denied, or all. */
  #deniedAt = -Infinity
  #isWritten = false
  /** Whether it kept old versions when it was last found to keep conditions; null: that isn't known. */
  #wasVersioned: boolean | null
  readonly #look = together(() =>
    this.#seen(() => this.#store.head(ANY)).then(
      () => {},
      () => {}
    )
  )
  readonly check = together(() => this.#checkAll())

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

  /** Why it can't be used, as far as that is known; null: it can. */
  get fault(): StoreFault | null {
    return this.#fault
  }

  /** The same, asking it where it hasn't answered for a second. */
  async ask(): Promise<StoreFault | null> {
    const begun = performance.now()
    if (this.#fault === null && begun - this.answeredAt >= FRESH) {
      await Promise.race([this.#look(), sleep(PATIENCE, undefined, { ref: false })])
      if (this.answeredAt < begun) this.#become('store_unavailable', 'no answer')
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
    // With versions, a store may decide otherwise which of two writes was first.
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
        // Else not all of it was tried as the store is now.
      } while (this.isVersioned !== before)
      this.#wasVersioned = before
      this.#become(null)
    } catch (error) {
      this.#become(faultOf(error), reasonOf(error))
    }
    this.#checkedAt = performance.now()
  }

  async #seen<T>(work: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      const done = await work()
      if (this.#fault === 'store_unavailable') this.#become(null)
      return done
    } catch (error) {
      // Where it answered others meanwhile, it is not the store.
      const isMute = error instanceof StoreUnavailable && this.answeredAt < begun
      if (isMute) this.#become('store_unavailable', reasonOf(error))
      if (!(error instanceof StoreRefused)) throw error
      if (error.isOfAll) this.#become('store_refused', error.reason)
      else if (error.reason === 'AccessDenied') await this.#checkRights()
      throw this.#fault === 'store_refused' ? new StoreRefused(error.reason, error.message, true) : error
    }
  }

  /** One object may be denied, or all of them. */
  async #checkRights(): Promise<void> {
    if (performance.now() - this.#deniedAt < LOOK) return
    await this.check()
    this.#deniedAt = performance.now()
  }

  #become(fault: StoreFault | null, reason?: string): void {
    // That it doesn't answer for a while doesn't make it one that can be used when it does.
    if (fault === this.#fault || (fault === 'store_unavailable' && this.#fault !== null)) return
    this.#fault = fault
    this.#report(fault === null ? { event: 'store_available' } : { event: 'store_unavailable', reason })
  }
}
