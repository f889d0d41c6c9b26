// Types for both kinds of root: objects inside the root that can't be exchanged under us. Does not know policy or
// locks.
import { accessSync, constants, lstatSync, type BigIntStats } from 'node:fs'
import type { Result } from '../../result.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import type { DiskCalls } from './disk-calls.ts'

/** Nothing is there. Code that knows the policy turns it into a FileFailure. Paths are real ones below the root. */
export interface Missing {
  code: 'MISSING'
  /** Where it would be, with links followed. */
  relative: Buffer
  /** The existing part of that path: a folder, unless something else is in its place. */
  folder: Buffer
  /** A link that leads to nothing, inside the root: it is the path's last name, or one before it. */
  dangling?: 'last' | 'before'
}

/** How far a path leads that can't be pinned. Paths are real ones below the root. */
export interface Stop {
  /** What can't be passed, whether it is there or not; the last link, where that leads out of the root. */
  place: Buffer
  /** Where the object would be: `place` and the names after it; null: outside the root. */
  would_be: Buffer | null
  /** All links that were followed, if there are too many. */
  loop: readonly Buffer[]
}

/** An object inside the root that can't be exchanged under us. To be closed. */
export interface Pin {
  /** Absolute path of the object itself, in bytes, when it was pinned. */
  readonly real: Buffer
  /** Its path below the root; '' is the root itself. */
  readonly relative: Buffer
  readonly stat: BigIntStats
  /**
   * Whether it still is where it was, inside the root; then `stat` is looked up again, unless it `isNew`: pinned just
   * now. False also once it is closed, and where to know that costs as much as to pin it again.
   */
  renew(isNew: boolean): boolean
  /** Opens this very object; a file only. Throws the system's error, or Raced. */
  open(flags: number): number
  /** Whether this process may write it, whatever the mode says. */
  writable(): boolean
  /** Whether it still is where it was, inside the root. */
  inPlace(): boolean
  /** Whether each change of it gives it another time (fine-times.ts). False where that isn't known. */
  hasFineTimes(): boolean
  /**
   * Set where a rename has put another file in its place, or may have: closing it then frees it, which is left to
   * another thread (close-later.ts). All other descriptors of it have to be closed before.
   */
  replaced: boolean
  /** Idempotent. */
  close(): void
}

/** A folder inside the root that can't be exchanged under us. To be closed. */
export interface Folder {
  readonly stat: BigIntStats
  /** Disk calls of its root. */
  readonly disk: DiskCalls
  /** A path for system calls to the entry `leaf` of this very folder. */
  at(leaf: Buffer | string): Buffer
  /** Whether it still is where it was, inside the root. */
  inPlace(): boolean
  /** Makes its entries durable. Throws if that is impossible. */
  sync(): Promise<void>
  close(): void
}

export interface Root {
  readonly confinement: 'proc' | 'portable'
  readonly disk: DiskCalls
  /** Absolute path of the root now, in bytes; null when it is gone. */
  real(): Buffer | null
  /**
   * Follows links. Failures: NOT_READY, PATH_NOT_ALLOWED, PERMISSION_DENIED, STALE_FILE, or Missing. Throws other
   * errors of the system.
   */
  pin(relative: Buffer): Result<Pin, FileFailure | Missing>
  /** How far a path leads that couldn't be pinned just now; if it can be pinned, its end. Never throws. */
  stop(relative: Buffer): Stop
  /** Follows no links: `relative` has to be the folder's real place. Throws the system's error, or Raced. */
  openFolder(relative: Buffer): Folder
  /**
   * `openFolder`, but may reuse a folder that another request has open. Doesn't see what was mounted on it since: use
   * it only if the pinned object is then looked up in it.
   */
  sharedFolder(relative: Buffer): Folder
  close(): void
}

/** How often to look for something that another process keeps moving. Chosen, not measured. */
export const ATTEMPTS = 5
export const gone: Extract<FileFailure, { code: 'NOT_READY' }> = {
  code: 'NOT_READY',
  reason: 'root_gone',
  retry_after: 5
}

/** Which object of the system something is. */
export interface FileId {
  dev: bigint
  ino: bigint
}

/** Whether two stats are of one object. */
export const same = (a: FileId, b: FileId): boolean => a.dev === b.dev && a.ino === b.ino

/** What is at `path`, a link not followed; undefined: nothing. Synchronous; throws the system's other errors. */
export const statAt = (path: Buffer): BigIntStats | undefined =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false })

/** Whether the system lets this process write the file at `path`. */
export function mayWrite(path: string | Buffer): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}
