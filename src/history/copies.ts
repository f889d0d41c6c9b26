// The last known content of small files, by which a change that editd didn't make can be told and described. Written in
// the background; a copy that is missing or damaged is none. Does not know records.
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { FileCopy, HistoryLimits, HistoryOptions } from './api.ts'
import { fromJson, isObject, toJson } from './bytes-json.ts'
import { errorCode, isMissing, readAt, remove, withFile, writeWhole } from './files.ts'
import { encodeLine, jsonOf } from './line.ts'
import { sha256 } from './texts-json.ts'

const LINE_FEED = 0x0a

const nameOf = (path: Buffer): string => createHash('sha256').update(path).digest('hex').slice(0, 32)

export class Copies {
  readonly #options: Pick<HistoryOptions, 'nonce' | 'report'> & { limits: HistoryLimits }
  readonly folder: string
  /** By file name. The one that is being written isn't in it. */
  readonly #waiting = new Map<string, Buffer[]>()
  #bytes = 0
  #running: Promise<void> | null = null
  #hasDropped = false
  #count = 0

  constructor(options: Pick<HistoryOptions, 'folder' | 'nonce' | 'report'> & { limits: HistoryLimits }) {
    this.#options = options
    this.folder = join(options.folder, 'copies')
  }

  keep(path: Buffer, edit_id: string, pieces: readonly Buffer[], hash: string): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    const { copy, waitingCopies } = this.#options.limits
    if (size > copy) return
    const name = nameOf(path)
    const before = sizeOf(this.#waiting.get(name))
    if (this.#bytes - before + size > waitingCopies) {
      if (!this.#hasDropped) this.#options.report({ event: 'history_copies_dropped' })
      this.#hasDropped = true
      return
    }
    const header = encodeLine(JSON.stringify({ edit_id, path: toJson(path), hash }))
    // A copy: the caller may use the pieces' memory for something else.
    const content = [header, Buffer.concat(pieces)]
    this.#waiting.delete(name)
    this.#waiting.set(name, content)
    this.#bytes += sizeOf(content) - before
    this.#running ??= this.#run()
  }

  async of(path: Buffer): Promise<FileCopy | null> {
    const name = nameOf(path)
    await this.#running
    try {
      const bytes = await withFile(join(this.folder, name), 'read', (fd, { size }) => readAt(fd, 0, size))
      const end = bytes.indexOf(LINE_FEED) + 1
      const json = jsonOf(bytes.subarray(0, end))
      const header: unknown = json && JSON.parse(json.toString())
      const content = bytes.subarray(end)
      if (!isObject(header) || !fromJson(header.path)?.equals(path)) return null
      const { edit_id, hash } = header
      if (typeof edit_id !== 'string' || typeof hash !== 'string' || (await sha256(content)) !== hash) return null
      return { edit_id, hash, bytes: content }
    } catch (error) {
      if (!isMissing(error)) this.#options.report({ event: 'history_copy_unreadable', code: errorCode(error) })
      return null
    }
  }

  /** Throws the system's error. */
  async remove(path: Buffer): Promise<void> {
    const name = nameOf(path)
    this.#bytes -= sizeOf(this.#waiting.get(name))
    this.#waiting.delete(name)
    await this.#running
    await remove(join(this.folder, name))
  }

  /** Resolves when none waits. */
  async flush(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    // After what the caller is doing.
    await new Promise(resolve => setImmediate(resolve))
    for (const [name, content] of this.#waiting) {
      this.#waiting.delete(name)
      await this.#write(name, content)
      this.#bytes -= sizeOf(content)
    }
    this.#running = null
  }

  async #write(name: string, content: readonly Buffer[]): Promise<void> {
    const temp = join(this.folder, `${this.#options.nonce}-${++this.#count}.tmp`)
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      await writeWhole(join(this.folder, name), temp, Buffer.concat(content), false)
    } catch (error) {
      this.#options.report({ event: 'history_copy_failed', code: errorCode(error) })
    }
  }
}

const sizeOf = (pieces: readonly Buffer[] = []): number => pieces.reduce((sum, { length }) => sum + length, 0)
