// The pinned root: a relative path becomes an opened, verified object inside it. Does not know policy or locks.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  type BigIntStats
} from 'node:fs'
import { fail, ok, type Result } from '../../result.ts'
import { closeLater } from '../close-later.ts'
import { codeOf, quietly, Raced } from '../../workspace/errno.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import { DiskCalls } from './disk-calls.ts'
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
import { PortableRoot } from './root-portable.ts'
import { FolderSyncs } from '../sync.ts'
import { SharedFolders } from './shared-folders.ts'
import { explainOpenError, findStop, type PathAccess } from './explain-open-error.ts'
import { hasFineTimes } from './fine-times.ts'

const O_PATH = 0o10000000
/** Options as an object: given just the name, Node makes a new object at each call. */
const LATIN1 = { encoding: 'latin1' } as const

/**
 * Opens an existing folder as the root. Without `confinement`: by /proc if that works, else by root-portable.ts.
 * `threads`: how many of the process's threads may wait for its file system at once.
 */
export function openRoot(folder: string, confinement?: 'proc' | 'portable', threads?: number): Root {
  const disk = new DiskCalls(threads)
  const real = realpathSync.native(folder)
  if (confinement !== 'portable' && process.platform === 'linux') {
    const fd = openSync(real, O_PATH | constants.O_DIRECTORY)
    if (procWorks(fd, real)) return new ProcRoot(fd, disk)
    /* c8 ignore next 2 -- only where /proc isn't mounted */
    closeSync(fd)
  }
  /* c8 ignore next -- only where /proc isn't mounted */
  if (confinement === 'proc') throw new Error('cannot use /proc/self/fd')
  return new PortableRoot(real, disk)
}

function procWorks(fd: number, real: string): boolean {
  try {
    const there = statSync(`/proc/self/fd/${fd}`, { bigint: true })
    return same(there, fstatSync(fd, { bigint: true })) && readlinkSync(`/proc/self/fd/${fd}`) === real
    /* c8 ignore next -- only where /proc isn't mounted */
  } catch {
    /* c8 ignore next 2 -- only where /proc isn't mounted */
    return false
  }
}

/**
 * Where the object behind a descriptor is now, one character for each byte: cheaper than a Buffer. Null if it has no
 * name any more.
 */
function realPathOf(fd: number): string | null {
  const real = readlinkSync(`/proc/self/fd/${fd}`, LATIN1)
  if (!real.endsWith(' (deleted)')) return real
  // A name may really end like this.
  const there = statAt(Buffer.from(real, 'latin1'))
  return there !== undefined && same(there, fstatSync(fd, { bigint: true })) ? real : null
}

class ProcRoot implements Root {
  readonly confinement = 'proc'
  readonly disk: DiskCalls
  readonly #fd: number
  readonly #prefix: Buffer
  readonly #syncs: FolderSyncs
  readonly #folders = new SharedFolders()
  /** The root's file system, and whether that has fine times. */
  readonly #times: { dev: bigint; fine: boolean }
  /** The root's path at the last look: usually unchanged, so it needs no new Buffer. */
  #last = { text: '', bytes: Buffer.alloc(0) }
  readonly #access: PathAccess = {
    at: relative => this.#path(relative),
    resolve: relative => this.#resolve(relative)
  }

  constructor(fd: number, disk: DiskCalls) {
    this.#fd = fd
    this.disk = disk
    this.#syncs = new FolderSyncs(disk)
    this.#prefix = Buffer.from(`/proc/self/fd/${fd}/`)
    // Now, as the test writes: a file system that hangs later must not block this thread.
    this.#times = { dev: fstatSync(fd, { bigint: true }).dev, fine: hasFineTimes(`/proc/self/fd/${fd}/.`) }
  }

  real(): Buffer | null {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const text = realPathOf(this.#fd)
      if (text === null) return null
      if (text === this.#last.text) return this.#last.bytes
      const bytes = Buffer.from(text, 'latin1')
      if (this.#leadsHere(bytes)) this.#last = { text, bytes }
    }
    return null
  }

  /**
   * Whether the path that the system gives for the root leads to it: after a lazy unmount of its file system, the path
   * no longer leads anywhere.
   */
  #leadsHere(path: Buffer): boolean {
    try {
      return same(statSync(path, { bigint: true }), fstatSync(this.#fd, { bigint: true }))
    } catch (error) {
      return codeOf(error) === 'EACCES'
    }
  }

  close(): void {
    closeSync(this.#fd)
  }

  #path(relative: Buffer): Buffer {
    return Buffer.concat([this.#prefix, relative])
  }

  /** The path of an open object below the root, or null. */
  #place(fd: number): { real: Buffer; relative: Buffer } | null {
    const root = this.real()
    const text = realPathOf(fd)
    if (root === null || text === null) return null
    const real = Buffer.from(text, 'latin1')
    const relative = below(root, real)
    return relative === null ? null : { real, relative }
  }

  #resolve(relative: Buffer): Buffer | null {
    const fd = openSync(this.#path(relative), O_PATH)
    try {
      return this.#place(fd)?.relative ?? null
    } finally {
      closeSync(fd)
    }
  }

  pin(relative: Buffer): Result<Pin, FileFailure | Missing> {
    let before = null as Buffer | null
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      let fd
      try {
        fd = openSync(this.#path(relative), O_PATH)
      } catch (error) {
        const root = this.real()
        if (root === null) return fail(gone)
        const why = explainOpenError(error, relative, root, this.#access)
        if (why === null) continue
        return fail(why)
      }
      let kept = false
      try {
        const place = this.#place(fd)
        if (place !== null) {
          const pin = new ProcPin(fd, place.real, place.relative, {
            place: () => this.#place(fd),
            hasFineTimes: dev => this.#hasFineTimes(dev)
          })
          kept = true
          return ok(pin)
        }
        const root = this.real()
        if (root === null) return fail(gone)
        // It is surely outside only if the root itself has not moved since the last look.
        if (realPathOf(fd) !== null && before?.equals(root) === true) {
          return fail({ code: 'PATH_NOT_ALLOWED', reason: 'outside' })
        }
        before = root
      } finally {
        if (!kept) closeSync(fd)
      }
    }
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  }

  #hasFineTimes(dev: bigint): boolean {
    return this.#times.fine && this.#times.dev === dev
  }

  stop(relative: Buffer): Stop {
    return findStop(relative, this.real() ?? Buffer.alloc(0), this.#access)
  }

  sharedFolder(relative: Buffer): Folder {
    return this.#folders.use(relative, () => {
      const folder = this.openFolder(relative)
      // If the pinned object is found in it, the root exists: no separate look is needed.
      return relative.length === 0 ? { ...folder, inPlace: () => true } : folder
    })
  }

  openFolder(relative: Buffer): Folder {
    const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW
    const path = Buffer.concat([this.#path(relative), Buffer.from(relative.length === 0 ? '.' : '')])
    let fd: number
    let readable = true
    try {
      fd = openSync(path, constants.O_RDONLY | flags)
    } catch (error) {
      if (codeOf(error) !== 'EACCES') throw error
      // A folder that can't be listed can still be written in; only its fsync is out of reach.
      fd = openSync(path, O_PATH | flags)
      readable = false
    }
    // The root itself, opened through its own descriptor, needs only to be there still.
    const inPlace = (): boolean =>
      relative.length === 0 ? this.real() !== null : this.#place(fd)?.relative.equals(relative) === true
    const prefix = Buffer.from(`/proc/self/fd/${fd}/`)
    try {
      if (!inPlace()) throw new Raced('the folder was moved')
      const stat = fstatSync(fd, { bigint: true })
      return {
        stat,
        disk: this.disk,
        at: leaf => Buffer.concat([prefix, typeof leaf === 'string' ? Buffer.from(leaf) : leaf]),
        inPlace,
        sync: async () => {
          if (!readable) throw new Error('no permission to read the folder')
          await this.#syncs.sync(fd, stat)
        },
        close: () => quietly(() => closeSync(fd))
      }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }
}

/** What a pin asks its root. */
interface RootOfPin {
  /** Where the pinned object is now. */
  place(): { relative: Buffer } | null
  hasFineTimes(dev: bigint): boolean
}

class ProcPin implements Pin {
  readonly real: Buffer
  readonly relative: Buffer
  stat: BigIntStats
  replaced = false
  readonly #fd: number
  readonly #root: RootOfPin
  #closed = false
  constructor(fd: number, real: Buffer, relative: Buffer, root: RootOfPin) {
    this.real = real
    this.relative = relative
    this.stat = fstatSync(fd, { bigint: true })
    this.#fd = fd
    this.#root = root
  }

  renew(isNew: boolean): boolean {
    if (isNew && !this.#closed) return true
    // The root was above this path: if it has moved, so has this.
    if (this.#closed || realPathOf(this.#fd) !== this.real.toString('latin1')) return false
    this.stat = fstatSync(this.#fd, { bigint: true })
    return true
  }
  open(flags: number): number {
    return openSync(`/proc/self/fd/${this.#fd}`, flags)
  }
  writable(): boolean {
    return mayWrite(`/proc/self/fd/${this.#fd}`)
  }
  inPlace(): boolean {
    return this.#root.place()?.relative.equals(this.relative) === true
  }
  hasFineTimes(): boolean {
    return this.#root.hasFineTimes(this.stat.dev)
  }
  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (this.replaced) closeLater(this.#fd)
    else quietly(() => closeSync(this.#fd))
  }
}
