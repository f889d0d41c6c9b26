// The way to a file that every operation goes: the path's letters, the pin, the policy and, to write, the lock. Knows
// not what is done there.
import { resolve } from 'node:path'
import { fail, ok, type Result } from '../result.ts'
import type { FailedAccess, FileTarget, WorkspaceOptions } from './api.ts'
import { failureOf } from './errno.ts'
import type { FileFailure } from './failure.ts'
import { fence } from './fence.ts'
import type { Lock, Locks } from './lock.ts'
import { similarPaths } from './similar-paths.ts'
import { namesFolder, relativePath } from './path.ts'
import { gone, type Missing, type Pin, type Root } from './pin.ts'
import type { Policy } from './policy.ts'
import { scanPinned, untouched } from './scan.ts'
import { shortHash } from './text-file.ts'

/** What an answer tells of the file; filled in as it becomes known. */
export type FileInfo = { path: string; resolved_path?: string; file_hash?: string }

/** `look`: read a file or list a folder. */
export type AccessMode = 'edit' | 'read' | 'look'

/** What is done where something is, and where nothing is. */
export interface PathHandlers<T, F> {
  onFound(pin: Pin): Promise<Result<T, F>>
  /** The policy has nothing against a file at this place. */
  onMissing(spot: Missing): Promise<Result<T, F>>
}

export interface FileAccessOptions {
  options: WorkspaceOptions
  root: Root
  policy: Policy
  locks: Locks
  /**
   * Takes back what a dead holder of this file's lock may have left half done; throws if that can't be done now, and is
   * false where a holder who may not be dead is writing.
   */
  recover: (place: Buffer) => Promise<boolean>
}

const ATTEMPTS = 3
const SLASH = 0x2f
const beingWritten: FileFailure = { code: 'FILE_LOCKED', reason: 'in_place', retry_after: 5 }
const draining: FileFailure = { code: 'NOT_READY', reason: 'draining', retry_after: 5 }

export class FileAccess {
  readonly #options: WorkspaceOptions
  readonly #root: Root
  readonly #roots: string[]
  readonly #policy: Policy
  readonly #locks: Locks
  readonly #recover: (place: Buffer) => Promise<boolean>
  /** Readings for a hash that go on, by what is read. */
  readonly #looks = new Map<string, Promise<string | null>>()
  #running = 0
  #closed = false
  #idle: (() => void) | null = null

  constructor({ options, root, policy, locks, recover }: FileAccessOptions) {
    this.#options = options
    this.#root = root
    this.#roots = [...new Set([root.real()?.toString() ?? options.root, resolve(options.root)])]
    this.#policy = policy
    this.#locks = locks
    this.#recover = recover
  }

  /** Null, or why nothing can be done now: NOT_READY. */
  ready(): FileFailure | null {
    if (this.#closed) return draining
    return this.#root.real() === null ? gone : null
  }

  /** Lets nobody in any more, and waits for those who are. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#running > 0) {
      await new Promise<void>(resolve => {
        this.#idle = resolve
      })
    }
  }

  /**
   * What every request has in common: the path's letters, counting what runs, and what system errors mean. What is
   * asked for ends in `/` where it can only be a folder.
   */
  async run<T, F>(
    target: FileTarget,
    work: (asked: Buffer, about: FileInfo) => Promise<Result<T, F | FileFailure>>
  ): Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>> {
    if (this.#closed) return { ok: false, failure: draining, path: target.path }
    const path = relativePath(target.path, this.#roots)
    if (!path.ok) return { ...path, path: target.path }
    const about: FileInfo = { path: path.value === '' ? '.' : path.value }
    this.#running++
    try {
      const result = await work(Buffer.from(namesFolder(target.path) ? `${path.value}/` : path.value), about)
      return result.ok ? result : { ...about, ...result }
    } catch (error) {
      const failure = failureOf(error)
      if (failure === null) throw error
      return { ...about, ok: false, failure }
    } finally {
      if (--this.#running === 0) this.#idle?.()
    }
  }

  /** Pins what is there if it may be used so, and closes the pin when the step is done; or finds where it would be. */
  async find<T, F>(
    asked: Buffer,
    use: AccessMode,
    about: FileInfo,
    steps: PathHandlers<T, F>
  ): Promise<Result<T, F | FileFailure>> {
    const isFolder = asked.at(-1) === SLASH
    const relative = isFolder ? asked.subarray(0, -1) : asked
    const pinned = this.#root.pin(relative)
    if (!pinned.ok) {
      return pinned.failure.code === 'MISSING' ? this.#missing(pinned.failure, use, steps) : fail(pinned.failure)
    }
    const pin = pinned.value
    try {
      if (!pin.relative.equals(relative)) about.resolved_path = pin.relative.toString()
      const refusal = this.#judge(use, pin)
      if (refusal !== null) return fail(refusal)
      if (!isFolder || !pin.stat.isFile()) return await steps.onFound(pin)
      await this.hash(pin, about)
      return fail({ code: 'NOT_A_FILE', type: 'file_as_directory' })
    } finally {
      pin.close()
    }
  }

  /** The same where nothing but what is there will do. */
  pinned<T, F>(
    asked: Buffer,
    use: AccessMode,
    about: FileInfo,
    work: (pin: Pin) => Promise<Result<T, F>>
  ): Promise<Result<T, F | FileFailure>> {
    return this.find<T, F | FileFailure>(asked, use, about, {
      onFound: work,
      onMissing: async spot => fail(this.notFound(spot, use))
    })
  }

  #judge(use: AccessMode, pin: Pin): FileFailure | null {
    const lists = use === 'look' && pin.stat.isDirectory()
    return (
      this.#policy.judge(lists ? 'list' : use === 'edit' ? 'edit' : 'read', pin.real, pin.relative) ??
      (lists ? null : refusalOfType(pin))
    )
  }

  async #missing<T, F>(spot: Missing, use: AccessMode, steps: PathHandlers<T, F>): Promise<Result<T, F | FileFailure>> {
    const root = this.#root.real()
    if (root === null) return fail(gone)
    const refusal = this.#policy.judge(
      use === 'edit' ? 'edit' : 'read',
      Buffer.concat([root, Buffer.from('/'), spot.relative]),
      spot.relative
    )
    return refusal === null ? steps.onMissing(spot) : fail(refusal)
  }

  /** With what may have been meant. */
  notFound({ relative }: Missing, use: AccessMode): FileFailure {
    const near = similarPaths(this.#root, relative, pin => this.#judge(use, pin) === null)
    return near.length === 0 ? { code: 'FILE_NOT_FOUND' } : { code: 'FILE_NOT_FOUND', did_you_mean: near }
  }

  /**
   * Does the work under the lock of the real path that `admit` answers, with everything found anew.
   * Where it is elsewhere by then, or the work answers null, all begins again.
   */
  async locked<T, F>(
    asked: Buffer,
    about: FileInfo,
    admit: PathHandlers<Buffer, F>,
    work: (lock: Lock) => PathHandlers<T | null, F>
  ): Promise<Result<T, F | FileFailure>> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      delete about.resolved_path
      delete about.file_hash
      const place = await this.find(asked, 'edit', about, admit)
      if (!place.ok) return place
      const lock = await this.#locks.acquire(place.value)
      if (!lock.ok) {
        // Not where a flood is turned away: it would read the file each time.
        if (lock.failure.code === 'FILE_LOCKED' && lock.failure.reason !== 'queue_full') {
          await this.refreshHash(asked, about)
        }
        return lock
      }
      try {
        fence(this.#root, place.value, lock.value)
        if (!(await this.#recover(place.value))) {
          await this.refreshHash(asked, about)
          return fail(beingWritten)
        }
        const { onFound: there, onMissing: missing } = work(lock.value)
        const done = await this.find<T | null, F>(asked, 'edit', about, {
          onFound: async pin => (pin.relative.equals(place.value) ? await there(pin) : ok(null)),
          onMissing: async spot => (spot.relative.equals(place.value) ? await missing(spot) : ok(null))
        })
        if (!done.ok) return done
        if (done.value !== null) return ok(done.value)
      } finally {
        await lock.value.release()
      }
    }
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  }

  /**
   * The hash for an answer that something else is the matter with; without it if it can't be had. Those who ask at the
   * same time share one reading: a thousand may give up waiting for a large file at once.
   */
  async hash(pin: Pin, about: FileInfo): Promise<void> {
    delete about.file_hash
    const { dev, ino, size, mtimeNs, ctimeNs } = pin.stat
    const key = [dev, ino, size, mtimeNs, ctimeNs].join()
    const hash = await (this.#looks.get(key) ?? this.#look(pin, key))
    if (hash !== null) about.file_hash = hash
  }

  #look(pin: Pin, key: string): Promise<string | null> {
    const look = scanPinned(pin, this.#options.maxFileSize, untouched)
      .then(
        read => (read.ok ? shortHash(read.value.digest) : null),
        () => null
      )
      .finally(() => {
        this.#looks.delete(key)
      })
    this.#looks.set(key, look)
    return look
  }

  async refreshHash(asked: Buffer, about: FileInfo): Promise<void> {
    delete about.file_hash
    try {
      await this.pinned(asked, 'edit', about, async pin => ok(await this.hash(pin, about)))
    } catch {}
  }
}

function refusalOfType({ stat }: Pin): FileFailure | null {
  if (stat.isFile()) return null
  const type = stat.isDirectory() ? 'directory' : stat.isFIFO() ? 'fifo' : stat.isSocket() ? 'socket' : 'device'
  return { code: 'NOT_A_FILE', type }
}
