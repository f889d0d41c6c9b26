// The content of an object at one moment, and the condition under which it may be replaced. Does not know policy.
import { createHash, hash } from 'node:crypto'
import type { Landed, ObjectFacts, ObjectStore, OpenObject, WriteCondition } from '../object-store/store.ts'
import { fail, ok, type Result } from '../result.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { SYNC_IO_BYTES } from '../workspace/content.ts'

export interface ObjectContent {
  /** Must be set again after the bytes have moved. */
  bytes: Buffer
  /** SHA-256, 64 hex digits. */
  readonly digest: string
  /** Always empty: no hash checkpoints are made of objects. */
  readonly marks: []
  readonly condition: Exclude<WriteCondition, 'absent'>
  readonly landed: readonly Landed[]
  readonly metadata: ObjectFacts['metadata']
  readonly modified_at: Date
}

/**
 * Whether the object at `key` is still the version that was read: neither changed, nor changed and changed back.
 * `content` null: there was none.
 */
export async function isStill(store: ObjectStore, key: string, content: ObjectContent | null): Promise<boolean> {
  const now = await store.head(key)
  const was = content?.condition.is ?? null
  return (now?.version ?? null) === was && now?.landed[0]?.attempt === content?.landed[0]?.attempt
}

export interface ReadContext {
  store: ObjectStore
  buffers: BufferPool
  /** In bytes. */
  maxFileSize: number
  /** In ms: how long a read waits for memory. */
  lockTimeout: number
}

/**
 * Reads an object, within the memory that large ones may use together; `taken` receives the function that frees it.
 * Failures: FILE_TOO_LARGE; NOT_READY if there was no memory in time. Null: there is no object.
 */
export async function readContent(
  { store, buffers, maxFileSize, lockTimeout }: ReadContext,
  key: string,
  taken: (() => void)[]
): Promise<Result<ObjectContent, FileFailure> | null> {
  const opened = await store.open(key)
  if (opened === null) return null
  if (opened.size > maxFileSize) {
    opened.discard()
    return fail({ code: 'FILE_TOO_LARGE', limit: maxFileSize, actual: opened.size })
  }
  if (opened.size > SYNC_IO_BYTES) {
    const release = await buffers.take(opened.size, lockTimeout)
    if (release === null) {
      opened.discard()
      return fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 })
    }
    taken.push(release)
  }
  return ok(await read(opened))
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
  return { bytes, digest, marks: [], condition: { is: version, landed }, landed, metadata, modified_at }
}
