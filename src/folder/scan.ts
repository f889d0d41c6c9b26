// Reads a file from end to end in chunks and hashes it, again if it changed meanwhile. Keeps no bytes; does not know
// policy.
import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, read, readSync, type BigIntStats } from 'node:fs'
import { promisify } from 'node:util'
import { fail, ok, type Result } from '../result.ts'
import type { Consumer } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Pin, Root } from './root/pin.ts'
import { ATTEMPTS, SYNC_IO_BYTES } from '../workspace/content.ts'
import { alike } from './snapshot.ts'

/** Result of one reading; `digest` is the SHA-256, 64 hex digits. */
interface FileReading<R> {
  stat: BigIntStats
  digest: string
  value: R
}

const readLater = promisify(read)

/** A consumer for the hash alone. */
export const untouched = (): Consumer<null> => ({ push() {}, finish: () => null })

/**
 * Feeds a pinned file to a consumer, to a new one each time the file changed while it was read. If a file only grows,
 * it reads what was there at the last look but one: two equal readings of that suffice. Other requests run between two
 * chunks. Failures: FILE_TOO_LARGE (before reading), STALE_FILE (it kept changing). Throws the system's error, and what
 * a consumer throws.
 */
export async function scanPinned<R>(
  pin: Pin,
  limit: number,
  consumer: () => Consumer<R>
): Promise<Result<FileReading<R>, FileFailure>> {
  const fd = pin.open(constants.O_RDONLY)
  try {
    /** The last reading, if the file has grown since. */
    let before: { stat: BigIntStats; digest: string } | undefined
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stat = before?.stat ?? fstatSync(fd, { bigint: true })
      const size = Number(stat.size)
      if (size > limit) return fail({ code: 'FILE_TOO_LARGE', limit, actual: size })
      const hash = createHash('sha256')
      const into = consumer()
      const part = Buffer.allocUnsafeSlow(Math.min(size, SYNC_IO_BYTES))
      let position = 0
      for (let count = -1; position < size && count !== 0; position += count) {
        const length = Math.min(part.length, size - position)
        count =
          size <= SYNC_IO_BYTES
            ? readSync(fd, part, 0, length, position)
            : (await readLater(fd, part, 0, length, position)).bytesRead
        hash.update(part.subarray(0, count))
        into.push(part.subarray(0, count))
      }
      const now = fstatSync(fd, { bigint: true })
      const digest = hash.digest('hex')
      if (position === size && (alike(stat, now) || digest === before?.digest)) {
        return ok({ stat, digest, value: into.finish() })
      }
      if (attempt === ATTEMPTS - 2 && position === size && now.size > stat.size) before = { stat, digest }
    }
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  } finally {
    closeSync(fd)
  }
}

/**
 * The SHA-256 of the file at this real path; null: there is no file, or something else has taken its place. Failures:
 * it can't be read now. Throws the system's error.
 */
export async function digestAt(root: Root, path: Buffer): Promise<Result<string | null, FileFailure>> {
  const pinned = root.pin(path)
  if (!pinned.ok) return pinned.failure.code === 'MISSING' ? ok(null) : fail(pinned.failure)
  const pin = pinned.value
  try {
    if (!pin.relative.equals(path) || !pin.stat.isFile()) return ok(null)
    const read = await scanPinned(pin, Infinity, untouched)
    return read.ok ? ok(read.value.digest) : read
  } finally {
    pin.close()
  }
}
