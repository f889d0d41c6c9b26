// Long texts as objects of a bucket, each named by its SHA-256. Does not know what is in them, or records.
import { randomBytes } from 'node:crypto'
import type { BlobPlaces } from '../../log/blobs.ts'
import type { Blob } from '../../log/texts-json.ts'
import type { ObjectStore } from '../../object-store/store.ts'
import { BLOBS } from './names.ts'

/** In bytes. No text is so large. */
const TOO_LARGE = 256 * 1024 * 1024
/** In ms: a blob that is older is written again when a record needs it, so that it goes no earlier than that. */
const FRESH = 60 * 60 * 1000

export class BlobObjects implements BlobPlaces {
  readonly #store: ObjectStore

  constructor(store: ObjectStore) {
    this.#store = store
  }

  async write(blobs: readonly Blob[]): Promise<void> {
    await Promise.all(blobs.map(blob => this.#writeOne(blob)))
  }

  async #writeOne({ name, bytes }: Blob): Promise<void> {
    const key = BLOBS + name
    const attempt = randomBytes(12).toString('hex')
    if ((await this.#store.write(key, { bytes, if: 'absent', attempt })) !== null) return
    const there = await this.#store.head(key)
    const isFresh = there?.size === bytes.length && there.modified_at.getTime() > Date.now() - FRESH
    if (isFresh) return
    const condition = there === null ? ('absent' as const) : { is: there.version, landed: there.landed }
    // Else another server writes the same.
    await this.#store.write(key, { bytes, if: condition, attempt: `${attempt}2` })
  }

  async has(name: string): Promise<boolean> {
    return (await this.#store.head(BLOBS + name)) !== null
  }

  async read(name: string): Promise<Buffer | null> {
    const object = await this.#store.get(BLOBS + name, TOO_LARGE)
    // One that is too large is none that editd wrote: no text has the hash of nothing.
    return object && (object.bytes ?? Buffer.alloc(0))
  }

  async removeIf(name: string, mayGo: () => Promise<boolean>): Promise<void> {
    if (await mayGo()) await this.#store.remove(BLOBS + name)
  }
}
