// The objects that make up a log, and their bytes. Does not know what lines say, or which logs exist.
import { linesOf } from '../../log/line.ts'
import { LruCache } from '../../log/lru-cache.ts'
import type { Without } from '../../log/segment.ts'
import { newAttempt, type ObjectStore } from '../../object-store/store.ts'
import { listLog, type ListedObject } from './merge.ts'
import type { Range } from './names.ts'
import { WROTE } from './appender.ts'

/** An object of a log that was read. `isMissing`: the store has no object with these numbers. */
export interface LogPart extends Range {
  key: string
  size: number
  isMissing?: boolean
}

/** An object is gone: it was merged into another. */
export class Moved extends Error {
  readonly code = 'OBJECT_MOVED'
}

class TooLarge extends Error {
  readonly code = 'OBJECT_TOO_LARGE'
}

/** In bytes. No object that editd wrote is this large. */
const TOO_LARGE = 64 * 1024 * 1024
/** In bytes: how much of recently read objects is kept, as the feed reads their lines again. */
const CACHED = 8 * 1024 * 1024

export class LogObjects {
  readonly #store: ObjectStore
  readonly #refuse: (key: string, code: string) => void
  /** By their keys. */
  readonly #cache = new LruCache<Buffer>(CACHED, ({ length }) => length)

  /** `refuse` receives the key of each object that can't be used. */
  constructor(store: ObjectStore, refuse: (key: string, code: string) => void) {
    this.#store = store
    this.#refuse = refuse
  }

  /**
   * Describes the objects of one log, in order, with gaps for the missing numbers. `hasEnd`: an empty object ends the
   * log.
   */
  partsOf(objects: readonly ListedObject[], missing: readonly Range[]): { parts: LogPart[]; hasEnd: boolean } {
    const parts: LogPart[] = []
    const end = objects.findIndex(({ size }) => size === 0)
    if (end >= 0 && end < objects.length - 1) this.#refuse(objects[end + 1]!.key, 'after_the_end')
    for (const { key, from, to, size } of end < 0 ? objects : objects.slice(0, end)) {
      const hole = missing.find(range => range.to === from - 1)
      if (hole !== undefined) parts.push({ ...hole, key: '', size: 0, isMissing: true })
      const isTooLarge = size > TOO_LARGE
      if (isTooLarge) this.#refuse(key, 'too_large')
      parts.push({ key, from, to, size: isTooLarge ? 0 : size, ...(isTooLarge && { isMissing: true }) })
    }
    return { parts, hasEnd: end >= 0 }
  }

  /** Caches what this server has written, as it may be read again soon. */
  written(key: string, bytes: Buffer): void {
    this.#cache.keep(key, bytes)
  }

  /**
   * Reads `length` bytes of a log from `offset` on. `cached`: true: may use recently read objects; a map, by key: may
   * use only what was read into it. Rejects with Moved, TooLarge, StoreUnavailable or StoreRefused.
   */
  async between(
    parts: readonly LogPart[],
    offset: number,
    length: number,
    cached: true | Map<string, Buffer>
  ): Promise<Buffer> {
    const found: Buffer[] = []
    let start = 0
    for (const { key, size, isMissing } of parts) {
      if (isMissing !== true && start < offset + length && start + size > offset) {
        const known = cached === true ? this.#cache.get(key) : cached.get(key)
        const bytes = known ?? (await this.content(key))
        if (cached !== true) cached.set(key, bytes)
        found.push(bytes.subarray(Math.max(0, offset - start), offset + length - start))
      }
      start += size
    }
    return found.length === 1 ? found[0]! : Buffer.concat(found)
  }

  /** Reads one object from the store. Rejects as `between` does. */
  async content(key: string): Promise<Buffer> {
    const object = await this.#store.get(key, TOO_LARGE)
    if (object === null) throw new Moved()
    if (object.bytes === null) throw new TooLarge('larger than any object of a log')
    this.#cache.keep(key, object.bytes)
    return object.bytes
  }
  /** Overwrites lines of a log; returns whether there were any. Rejects with StoreUnavailable or StoreRefused. */
  async overwrite(log: number, without: Without): Promise<boolean> {
    let found = false
    for (const { key } of await listLog(this.#store, log)) {
      const object = await this.#store.get(key)
      const bytes = object?.bytes && overwritten(object.bytes, without)
      if (!object || !bytes) continue
      found = true
      const { version, landed, metadata } = object
      await this.#store.write(key, {
        bytes,
        if: { is: version, landed },
        attempt: newAttempt(),
        metadata: { [WROTE]: metadata[WROTE] ?? '' }
      })
    }
    return found
  }
}

/** Null: no line needs to be overwritten. */
function overwritten(bytes: Buffer, without: Without): Buffer | null {
  let result: Buffer | null = null
  for (const { offset, line } of linesOf(bytes)) {
    const shorter = without(line)
    if (shorter === null) continue
    result ??= Buffer.from(bytes)
    shorter.copy(result, offset)
  }
  return result
}
