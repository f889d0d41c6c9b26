// What callers have read lately: the texts of files by their hash, and the version of a file that each caller saw last.
import { LruCache } from '../log/lru-cache.ts'
import type { Author } from '../log/record.ts'

/** The most bytes of all texts. */
const TEXTS = 64e6
/** A longer text isn't kept, so that one doesn't push out all others. Chosen, not measured. */
export const MOST_KEPT = 4e6
/** How long a text can be asked for, and how long a caller is expected to remember what it read, in ms. */
const TEXT_AGE = 10 * 60_000
const READ_AGE = 60 * 60_000
/** The most callers' files. Each takes about 300 bytes. */
const READERS = 20_000

interface KeptText {
  /** SHA-256, 64 hex digits. */
  hash: string
  bytes: Buffer
  at: number
}

/** Kept in memory, by this server alone. */
export class Reads {
  readonly #texts = new LruCache<KeptText>(TEXTS, ({ bytes }) => bytes.length)
  readonly #seen = new LruCache<{ hash: string; at: number }>(READERS, () => 1)
  readonly #now: () => number

  /** `now`: the time in ms. */
  constructor(now = Date.now) {
    this.#now = now
  }

  /** A caller has read a file, or knows it since it wrote it. `path`: the real one. */
  saw(caller: Author, path: string, hash: string): void {
    this.#seen.keep(namesOf(caller, path)[0]!, { hash, at: this.#now() })
  }

  /** A caller has changed a file. If it knew the file before, it knows it now. No `before`: it has made the file. */
  changed(caller: Author, path: string, { before, after }: { before: string | undefined; after: string }): void {
    if (before === undefined || this.lastOf(caller, path) === before) this.saw(caller, path, after)
  }

  /** Keeps the text of a file; `bytes` must not be changed afterwards. */
  keep(path: string, hash: string, bytes: Buffer): void {
    this.#texts.keep(keyOf(path, hash), { hash, bytes, at: this.#now() })
  }

  /** A text with a hash that begins with these digits, at least 16; undefined: it isn't kept. */
  textOf(path: string, digits: string): Buffer | undefined {
    const kept = this.#texts.get(keyOf(path, digits))
    return kept?.hash.startsWith(digits) === true && this.#now() - kept.at <= TEXT_AGE ? kept.bytes : undefined
  }

  /**
   * The hash of the version that a caller saw last, 64 hex digits; undefined: none lately. A read without a name counts
   * if it came from the same client, since few hosts name the agent when it only looks.
   */
  lastOf(caller: Author, path: string): string | undefined {
    const seen = namesOf(caller, path).flatMap(name => this.#seen.get(name) ?? [])
    const last = seen.reduce((a, b) => (b.at > a.at ? b : a), { hash: '', at: -Infinity })
    return this.#now() - last.at <= READ_AGE ? last.hash : undefined
  }
}

/** The name of a caller's file, and the one that it has if the caller doesn't name itself. */
function namesOf({ token, agent, session, sender }: Author, path: string): string[] {
  const unnamed = JSON.stringify([path, token, { sender }])
  const isNamed = agent !== undefined || session !== undefined
  return isNamed ? [JSON.stringify([path, token, agent, session]), unnamed] : [unnamed]
}

const keyOf = (path: string, hash: string): string => `${hash.slice(0, 16)} ${path}`
