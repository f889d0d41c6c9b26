// The interface of an object store that editd needs: reading, listing and conditional writes. Does not know S3.
import { randomBytes } from 'node:crypto'

/** The version of an object: its ETag from the store, without quotes. */
export type Version = string

/** A write that happened: its attempt id, and the version it replaced (null: there was no object). */
export interface Landed {
  attempt: string
  replaced: Version | null
}

export interface ObjectFacts {
  version: Version
  /** In bytes. */
  size: number
  modified_at: Date
  /** Names are in lower case. */
  metadata: Readonly<Record<string, string>>
  /**
   * The last writes of the object, newest first: the one that made its present version, and up to 15 before it. Empty
   * if another program wrote it.
   */
  landed: readonly Landed[]
}

export interface StoredObject extends ObjectFacts {
  bytes: Buffer
}

/** An object whose bytes are still to be read. */
export interface OpenObject extends ObjectFacts {
  /** Read it once: to the end, or stop with `return`. Rejects with StoreUnavailable if the connection is cut. */
  chunks: AsyncIterable<Buffer>
  /** Call instead of reading `chunks` if the bytes aren't needed. */
  discard(): void
}

/**
 * The write happens only if the object has this version, or doesn't exist. `landed`: the value read with the object;
 * with it, the outcome of a write can be found even if others have replaced what it wrote.
 */
export type WriteCondition = { is: Version; landed?: readonly Landed[] } | 'absent'

export interface Write {
  bytes: Buffer | readonly Buffer[]
  if: WriteCondition
  /** Unique id of this attempt: at most 40 of the characters A-Z, a-z, 0-9, - and _. */
  attempt: string
  metadata?: Readonly<Record<string, string>>
}

/** `version` null: it was written, and another write has replaced it since. */
export interface Written {
  version: Version | null
}

export interface ListOptions {
  /** List only keys after this one, in byte order of UTF-8; with `folders`, only prefixes after it. */
  after?: string
  /** The most keys and prefixes together, at least 1; default 1000. */
  limit?: number
  /** Keys with a slash after `prefix` are grouped into one prefix. */
  folders?: boolean
}

export interface Listed {
  /** In byte order of UTF-8. Keys that aren't UTF-8 are left out. */
  keys: { key: string; version: Version; size: number; modified_at: Date }[]
  /** With `folders`: the prefixes, each ending with a slash. */
  prefixes: string[]
  /** Pass it as `after` to get the next page; null: this is the last page. */
  next_after: string | null
}

/**
 * A bucket, or the part of it below a prefix; all keys are relative to that. Strongly consistent: every later request
 * sees what an answer reported. All methods reject with StoreUnavailable if the store doesn't answer before the
 * deadline, and with StoreRefused if it refuses for good (no permission, no bucket).
 */
export interface ObjectStore {
  /** Shown to people: `s3://bucket/prefix`. */
  readonly name: string
  /** Null: there is no object. `limit`, in bytes: for a larger object only the facts are returned. */
  get(key: string, limit?: number): Promise<StoredObject | (ObjectFacts & { bytes: null }) | null>
  /** Opens an object to be read in chunks; null: there is none. */
  open(key: string): Promise<OpenObject | null>
  head(key: string): Promise<ObjectFacts | null>
  /**
   * Writes an object if the condition holds. Null: it doesn't, and nothing was written. If an answer is lost, the store
   * finds out what happened; StoreUnavailable with `unknown: true`: it could not.
   */
  write(key: string, write: Write): Promise<Written | null>
  /** Removes an object in any version; succeeds if there is none. Only for objects that editd alone uses. */
  remove(key: string): Promise<void>
  list(prefix: string, options?: ListOptions): Promise<Listed>
  /**
   * Tests with objects of its own everything a server needs, and that the store honors conditions. Also rejects with
   * Unsafe if it doesn't.
   */
  check(): Promise<void>
  /** When the store last answered anything, on the clock of performance.now(). */
  readonly answeredAt: number
  /** Whether the bucket keeps old versions, from the answer to the last write; null: nothing was written yet. */
  readonly isVersioned: boolean | null
  /** The store's time in ms since 1970, from its last answer. Ages of objects are computed from it. */
  now(): number
  close(): void
}

/** The store didn't answer in time. `unknown`: the write may have happened, or may still happen. */
export class StoreUnavailable extends Error {
  readonly code = 'STORE_UNAVAILABLE'
  readonly unknown: boolean

  constructor(message: string, { unknown = false, cause }: { unknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.unknown = unknown
  }
}

/** Another program has replaced the object, so its metadata no longer shows whether this write happened. */
export class Overwritten extends StoreUnavailable {
  constructor() {
    super('another program has written the object since', { unknown: true })
  }
}

/** The store has begun to ignore conditions. `unknown`: a write was sent, and may have replaced another writer's. */
export class StoreUnsafe extends StoreUnavailable {}

/** The store's error names for credentials it doesn't accept, or no longer accepts. */
const KEYS_REFUSED = ['ExpiredToken', 'InvalidAccessKeyId', 'InvalidToken', 'SignatureDoesNotMatch']

/** The store refuses the request and will refuse it again. `reason`: the store's error name, such as AccessDenied. */
export class StoreRefused extends Error {
  readonly code = 'STORE_REFUSED'
  readonly reason: string
  /** The store refuses this server's credentials, so it will refuse every request. */
  readonly isOfAll: boolean

  constructor(reason: string, message: string, isOfAll = KEYS_REFUSED.includes(reason)) {
    super(message)
    this.reason = reason
    this.isOfAll = isOfAll
  }
}

/** In ms after the call of `write`: no request that writes this many bytes is sent, or sent again, later than that. */
export const writeDeadline = (bytes: number): number => 30_000 + Math.ceil(bytes / 1e6) * 1000

/** A new id of one conditional write: 24 hex digits. */
export const newAttempt = (): string => randomBytes(12).toString('hex')
