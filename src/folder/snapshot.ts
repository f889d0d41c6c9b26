// Reads a file whole, again if it changed meanwhile, and writes pieces. Does not know locks or policy.
import { createHash, hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  read,
  readFileSync,
  readSync,
  writev,
  writevSync,
  type BigIntStats
} from 'node:fs'
import { promisify } from 'node:util'
import { fail, ok, type Result } from '../result.ts'
import { addTo, ATTEMPTS, bothDone, SYNC_IO_BYTES, type HashCheckpoint } from '../workspace/content.ts'
import { quietly, Raced } from '../workspace/errno.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Pin } from './root/pin.ts'

/**
 * In ns: changes this soon after a reading may leave the file's times as they were, unless it has fine times. The
 * kernel's clock for them ticks every 10 ms at the slowest (HZ=100).
 */
const CLOCK = 20_000_000n
/** In ns: a time in whole seconds comes from a file system that keeps no finer ones (FAT only even seconds). */
const COARSE_CLOCK = 2_000_000_000n
const SECOND = 1_000_000_000n
/** The system takes no more pieces in one call (IOV_MAX). */
const PIECES = 1024
/** Bytes that are read while the previous ones are hashed. Chosen, not measured. */
const STRIDE = 2 * SYNC_IO_BYTES
/**
 * Bytes of a large file that another thread writes at a time. While it copies them into the page cache, the system may
 * run it on this thread's core, in place of this thread: in an edit of 10 MB the longest turn of the event loop was 2.8
 * ms with 10 MB at a time, 2.0 with 2 MB, 1.65 with 1 MB and 512 KB (medians of 30).
 */
const WRITTEN_AT_ONCE = SYNC_IO_BYTES
const readLater = promisify(read)
const writevLater = promisify(writev)

/** What a file held at one moment. Must be closed. */
export interface Snapshot {
  /** Must be set again after the bytes have moved to other memory. */
  bytes: Buffer
  readonly stat: BigIntStats
  /** SHA-256 of `bytes`, 64 hex digits. */
  readonly digest: string
  /** Whether `bytes` has a 0 byte; undefined if not looked for, as the file is small. */
  readonly hasNul: boolean | undefined
  /** States of the hash along the way, for a text that begins the same; none if the file is small. */
  readonly marks: readonly HashCheckpoint[]
  /**
   * Whether the object that was read is unchanged; synchronous. Doesn't check whether it still has its name. `now`: its
   * stats, if they were looked up in this tick.
   */
  unchanged(now?: BigIntStats): boolean
  /** Call it in the tick in which the file was found unchanged and then linked to another name: that is no change. */
  linked(): void
  /** Call it when one of its names was removed again: that is no change either, as long as it holds what was read. */
  unlinked(): void
  /**
   * The object's present content, if it was written to since; null: it wasn't. For use after another file has taken its
   * name.
   */
  written(): Buffer | null
  close(): void
}

/** Content that a file may hold, and its SHA-256, 64 hex digits. */
interface KnownContent {
  bytes: Buffer
  hash: string
}

/**
 * Reads a pinned file, into the buffer that `allocate` gives for its size. `pin.stat` must be the latest look. A small
 * file that equals `known`, which is used in this tick only, isn't hashed again. Failures: FILE_TOO_LARGE (before
 * reading), STALE_FILE (it kept changing). Throws the system's error.
 */
export async function readWhole(
  pin: Pin,
  limit: number,
  allocate: (size: number) => Buffer = size => Buffer.allocUnsafeSlow(size),
  known: KnownContent | null = null
): Promise<Result<Snapshot, FileFailure>> {
  const fd = pin.open(constants.O_RDONLY)
  let kept = false
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // A small file's stats were looked up in this tick. If they are outdated, the next look shows it.
      const isSeen = attempt === 0 && pin.stat.size <= SYNC_IO_BYTES
      const stat = isSeen ? pin.stat : fstatSync(fd, { bigint: true })
      if (stat.size > limit) return fail({ code: 'FILE_TOO_LARGE', limit, actual: Number(stat.size) })
      const at = BigInt(Date.now()) * 1_000_000n
      const bytes = allocate(Number(stat.size))
      const large = bytes.length <= SYNC_IO_BYTES ? null : await fillLarge(fd, bytes)
      const digest = large === null ? fill(fd, bytes, known) : large.digest
      if (digest === null || !alike(stat, fstatSync(fd, { bigint: true }))) continue
      kept = true
      let seen = stat
      /** Whether a change after the reading would have given the file a time other than this earlier one. */
      const wouldShow = (time: bigint): boolean =>
        time < at - (time % SECOND === 0n ? COARSE_CLOCK : CLOCK) || pin.hasFineTimes()
      const snapshot: Snapshot = {
        bytes,
        stat,
        digest,
        hasNul: large?.hasNul,
        marks: large?.marks ?? [],
        unchanged: (now = fstatSync(fd, { bigint: true })) =>
          alike(seen, now) && (wouldShow(seen.ctimeNs) || holds(fd, snapshot.bytes)),
        linked: () => {
          seen = fstatSync(fd, { bigint: true })
        },
        unlinked: () => {
          const now = fstatSync(fd, { bigint: true })
          if (now.size === seen.size && now.mtimeNs === seen.mtimeNs && holds(fd, snapshot.bytes)) seen = now
        },
        written: () => {
          const now = fstatSync(fd, { bigint: true })
          const isAlike = now.size === stat.size && now.mtimeNs === stat.mtimeNs
          if (isAlike && (wouldShow(now.mtimeNs) || holds(fd, snapshot.bytes))) return null
          const present = Buffer.alloc(Number(now.size))
          return fill(fd, present, null) === null ? null : present
        },
        // A failing close after only reading doesn't matter, least of all after the rename.
        close: () => quietly(() => closeSync(fd))
      }
      return ok(snapshot)
    }
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  } finally {
    if (!kept) closeSync(fd)
  }
}

/**
 * Reads a small file of the state. Throws the system's error, also on close: given `utf8`, `readFileSync` would end the
 * process then (Node 20, 22 and 24).
 */
export const readText = (path: string): string => readFileSync(path).toString()

/** Whether a file was not touched between two looks at it. */
export const alike = (a: BigIntStats, b: BigIntStats): boolean =>
  a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs

/** The digest of what is read; null if the file is shorter by now. */
function fill(fd: number, bytes: Buffer, known: KnownContent | null): string | null {
  for (let length = 0, count = 0; length < bytes.length; length += count) {
    count = readSync(fd, bytes, length, bytes.length - length, length)
    if (count === 0) return null
  }
  return known?.bytes.equals(bytes) === true ? known.hash : hash('sha256', bytes, 'hex')
}

interface LargeContent extends Pick<Snapshot, 'marks'> {
  /** Null where the file is shorter by now. */
  digest: string | null
  hasNul: boolean
}

/** Fills `bytes`; hashes one stretch, and looks for a NUL in it, while the next is read. */
async function fillLarge(fd: number, bytes: Buffer): Promise<LargeContent> {
  const running = createHash('sha256')
  const marks: HashCheckpoint[] = []
  let hasNul = false
  const readAt = (start: number): Promise<{ bytesRead: number }> =>
    readLater(fd, bytes, start, Math.min(bytes.length - start, STRIDE), start)
  let last = await readAt(0)
  for (let length = 0; length < bytes.length;) {
    if (last.bytesRead === 0) return { digest: null, marks, hasNul }
    const stretch = bytes.subarray(length, length + last.bytesRead)
    length += last.bytesRead
    const next = length < bytes.length ? readAt(length) : last
    last = (await bothDone(next, addTo(running, stretch)))[0]
    hasNul ||= stretch.includes(0)
    marks.push({ at: length, hash: running.copy() })
  }
  return { digest: running.digest('hex'), marks, hasNul }
}

/** Shared, as the comparison that uses it is synchronous. */
const PART = Buffer.allocUnsafeSlow(SYNC_IO_BYTES / 4)

/** Whether the file holds exactly `bytes` now. */
function holds(fd: number, bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length;) {
    const count = readSync(fd, PART, 0, Math.min(PART.length, bytes.length - start), start)
    if (count === 0 || bytes.compare(PART, 0, count, start, start + count) !== 0) return false
    start += count
  }
  return true
}

/**
 * Writes all pieces, of `total` bytes, to the start of a file, or throws. The first bytes are written in the caller's
 * tick.
 */
export async function writeAll(fd: number, pieces: readonly Buffer[], total: number): Promise<void> {
  let rest = pieces.filter(piece => piece.length > 0)
  let position = 0
  while (rest.length > 0) {
    const count =
      total <= SYNC_IO_BYTES
        ? writevSync(fd, rest.slice(0, PIECES), position)
        : (await writevLater(fd, upTo(rest, WRITTEN_AT_ONCE), position)).bytesWritten
    if (count === 0) throw new Raced('no bytes could be written')
    position += count
    rest = after(rest, count)
  }
}

/**
 * Resolves when the file system accepts writes; waits in another thread, as a file system that hangs must not block
 * this one. Writes nothing. Throws the system's error.
 */
export async function takesWrites(fd: number): Promise<void> {
  await writevLater(fd, [NOTHING], 0)
}

const NOTHING = Buffer.alloc(0)

/** The beginning of the pieces, at most `bytes` bytes. */
function upTo(pieces: readonly Buffer[], bytes: number): Buffer[] {
  const parts: Buffer[] = []
  for (let left = bytes, i = 0; left > 0 && i < Math.min(pieces.length, PIECES); i++) {
    const part = pieces[i]!.subarray(0, left)
    parts.push(part)
    left -= part.length
  }
  return parts
}

function after(pieces: Buffer[], count: number): Buffer[] {
  let left = count
  let index = 0
  for (let piece = pieces[index]; piece !== undefined && left >= piece.length; piece = pieces[++index]) {
    left -= piece.length
  }
  const rest = pieces.slice(index)
  const first = rest[0]
  if (first !== undefined && left > 0) rest[0] = first.subarray(left)
  return rest
}
