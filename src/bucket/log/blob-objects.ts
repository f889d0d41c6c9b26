// Long texts as objects of a bucket, each named by its SHA-256. Does not know records.
import type { BlobPlaces } from '../../log/blobs.ts'
import type { Blob } from '../../log/texts-json.ts'
import { newAttempt, type ObjectStore } from '../../object-store/store.ts'
import { BLOBS } from './names.ts'

/** In bytes. No text is this large. */
const TOO_LARGE = 256 * 1024 * 1024
/**
 * In ms: a blob older than this is written again when a record needs it, so that the sweep doesn't remove it too soon.
 */
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
    const attempt = newAttempt()
    if ((await this.#store.write(key, { bytes, if: 'absent', attempt })) !== null) return
    const there = await this.#store.head(key)
    const isFresh = there?.size === bytes.length && there.modified_at.getTime() > Date.now() - FRESH
    if (isFresh) return
    const condition = there === null ? ('absent' as const) : { is: there.version, landed: there.landed }
    // If the condition fails, another server has written the same text.
    await this.#store.write(key, { bytes, if: condition, attempt: `${attempt}2` })
  }

  async has(name: string): Promise<boolean> {
    return (await this.#store.head(BLOBS + name)) !== null
  }

  async read(name: string): Promise<Buffer | null> {
    const object = await this.#store.get(BLOBS + name, TOO_LARGE)
    // An object that is too large isn't editd's: return no bytes, which match no hash of a text.
    return object && (object.bytes ?? Buffer.alloc(0))
  }

  async removeIf(name: string, mayGo: () => Promise<boolean>): Promise<void> {
    if (await mayGo()) await this.#store.remove(BLOBS + name)
  }
}
