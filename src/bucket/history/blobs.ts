// Long texts of a bucket's history, each in an object named by its SHA-256. Does not know records.
import { randomBytes } from 'node:crypto'
import type { HistoryOptions } from '../../log/api.ts'
import { sha256, type Blob } from '../../log/texts-json.ts'
import { codeOf } from '../../error-code.ts'
import type { ObjectStore } from '../../object-store/store.ts'
import { BLOBS } from './names.ts'

const NAME = /^[0-9a-f]{64}$/
/** In bytes. No text is so large. */
const TOO_LARGE = 256 * 1024 * 1024
/** In ms: a blob that is older is written again when a record needs it, so that it goes no earlier than that. */
const FRESH = 60 * 60 * 1000

export class BucketBlobs {
  readonly #store: ObjectStore
  readonly #report: HistoryOptions['report']

  constructor({ store, report }: { store: ObjectStore; report: HistoryOptions['report'] }) {
    this.#store = store
    this.#report = report
  }

  /** Writes what isn't there yet. */
  async keep(blobs: readonly Blob[]): Promise<void> {
    await Promise.all(blobs.map(blob => this.#keepOne(blob)))
  }

  async #keepOne({ name, bytes }: Blob): Promise<void> {
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

  /** To be called after the record that names them was written: what was removed meanwhile is written again. */
  async check(blobs: readonly Blob[]): Promise<void> {
    const there = await Promise.all(blobs.map(({ name }) => this.#store.head(BLOBS + name)))
    await this.keep(blobs.filter((_, i) => there[i] === null))
  }

  /** Null: it isn't there, or damaged; the latter is reported. */
  async read(name: string): Promise<Buffer | null> {
    if (!NAME.test(name)) return null
    try {
      const object = await this.#store.get(BLOBS + name, TOO_LARGE)
      if (object === null) return null
      if (object.bytes !== null && (await sha256(object.bytes)) === name) return object.bytes
      this.#report({ event: 'history_blob_damaged', blob: name })
    } catch (error) {
      this.#report({ event: 'history_blob_unreadable', blob: name, code: codeOf(error) })
    }
    return null
  }

  async remove(name: string): Promise<void> {
    if (NAME.test(name)) await this.#store.remove(BLOBS + name)
  }
}
