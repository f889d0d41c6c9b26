// Makes bytes and names outlast a power failure. Does not know paths.
import { fstatSync, fsync } from 'node:fs'
import { promisify } from 'node:util'

/** Resolves when what was written to a file is on the disk. */
export const syncFile: (fd: number) => Promise<void> = promisify(fsync)

/**
 * Resolves when the names in a folder are on the disk. Rejects where its file system has given up (a broken disk, a
 * power failure) before they were.
 */
export async function syncFolder(fd: number): Promise<void> {
  await syncFile(fd)
  // XFS that has shut itself down and lost a rename lets the fsync of the folder succeed; a look at it fails.
  fstatSync(fd)
}
