// Makes bytes and names outlast a power failure. Does not know paths.
import { fstatSync, fsync } from 'node:fs'
import { promisify } from 'node:util'
import type { DiskCalls } from './root/disk-calls.ts'

/** Resolves when what was written to a file is on the disk. */
export const syncFile: (fd: number) => Promise<void> = promisify(fsync)

/**
 * Resolves when the names in a folder are on the disk. Rejects if its file system gave up before that (a broken disk, a
 * power failure).
 */
export async function syncFolder(fd: number): Promise<void> {
  await syncFile(fd)
  // XFS that has shut itself down and lost a rename lets the fsync of the folder succeed; a look at it fails.
  fstatSync(fd)
}

/** The folders of one root: concurrent callers for one folder share its syncs. */
export class FolderSyncs {
  readonly #disk: DiskCalls
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<void>>()

  constructor(disk: DiskCalls) {
    this.#disk = disk
  }

  /**
   * `syncFolder` for the folder `stat`; its `fd` stays open until then. One sync runs at a time for each folder.
   * Concurrent callers share the next run, which begins after all the renames that they want synced.
   */
  sync(fd: number, { dev, ino }: { dev: bigint; ino: bigint }): Promise<void> {
    const folder = `${dev}.${ino}`
    const running = this.#running.get(folder)
    if (running === undefined) return this.#run(folder, fd)
    const waiting = this.#next.get(folder)
    if (waiting !== undefined) return waiting
    const begin = (): Promise<void> => {
      this.#next.delete(folder)
      return this.#run(folder, fd)
    }
    const next = running.then(begin, begin)
    this.#next.set(folder, next)
    return next
  }

  #run(folder: string, fd: number): Promise<void> {
    const running = this.#disk
      .call(() => syncFolder(fd))
      .finally(() => {
        if (!this.#next.has(folder)) this.#running.delete(folder)
      })
    this.#running.set(folder, running)
    return running
  }
}
