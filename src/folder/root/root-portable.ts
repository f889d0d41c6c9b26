// The root where there is no /proc: real path, open without following links, a check afterwards. A folder swapped at
// the right moment can fool it. Does not know policy or locks.
import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync, type BigIntStats } from 'node:fs'
import { fail, ok, type Result } from '../../result.ts'
import { closeLater } from '../close-later.ts'
import { quietly, Raced } from '../../workspace/errno.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import type { DiskCalls } from './disk-calls.ts'
import { below } from '../../workspace/path.ts'
import {
  ATTEMPTS,
  gone,
  statAt,
  mayWrite,
  same,
  type Folder,
  type Missing,
  type Pin,
  type Root,
  type Stop
} from './pin.ts'
import { FolderSyncs } from '../sync.ts'
import { explainOpenError, findStop, type PathAccess } from './explain-open-error.ts'

// O_NONBLOCK: a FIFO that has taken the file's place must not hold a thread.
const UNFOLLOWED = constants.O_NOFOLLOW | constants.O_NONBLOCK
const realOf = (path: Buffer): Buffer => realpathSync.native(path, { encoding: 'buffer' })
const join = (folder: Buffer, leaf: Buffer | string): Buffer =>
  Buffer.concat([folder, Buffer.from('/'), Buffer.from(leaf)])

const statOf = (path: Buffer): BigIntStats | null => statAt(path) ?? null

export class PortableRoot implements Root {
  readonly confinement = 'portable'
  readonly disk: DiskCalls
  readonly #real: Buffer
  readonly #syncs: FolderSyncs
  readonly #stat: BigIntStats
  readonly #access: PathAccess = {
    at: relative => join(this.#real, relative),
    resolve: relative => below(this.#real, realOf(join(this.#real, relative)))
  }

  constructor(real: string, disk: DiskCalls) {
    this.disk = disk
    this.#syncs = new FolderSyncs(disk)
    this.#real = Buffer.from(real)
    this.#stat = lstatSync(real, { bigint: true })
  }

  real(): Buffer | null {
    const now = statOf(this.#real)
    return now !== null && same(now, this.#stat) ? this.#real : null
  }

  close(): void {}

  pin(relative: Buffer): Result<Pin, FileFailure | Missing> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (this.real() === null) return fail(gone)
      try {
        const real = realOf(join(this.#real, relative))
        const inside = below(this.#real, real)
        if (inside === null) return fail({ code: 'PATH_NOT_ALLOWED', reason: 'outside' })
        const stat = statOf(real)
        if (stat === null || stat.isSymbolicLink()) continue
        if (!stat.isFile()) return ok(new PortablePin(real, inside, stat, null))
        // Held open, so that its inode can't become another file's.
        const fd = openSync(real, constants.O_RDONLY | UNFOLLOWED)
        let kept = false
        try {
          kept = same(fstatSync(fd, { bigint: true }), stat) && isStill(real, stat)
          if (kept) return ok(new PortablePin(real, inside, stat, fd))
        } finally {
          if (!kept) closeSync(fd)
        }
      } catch (error) {
        const why = explainOpenError(error, relative, this.#real, this.#access)
        if (why !== null) return fail(why)
      }
    }
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  }

  stop(relative: Buffer): Stop {
    return findStop(relative, this.#real, this.#access)
  }

  sharedFolder(relative: Buffer): Folder {
    return this.openFolder(relative)
  }

  openFolder(relative: Buffer): Folder {
    const real = relative.length === 0 ? this.#real : join(this.#real, relative)
    const fd = openSync(real, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    let kept = false
    try {
      const stat = fstatSync(fd, { bigint: true })
      const inPlace = (): boolean => this.real() !== null && isStill(real, stat)
      if (!inPlace()) throw new Raced('the folder was moved')
      kept = true
      return {
        stat,
        disk: this.disk,
        at: leaf => join(real, leaf),
        inPlace,
        sync: () => this.#syncs.sync(fd, stat),
        close: () => quietly(() => closeSync(fd))
      }
    } finally {
      if (!kept) closeSync(fd)
    }
  }
}

/** Whether the real path `real` names the object that `stat` is of, without a link on the way. */
function isStill(real: Buffer, stat: BigIntStats): boolean {
  try {
    return realOf(real).equals(real) && same(lstatSync(real, { bigint: true }), stat)
  } catch {
    return false
  }
}

class PortablePin implements Pin {
  readonly real: Buffer
  readonly relative: Buffer
  readonly stat: BigIntStats
  replaced = false
  #fd: number | null
  constructor(real: Buffer, relative: Buffer, stat: BigIntStats, fd: number | null) {
    this.#fd = fd
    this.real = real
    this.relative = relative
    this.stat = stat
  }

  renew(isNew: boolean): boolean {
    return isNew && this.#fd !== null
  }

  open(flags: number): number {
    const fd = openSync(this.real, flags | UNFOLLOWED)
    if (same(fstatSync(fd, { bigint: true }), this.stat) && this.inPlace()) return fd
    closeSync(fd)
    throw new Raced('another file has taken its place')
  }

  writable(): boolean {
    return mayWrite(this.real)
  }
  inPlace(): boolean {
    return isStill(this.real, this.stat)
  }
  hasFineTimes(): boolean {
    return false
  }
  close(): void {
    const fd = this.#fd
    if (fd === null) return
    this.#fd = null
    if (this.replaced) closeLater(fd)
    else quietly(() => closeSync(fd))
  }
}
