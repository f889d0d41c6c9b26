// Appends lines to this server's segments on a disk: one write and one sync for each group. Does not look at what the
// lines say.
import { constants, fstatSync, ftruncateSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { joinInto } from '../../engine/text/join-into.ts'
import { codeOf } from '../../error-code.ts'
import type { HistoryOptions } from '../api.ts'
import { closeFile, isMissing, MODE, NEW, openFile, remove, syncData, syncNames, writeAll, writeNow } from './files.ts'
import type { Appender, WaitingLine } from '../writer.ts'
import type { SaidLine } from '../record-json.ts'
import { segmentName } from '../segment-name.ts'
import { claimNumber, highestIn, unclaimNumber } from './segment-number.ts'

interface Current {
  name: string
  fd: number
  /** Bytes in it that this server has written. */
  size: number
  /** Whether its name is on the disk. */
  named: boolean
  openedAt: number
  /** As `stayAlive` gave it before its name was there. */
  alive: number
}

export interface SegmentAppenderOptions extends Pick<
  HistoryOptions,
  'folder' | 'nonce' | 'isAlive' | 'stayAlive' | 'report'
> {
  /** In bytes. */
  limit: number
  /** Called for each group that is in a segment, with the offset of its first line. */
  written(segment: string, offset: number, lines: readonly SaidLine[]): void
  /** No more will be written to it. `isWhole`: all of it are lines that `written` was called with. */
  closed(segment: string, isWhole: boolean): void
}

/**
 * In bytes: up to so many are written in this thread, as small temp files are (`SYNC_IO_BYTES` of the workspace). They
 * go to memory; the way to another thread and back takes longer than that. Only the sync is left to another thread.
 */
const AT_ONCE = 64 * 1024
/** Where these are put together. Shared, as they are written in the same tick; memory of its own for each group takes longer. */
const TOGETHER = Buffer.allocUnsafeSlow(AT_ONCE)
/** Names of segments that are tried, where something that isn't ours is in the way. */
const ATTEMPTS = 100

/** The segment isn't what this server has written: somebody removed, cut or extended it. */
class Changed extends Error {
  readonly code = 'SEGMENT_CHANGED'
}

/** Others may have taken this server for gone before they had read what was written. */
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

  append(lines: readonly SaidLine[], group: readonly WaitingLine[], isNews: boolean): Promise<void> {
    return this.#append(lines, group, isNews).catch(() => this.#append(lines, group, isNews))
  }

  async rotate(age: number): Promise<void> {
    const segment = this.#segment
    if (segment !== null && Date.now() - segment.openedAt >= age) await this.#end(segment, true)
  }

  async close(): Promise<void> {
    if (this.#segment !== null) await this.#end(this.#segment, true)
  }

  /** Those who need no sync are told before it. A segment in which anything fails is given up. */
  async #append(lines: readonly SaidLine[], group: readonly WaitingLine[], isNews: boolean): Promise<void> {
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
      // Nothing in it was promised to anybody. Of one that is cut, others may have a cursor.
      if (offset === 0 && !isCut) await remove(join(this.#options.folder, name)).catch(() => {})
      throw error
    }
    if (segment.size >= this.#options.limit) await this.#end(segment, true)
  }

  /** Null: there is none, or others may have read it to its end. */
  #current(): Current | null {
    const segment = this.#segment
    return segment !== null && this.#options.stayAlive() === segment.alive ? segment : null
  }

  async #next(): Promise<Current> {
    if (this.#segment !== null) await this.#end(this.#segment, true)
    return this.#open()
  }

  /**
   * Throws TakenForGone if others may have read the segment to its end before the last group was in it. Then that group
   * is cut off: it is written again to the next one, as a server that has read this one to its end hasn't read it.
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
   * Its number is higher than that of any segment that was there, of any server: what readers keep of how far they have
   * read depends on that (cursor.ts). So it is looked again when it is there. Null: it hasn't the highest.
   */
  async #begin(): Promise<Current | null> {
    const { folder, nonce } = this.#options
    // A server that sees its name asks whether this one lives.
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

  /** Whether it has the highest number of all; where it hasn't, or nobody can tell, it goes. */
  async #isHighest(segment: Current, number: number): Promise<boolean> {
    let isHighest = false
    try {
      isHighest = (await highestIn(this.#options.folder, this.#options.nonce)) < number
    } finally {
      if (!isHighest) await this.#discard(segment)
    }
    return isHighest
  }

  /** A segment without a whole line goes, and its number is free again. */
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

/** Throws Changed if the file has no name any more, or isn't `size` bytes long; null: whatever its size. */
function expectSize(fd: number, size: number | null): void {
  const stats = fstatSync(fd)
  if (stats.nlink === 0) throw new Changed('the segment was removed')
  if (size !== null && stats.size !== size) {
    throw new Changed('the segment was cut, or something else was written to it')
  }
}
