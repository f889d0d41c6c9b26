// Reads a file that was found. Does not know why it was found.
import { closeSync, constants, fstatSync, read, readSync, type BigIntStats } from 'node:fs'
import { promisify } from 'node:util'
import { ATTEMPTS, SYNC_IO_BYTES } from '../../workspace/content.ts'
import type { Pin } from '../root/pin.ts'
import { alike } from '../snapshot.ts'

const readLater = promisify(read)

/** What a file held at one moment. */
export interface FileBytes {
  bytes: Buffer
  stat: BigIntStats
}

/** Reads a pinned file whole. `unreadable`: it kept changing. Throws the system's error. */
export async function readBytes(pin: Pin, limit: number): Promise<FileBytes | 'too_large' | 'unreadable'> {
  const fd = pin.open(constants.O_RDONLY)
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stat = fstatSync(fd, { bigint: true })
      if (stat.size > limit) return 'too_large'
      const bytes = Buffer.allocUnsafeSlow(Number(stat.size))
      let length = 0
      for (let count = -1; length < bytes.length && count !== 0; length += count) {
        const most = Math.min(SYNC_IO_BYTES, bytes.length - length)
        count =
          bytes.length <= SYNC_IO_BYTES
            ? readSync(fd, bytes, length, most, length)
            : (await readLater(fd, bytes, length, most, length)).bytesRead
      }
      if (length === bytes.length && alike(stat, fstatSync(fd, { bigint: true }))) return { bytes, stat }
    }
    return 'unreadable'
  } finally {
    closeSync(fd)
  }
}
