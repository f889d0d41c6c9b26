// The last known content of small files, used to detect and describe changes by other programs. Written in the
// background; a missing or damaged copy means none. Does not know records.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { joinInto } from '../engine/text/join-into.ts'
import { codeOf } from '../error-code.ts'
import type { FileCopy, HistoryLimits, HistoryOptions, NewCopy } from './api.ts'
import { fromJson, isObject, toJson } from './bytes-json.ts'
import { encodeLine, jsonOf, LINE_FEED } from './line.ts'
import { keyOf } from './segment-index.ts'
import { sha256 } from './texts-json.ts'

/**
 * In ms: how long a copy may wait, so that of a file edited again and again only the last content is written. If the
 * server is killed meanwhile, only the texts of another program's next change are lost: the records, and that the file
 * was changed, are known without the copy. Unless `later` says otherwise, copies are written at once if other servers
 * may edit the file: they read them, and a late write could replace a later copy of theirs.
 */
const LATER = 200

/** Storage of copies, one for each path. All methods reject with an error that has a code. */
export interface CopyPlaces {
  /** Null: there is none. */
  read(path: Buffer): Promise<Buffer | null>
  /** Replaces the present copy, unless that is known to be of a later edit. */
  write(path: Buffer, edit_id: string, content: Buffer): Promise<void>
  remove(path: Buffer): Promise<void>
}

interface CopiesOptions {
  places: CopyPlaces
  /** Called with the size in bytes of each copy that was written. */
  wrote(bytes: number): void
  report: HistoryOptions['report']
  limits: HistoryLimits
  /**
   * In ms: how long a copy waits even if other servers may edit the file; only if `places` keep the copy of the later
   * edit.
   */
  later?: number
}

interface WaitingCopy extends FileCopy {
  path: Buffer
  /** The buffer that `bytes` is the start of. */
  memory: Buffer
}

/** In bytes: buffers of waiting copies are multiples of it, so that the next copy of the same file fits. */
const ROOM = 4096

export class Copies {
  readonly #options: CopiesOptions
  /** By path. Copies that are being written aren't in it. */
  readonly #waiting = new Map<string, WaitingCopy>()
  /** By path, with the promise of each write. */
  readonly #writing = new Map<string, { copy: WaitingCopy; done: Promise<void> }>()
  /** Total size of both maps. */
  #bytes = 0
  #timer: NodeJS.Timeout | null = null
  /** Waiting copies are to be written now. */
  #isDue = false
  #running: Promise<void> | null = null
  #hasDropped = false

  constructor(options: CopiesOptions) {
    this.#options = options
  }

  /** `alone`: no other server edits the file until `written` is called. False: it isn't kept. */
  keep(path: Buffer, { edit_id, pieces, hash }: NewCopy, alone: boolean): boolean {
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    const { copy, waitingCopies } = this.#options.limits
    if (size > copy) return false
    const key = keyOf(path)
    const before = this.#waiting.get(key)
    const bytes = this.#bytes - (before?.bytes.length ?? 0) + size
    if (bytes > waitingCopies) {
      if (!this.#hasDropped) this.#options.report({ event: 'history_copies_dropped' })
      this.#hasDropped = true
      return false
    }
    // Copied, as the caller may reuse the memory of the pieces.
    const memory = before !== undefined && before.memory.length >= size ? before.memory : memoryFor(size)
    this.#waiting.set(key, { path, edit_id, hash, bytes: joinInto(memory, pieces), memory })
    this.#bytes = bytes
    const wait = this.#options.later ?? (alone ? LATER : 0)
    if (wait === 0 || bytes > waitingCopies / 2) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), wait).unref()
    return true
  }

  /** Valid for this tick only: the next copy of the file reuses its memory. */
  waiting(path: Buffer): FileCopy | null {
    return this.#waiting.get(keyOf(path)) ?? null
  }

  async of(path: Buffer): Promise<FileCopy | null> {
    const key = keyOf(path)
    const waiting = this.#waiting.get(key) ?? this.#writing.get(key)?.copy
    if (waiting !== undefined) {
      const { edit_id, hash, bytes } = waiting
      // Copied, as the next copy may reuse the memory before the caller has read it.
      return { edit_id, hash, bytes: Buffer.from(bytes) }
    }
    try {
      const bytes = await this.#options.places.read(path)
      if (bytes === null) return null
      const end = bytes.indexOf(LINE_FEED) + 1
      const json = jsonOf(bytes.subarray(0, end))
      const header: unknown = json && JSON.parse(json.toString())
      const content = bytes.subarray(end)
      if (!isObject(header) || !fromJson(header.path)?.equals(path)) return null
      const { edit_id, hash } = header
      if (typeof edit_id !== 'string' || typeof hash !== 'string' || (await sha256(content)) !== hash) return null
      return { edit_id, hash, bytes: content }
    } catch (error) {
      this.#options.report({ event: 'history_copy_unreadable', code: codeOf(error) })
      return null
    }
  }

  /** Throws the system's error. */
  async remove(path: Buffer): Promise<void> {
    const key = keyOf(path)
    this.#bytes -= this.#waiting.get(key)?.bytes.length ?? 0
    this.#waiting.delete(key)
    await this.#writing.get(key)?.done
    await this.#options.places.remove(path)
  }

  /** Writes the copy of this path now, before others. Resolves when it and any kept meanwhile are written. */
  async written(path: Buffer): Promise<void> {
    const key = keyOf(path)
    while (this.#waiting.has(key) || this.#writing.has(key)) await this.#writeOne(key)
  }

  /** Resolves when none waits. */
  async flush(): Promise<void> {
    while (this.#waiting.size > 0 || this.#running !== null || this.#writing.size > 0) {
      this.#start()
      await Promise.all([this.#running, ...[...this.#writing.values()].map(({ done }) => done)])
    }
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#isDue = true
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // Runs after the caller's work.
    await setImmediate()
    while (this.#isDue) {
      this.#isDue = false
      for (const key of [...this.#waiting.keys()]) await this.#writeOne(key)
    }
    this.#running = null
  }

  /** Writes one copy at a time for a path. */
  async #writeOne(key: string): Promise<void> {
    await this.#writing.get(key)?.done
    // It was removed, or another caller is writing it.
    const copy = this.#writing.has(key) ? undefined : this.#waiting.get(key)
    if (copy === undefined) return
    this.#waiting.delete(key)
    const done = this.#write(copy).then(() => {
      this.#writing.delete(key)
      this.#bytes -= copy.bytes.length
    })
    this.#writing.set(key, { copy, done })
    await done
  }

  async #write({ path, edit_id, hash, bytes }: WaitingCopy): Promise<void> {
    const header = encodeLine(JSON.stringify({ edit_id, path: toJson(path), hash }))
    try {
      const content = Buffer.concat([header, bytes])
      await this.#options.places.write(path, edit_id, content)
      this.#options.wrote(content.length)
    } catch (error) {
      this.#options.report({ event: 'history_copy_failed', code: codeOf(error) })
    }
  }
}

const memoryFor = (size: number): Buffer => Buffer.allocUnsafeSlow(Math.ceil(size / ROOM) * ROOM)

/** The name of the copy of the file at this path. */
export const copyName = (path: Buffer): string => createHash('sha256').update(path).digest('hex').slice(0, 32)
