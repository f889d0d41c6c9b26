// A file as large as ext4 lets one be, to which nothing can be added (EFBIG). Does not know any test.
import { truncateSync } from 'node:fs'

/** In bytes. */
export const LARGEST = 2 ** 44 - 4096

/** Makes the file so large, sparse; false: its file system lets none be so large. */
export function fill(path: string): boolean {
  try {
    truncateSync(path, LARGEST)
    return true
  } catch {
    return false
  }
}
