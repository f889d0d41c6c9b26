// How every operation gets at a file: the text of its path, the pin and the policy. Does not know what is done with the
// file.
import { isUtf8 } from 'node:buffer'
import { accessSync, constants, type StatsBase } from 'node:fs'
import { resolve } from 'node:path'
import { fail, ok, type Result } from '../result.ts'
import type { FailedAccess, FailedStep, FailedSteps, FileTarget, WorkspaceOptions } from '../workspace/api.ts'
import { untilFewAreClosing } from './close-later.ts'
import { failureOf } from '../workspace/errno.ts'
import type { FileFailure, NotReady } from '../workspace/failure.ts'
import type { PresentHashes } from './present-hashes.ts'
import { isThere, samePathInside, similarPaths } from './root/similar-paths.ts'
import { isIn, namesFolder, relativePath } from '../workspace/path.ts'
import { gone, type Missing, type Pin, type Root } from './root/pin.ts'
import type { Policy } from '../workspace/policy.ts'
import type { FailedFile, FailedOne, FileInfo, FileResult, ManyResult, RequestedPath } from '../workspace/results.ts'
import type { Running } from '../workspace/running.ts'

/** What a path leads to: an object, or a path without one. `info` has the real path if a link led elsewhere. */
export interface OpenedFile {
  info: FileInfo
  pin: Pin
  absent: null
}
export type FoundPath = OpenedFile | { info: FileInfo; pin: null; absent: Missing }

/** An opened path: an existing object stays pinned until it is closed. */
export type OpenPath = FoundPath & { close(): Promise<void> }

/** `look`: read a file or list a folder. */
type AccessMode = 'edit' | 'look'

export interface FileAccessOptions {
  options: WorkspaceOptions
  root: Root
  policy: Policy
  running: Running
  hashes: PresentHashes
  /** Null, or why the state folder can't be used; restores what was removed from it. */
  checkState: () => NotReady | null
}

const hanging: FileFailure = { code: 'NOT_READY', reason: 'root_hangs', retry_after: 5 }
const draining: FileFailure = { code: 'NOT_READY', reason: 'draining', retry_after: 5 }

/** Whether this process may make files in the folder. */
function isWritable(folder: string | Buffer): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

export class FileAccess {
  readonly #options: WorkspaceOptions
  readonly #root: Root
  readonly #roots: string[]
  readonly #policy: Policy
  readonly #running: Running
  readonly #hashes: PresentHashes
  readonly #checkState: FileAccessOptions['checkState']

  constructor({ options, root, policy, running, hashes, checkState }: FileAccessOptions) {
    this.#options = options
    this.#root = root
    this.#roots = [...new Set([root.real()?.toString() ?? options.root, resolve(options.root)])]
    this.#policy = policy
    this.#running = running
    this.#hashes = hashes
    this.#checkState = checkState
  }

  /** Null, or why nothing can be done now: NOT_READY. */
  ready(): FileFailure | null {
    const refusal = this.#refusal()
    if (refusal !== null) return refusal
    const root = this.#root.real()
    if (root === null) return gone
    const failure = this.#checkState()
    if (failure !== null || this.#options.readOnly || isWritable(root)) return failure
    return { code: 'NOT_READY', reason: 'root_unwritable', retry_after: 5 }
  }

  /**
   * The common part of every request: interprets its path, counts the running work, and maps system errors. `use`: what
   * it will do, for suggestions of other paths.
   */
  async run<T, F>(
    target: FileTarget,
    use: AccessMode,
    work: (requested: RequestedPath) => Promise<FileResult<T, F | FileFailure>>
  ): Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>> {
    const requested = this.#requested(target, use)
    if (!requested.ok) return { ...requested, path: target.path }
    const result = await this.#running.counted(async () => {
      try {
        return await work(requested.value)
      } catch (error) {
        return failedBy(error, {})
      }
    })
    return result.ok ? result : { path: requested.value.path, ...result }
  }

  /** `run` for several paths; a failure names its path. */
  async runAll<T, F>(
    targets: readonly FileTarget[],
    use: AccessMode,
    work: (requested: readonly RequestedPath[]) => Promise<ManyResult<T, F | FileFailure>>
  ): Promise<{ ok: true; value: T } | FailedSteps<F | FileFailure>> {
    const requested: RequestedPath[] = []
    for (const [at, target] of targets.entries()) {
      const one = this.#requested(target, use)
      if (!one.ok) return { ...one, path: target.path, at }
      requested.push(one.value)
    }
    const result = await this.#running.counted(() => work(requested))
    if (result.ok) return result
    const named = (one: FailedOne<F | FileFailure>): FailedStep<F | FileFailure> => ({
      path: requested[one.at]!.path,
      ...one
    })
    const { others, ...first } = result
    return { ...named(first), ...(others !== undefined && { others: others.map(named) }) }
  }

  /** Null, or why no work may begin. */
  #refusal(): FileFailure | null {
    return this.#running.isClosed ? draining : this.#root.disk.hangs ? hanging : null
  }

  /** Interprets the text of a path. */
  #requested({ path: text }: FileTarget, use: AccessMode): Result<RequestedPath, FileFailure> {
    const refusal = this.#refusal()
    if (refusal !== null) return fail(refusal)
    const normalised = relativePath(text, this.#roots)
    if (!normalised.ok) return fail(this.#withPathInside(normalised.failure, text, use))
    const path = normalised.value === '' ? '.' : normalised.value
    return ok({ path, relative: Buffer.from(normalised.value), isFolder: namesFolder(text) })
  }

  /**
   * Opens what the path leads to, if it may be used so, or a path without an object. The object stays pinned until it
   * is closed.
   */
  async open(
    { relative, isFolder }: Omit<RequestedPath, 'path'>,
    use: AccessMode
  ): Promise<FileResult<OpenPath, FileFailure>> {
    const pinned = this.#root.pin(relative)
    if (!pinned.ok) {
      const hidden = this.#refusalWhereStopped(use === 'edit' ? 'edit' : 'read', relative, pinned.failure)
      if (hidden !== null) return fail(hidden)
      if (pinned.failure.code !== 'MISSING') return fail(pinned.failure)
      const absent = pinned.failure
      const refusal = this.#refusalAt(absent.relative, use === 'edit' ? 'edit' : 'read')
      if (refusal !== null) return refusal
      const named = this.#judgeName(use, relative, absent.relative)
      return named === null ? ok({ info: {}, pin: null, absent, close: async () => {} }) : fail(named)
    }
    const pin = pinned.value
    let isKept = false
    try {
      const judged = this.#judge(use, pin)
      const refusal = judged ?? this.#judgeName(use, relative, pin.relative)
      // Reveal nothing about a forbidden file, not even where it is.
      const isHidden = refusal !== null && (judged === null || refusal === this.#policy.limit?.refusal)
      const info = isHidden || pin.relative.equals(relative) ? {} : { resolved_path: pin.relative.toString() }
      if (refusal !== null) return { ...info, ...fail(refusal) }
      if (isFolder && pin.stat.isFile()) {
        return { ...info, ...fail({ code: 'NOT_A_FILE', type: 'file_as_directory' }), ...(await this.hash(pin)) }
      }
      isKept = true
      return ok({ info, pin, absent: null, close: () => closed(pin) })
    } finally {
      if (!isKept) pin.close()
    }
  }

  /** Opens it, does the work on it, and closes it. */
  async find<T, F>(
    at: Omit<RequestedPath, 'path'>,
    use: AccessMode,
    work: (found: FoundPath) => Promise<FileResult<T, F>>
  ): Promise<FileResult<T, F | FileFailure>> {
    const opened = await this.open(at, use)
    if (!opened.ok) return opened
    const found = opened.value
    try {
      const done = await work(found)
      return done.ok ? done : { ...found.info, ...done }
    } catch (error) {
      return failedBy(error, found.info)
    } finally {
      await found.close()
    }
  }

  /** `find` for work that needs an existing object. */
  pinned<T, F>(
    at: Omit<RequestedPath, 'path'>,
    use: AccessMode,
    work: (found: OpenedFile) => Promise<FileResult<T, F>>
  ): Promise<FileResult<T, F | FileFailure>> {
    return this.find<T, F | FileFailure>(at, use, async found =>
      found.pin === null ? fail(this.notFound(found.absent, use)) : work(found)
    )
  }

  /**
   * The real path below the root for a request's path: where it leads now or, if nothing is there, as it is written.
   * Failures: those of `relativePath` and of `Root.pin`, and the policy's refusal to list it.
   */
  realPath(path: string): Result<Buffer, FileFailure> {
    const named = relativePath(path, this.#roots)
    if (!named.ok) return named
    const relative = Buffer.from(named.value)
    const pinned = this.#root.pin(relative)
    const found = pinned.ok ? pinned.value : pinned.failure
    const hidden = pinned.ok ? null : this.#refusalWhereStopped('list', relative, pinned.failure)
    if (hidden !== null) return fail(hidden)
    if (!('relative' in found)) return fail(found)
    if (pinned.ok) pinned.value.close()
    return this.#refusalAt(found.relative, 'list') ?? ok(found.relative)
  }

  /** The policy's refusal of this real path below the root, whether or not it exists; null: none. */
  refusal(use: 'edit' | 'read' | 'list', relative: Buffer): ReturnType<Policy['judge']> | typeof gone {
    const root = this.#root.real()
    if (root === null) return gone
    return this.#policy.judge(use, Buffer.concat([root, Buffer.from('/'), relative]), relative)
  }

  /**
   * The answer for a path that can't be pinned, if it stops at something that may not be used, whether or not that
   * exists; null: `failure` may be answered.
   */
  #refusalWhereStopped(
    use: 'edit' | 'read' | 'list',
    relative: Buffer,
    failure: FileFailure | Missing
  ): FileFailure | null {
    const { limit } = this.#policy
    if (limit === undefined || failure.code === 'NOT_READY') return null
    const { place, would_be, loop } = this.#root.stop(relative)
    const mayBeKnown =
      would_be !== null &&
      limit.allows(use, would_be) &&
      // A link leads there by way of something else.
      (would_be.equals(place) || isIn(would_be, place)) &&
      loop.every(link => limit.allows(use, link))
    return mayBeKnown ? null : limit.refusal
  }

  #judge(use: AccessMode, pin: Pin): FileFailure | null {
    const lists = use === 'look' && pin.stat.isDirectory()
    return (
      this.#policy.judge(lists ? 'list' : use === 'edit' ? 'edit' : 'read', pin.real, pin.relative) ??
      (lists ? null : refusalOfType(pin.stat))
    )
  }

  /** The policy's refusal of a name that leads to this real path; null: none, or it is the path itself. */
  #judgeName(use: AccessMode, relative: Buffer, real: Buffer): FileFailure | null {
    return real.equals(relative) ? null : this.#policy.judgeName(use === 'edit' ? 'edit' : 'read', relative)
  }

  /** `refusal` as a failed result. */
  #refusalAt(relative: Buffer, use: 'edit' | 'read' | 'list'): FailedFile<FileFailure> | null {
    const refusal = this.refusal(use, relative)
    return refusal === null ? null : fail(refusal)
  }

  /**
   * Adds suggestions. Models know the root by other names, such as /workspace: suggests paths inside the root that
   * match the end of an absolute path outside. Looks at nothing outside.
   */
  #withPathInside(failure: FileFailure, path: string, use: AccessMode): FileFailure {
    if (failure.code !== 'PATH_NOT_ALLOWED' || !path.startsWith('/') || path.split('/').includes('..')) return failure
    const near = samePathInside(this.#root, path, {
      offers: (pin, path) => (use === 'look' || pin.stat.isFile()) && this.#maySpeakOf(use, pin, path)
    })
    return near.length === 0 ? failure : { ...failure, did_you_mean: near }
  }

  #maySpeakOf(use: AccessMode, pin: Pin, path: Buffer): boolean {
    const mayBeUsed = this.#judge(use, pin) === null && this.#judgeName(use, path, pin.relative) === null
    return mayBeUsed && this.#shows(path, pin.stat.isDirectory())
  }

  /** Whether an entry's path may be revealed; the service's own entries don't matter here. */
  readonly #shows = (path: Buffer, isFolder: boolean): boolean =>
    this.#policy.limit?.allows(isFolder ? 'list' : 'read', path) !== false

  /** FILE_NOT_FOUND, with the paths that may have been meant, or else the folder to look in. */
  notFound({ relative, folder, dangling }: Missing, use: AccessMode): FileFailure {
    const near = similarPaths(this.#root, relative, {
      offers: (pin, path) => this.#maySpeakOf(use, pin, path),
      shows: this.#shows
    })
    if (near.length > 0) return { code: 'FILE_NOT_FOUND', did_you_mean: near }
    if (dangling !== undefined) return { code: 'FILE_NOT_FOUND', missing: 'link_target' }
    return { code: 'FILE_NOT_FOUND', ...(this.#isShownFolder(folder) && { folder: folder.toString() }) }
  }

  #isShownFolder(path: Buffer): boolean {
    const offers = (pin: Pin, path: Buffer): boolean => pin.stat.isDirectory() && this.#maySpeakOf('look', pin, path)
    return path.length > 0 && isUtf8(path) && isThere(this.#root, path.toString(), { offers }, true)
  }

  /** The hash, for an answer that reports another failure; empty if it can't be read. */
  hash(pin: Pin): Promise<FileInfo> {
    return this.#hashes.of(pin)
  }

  /** What is known of the file now; empty if it can't be read. */
  async currentInfo(at: Omit<RequestedPath, 'path'>): Promise<FileInfo> {
    try {
      const looked = await this.pinned<FileInfo, never>(at, 'edit', async ({ pin, info }) =>
        ok({ ...info, ...(await this.hash(pin)) })
      )
      if (looked.ok) return looked.value
      const { resolved_path, file_hash } = looked
      return { ...(resolved_path !== undefined && { resolved_path }), ...(file_hash !== undefined && { file_hash }) }
    } catch {
      // The failure being answered says more than why its file can't be read.
      return {}
    }
  }
}

/** Waits while many are closing: a bound on open descriptors. */
async function closed(pin: Pin): Promise<void> {
  pin.close()
  if (pin.replaced) await untilFewAreClosing()
}

/** The real path below the root. */
export const realPathOf = ({ pin, absent }: FoundPath): Buffer => (pin ?? absent).relative

/** The failure for a thrown system error; throws the error again if no request caused it. */
export function failedBy(error: unknown, info: FileInfo): FailedFile<FileFailure> {
  const failure = failureOf(error)
  if (failure === null) throw error
  return { ...info, ...fail(failure) }
}

/** NOT_A_FILE; null: it is a file. */
export function refusalOfType(stat: StatsBase<number | bigint>): FileFailure | null {
  if (stat.isFile()) return null
  if (stat.isSymbolicLink()) return { code: 'NOT_A_FILE', type: 'link_inside' }
  const type = stat.isDirectory() ? 'directory' : stat.isFIFO() ? 'fifo' : stat.isSocket() ? 'socket' : 'device'
  return { code: 'NOT_A_FILE', type }
}
