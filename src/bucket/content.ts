// What an object holds at one moment, and the condition on which it may be replaced. Does not know policy.
import { createHash, hash } from 'node:crypto'
import type { Landed, ObjectFacts, ObjectStore, OpenObject, WriteCondition } from '../object-store/store.ts'
import { fail, ok, type Result } from '../result.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { SYNC_IO_BYTES } from '../workspace/content.ts'

export interface ObjectContent {
  /** To be set again where they have moved. */
  bytes: Buffer
  /** SHA-256, 64 hex digits; null: there is no object. */
  readonly digest: string | null
  readonly condition: WriteCondition
  readonly landed: readonly Landed[]
  readonly metadata: ObjectFacts['metadata']
  readonly modified_at: Date
}

export const NOTHING = (): ObjectContent => ({
  bytes: Buffer.alloc(0),
  digest: null,
  condition: 'absent',
  landed: [],
  metadata: {},
  modified_at: new Date(0)
})

/** Whether the object at `key` still is what was read: neither changed, nor changed and changed back. */
export async function isStill(store: ObjectStore, key: string, { condition, landed }: ObjectContent): Promise<boolean> {
  const now = await store.head(key)
  const was = condition === 'absent' ? null : condition.is
  return (now?.version ?? null) === was && now?.landed[0]?.attempt === landed[0]?.attempt
}

export interface ReadContext {
  store: ObjectStore
  buffers: BufferPool
  /** In bytes. */
  maxFileSize: number
  /** In ms: how long it waits for memory. */
  lockTimeout: number
}

/**
 * Does the work on what an object holds, within the memory that large ones may take together. Failures: FILE_TOO_LARGE,
 * NOT_READY where there was no memory for it in time. Null: there is none.
 */
export async function withContent<R>(
  { store, buffers, maxFileSize, lockTimeout }: ReadContext,
  key: string,
  work: (content: ObjectContent) => Promise<R>
): Promise<Result<R, FileFailure> | null> {
  const opened = await store.open(key)
  if (opened === null) return null
  if (opened.size > maxFileSize) {
    opened.discard()
    return fail({ code: 'FILE_TOO_LARGE', limit: maxFileSize, actual: opened.size })
  }
  if (opened.size <= SYNC_IO_BYTES) return ok(await work(await read(opened)))
  const release = await buffers.take(opened.size, lockTimeout)
  if (release === null) {
    opened.discard()
    return fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 })
  }
  try {
    return ok(await work(await read(opened)))
  } finally {
    release()
  }
}

async function read({ chunks, version, landed, metadata, modified_at, size }: OpenObject): Promise<ObjectContent> {
  const parts: Buffer[] = []
  const running = size > SYNC_IO_BYTES ? createHash('sha256') : null
  for await (const part of chunks) {
    parts.push(part)
    running?.update(part)
  }
  const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  const digest = running === null ? hash('sha256', bytes, 'hex') : running.digest('hex')
  return { bytes, digest, condition: { is: version, landed }, landed, metadata, modified_at }
}
