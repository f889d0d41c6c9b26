// Decides whether an object is exactly what an edit with a record wrote. If so, no other program has changed it since,
// and the next edit need not read the logs first.
import { createHmac } from 'node:crypto'
import { isId, timeOf } from '../log/ids.ts'
import { LruCache } from '../log/lru-cache.ts'
import type { ObjectContent } from './content.ts'

/**
 * Metadata entry: HMAC-SHA-256 over edit_id, path and SHA-256 of the content, keyed with the secret of the bucket's
 * workspace.
 */
const HMAC = 'editd-hmac'
/**
 * In ms: the largest difference between an object's time (the store's clock) and its record's (a server's clock).
 * Beyond it, the object is an older version that somebody restored. Chosen, not measured.
 */
const APART = 60_000
/** How many paths the last write is remembered for. */
const REMEMBERED = 10_000

export class LastWrites {
  readonly #secret: Buffer
  /** By path: the latest record whose write this server knows to have happened. */
  readonly #latest = new LruCache<string>(REMEMBERED, () => 1)

  /** `secret`: shared by all servers of a workspace, and unique to it. */
  constructor(secret: Buffer) {
    this.#secret = secret
  }

  /** The metadata for the write of this record; `digest`: SHA-256 (hex) of the new content. */
  metadata(path: Buffer, edit_id: string, digest: string): Record<string, string> {
    return { [HMAC]: this.#hmac(path, edit_id, digest) }
  }

  /** Remembers that the write of this record happened. */
  wrote(path: Buffer, edit_id: string): void {
    const name = path.toString()
    if (edit_id > (this.#latest.get(name) ?? '')) this.#latest.keep(name, edit_id)
  }

  /** The edit_id of the record whose write made the object what it is; undefined: not certain. */
  of(
    path: Buffer,
    { digest, landed, metadata, modified_at }: Pick<ObjectContent, 'digest' | 'landed' | 'metadata' | 'modified_at'>
  ): string | undefined {
    const edit_id = landed[0]?.attempt
    if (digest === null || !isId(edit_id)) return undefined
    // An object copied from another key has the metadata of its source.
    if (metadata[HMAC] !== this.#hmac(path, edit_id, digest)) return undefined
    // A restored older version has valid metadata too.
    if (Math.abs(modified_at.getTime() - timeOf(edit_id)) > APART) return undefined
    if (edit_id < (this.#latest.get(path.toString()) ?? '')) return undefined
    this.wrote(path, edit_id)
    return edit_id
  }

  #hmac(path: Buffer, edit_id: string, digest: string): string {
    // Unambiguous, as the first two have a fixed length.
    return createHmac('sha256', this.#secret).update(`${edit_id} ${digest} `).update(path).digest('hex')
  }
}
