// The audit file: appends whole lines, each in one write, so that several processes can share the file. Does not know
// what a line says.
import { closeSync, constants, fdatasync, fstatSync, fsyncSync, openSync, readSync, write, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../error-code.ts'

/**
 * How long a line that no caller awaits may wait to be written together with others, in ms; logger.ts does so
 * too.
 */
const GATHERED = 10
/** The pause between a failure and the next try, in ms. Chosen, not measured. */
const RETRY = 1_000
/** In bytes: how much is kept for later while the file can't be written. Chosen, not measured. */
const KEPT = 1 << 20

const LINE_FEED = 0x0a

type AuditReport = (event: { event: string; [key: string]: unknown }) => void

/** A line could not be written or synced; `cause` is the system's error. */
class AuditUnwritable extends Error {
  readonly code = 'AUDIT_UNWRITABLE'

  constructor(cause: unknown) {
    super('the audit file cannot be written', { cause })
  }
}

/** The audit file is not a regular file. */
export class NotAFile extends Error {}

interface Line {
  bytes: Buffer
  durable: boolean
  /** Receives the outcome, if a caller awaits the line: null, or the error. */
  settle?: (error: unknown) => void
}

const writeLater = promisify(write)
const syncLater = promisify(fdatasync)

export class AuditFile {
  readonly #path: string
  readonly #report: AuditReport
  readonly #onExit = () => this.#writeNow()
  #fd: number
  /** The file is to be reopened before the next line is written. */
  #reopens = false
  #lines: Line[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | null = null
  #failing = false
  /** The last line may be incomplete: there was no room for all of it. */
  #isTorn = false

  /**
   * Opens the file; creates it if it is missing, readable by its user alone. Throws the system's error (ELOOP: it is a
   * symbolic link), or NotAFile.
   */
  constructor(path: string, report: AuditReport) {
    this.#path = path
    this.#report = report
    this.#fd = openAuditFile(path)
    process.prependListener('exit', this.#onExit)
  }

  /** Whether the last line could not be written. */
  get failing(): boolean {
    return this.#failing
  }

  /** Writes a line (given without a line break) soon, and retries if that fails. */
  append(line: string): void {
    this.#lines.push({ bytes: bytesOf(line), durable: false })
    // After a failure, a timer is running already.
    if (this.#timer === undefined && this.#writing === null) this.#later(GATHERED)
  }

  /**
   * Writes a line in this tick, before those that wait, so that a kill can't lose it. If that fails, the line is
   * written soon, as `append` does.
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
   * Writes a line now, after those before it; resolves when it is written and, with `durable`, synced to disk. Rejects
   * with AuditUnwritable; the line may be in the file all the same.
   */
  commit(line: string, durable: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error: unknown) => (error === null ? resolve() : reject(new AuditUnwritable(error)))
      this.#lines.push({ bytes: bytesOf(line), durable, settle })
      this.#flush()
    })
  }

  /** Reopens the path, and creates the file if needed: log rotation has renamed the old one. */
  reopen(): void {
    this.#reopens = true
    this.#flush()
  }

  /** Writes the remaining lines. Nothing may be written after it. */
  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    process.off('exit', this.#onExit)
    this.#writeNow()
    clearTimeout(this.#timer)
    closeSync(this.#fd)
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => this.#flush(), ms)
    // The exit handler writes what is left.
    this.#timer.unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null
      // Lines that were added after the last check of the loop.
      if (this.#lines.length > 0 && this.#timer === undefined) this.#flush()
    })
  }

  async #writeAll(): Promise<void> {
    // Lines of the same tick, such as those of all files of a batch, are written together.
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
   * Returns null, or why not all lines could be written. On failure, lines that no caller awaits are kept; all callers
   * that await a line, even a later one, receive the error.
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

  /** Ends an incomplete line with a line break; the line is then written again, whole. */
  #joined(lines: readonly Line[]): Buffer {
    const all = lines.map(({ bytes }) => bytes)
    return Buffer.concat(this.#isTorn && all.length > 0 ? [Buffer.of(LINE_FEED), ...all] : all)
  }

  #fail({ cause }: { cause: unknown }): void {
    if (!this.#failing) this.#report({ event: 'audit_unwritable', reason: codeOf(cause) })
    this.#failing = true
    // The file itself may be broken, rather than its disk: open it again.
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

  /** Synchronous, as nothing can be awaited when the process exits because of a bug. */
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

/**
 * Readable too, to check whether the last line is complete. Non-blocking, as opening a FIFO without a reader would
 * wait.
 */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | (constants.O_NONBLOCK ?? 0)

/**
 * Opens the audit file; creates it if it is missing. Throws the system's error (ELOOP: it is a symbolic link), or
 * NotAFile.
 */
export function openAuditFile(path: string): number {
  const fd = openSync(path, FLAGS, 0o600)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new NotAFile(`${path} is not a file`)
    endLastLine(fd, stat.size)
    // The name of a new file must survive a power failure, as its lines do.
    if (stat.size === 0) syncFolder(dirname(path))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Ends the last line, which a power failure may have left incomplete. */
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
