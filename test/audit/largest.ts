// A file of ext4's maximum size, so that appending fails with EFBIG. Does not know any test.
import { truncateSync } from 'node:fs'

/** In bytes. */
export const LARGEST = 2 ** 44 - 4096

/** Extends the file to that size, sparse. False: the file system's limit is lower. */
export function fill(path: string): boolean {
  try {
    truncateSync(path, LARGEST)
    return true
  } catch {
    return false
  }
}
