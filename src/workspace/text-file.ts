// A file's bytes, read whole and not while they change; their hash; writing pieces. Knows no locks and no policy.
import { hash, createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, read, readSync, writev, writevSync, type BigIntStats } from 'node:fs'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fail, ok, type Result } from '../result.ts'
import { quietly, Raced } from './errno.ts'
import type { FileFailure } from './failure.ts'
import type { Pin } from './pin.ts'

/** Bytes up to which reading, hashing and writing happen at once; more of them would hold up other requests. */
export const AT_ONCE = 1024 * 1024
/** In ns: changes so close to a reading may leave the times of the file as they were. */
const CLOCK = 20_000_000n
/** How often a file that changes while it is read is read again. */
export const ATTEMPTS = 3
/** The system takes no more pieces in one call. */
const PIECES = 1024
const readLater = promisify(read)
const writevLater = promisify(writev)

/** What a file held at one moment. To be closed. */
export interface Snapshot {
  /** To be set anew where they have moved. */
  bytes: Buffer
  readonly stat: BigIntStats
  /** SHA-256 of `bytes`, 64 hex digits. */
  readonly digest: string
  /** Whether the object that was read still is as it was then; synchronous. Whether it still has its name is another question. */
  unchanged (): boolean
  close (): void
}

/** The contract's `file_hash` of a digest: 16 hex digits. */
export const shortHash = (digest: string): string => digest.slice(0, 16)

/** Reads a pinned file. Failures: FILE_TOO_LARGE (before reading), STALE_FILE (it kept changing). Throws the system's error. */
export async function readWhole (pin: Pin, limit: number): Promise<Result<Snapshot, FileFailure>> {
  const fd = pin.open(constants.O_RDONLY)
  let kept = false
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stat = fstatSync(fd, { bigint: true })
      if (stat.size > limit) return fail({ code: 'FILE_TOO_LARGE', limit, actual: Number(stat.size) })
      const at = BigInt(Date.now()) * 1_000_000n
      const bytes = Buffer.allocUnsafeSlow(Number(stat.size))
      const length = await fill(fd, bytes)
      if (length < bytes.length || !alike(stat, fstatSync(fd, { bigint: true }))) continue
      const digest = await digestOf([bytes], bytes.length)
      kept = true
      const snapshot: Snapshot = {
        bytes,
        stat,
        digest,
        unchanged: () => alike(stat, fstatSync(fd, { bigint: true })) && (stat.ctimeNs < at - CLOCK || holds(fd, snapshot.bytes)),
        // A failing close of what was only read says nothing, least of all after the rename.
        close: () => quietly(() => closeSync(fd))
      }
      return ok(snapshot)
    }
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  } finally { if (!kept) closeSync(fd) }
}

/** Whether nothing has been done to a file between two looks at it. */
export const alike = (a: BigIntStats, b: BigIntStats): boolean => a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs

async function fill (fd: number, bytes: Buffer): Promise<number> {
  let length = 0
  while (length < bytes.length) {
    const count = bytes.length <= AT_ONCE
      ? readSync(fd, bytes, length, bytes.length - length, length)
      : (await readLater(fd, bytes, length, Math.min(bytes.length - length, 16 * AT_ONCE), length)).bytesRead
    if (count === 0) break
    length += count
  }
  return length
}

/** Whether the file holds exactly `bytes` now. */
function holds (fd: number, bytes: Buffer): boolean {
  const part = Buffer.allocUnsafe(Math.min(Math.max(bytes.length, 1), AT_ONCE))
  for (let start = 0; start < bytes.length;) {
    const count = readSync(fd, part, 0, Math.min(part.length, bytes.length - start), start)
    if (count === 0 || bytes.compare(part, 0, count, start, start + count) !== 0) return false
    start += count
  }
  return true
}

/** SHA-256 of pieces of `total` bytes, 64 hex digits. Lets other requests run while it works on much. */
export async function digestOf (pieces: readonly Buffer[], total: number): Promise<string> {
  const only = pieces[0]
  if (pieces.length === 1 && only !== undefined && total <= AT_ONCE) return hash('sha256', only, 'hex')
  const sum = createHash('sha256')
  let since = 0
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += AT_ONCE) {
      const part = piece.subarray(start, start + AT_ONCE)
      sum.update(part)
      since += part.length
      if (since < AT_ONCE) continue
      since = 0
      await yieldToOthers()
    }
  }
  return sum.digest('hex')
}

/** Writes pieces of `total` bytes to the start of a file, all of them or it throws. The first bytes go out in the caller's tick. */
export async function writeAll (fd: number, pieces: readonly Buffer[], total: number): Promise<void> {
  let rest = pieces.filter(piece => piece.length > 0)
  let position = 0
  while (rest.length > 0) {
    const batch = rest.slice(0, PIECES)
    const count = total <= AT_ONCE ? writevSync(fd, batch, position) : (await writevLater(fd, batch, position)).bytesWritten
    if (count === 0) throw new Raced('nothing could be written')
    position += count
    rest = after(rest, count)
  }
}

function after (pieces: Buffer[], count: number): Buffer[] {
  let left = count
  let index = 0
  for (let piece = pieces[index]; piece !== undefined && left >= piece.length; piece = pieces[++index]) left -= piece.length
  const rest = pieces.slice(index)
  const first = rest[0]
  if (first !== undefined && left > 0) rest[0] = first.subarray(left)
  return rest
}
