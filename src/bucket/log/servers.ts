// Which servers of a bucket are alive: each renews an object, and a server whose object doesn't change for a while
// counts as gone. Never compares clocks of different machines. Does not know what servers do.
import type { HistoryOptions } from '../../log/api.ts'
import { codeOf } from '../../error-code.ts'
import { newAttempt, type ObjectStore, type Version } from '../../object-store/store.ts'
import { SERVERS } from './names.ts'

interface ServersOptions {
  store: ObjectStore
  nonce: string
  report: HistoryOptions['report']
  times?: Partial<ServerTimes>
}

/** In ms. */
export interface ServerTimes {
  renew: number
  /** A server that has shown no change for this long, by this process's clock, is gone. */
  silent: number
}

/** Chosen, not measured: four renewals may fail before a server counts as gone. */
const TIMES: ServerTimes = { renew: 20_000, silent: 90_000 }

export class LivingServers {
  readonly #options: ServersOptions
  readonly #times: ServerTimes
  /** The last sign of life of each server, and since when it is known, by this process's clock. */
  readonly #seen = new Map<string, { sign: string; version: Version | undefined; since: number }>()
  #timer: NodeJS.Timeout | undefined
  #version: Version | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(options: ServersOptions) {
    this.#options = options
    this.#times = { ...TIMES, ...options.times }
  }

  /** Begins to renew this server's object. Await it before other servers may look for it. */
  async begin(): Promise<void> {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#renew())
    }, this.#times.renew).unref()
    this.#running = this.#renew()
    await this.#running
  }

  /** Looks at all other servers. `known`: further signs of life of each server, such as how much it has written. */
  async look(known: ReadonlyMap<string, string>): Promise<void> {
    const versions = new Map<string, Version>()
    for (let after: string | null = SERVERS; after !== null;) {
      const page = await this.#options.store.list(SERVERS, { after })
      for (const { key, version } of page.keys) versions.set(key.slice(SERVERS.length), version)
      after = page.next_after
    }
    const now = performance.now()
    for (const nonce of new Set([...known.keys(), ...versions.keys()])) {
      const [seen, sign, version] = [this.#seen.get(nonce), known.get(nonce) ?? '', versions.get(nonce)]
      // The removal of its object is no sign of life.
      const isSign = seen === undefined || seen.sign !== sign || (version !== undefined && version !== seen.version)
      if (isSign) this.#seen.set(nonce, { sign, version, since: now })
    }
    for (const nonce of this.#seen.keys()) {
      if (!known.has(nonce) && !versions.has(nonce)) this.#seen.delete(nonce)
    }
  }

  /** Whether the server was gone at the last look. */
  isGone(nonce: string): boolean {
    const seen = this.#seen.get(nonce)
    return nonce !== this.#options.nonce && seen !== undefined && performance.now() - seen.since >= this.#times.silent
  }

  /** Removes the objects of servers that are gone. */
  async sweep(): Promise<void> {
    for (const nonce of this.#seen.keys()) {
      if (this.isGone(nonce)) await this.#options.store.remove(SERVERS + nonce)
    }
  }

  /** Marks this server as gone. */
  async end(): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    await this.#running
    await this.#options.store.remove(SERVERS + this.#options.nonce).catch(error => this.#failed(error))
  }

  async #renew(): Promise<void> {
    const { store, nonce } = this.#options
    // Unique content, so that the version is unique too.
    const attempt = newAttempt()
    const bytes = Buffer.from(JSON.stringify({ renewed: attempt, at: new Date().toISOString() }))
    try {
      const condition = this.#version === null ? 'absent' : { is: this.#version }
      const written = await store.write(SERVERS + nonce, { bytes, if: condition, attempt })
      this.#version = written?.version ?? (await store.head(SERVERS + nonce))?.version ?? null
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#options.report({ event: 'server_not_renewed', code: codeOf(error) })
  }
}
