// Caches an issuer's public keys: when they are fetched and how long they are used. Knows only the header of a token,
// which names its key, and not where the keys are.
import { createLocalJWKSet, errors, type CryptoKey, type JSONWebKeySet, type JWSHeaderParameters } from 'jose'
import { findKeys, readJson, reasonOf } from './issuer-documents.ts'

/** In ms: older keys are fetched again, but stay in use meanwhile. This and the next three are chosen, not measured. */
const REFRESHED_AFTER = 5 * 60_000
/** In ms: older keys are no longer used. */
const USED_FOR = 15 * 60_000
/** The most fetches within `WINDOW`, however many tokens arrive. */
const ATTEMPTS = 2
/** In ms. */
const WINDOW = 30_000

/** `retry_after` in seconds. */
type FoundKey = { key: CryptoKey } | { key: null } | { unreachable: true; retry_after: number }

export interface KeyOptions {
  /** Called each time fetching the keys fails. */
  report(event: object): void
  /** In ms; monotonic. */
  now?: () => number
}

/** Fetches nothing before the first token arrives. */
export class IssuerKeys {
  readonly #issuer: string
  readonly #report: KeyOptions['report']
  readonly #now: () => number
  #known: { find: ReturnType<typeof createLocalJWKSet>; at: number } | null = null
  #url: string | null = null
  /** Times of the recent attempts. */
  #attempts: number[] = []
  #running: Promise<void> | null = null
  #hasFailed = false

  constructor(issuer: string, { report, now = () => performance.now() }: KeyOptions) {
    this.#issuer = issuer
    this.#report = report
    this.#now = now
  }

  /** The one key that a token's header names; null if the issuer has none, or several that match. */
  async keyFor(header: JWSHeaderParameters): Promise<FoundKey> {
    const found = await this.#look(header)
    if (found !== null) {
      // In the background: the caller doesn't wait for it.
      if (this.#age() > REFRESHED_AFTER) this.#refresh()
      return { key: found }
    }
    this.#refresh()
    await this.#running
    const key = await this.#look(header)
    if (key !== null) return { key }
    return this.#hasFailed || this.#age() > USED_FOR ? this.#unreachable() : { key: null }
  }

  /** Null: it isn't among the keys that may be used now. */
  async #look(header: JWSHeaderParameters): Promise<CryptoKey | null> {
    if (this.#known === null || this.#age() > USED_FOR) return null
    try {
      return await this.#known.find(header)
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof DOMException || error instanceof TypeError) return null
      /* c8 ignore next 2 -- what else is thrown is a bug of ours or of jose's, and told as one */
      throw error
    }
  }

  #age(): number {
    return this.#known === null ? Infinity : this.#now() - this.#known.at
  }

  /** Starts fetching the keys, unless a fetch is running or there were too many recently. */
  #refresh(): void {
    if (this.#running !== null) return
    const now = this.#now()
    this.#attempts = this.#attempts.filter(at => now - at < WINDOW)
    if (this.#attempts.length >= ATTEMPTS) return
    this.#attempts.push(now)
    this.#running = this.#read(now).finally(() => {
      this.#running = null
    })
  }

  async #read(at: number): Promise<void> {
    try {
      const url = this.#url ?? (await findKeys(this.#issuer))
      // jose checks the content.
      const keys = (await readJson(url)) as JSONWebKeySet
      this.#known = { find: createLocalJWKSet(keys), at }
      this.#url = url
      this.#hasFailed = false
    } catch (error) {
      // The keys may have moved.
      this.#url = null
      this.#hasFailed = true
      this.#report({ event: 'issuer_unreachable', issuer: this.#issuer, reason: reasonOf(error) })
    }
  }

  #unreachable(): FoundKey {
    const [first] = this.#attempts
    const wait = first === undefined || this.#attempts.length < ATTEMPTS ? 0 : first + WINDOW - this.#now()
    return { unreachable: true, retry_after: Math.max(5, Math.ceil(wait / 1000)) }
  }
}
