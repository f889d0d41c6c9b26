// Whether an object is exactly what an edit with a record has made of it: then no other program has changed it since, and
// an edit need not read the logs before it. Does not know how objects are read or written.
import { createHmac } from 'node:crypto'
import { isId, timeOf } from '../log/ids.ts'
import { RecentlyUsed } from '../log/recently-used.ts'
import type { ObjectContent } from './content.ts'

/** Metadata: HMAC-SHA-256 over edit_id, path and SHA-256 of the content, by the secret of the bucket's workspace. */
const HMAC = 'editd-hmac'
/**
 * In ms: an object is as old as its last record by no more than this, or it is an older version that somebody has put
 * there again; the one time is the store's, the other that of a server. Chosen, not measured.
 */
const APART = 60_000
/** Paths of which the last write is remembered. */
const REMEMBERED = 10_000

export class LastWrites {
  readonly #secret: Buffer
  /** By path: the latest record of which it is known here that its write took place. */
  readonly #latest = new RecentlyUsed<string>(REMEMBERED, () => 1)

  /** `secret`: the same for all servers of a workspace, and for no other workspace. */
  constructor(secret: Buffer) {
    this.#secret = secret
  }

  /** What the write of this record has to give the object, whose content has this SHA-256 (hex) then. */
  metadata(path: Buffer, edit_id: string, digest: string): Record<string, string> {
    return { [HMAC]: this.#hmac(path, edit_id, digest) }
  }

  /** The write of this record took place. */
  wrote(path: Buffer, edit_id: string): void {
    const name = path.toString()
    if (edit_id > (this.#latest.get(name) ?? '')) this.#latest.keep(name, edit_id)
  }

  /** The edit_id of the record whose write made the object what it is; undefined: that isn't certain. */
  of(
    path: Buffer,
    { digest, landed, metadata, modified_at }: Pick<ObjectContent, 'digest' | 'landed' | 'metadata' | 'modified_at'>
  ): string | undefined {
    const edit_id = landed[0]?.attempt
    if (digest === null || !isId(edit_id)) return undefined
    // A copy from elsewhere brings the metadata of its source along.
    if (metadata[HMAC] !== this.#hmac(path, edit_id, digest)) return undefined
    // And so does an older version of this object.
    if (Math.abs(modified_at.getTime() - timeOf(edit_id)) > APART) return undefined
    if (edit_id < (this.#latest.get(path.toString()) ?? '')) return undefined
    this.wrote(path, edit_id)
    return edit_id
  }

  #hmac(path: Buffer, edit_id: string, digest: string): string {
    // The first two have a fixed length.
    return createHmac('sha256', this.#secret).update(`${edit_id} ${digest} `).update(path).digest('hex')
  }
}
