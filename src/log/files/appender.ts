// Appends lines to this server's segments on a disk: one write and one sync for each group. Does not look at what the
// lines say.
import { constants, fstatSync, ftruncateSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { joinInto } from '../../engine/text/join-into.ts'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'
import { closeFile, isMissing, MODE, NEW, openFile, remove, syncData, syncNames, writeAll, writeNow } from './files.ts'
import type { Appender, WaitingLine } from '../writer.ts'
import type { EncodedLine } from '../record-json.ts'
import { segmentName } from '../segment-name.ts'
import { claimNumber, highestIn, unclaimNumber } from './segment-number.ts'

interface Current {
  name: string
  fd: number
  /** Bytes that this server has written to it. */
  size: number
  /** Whether its name is synced to disk. */
  named: boolean
  openedAt: number
  /** The result of `stayAlive` before its name existed. */
  alive: number
}

interface SegmentAppenderOptions extends Pick<HistoryOptions, 'folder' | 'nonce' | 'isAlive' | 'stayAlive' | 'report'> {
  /** In bytes: a segment that reaches this size is ended. */
  limit: number
  /** Called for each group once it is in a segment, with the offset of its first line. */
  written(segment: string, offset: number, lines: readonly EncodedLine[]): void
  /**
   * Called when this server stops writing to a segment. `isWhole`: the segment consists only of lines passed to
   * `written`.
   */
  closed(segment: string, isWhole: boolean): void
}

/**
 * In bytes: up to this size, groups are written in this thread, like small temp files (`SYNC_IO_BYTES` of the
 * workspace). The write goes to memory, and another thread would take longer than that. Only the sync runs in another
 * thread.
 */
const AT_ONCE = 64 * 1024
/**
 * The buffer in which a group is joined. Shared, as it is written in the same tick; a new buffer for each group takes
 * longer.
 */
const TOGETHER = Buffer.allocUnsafeSlow(AT_ONCE)
/** How many segment names are tried if something that isn't ours has the name. */
const ATTEMPTS = 100

/** The segment isn't what this server has written: it was removed, cut or extended. */
class Changed extends Error {
  readonly code = 'SEGMENT_CHANGED'
}

/** Other servers may have believed this one gone before they read what was written. */
class TakenForGone extends Error {
  readonly code = 'TAKEN_FOR_GONE'
}

export class SegmentAppender implements Appender {
  readonly #options: SegmentAppenderOptions
  #segment: Current | null = null
  #number = 0

  constructor(options: SegmentAppenderOptions) {
    this.#options = options
  }

  append(lines: readonly EncodedLine[], group: readonly WaitingLine[], isNews: boolean): Promise<void> {
    return this.#append(lines, group, isNews).catch(() => this.#append(lines, group, isNews))
  }

  async rotate(age: number): Promise<void> {
    const segment = this.#segment
    if (segment !== null && Date.now() - segment.openedAt >= age) await this.#end(segment, true)
  }

  async close(): Promise<void> {
    if (this.#segment !== null) await this.#end(this.#segment, true)
  }

  /** Resolves callers that need no sync before the sync. Gives up a segment if any step fails. */
  async #append(lines: readonly EncodedLine[], group: readonly WaitingLine[], isNews: boolean): Promise<void> {
    const pieces = lines.map(({ bytes }) => bytes)
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    const segment = this.#current() ?? (await this.#next())
    const offset = segment.size
    let isWritten = false
    try {
      if (size <= AT_ONCE) writeNow(segment.fd, joinInto(TOGETHER, pieces))
      else await writeAll(segment.fd, Buffer.concat(pieces), null)
      expectSize(segment.fd, offset + size)
      isWritten = true
      this.#expectReaders(segment)
      for (const { durable, resolve } of group) if (!durable) resolve()
      if (group.some(({ durable }) => durable)) {
        await this.#sync(segment)
        this.#expectReaders(segment)
      }
      segment.size += size
      this.#options.written(segment.name, offset, lines)
    } catch (error) {
      const { name } = segment
      if (isNews) this.#options.report({ event: 'history_segment_given_up', segment: name, code: codeOf(error) })
      const isCut = error instanceof TakenForGone
      if (offset === 0 && !isWritten) await this.#discard(segment)
      else await this.#end(segment, isCut)
      // Nothing in it was confirmed to a caller. A segment that was cut stays, as a cursor may name it.
      if (offset === 0 && !isCut) await remove(join(this.#options.folder, name)).catch(() => {})
      throw error
    }
    if (segment.size >= this.#options.limit) await this.#end(segment, true)
  }

  /** Null: there is none, or other servers may have read it to its end. */
  #current(): Current | null {
    const segment = this.#segment
    return segment !== null && this.#options.stayAlive() === segment.alive ? segment : null
  }

  async #next(): Promise<Current> {
    if (this.#segment !== null) await this.#end(this.#segment, true)
    return this.#open()
  }

  /**
   * Throws TakenForGone if other servers may have read the segment to its end before it had the last group. That group
   * is cut off and written to the next segment: those servers will read it there, and not here.
   */
  #expectReaders({ fd, size, alive }: Current): void {
    if (this.#options.stayAlive() === alive) return
    ftruncateSync(fd, size)
    throw new TakenForGone('others took this server for gone')
  }

  async #sync(segment: Current): Promise<void> {
    await Promise.all([syncData(segment.fd), segment.named ? null : syncNames(this.#options.folder)])
    segment.named = true
    expectSize(segment.fd, null)
  }

  async #open(): Promise<Current> {
    const { folder, nonce, report } = this.#options
    for (let attempt = 1; ; attempt++) {
      try {
        const segment = await this.#begin()
        if (segment !== null) return (this.#segment = segment)
        if (attempt === ATTEMPTS) throw new Changed('other servers keep beginning segments')
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        if (isMissing(error)) {
          // Somebody removed the folder.
          mkdirSync(folder, { mode: 0o700 })
          continue
        }
        if (codeOf(error) !== 'EEXIST') throw error
        report({ event: 'history_segment_refused', segment: segmentName(nonce, this.#number), code: 'EEXIST' })
      }
    }
  }

  /**
   * Begins a segment numbered above all existing segments of any server: cursors depend on that (cursor.ts), so it is
   * checked again once the file exists. Null: its number isn't the highest.
   */
  async #begin(): Promise<Current | null> {
    const { folder, nonce } = this.#options
    // Before its name exists: a server that sees the name asks whether this one is alive.
    const alive = this.#options.stayAlive()
    const number = await claimNumber(this.#options, this.#number)
    this.#number = number
    try {
      const name = segmentName(nonce, number)
      const fd = await openFile(join(folder, name), constants.O_WRONLY | constants.O_APPEND | NEW, MODE)
      const segment = { name, fd, size: 0, named: false, openedAt: Date.now(), alive }
      return (await this.#isHighest(segment, number)) ? segment : null
    } finally {
      await unclaimNumber(folder, number)
    }
  }

  /** Whether its number is the highest of all; if not, or if unknown, removes it. */
  async #isHighest(segment: Current, number: number): Promise<boolean> {
    let isHighest = false
    try {
      isHighest = (await highestIn(this.#options.folder, this.#options.nonce)) < number
    } finally {
      if (!isHighest) await this.#discard(segment)
    }
    return isHighest
  }

  /** Removes a segment without a whole line, and frees its number. */
  async #discard(segment: Current): Promise<void> {
    const { name, fd } = segment
    try {
      await remove(join(this.#options.folder, name))
      await closeFile(fd)
      this.#segment = null
      this.#number--
    } catch {
      await this.#end(segment, false)
    }
  }

  async #end({ name, fd }: Current, isWhole: boolean): Promise<void> {
    this.#segment = null
    await closeFile(fd).catch(error => {
      this.#options.report({ event: 'history_close_failed', segment: name, code: codeOf(error) })
    })
    this.#options.closed(name, isWhole)
  }
}

/** Throws Changed if the file has no name any more, or isn't `size` bytes long; null: any size. */
function expectSize(fd: number, size: number | null): void {
  const stats = fstatSync(fd)
  if (stats.nlink === 0) throw new Changed('the segment was removed')
  if (size !== null && stats.size !== size) {
    throw new Changed('the segment was cut, or something else was written to it')
  }
}
