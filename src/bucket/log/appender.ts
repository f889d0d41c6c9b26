// Appends lines to this server's logs in a bucket: writes one object for each group of lines, on the condition that its
// number is unused. Does not look at what the lines say.
import type { HistoryOptions } from '../../log/api.ts'
import type { EncodedLine } from '../../log/record-json.ts'
import type { Appender } from '../../log/writer.ts'
import { codeOf } from '../../error-code.ts'
import { newAttempt, type ObjectStore } from '../../object-store/store.ts'
import { mergeObjects, type KnownObjects } from './merge.ts'
import { LOGS, objectKey, parseLog, rangeToMerge, type Range } from './names.ts'
import type { LivingServers } from './servers.ts'

interface LogAppenderOptions {
  store: ObjectStore
  nonce: string
  report: HistoryOptions['report']
  /** In bytes: a log that reaches this size is ended. */
  limit: number
  servers: Pick<LivingServers, 'begin' | 'end'>
  /** Called for each group once it is in a log, with the offset of its first line. */
  written(log: number, offset: number, lines: readonly EncodedLine[]): void
  /** Called when this server stops writing to a log. `isWhole`: the log consists only of lines passed to `written`. */
  closed(log: number, isWhole: boolean): void
}

interface Current {
  number: number
  /** Number of the next object. */
  next: number
  size: number
  startedAt: number
  /** What was written, so that objects can be merged without being read again. */
  known: KnownObjects
}

/** Metadata entry of each object: the nonce of the server that wrote it. */
export const WROTE = 'editd-server'
/** How many logs are tried for one group while other servers also begin logs. */
const ATTEMPTS = 100

/** Another server wrote the next object: it believed this server to be gone, and ended its log. */
class Ended extends Error {
  readonly code = 'LOG_ENDED'
}

export class LogAppender implements Appender {
  readonly #options: LogAppenderOptions
  #log: Current | null = null
  /** Logs whose end couldn't be written yet, each with the number from which to try. */
  readonly #unended = new Map<number, number>()
  /** Resolves when the merges in the background are done. */
  #merging: Promise<void> = Promise.resolve()

  constructor(options: LogAppenderOptions) {
    this.#options = options
  }

  async rotate(age: number): Promise<void> {
    if (this.#log !== null && Date.now() - this.#log.startedAt >= age) await this.#end(this.#log, true)
    await this.#merging
  }

  async close(): Promise<void> {
    if (this.#log !== null) await this.#end(this.#log, true)
    await this.#endOthers()
    await this.#merging
    await this.#options.servers.end()
  }

  /** Rejects with StoreUnavailable or StoreRefused. */
  async append(lines: readonly EncodedLine[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#writeTo(this.#log ?? (await this.#begin()), lines)
        break
      } catch (error) {
        // Retry the same lines in a new log.
        if (!(error instanceof Ended) || attempt === ATTEMPTS) throw error
      }
    }
    await this.#endOthers()
  }

  async #writeTo(log: Current, lines: readonly EncodedLine[]): Promise<void> {
    const bytes = Buffer.concat(lines.map(line => line.bytes))
    const { number, next } = log
    const key = objectKey(number, { from: next, to: next })
    try {
      const { store, nonce } = this.#options
      const metadata = { [WROTE]: nonce }
      const written = await store.write(key, { bytes, if: 'absent', attempt: newAttempt(), metadata })
      if (written === null) throw new Ended('another server has ended the log, or begun one of this number')
      log.next = next + 1
      if (next === 0 && !(await this.#isHighest(number))) throw new Ended('other servers have begun logs meanwhile')
      log.known.set(key, { bytes, version: written.version })
    } catch (error) {
      const isEnd = error instanceof Ended
      if (!isEnd || log.size > 0) {
        this.#options.report({ event: 'history_log_given_up', log: number, code: codeOf(error) })
      }
      await this.#end(log, isEnd && log.size > 0)
      throw error
    }
    const offset = log.size
    log.size += bytes.length
    this.#options.written(number, offset, lines)
    if (log.size >= this.#options.limit) await this.#end(log, true)
    else this.#merge(log, rangeToMerge(next))
  }

  /** Begins a log, numbered one above all existing logs. It belongs to this server once its first object is written. */
  async #begin(): Promise<Current> {
    await this.#options.servers.begin()
    const number = (await this.#highest()) + 1
    return (this.#log = { number, next: 0, size: 0, startedAt: Date.now(), known: new Map() })
  }

  async #highest(): Promise<number> {
    let highest = 0
    for (let after: string | null = LOGS; after !== null;) {
      const page = await this.#options.store.list(LOGS, { after, folders: true })
      for (const prefix of page.prefixes) highest = Math.max(highest, parseLog(prefix) ?? 0)
      after = page.next_after
    }
    return highest
  }

  /**
   * Checked after the first object is written: a server that stalled before it must not reuse a number that was used
   * and removed meanwhile, since readers would take the log for one that they have read (cursor.ts).
   */
  async #isHighest(number: number): Promise<boolean> {
    return (await this.#highest()) === number
  }

  /** Even if ending it fails, nothing more is written to the log. */
  async #end(log: Current, isWhole: boolean): Promise<void> {
    this.#log = null
    this.#unended.set(log.number, log.next)
    await this.#endOthers()
    this.#options.closed(log.number, isWhole)
    if (isWhole && log.next > 1) this.#merge(log, { from: 0, to: log.next - 1 })
  }

  /** Ends logs with an empty object. If that fails, it is tried again with the next lines. */
  async #endOthers(): Promise<void> {
    const { store, nonce, report } = this.#options
    for (const [number, next] of this.#unended) {
      try {
        await endLog(store, number, next, nonce)
        this.#unended.delete(number)
      } catch (error) {
        report({ event: 'history_log_not_ended', log: number, code: codeOf(error) })
      }
    }
  }

  #merge({ number, known }: Current, range: Range | null): void {
    if (range === null) return
    const { store, nonce, report } = this.#options
    this.#merging = this.#merging
      .then(() => mergeObjects({ store, log: number, range, metadata: { [WROTE]: nonce }, known }))
      .then(
        () => {},
        // The next merge or the sweep will do it.
        error => report({ event: 'history_merge_failed', log: number, code: codeOf(error) })
      )
  }
}

/**
 * Writes the empty object that ends a log of the server `of`, after its last object. `next`: the first number to try;
 * no object before it is the last. Does nothing if another server has begun a log of this number.
 */
export async function endLog(store: ObjectStore, log: number, next: number, of: string): Promise<void> {
  for (let number = next; ; number++) {
    const key = objectKey(log, { from: number, to: number })
    const metadata = { [WROTE]: of }
    if (await store.write(key, { bytes: Buffer.alloc(0), if: 'absent', attempt: newAttempt(), metadata })) return
    const there = await store.head(key)
    if (there?.size === 0 || (number === 0 && there !== null && there.metadata[WROTE] !== of)) return
  }
}
