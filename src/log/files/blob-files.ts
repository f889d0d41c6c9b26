// Long texts as files, each named by its SHA-256. Does not know records.
import { mkdirSync } from 'node:fs'
import { link, rename, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'
import type { BlobPlaces } from '../blobs.ts'
import type { Blob } from '../texts-json.ts'
import { isMissing, look, readAt, remove, syncData, syncNames, withFile, writeWhole } from './files.ts'

/**
 * The ending of a blob's name while we check whether a record still needs it. A server that writes such a record
 * meanwhile doesn't find the blob under its own name, and writes it again.
 */
const GOING = '.going'

export class BlobFiles implements BlobPlaces {
  readonly folder: string
  readonly #nonce: string
  readonly #report: HistoryOptions['report']
  #count = 0

  constructor({ folder, nonce, report }: Pick<HistoryOptions, 'folder' | 'nonce' | 'report'>) {
    this.folder = join(folder, 'blobs')
    this.#nonce = nonce
    this.#report = report
  }

  async write(blobs: readonly Blob[], durable: boolean): Promise<void> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    await Promise.all(blobs.map(blob => this.#keepOne(blob, durable)))
    if (durable) await syncNames(this.folder)
  }

  async #keepOne({ name, bytes }: Blob, durable: boolean): Promise<void> {
    const path = join(this.folder, name)
    if ((await look(path))?.size === bytes.length) {
      try {
        // Renews its time, so that the sweep keeps it as long as this record.
        const now = new Date()
        await utimes(path, now, now)
        // Another server may have just renamed it, and not synced it.
        if (durable) await withFile(path, 'read', syncData)
        return
      } catch (error) {
        if (!isMissing(error)) this.#report({ event: 'history_blob_unusable', blob: name, code: codeOf(error) })
      }
    }
    await writeWhole(path, join(this.folder, `${this.#nonce}-${++this.#count}.tmp`), bytes, durable)
  }

  async has(name: string): Promise<boolean> {
    return (await look(join(this.folder, name))) !== null
  }

  async read(name: string): Promise<Buffer | null> {
    const path = join(this.folder, name)
    // A blob that is being checked for removal has the other name.
    for (const place of [path, path + GOING]) {
      try {
        return await withFile(place, 'read', (fd, { size }) => readAt(fd, 0, size))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    }
    return null
  }

  /**
   * Removes a blob unless `mayGo`, called while the blob has its other name, returns false. Returns whether this call
   * removed it. Throws the system's error.
   */
  async removeIf(name: string, mayGo: (path: string) => Promise<boolean>): Promise<boolean> {
    const [path, going] = [join(this.folder, name), join(this.folder, name + GOING)]
    for (;;) {
      try {
        await rename(path, going)
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
      if (!(await mayGo(going))) {
        await this.restore(name + GOING)
        return false
      }
      // Otherwise another server's sweep took it for a leftover, and restored its name: try again.
      if (await remove(going)) return true
    }
  }

  /** Restores the name of a blob that `removeIf` left renamed; returns whether `name` is of that kind. */
  async restore(name: string): Promise<boolean> {
    if (!name.endsWith(GOING)) return false
    const going = join(this.folder, name)
    const path = going.slice(0, -GOING.length)
    try {
      await link(going, path)
    } catch (error) {
      // If the file system has no links, rename it back. Otherwise the same blob was written again, or another server
      // has restored it.
      if (codeOf(error) !== 'EEXIST' && !isMissing(error) && (await look(path)) === null) await rename(going, path)
    }
    await remove(going)
    return true
  }
}
