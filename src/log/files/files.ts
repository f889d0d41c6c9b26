// Files of the history's folder: opens them without following links, reads parts, writes whole files. Does not know
// what they contain.
import {
  close,
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  open,
  openSync,
  read,
  readSync,
  type Stats,
  write,
  writeSync
} from 'node:fs'
import { lstat, readdir, rename, unlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf } from '../../error-code.ts'

export const openFile: (path: string, flags: number, mode?: number) => Promise<number> = promisify(open)
export const closeFile: (fd: number) => Promise<void> = promisify(close)
export const syncData: (fd: number) => Promise<void> = promisify(fdatasync)
const syncAll: (fd: number) => Promise<void> = promisify(fsync)
const readSome = promisify(read)
const writeSome = promisify(write)

/** Only this user may read and write the files. */
export const MODE = 0o600
/** Opens a file that must not exist yet, not even as a link. */
export const NEW = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
/** Opening a FIFO must not block. */
const CAREFULLY = constants.O_NOFOLLOW | constants.O_NONBLOCK

export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'

/** What has this name isn't a file of the history. */
export class NotOurs extends Error {
  readonly code = 'NOT_OURS'
}

/**
 * Opens a file for reading, or for both, runs the work, and closes it. Throws NotOurs unless it is a regular file of
 * the user who runs this or owns the folder; the system's error if it can't be opened.
 */
export async function withFile<T>(
  path: string,
  access: 'read' | 'both',
  work: (fd: number, stats: Stats) => Promise<T>
): Promise<T> {
  const fd = await openFile(path, CAREFULLY | (access === 'read' ? constants.O_RDONLY : constants.O_RDWR))
  try {
    return await work(fd, expectOurs(fd))
  } finally {
    await closeFile(fd).catch(() => {})
  }
}

function expectOurs(fd: number): Stats {
  const stats = fstatSync(fd)
  // Without user ids in the system, the owner isn't checked.
  const user = process.geteuid?.() ?? 0
  if (!stats.isFile() || (stats.uid !== user && user !== 0)) throw new NotOurs('not a regular file of this user')
  return stats
}

/**
 * Reads up to `most` bytes from the start of a file, and its size. Synchronous: for many small files, four trips to
 * another thread cost ten times as much. Throws as `withFile` does.
 */
export function readStart(path: string, most: number): { bytes: Buffer; size: number } {
  const fd = openSync(path, CAREFULLY | constants.O_RDONLY)
  try {
    const stats = expectOurs(fd)
    const bytes = Buffer.allocUnsafe(Math.min(most, stats.size))
    return { bytes: bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0)), size: stats.size }
  } finally {
    closeSync(fd)
  }
}

/** Reads up to `length` bytes from `offset` on; fewer at the end of the file. */
export async function readAt(fd: number, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  let count = 0
  while (count < length) {
    const { bytesRead } = await readSome(fd, bytes, count, length - count, offset + count)
    if (bytesRead === 0) break
    count += bytesRead
  }
  return bytes.subarray(0, count)
}

/** Writes all bytes at `offset`, or at the end of a file opened for appending. Throws the system's error. */
export async function writeAll(fd: number, bytes: Uint8Array, offset: number | null): Promise<void> {
  for (let count = 0; count < bytes.length;) {
    const at = offset === null ? null : offset + count
    const { bytesWritten } = await writeSome(fd, bytes, count, bytes.length - count, at)
    count += bytesWritten
  }
}

/** Appends all bytes synchronously; the file must be opened for appending. */
export function writeNow(fd: number, bytes: Uint8Array): void {
  for (let count = 0; count < bytes.length;) count += writeSync(fd, bytes, count)
}

/** Writes a file under a temporary name, then renames it. `sync`: its bytes are on disk before that. */
export async function writeWhole(path: string, temp: string, bytes: Uint8Array, sync: boolean): Promise<void> {
  try {
    const fd = await openFile(temp, constants.O_WRONLY | NEW, MODE)
    try {
      await writeAll(fd, bytes, 0)
      if (sync) await syncData(fd)
    } finally {
      await closeFile(fd)
    }
    await rename(temp, path)
  } catch (error) {
    await remove(temp).catch(() => {})
    throw error
  }
}

/** Resolves when the names in a folder are on disk. */
export async function syncNames(folder: string): Promise<void> {
  const fd = await openFile(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await syncAll(fd)
  } finally {
    await closeFile(fd)
  }
}

/** Returns whether there was something to remove. */
export async function remove(path: string): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Null: nothing has this name. */
export async function look(path: string): Promise<Stats | null> {
  try {
    return await lstat(path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Empty if the folder is missing. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
