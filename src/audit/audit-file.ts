// The audit file: whole lines at its end, each written at once, also where several processes write there. Does not know
// what a line says.
import { closeSync, constants, fdatasync, fstatSync, fsyncSync, openSync, readSync, write, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../error-code.ts'

/**
 * In ms: for so long, a line that nobody waits for may wait for others to be written with; see logger.ts, which does the
 * same.
 */
const GATHERED = 10
/** In ms, from a failure to the next try. Chosen, not measured. */
const RETRY = 1_000
/** In bytes: so many lines are kept for later while the file can't be written. Chosen, not measured. */
const KEPT = 1 << 20

const LINE_FEED = 0x0a

export type AuditReport = (event: { event: string; [key: string]: unknown }) => void

/** A line could not be written, or not be synced; `cause` is the system's error. */
class AuditUnwritable extends Error {
  readonly code = 'AUDIT_UNWRITABLE'

  constructor(cause: unknown) {
    super('the audit file cannot be written', { cause })
  }
}

/** The audit file is something else than a regular file. */
export class NotAFile extends Error {}

interface Line {
  bytes: Buffer
  durable: boolean
  /** Of one that somebody waits for: what came of it. */
  settle?: (error: unknown) => void
}

const writeLater = promisify(write)
const syncLater = promisify(fdatasync)

export class AuditFile {
  readonly #path: string
  readonly #report: AuditReport
  readonly #onExit = () => this.#writeNow()
  #fd: number
  /** The file is opened again before the next line. */
  #reopens = false
  #lines: Line[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | null = null
  #failing = false
  /** The last line that was written may have no end: it had no room. */
  #isTorn = false

  /**
   * Opens the file, which is made where it is missing, for its user alone. Throws the system's error (ELOOP: it is a
   * link), or NotAFile.
   */
  constructor(path: string, report: AuditReport) {
    this.#path = path
    this.#report = report
    this.#fd = openAuditFile(path)
    process.prependListener('exit', this.#onExit)
  }

  /** The last line could not be written. */
  get failing(): boolean {
    return this.#failing
  }

  /** Writes a line (without its line break) soon. Where that fails, it is tried again. */
  append(line: string): void {
    this.#lines.push({ bytes: bytesOf(line), durable: false })
    // After a failure, a timer runs already.
    if (this.#timer === undefined && this.#writing === null) this.#later(GATHERED)
  }

  /**
   * Writes a line in this tick, before others that wait: a kill can't lose it. Where that fails, it is written soon, as by
   * `append`.
   */
  put(line: string): void {
    if (this.#failing || this.#isTorn) {
      this.append(line)
      return
    }
    const bytes = bytesOf(line)
    try {
      if (writeSync(this.#fd, bytes) === bytes.length) return
      this.#isTorn = true
    } catch {}
    this.append(line)
  }

  /**
   * Writes a line now, after those before it; resolves when it is written and, with `durable`, on the disk. Rejects with
   * AuditUnwritable; then it may be in the file all the same.
   */
  commit(line: string, durable: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error: unknown) => (error === null ? resolve() : reject(new AuditUnwritable(error)))
      this.#lines.push({ bytes: bytesOf(line), durable, settle })
      this.#flush()
    })
  }

  /** Lines go to the file that has the path by now, or is made there: what had it was renamed to keep it. */
  reopen(): void {
    this.#reopens = true
    this.#flush()
  }

  /** Writes what is left. Nothing may be written after it. */
  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    process.off('exit', this.#onExit)
    this.#writeNow()
    clearTimeout(this.#timer)
    closeSync(this.#fd)
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => this.#flush(), ms)
    // The exit writes what is left.
    this.#timer.unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
      // What came when it had looked for the last time.
      if (this.#lines.length > 0 && this.#timer === undefined) this.#flush()
    })
  }

  async #writeAll(): Promise<void> {
    // What else is told in this instant, as of all files of a batch, is written with it.
    await null
    do {
      if (this.#reopens) this.#openAgain()
      const lines = this.#lines
      this.#lines = []
      const failure = await this.#write(lines)
      if (failure !== null) return this.#fail(failure)
      if (lines.length > 0) this.#recovered()
    } while (this.#lines.length > 0 || this.#reopens)
  }

  /**
   * Null, or why not all of them could be written: then those that nobody waits for are kept, and whoever waits for
   * one, also for a later one, is told.
   */
  async #write(lines: Line[]): Promise<{ cause: unknown } | null> {
    const bytes = this.#joined(lines)
    const start = bytes.length - sizeOf(lines)
    let written = 0
    try {
      while (written < bytes.length) {
        written += (await writeLater(this.#fd, bytes, written, bytes.length - written, null)).bytesWritten
      }
      if (lines.some(({ durable }) => durable)) await syncLater(this.#fd)
    } catch (error) {
      let end = start
      const left = lines.filter(line => (end += line.bytes.length) > written)
      this.#isTorn ||= written > 0 && written < bytes.length
      for (const { settle } of [...lines, ...this.#lines]) settle?.(error)
      this.#lines = [...left, ...this.#lines].filter(({ settle }) => settle === undefined)
      return { cause: error }
    }
    this.#isTorn = false
    for (const { settle } of lines) settle?.(null)
    return null
  }

  /** What is left of a line that had no room is a line of its own, and that line follows whole. */
  #joined(lines: readonly Line[]): Buffer {
    const all = lines.map(({ bytes }) => bytes)
    return Buffer.concat(this.#isTorn && all.length > 0 ? [Buffer.of(LINE_FEED), ...all] : all)
  }

  #fail({ cause }: { cause: unknown }): void {
    if (!this.#failing) this.#report({ event: 'audit_unwritable', reason: codeOf(cause) })
    this.#failing = true
    // It may be the file that is broken, and not what it is on.
    this.#reopens = true
    let lost = 0
    for (let size = sizeOf(this.#lines); size > KEPT; lost++) size -= this.#lines.shift()!.bytes.length
    if (lost > 0) this.#report({ event: 'audit_lost', lines: lost })
    this.#later(RETRY)
  }

  #recovered(): void {
    if (this.#failing) this.#report({ event: 'audit_written' })
    this.#failing = false
  }

  #openAgain(): void {
    this.#reopens = false
    try {
      const fd = openAuditFile(this.#path)
      closeSync(this.#fd)
      this.#fd = fd
      if (!this.#failing) this.#report({ event: 'audit_opened' })
    } catch (error) {
      const reason = error instanceof NotAFile ? 'not_a_file' : codeOf(error)
      if (!this.#failing) this.#report({ event: 'audit_unopened', reason })
    }
  }

  /** Also where the process ends by a bug: nothing can be awaited then. */
  #writeNow(): void {
    const lines = this.#lines
    this.#lines = []
    const bytes = this.#joined(lines)
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(this.#fd, bytes, written)
    } catch (error) {
      this.#report({ event: 'audit_lost', lines: lines.length, reason: codeOf(error) })
    }
  }
}

const bytesOf = (line: string): Buffer => Buffer.from(`${line}\n`)
const sizeOf = (lines: readonly Line[]): number => lines.reduce((sum, { bytes }) => sum + bytes.length, 0)

/** For reading too: whether the last line in it has an end. A FIFO without a reader would have the open wait. */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | (constants.O_NONBLOCK ?? 0)

/** As of AuditFile: opens it, and makes it if it is missing. Throws as the constructor. */
export function openAuditFile(path: string): number {
  const fd = openSync(path, FLAGS, 0o600)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new NotAFile(`${path} is not a file`)
    endLastLine(fd, stat.size)
    // The name of a new file must outlast a power failure, as the lines do.
    if (stat.size === 0) syncFolder(dirname(path))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** A power failure may have left the last line without its end. */
function endLastLine(fd: number, size: number): void {
  const last = Buffer.alloc(1)
  if (size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== LINE_FEED) writeSync(fd, '\n')
}

function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
