// Copies of files' content as files of a folder. Does not know what they contain, or when they are written.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HistoryOptions } from '../api.ts'
import { copyName, type CopyPlaces } from '../copies.ts'
import { isMissing, readAt, remove, withFile, writeWhole } from './files.ts'

export class CopyFiles implements CopyPlaces {
  readonly #nonce: string
  readonly folder: string
  #count = 0

  constructor({ folder, nonce }: Pick<HistoryOptions, 'folder' | 'nonce'>) {
    this.#nonce = nonce
    this.folder = join(folder, 'copies')
  }

  async read(path: Buffer): Promise<Buffer | null> {
    try {
      return await withFile(join(this.folder, copyName(path)), 'read', (fd, { size }) => readAt(fd, 0, size))
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  async write(path: Buffer, _edit_id: string, content: Buffer): Promise<void> {
    const place = join(this.folder, copyName(path))
    const temp = join(this.folder, `${this.#nonce}-${++this.#count}.tmp`)
    await writeWhole(place, temp, content, false).catch(async error => {
      // If the history is missing too, the state folder was removed, and must not be made again here.
      if (!isMissing(error) || !existsSync(dirname(this.folder))) throw error
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      await writeWhole(place, temp, content, false)
    })
  }

  async remove(path: Buffer): Promise<void> {
    await remove(join(this.folder, copyName(path)))
  }
}
