// Long texts, each stored under the SHA-256 of its bytes. Does not know where, or records.
import { codeOf } from '../error-code.ts'
import type { HistoryOptions } from './api.ts'
import { sha256, type Blob } from './texts-json.ts'

/** Storage of blobs by name. All methods reject with an error that has a code. */
export interface BlobPlaces {
  /** Writes missing blobs, and refreshes the time of existing ones; `durable`: they are on disk afterwards. */
  write(blobs: readonly Blob[], durable: boolean): Promise<void>
  has(name: string): Promise<boolean>
  /** Null: there is no such blob. */
  read(name: string): Promise<Buffer | null>
  /** Removes a blob unless `mayGo` returns false. */
  removeIf(name: string, mayGo: () => Promise<boolean>): Promise<unknown>
}

const NAME = /^[0-9a-f]{64}$/

export class Blobs {
  readonly #places: BlobPlaces
  readonly #report: HistoryOptions['report']

  constructor({ places, report }: { places: BlobPlaces; report: HistoryOptions['report'] }) {
    this.#places = places
    this.#report = report
  }

  /** Writes missing blobs; `durable`: they are on disk afterwards. */
  async keep(blobs: readonly Blob[], durable: boolean): Promise<void> {
    if (blobs.length > 0) await this.#places.write(blobs, durable)
  }

  /** Call it after the record that names the blobs was written: rewrites those removed meanwhile. */
  async check(blobs: readonly Blob[], durable: boolean): Promise<void> {
    const isThere = await Promise.all(blobs.map(({ name }) => this.#places.has(name)))
    await this.keep(
      blobs.filter((_, i) => !isThere[i]),
      durable
    )
  }

  /** Null: it is missing or damaged; damage is reported. */
  async read(name: string): Promise<Buffer | null> {
    if (!NAME.test(name)) return null
    try {
      const bytes = await this.#places.read(name)
      if (bytes === null) return null
      if ((await sha256(bytes)) === name) return bytes
      this.#report({ event: 'history_blob_damaged', blob: name })
    } catch (error) {
      this.#report({ event: 'history_blob_unreadable', blob: name, code: codeOf(error) })
    }
    return null
  }

  /** Removes a blob unless `mayGo` returns false. */
  async removeIf(name: string, mayGo: () => Promise<boolean>): Promise<void> {
    if (NAME.test(name)) await this.#places.removeIf(name, mayGo)
  }
}
