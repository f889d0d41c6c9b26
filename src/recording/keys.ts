// Idempotency keys: each keyed request is carried out once. Does not know what requests do.
import { createHmac } from 'node:crypto'
import type { History } from '../log/api.ts'
import type { Settlement, Stored } from '../log/record.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Key } from '../workspace/api.ts'
import { failureOf, unlessUnreadable } from '../workspace/errno.ts'
import type { FileFailure, KeyFailure } from '../workspace/failure.ts'
import type { Lock } from '../workspace/queue.ts'

export interface Keys {
  history: History
  /** Shared by all servers of this root. */
  secret: Buffer
  /** Acquires the right to carry out the request with the key of this name. */
  acquire(name: Buffer): Promise<Result<Omit<Lock, 'temp'>, FileFailure>>
  /** Settles a change that its server has left open; under_way: it may still happen. */
  settle(stored: Stored): Promise<Settlement | 'under_way'>
  /** Why the request may not use the file at this real path below the root now; null: it may. */
  refusalOf(path: Buffer): Refusal | null
}

type Refusal = Extract<KeyFailure, { code: 'PROTECTED_PATH' | 'PATH_NOT_ALLOWED' | 'NOT_READY' }>

export interface KeyedRequest {
  scope: string
  key: string
  fingerprint: string
}

/** The last known request with a key; `isLost`: the record of a later one is damaged. */
interface Found {
  stored: Stored | null
  isLost: boolean
}

async function find(history: History, digest: string): Promise<Found> {
  const stored = await history.byKey(digest)
  return { stored, isLost: await history.mayHaveLostKey(digest, stored?.record.edit_id ?? '') }
}

/** The name of a key's lock, from its digest. It contains a NUL, which no path can, so it never names a file's lock. */
const keyLock = (digest: string): Buffer => Buffer.from(`\0idempotency-key\0${digest}`)

/** How long a key is remembered, in ms. */
const KEPT = 24 * 3_600_000

/**
 * Acquires the lock of a key. NOT_READY if the lock can't be made for lack of space or descriptors: then no record
 * could be written, either.
 */
async function lockOf(acquire: Keys['acquire'], digest: string): ReturnType<Keys['acquire']> {
  try {
    return await acquire(keyLock(digest))
  } catch (error) {
    const failure = failureOf(error)
    if (failure === null) throw error
    return fail(
      failure.code === 'NOT_READY' ? failure : { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 }
    )
  }
}

/** Implements `keyed` of the workspace. */
export async function onceByKey<T>(
  { history, secret, acquire, settle, refusalOf }: Keys,
  { scope, key, fingerprint }: KeyedRequest,
  work: (key: Key) => Promise<T>,
  pathsIn: (outcome: unknown) => readonly string[]
): Promise<Result<{ done: T } | { replayed: unknown }, KeyFailure>> {
  const digest = createHmac('sha256', secret).update(`${scope}\0${key}`).digest('hex')
  const lock = await lockOf(acquire, digest)
  if (!lock.ok) {
    const { failure } = lock
    return fail(failure.code === 'NOT_READY' ? failure : { code: 'REQUEST_IN_FLIGHT', retry_after: 1 })
  }
  const held: Key = { digest, fingerprint, held: () => lock.value.held() }
  try {
    await history.refresh(lock.value.alone_since)
    const found = await unlessUnreadable<Found, never>(async () => ok(await find(history, digest)))
    // The request may have been carried out already.
    if (!found.ok) return found
    const { stored, isLost } = found.value
    if (isLost) return fail({ code: 'IDEMPOTENCY_KEY_REUSED', reason: 'damaged' })
    const known = stored?.record.key
    const isOver = stored === null || known === undefined || stored.record.at < history.now() - KEPT
    // If the file may no longer be edited, run the request: it is refused like any other, and reveals nothing of the
    // file.
    if (isOver) return ok({ done: await work(held) })
    const others = known.outcome === null ? [] : pathsIn(known.outcome)
    // A request for several files must not change the other files again.
    if (others.length === 0 && refusalOf(stored.record.path) !== null) return ok({ done: await work(held) })
    if (known.fingerprint !== fingerprint) return fail({ code: 'IDEMPOTENCY_KEY_REUSED', reason: 'another_request' })
    const settled = stored.settled ?? (await settle(stored))
    if (settled === 'under_way') return fail({ code: 'REQUEST_IN_FLIGHT', retry_after: 1 })
    if (settled === 'void') return ok({ done: await work(held) })
    if (settled === 'uncertain') return fail({ code: 'IDEMPOTENCY_KEY_REUSED', reason: 'uncertain' })
    for (const path of others) {
      const refusal = refusalOf(Buffer.from(path))
      if (refusal !== null) return fail(refusal)
    }
    if (known.outcome === null) return fail({ code: 'IDEMPOTENCY_KEY_REUSED', reason: 'forgotten' })
    return ok({ replayed: known.outcome })
  } finally {
    await lock.value.release()
  }
}
