// What editd needs of an object store: reading, listing, and writing on a condition. Does not know S3.

/** Which state of an object: an ETag, as the store gave it, without quotes. */
export type Version = string

/** One write that took place: which attempt it was, and what it replaced; null: nothing. */
export interface Landed {
  attempt: string
  replaced: Version | null
}

export interface ObjectFacts {
  version: Version
  /** In bytes. */
  size: number
  modified_at: Date
  /** Names in lower case. */
  metadata: Readonly<Record<string, string>>
  /**
   * The writes that the object comes from, newest first: the one that made it what it is, and up to 15 before it. Empty
   * where another program wrote it.
   */
  landed: readonly Landed[]
}

export interface StoredObject extends ObjectFacts {
  bytes: Buffer
}

/** An object of which the bytes are still to be read. */
export interface OpenObject extends ObjectFacts {
  /** To be read to the end, or left by `return`; once. Rejects with StoreUnavailable where it is cut off. */
  chunks: AsyncIterable<Buffer>
  /** Where the bytes are not wanted. */
  discard(): void
}

/**
 * A write is done only if the object is this version, or there is none. `landed` is that of the object that was read:
 * with it, what became of a write is known also where others have replaced what it wrote.
 */
export type WriteCondition = { is: Version; landed?: readonly Landed[] } | 'absent'

export interface Write {
  bytes: Buffer | readonly Buffer[]
  if: WriteCondition
  /** Names this attempt: unique to it, of at most 40 of the characters A-Z, a-z, 0-9, - and _. */
  attempt: string
  metadata?: Readonly<Record<string, string>>
}

/** `version`: null: it was written, and something else has been written over it since. */
export interface Written {
  version: Version | null
}

export interface ListOptions {
  /** Only keys after this one, in byte order of UTF-8, and with `folders` only prefixes after it. */
  after?: string
  /** At most this many keys and prefixes together, at least 1; default 1000. */
  limit?: number
  /** Keys that have a slash after `prefix` are given as one prefix. */
  folders?: boolean
}

export interface Listed {
  /** In byte order of UTF-8. Those that aren't UTF-8 are left out. */
  keys: { key: string; version: Version; size: number; modified_at: Date }[]
  /** With `folders`: prefixes, each with a slash at its end. */
  prefixes: string[]
  /** There are more after this. */
  next_after: string | null
}

/**
 * A bucket, or what lies below a prefix of it: all keys are below that. What it says is so for all who ask after that
 * (strong consistency). Everything rejects with StoreUnavailable where the store gives no answer until the deadline, and
 * with StoreRefused where it refuses what is asked for good (no permission, no bucket).
 */
export interface ObjectStore {
  /** For people: `s3://bucket/prefix`. */
  readonly name: string
  /** Null: there is no object. `limit`: in bytes; of a larger one the facts are given, and no bytes. */
  get(key: string, limit?: number): Promise<StoredObject | (ObjectFacts & { bytes: null }) | null>
  /** The same, to be read in chunks. */
  open(key: string): Promise<OpenObject | null>
  head(key: string): Promise<ObjectFacts | null>
  /**
   * Writes an object if the condition holds. Null: it doesn't, and nothing was written. Where an answer is lost, it is
   * found out; StoreUnavailable with `unknown: true`: it could not be.
   */
  write(key: string, write: Write): Promise<Written | null>
  /** Removes an object, whatever it is; none is as good. Only for what editd alone uses. */
  remove(key: string): Promise<void>
  list(prefix: string, options?: ListOptions): Promise<Listed>
  /**
   * Does with objects of its own all that a server needs, and tries whether the store keeps conditions. Rejects also with
   * Unsafe: it doesn't.
   */
  check(): Promise<void>
  /** When it answered last, whatever that was, of performance.now(). */
  readonly answeredAt: number
  /** Whether it keeps old versions, as the answer to the last write had it; null: nothing was written yet. */
  readonly isVersioned: boolean | null
  /** The store's time in ms since 1970, by its last answer: the ages of its objects are judged by it. */
  now(): number
  close(): void
}

/** The store gave no answer in time. `unknown`: what was to be written may have been, or may still be. */
export class StoreUnavailable extends Error {
  readonly code = 'STORE_UNAVAILABLE'
  readonly unknown: boolean

  constructor(message: string, { unknown = false, cause }: { unknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.unknown = unknown
  }
}

/** Another program has written the object since, so that the write can't be found in it; it may have been done before. */
export class Overwritten extends StoreUnavailable {
  constructor() {
    super('another program has written the object since', { unknown: true })
  }
}

/** The store has begun to ignore conditions. `unknown`: a write was sent, and may have replaced another's. */
export class StoreUnsafe extends StoreUnavailable {}

/** What a store calls keys that it does not take, or not any more. */
const KEYS_REFUSED = ['ExpiredToken', 'InvalidAccessKeyId', 'InvalidToken', 'SignatureDoesNotMatch']

/** The store refuses it, and will again. `reason` is what it calls that, such as AccessDenied. */
export class StoreRefused extends Error {
  readonly code = 'STORE_REFUSED'
  readonly reason: string
  /** It isn't what was asked for that is refused, but who asks: whatever this server asks for will be. */
  readonly isOfAll: boolean

  constructor(reason: string, message: string, isOfAll = KEYS_REFUSED.includes(reason)) {
    super(message)
    this.reason = reason
    this.isOfAll = isOfAll
  }
}

/** In ms: no request that writes so many bytes is sent, or sent again, later than this after `write` was called. */
export const writeDeadline = (bytes: number): number => 30_000 + Math.ceil(bytes / 1e6) * 1000
