// The logs of all servers in one bucket, as segments: lists them, reads what is new, and knows the objects of each.
// Does not know what they are read for.
import { setTimeout as sleep } from 'node:timers/promises'
import { compare, type SegmentId } from '../../log/cursor.ts'
import { jsonOf } from '../../log/line.ts'
import { overviewOf } from '../../log/overview.ts'
import type { LogLine, EncodedLine } from '../../log/record-json.ts'
import { SegmentIndex } from '../../log/segment-index.ts'
import { segmentName } from '../../log/segment-name.ts'
import type { LinePlace, Segment, Without } from '../../log/segment.ts'
import { Segments, type SegmentsOptions } from '../../log/segments.ts'
import { coalesce } from '../../log/coalesce.ts'
import { HistoryUnreadable, isPassing, unreadable } from '../../log/unreadable.ts'
import { codeOf } from '../../error-code.ts'
import type { ObjectStore } from '../../object-store/store.ts'
import { LogObjects, Moved, type LogPart } from './log-objects.ts'
import { listLog, type ListedObject } from './merge.ts'
import { cover, keyAfter, keyBefore, LOGS, objectKey, parseLog, parseObject, type Range } from './names.ts'
import type { LivingServers } from './servers.ts'
import { endLog, WROTE } from './appender.ts'

interface LogsOptions extends SegmentsOptions {
  store: ObjectStore
  servers: Pick<LivingServers, 'look' | 'isGone'>
}

interface Log extends Segment {
  /** The objects it consists of, from number 0 on, as last listed; some may not be in the index yet. */
  parts: LogPart[]
  /**
   * Lists the objects again after a merge; false: the log is gone. Callers share one list at a time, so that no result
   * is older than another.
   */
  list(): Promise<boolean>
  /** Number of the next object to read. */
  next: number
  /** An empty object has ended the log. */
  hasEnd: boolean
}

/** Objects with a higher number aren't editd's: cursors couldn't name them. */
const MOST_LOGS = 1e9
/** How many logs are read at the same time when a server starts. Chosen, not measured. */
const AT_ONCE = 8
/** How often a log is read again while its objects keep being merged. */
const LOOKS = 10
const BETWEEN = 50

export class Logs extends Segments<Log> {
  readonly #options: LogsOptions
  readonly #numbered = new Map<number, Log>()
  readonly #objects: LogObjects
  readonly #refused = new Set<string>()
  /** Why not everything could be read; null: it could. */
  #failure: unknown = null
  #isLoaded = false
  /** All logs up to this number were listed; this server may have begun one with a higher number. */
  #listedTo = 0

  constructor(options: LogsOptions) {
    super(options)
    this.#options = options
    this.#objects = new LogObjects(options.store, (key, code) => this.#refuse(key, code))
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  async load(): Promise<void> {
    if (!this.#isLoaded) await this.catchUp()
  }

  /** Lists the logs that exist, and drops those that others have removed. Rejects if the last look at them failed. */
  async present(looked = new Set<number>()): Promise<SegmentId[]> {
    if (this.#failure !== null) throw new HistoryUnreadable(this.#failure)
    const mayGo = this.known()
    const numbers = await this.#listAll()
    for (const log of mayGo) if (!numbers.has(log.number)) this.drop(log)
    // Another server may have begun a log with a lower number than the latest known one, and no look has found it yet.
    const highest = Math.max(0, ...this.#numbered.keys())
    const missed = [...numbers].filter(number => number < highest && !this.#numbered.has(number) && !looked.has(number))
    if (missed.length > 0) {
      await this.catchUp()
      return this.present(new Set([...looked, ...missed]))
    }
    return this.known()
      .filter(({ number }) => numbers.has(number))
      .map(({ nonce, number }) => ({ nonce, number }))
      .sort(compare)
  }

  protected async readIndex({ name }: Segment): Promise<SegmentIndex | null> {
    const log = this.all.get(name)
    const index = new SegmentIndex()
    if (log !== undefined && (await this.#attempt(log, () => this.#read(log, index, 0, () => {})))) return index
    if (log !== undefined && isPassing(this.#failure)) throw new HistoryUnreadable(this.#failure)
    return null
  }

  async bytes(segment: Segment, offset: number, length: number): Promise<Buffer | null> {
    const log = this.all.get(segment.name)
    let bytes: Buffer | null = null
    const read = async (log: Log) => {
      bytes = await this.#objects.between(log.parts, offset, length, true)
    }
    return log !== undefined && (await this.#attempt(log, () => read(log))) ? bytes : null
  }

  async lines<T>(
    segment: Segment,
    places: readonly LinePlace[],
    use: (json: Buffer) => T | null,
    texts: boolean
  ): Promise<(T | null)[] | null> {
    const found: (T | null)[] = []
    // Don't reuse objects of an earlier call: `forget` may have overwritten them.
    const read = texts ? new Map<string, Buffer>() : true
    for (const { offset, length } of places) {
      const log = this.all.get(segment.name)
      const bytes = (log: Log) => this.#objects.between(log.parts, offset, length, read)
      const line = log === undefined ? null : await this.#retried(log, () => bytes(log))
      if (line === null) return null
      const json = jsonOf(line)
      found.push(json && use(json))
    }
    return found
  }

  async overwrite(segment: Segment, _found: unknown, without: Without): Promise<void> {
    // Repeat, as objects may be merged meanwhile: the merged ones need overwriting too.
    while (await this.#objects.overwrite(segment.number, without));
    this.invalidate(segment)
  }

  isGone(nonce: string): boolean {
    return this.#options.servers.isGone(nonce)
  }

  override invalidate(segment: Segment): void {
    const log = this.all.get(segment.name)
    if (log === undefined) return
    super.invalidate(log)
    // Keeps the parts, for readers that are using them.
    Object.assign(log, { isClosed: false, hasEnd: false, next: 0 })
    this.#options.sawIndex()
  }

  override drop(segment: Segment): void {
    super.drop(segment)
    this.#numbered.delete(segment.number)
  }

  idle(): Promise<void> {
    return this.inTurn(async () => {})
  }

  /** Takes in lines that this server has written to its own log. */
  written(number: number, offset: number, lines: readonly EncodedLine[]): void {
    const { nonce } = this.#options
    const log = this.#numbered.get(number) ?? this.#add(number, nonce)
    if (!this.take(log, offset, lines)) return
    if (sizeOf(log.parts) > offset) return
    const next = endOf(log.parts)
    const range = { from: next, to: next }
    const key = objectKey(number, range)
    const all = Buffer.concat(lines.map(({ bytes }) => bytes))
    log.parts.push({ key, ...range, size: all.length })
    log.next = next + 1
    this.#objects.written(key, all)
  }

  /** This server writes no more to this log. */
  closed(number: number, isWhole: boolean): void {
    const log = this.#numbered.get(number)
    // Otherwise the next look reads what is there.
    if (!isWhole || !(log?.overview instanceof SegmentIndex)) return
    log.hasEnd = true
    this.#close(log, log.overview)
  }

  /** Ends the logs of servers that are gone: then nothing can be appended to them. */
  protected async lookWhoIsGone(): Promise<void> {
    const { servers, store, nonce, report } = this.#options
    const open = this.known().filter(log => !log.isClosed && log.nonce !== nonce)
    try {
      await servers.look(new Map(this.known().map(log => [log.nonce, `${log.number} ${log.next}`])))
      for (const log of open) {
        if (!servers.isGone(log.nonce) || log.overview === null) continue
        await endLog(store, log.number, log.next, log.nonce)
        await this.#readOn(log, await listLog(store, log.number))
      }
    } catch (error) {
      report({ event: 'look_failed', reason: String(error) })
    }
  }

  /** Lists the numbers of all logs. */
  async #listAll(): Promise<Set<number>> {
    const numbers = new Set<number>()
    try {
      for (let after: string | null = LOGS; after !== null;) {
        const page = await this.#options.store.list(LOGS, { after, folders: true })
        for (const prefix of page.prefixes) numbers.add(parseLog(prefix) ?? -1)
        after = page.next_after
      }
      return numbers
    } catch (error) {
      throw new HistoryUnreadable(error)
    }
  }

  /** Resolves with the reason if it isn't known at present what exists. */
  protected async look(): Promise<HistoryUnreadable | null> {
    this.#failure = null
    try {
      const logs = [...(await this.#listNew())].sort(([a], [b]) => a - b)
      const queue = logs.values()
      const work = async () => {
        for (const [number, objects] of queue) await this.#found(number, objects)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      // A log that couldn't be read is listed again.
      for (const [number] of logs) {
        if (!this.#numbered.has(number)) break
        this.#listedTo = Math.max(this.#listedTo, number)
      }
      this.#isLoaded = true
      return isPassing(this.#failure) ? new HistoryUnreadable(this.#failure) : null
    } catch (error) {
      this.#failure = error
      return unreadable(error, this.#options)
    }
  }

  /** Lists new objects, by the numbers of their logs. */
  async #listNew(): Promise<Map<number, ListedObject[]>> {
    const found = new Map<number, ListedObject[]>()
    const open = this.known().filter(log => !log.isClosed)
    const first = open.toSorted(compare)[0]
    let after: string | null = keyAfter(this.#listedTo)
    if (first !== undefined && first.number <= this.#listedTo) after = keyBefore(first.number, first.next)
    while (after !== null) {
      const page = await this.#options.store.list(LOGS, { after })
      for (const entry of page.keys) {
        const parsed = parseObject(entry.key)
        if (parsed === null || parsed.log >= MOST_LOGS) this.#refuse(entry.key, 'unknown_name')
        else if (!this.#isRead(parsed.log, parsed)) {
          const { log, from, to } = parsed
          found.set(log, [...(found.get(log) ?? []), { ...entry, from, to }])
        }
      }
      after = page.next_after && this.#skipped(page.next_after)
    }
    return found
  }

  #isRead(number: number, { to }: Range): boolean {
    const log = this.#numbered.get(number)
    if (log === undefined) return false
    return log.isClosed || to < log.next
  }

  /** Skips the known objects of the log in which a page of the list ended. */
  #skipped(after: string): string {
    const log = this.#numbered.get(parseLog(after) ?? -1)
    if (log === undefined) return after
    const known = log.isClosed ? keyAfter(log.number) : keyBefore(log.number, log.next)
    return after > known ? after : known
  }

  async #found(number: number, objects: ListedObject[]): Promise<void> {
    const log = this.#numbered.get(number) ?? (await this.#open(number, objects))
    if (log !== null) await this.#readOn(log, objects)
  }

  /** Adds a log; its first object names the server. Null: no object can be read. */
  async #open(number: number, objects: ListedObject[]): Promise<Log | null> {
    const { store } = this.#options
    for (const { key } of cover(objects).objects) {
      const facts = await store.head(key)
      const nonce = facts?.metadata[WROTE] ?? ''
      if (/^\w{1,64}$/.test(nonce)) return this.#numbered.get(number) ?? this.#add(number, nonce)
      if (facts !== null) this.#refuse(key, 'unknown_server')
    }
    // The next look finds what was merged meanwhile.
    return null
  }

  #add(number: number, nonce: string): Log {
    const name = segmentName(nonce, number)
    const log: Log = {
      name,
      nonce,
      number,
      isClosed: false,
      seen: null,
      // Made at once, so that what this server writes while it reads its own log goes into the same index.
      overview: nonce === this.#options.nonce ? new SegmentIndex() : null,
      parts: [],
      list: coalesce(() => this.#list(log)),
      next: 0,
      hasEnd: false
    }
    this.#numbered.set(number, log)
    this.all.set(name, log)
    return log
  }

  async #readOn(log: Log, objects: ListedObject[]): Promise<void> {
    const index = log.overview instanceof SegmentIndex ? log.overview : new SegmentIndex()
    // A reader may have had the log listed meanwhile: then its parts are ahead of the index.
    const base = endOf(log.parts)
    const fresh = objects.filter(({ from }) => from >= base)
    const { objects: parts, missing } = cover(
      fresh.map(object => ({ ...object, from: object.from - base, to: object.to - base }))
    )
    if (missing.length === 0) {
      const added = parts.map(part => ({ ...part, from: part.from + base, to: part.to + base }))
      const { parts: more, hasEnd } = this.#objects.partsOf(added, [])
      log.parts.push(...more)
      log.hasEnd ||= hasEnd
    } else if (!(await log.list())) return
    const { saw, ids } = this.#options
    const isRead = await this.#attempt(log, () => this.#read(log, index, log.next, entry => saw(entry, log.nonce)))
    if (!isRead || !this.#numbered.has(log.number)) return
    ids.saw(index.seen)
    log.overview = index
    // The next look reads what was listed during this read.
    if (log.hasEnd && log.next >= endOf(log.parts)) this.#close(log, index)
  }

  async #list(log: Log): Promise<boolean> {
    const before = endOf(log.parts)
    const objects = await listLog(this.#options.store, log.number)
    if (objects.length === 0) {
      this.drop(log)
      return false
    }
    const { objects: all, missing } = cover(objects)
    const { parts, hasEnd } = this.#objects.partsOf(all, missing)
    // Parts that were written, or found by a look, during the list.
    const added = log.parts.filter(({ from, to }) => from >= before && to >= endOf(parts))
    // Objects on both sides of the boundary were merged: list again.
    if (added.length > 0 && added[0]!.from !== endOf(parts)) return this.#list(log)
    log.parts = [...parts, ...added]
    log.hasEnd ||= hasEnd
    return true
  }

  /** Reads into the index what it doesn't have yet. */
  async #read(log: Log, index: SegmentIndex, next: number, saw: (entry: LogLine) => void): Promise<void> {
    let start = 0
    for (const part of [...log.parts]) {
      const { key, to, isMissing } = part
      if (isMissing === true && to >= next) {
        index.lost()
        this.#refuse(`${log.name} ${part.from}`, 'missing')
      }
      if (isMissing !== true && start + part.size > index.end) {
        const bytes = await this.#objects.content(key)
        part.size = bytes.length
        index.push(bytes.subarray(index.end - start), true, saw)
      }
      start += part.size
      if (to >= log.next) log.next = to + 1
    }
    // This server may have appended to it meanwhile.
    if (sizeOf(log.parts) < index.end) {
      this.#options.report({ event: 'history_segment_changed', segment: log.name })
      this.invalidate(log)
      throw new Changed()
    }
  }

  /** Returns whether the work succeeded. Reports a failure once; drops a log that is gone. */
  async #attempt(log: Log, work: () => Promise<void>): Promise<boolean> {
    try {
      return (
        (await this.#retried(log, async () => {
          await work()
          return true
        })) === true
      )
    } catch (error) {
      this.#failure ??= error
      this.#refuse(log.name, codeOf(error))
      return false
    }
  }

  /** Retries the work if objects were merged meanwhile. Null: the log is gone. */
  async #retried<T>(log: Log, work: () => Promise<T>): Promise<T | null> {
    for (let look = 1; ; look++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Moved) || look === LOOKS) throw error
      }
      if (look > 1) await sleep(BETWEEN)
      if (!(await log.list())) return null
    }
  }

  #close(log: Log, index: SegmentIndex): void {
    log.isClosed = true
    log.seen = { ino: 0, size: index.end }
    log.overview = overviewOf(index)
    this.indexes.keep(log.name, index)
  }

  #refuse(what: string, code: string): void {
    if (this.#refused.has(what)) return
    this.#refused.add(what)
    this.#options.report({ event: 'history_object_unreadable', object: what, code })
  }
}

/** The number after the last part; `partsOf` has filled any holes. */
const endOf = (parts: readonly LogPart[]): number => (parts.at(-1)?.to ?? -1) + 1

const sizeOf = (parts: readonly LogPart[]): number => parts.reduce((sum, { size }) => sum + size, 0)

/** The log is shorter than what was read: the next look reads it again from its start. */
class Changed extends Error {
  readonly code = 'LOG_CHANGED'
}
