// How every operation reaches an object: resolves the text of its path, applies the policy, and looks at what is there.
// Does not know what is done with the file.
import { distance } from 'fastest-levenshtein'
import { KEY_LIMIT, OWN } from '../object-store/address.ts'
import { StoreRefused, type Listed, type ObjectStore } from '../object-store/store.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Entries, Entry, FailedAccess, FileTarget, PageRequest } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileResult, RequestedPath } from '../workspace/results.ts'
import { namesFolder, relativePath, split } from '../workspace/path.ts'
import type { Policy } from '../workspace/policy.ts'
import { ANSWERS_LIMIT, folded, nearest, withoutFirstFolders } from '../workspace/similar-names.ts'
import type { Running } from '../workspace/running.ts'
import { failureOfStore } from './store-failure.ts'

const draining: FileFailure = { code: 'NOT_READY', reason: 'draining', retry_after: 5 }
/**
 * How many keys are searched: in one folder for similar names, and in all folders for the same name. The same as on a
 * disk.
 */
const LOOKED_AT = 5000
/** Sorts after all of editd's own keys, which alone could exceed that limit. */
const BEHIND_OWN = `${OWN}/~`
/**
 * How many parent folders are tried to find an existing one, with one request each, and how many keys of each are
 * examined. Chosen, not measured.
 */
const FOLDERS_TRIED = 8
const KEYS_TRIED = 20

interface ObjectsOptions {
  store: ObjectStore
  policy: Policy
  running: Running
  /** Length in bytes of what precedes each key. */
  prefixLength: number
}

type Use = 'edit' | 'read' | 'list'

export class Objects {
  readonly #options: ObjectsOptions

  constructor(options: ObjectsOptions) {
    this.#options = options
  }

  /** Runs the work on the file that a path names; failures of the work or the store are returned with the path. */
  async run<T, F>(
    { path: text }: FileTarget,
    use: 'edit' | 'look',
    work: (requested: RequestedPath) => Promise<FileResult<T, F | FileFailure>>
  ): Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>> {
    const { running } = this.#options
    const requested = running.isClosed ? fail(draining) : this.requested(text)
    if (!requested.ok) return { ...fail(await this.#withPathInside(requested.failure, text, use)), path: text }
    const result = await running.counted(() => this.#guarded(() => work(requested.value)))
    return result.ok ? result : { path: requested.value.path, ...result }
  }

  async #guarded<T, F>(work: () => Promise<FileResult<T, F>>): Promise<FileResult<T, F | FileFailure>> {
    try {
      return await work()
    } catch (error) {
      const failure = failureOfStore(error)
      if (failure === null) throw error
      return fail(failure)
    }
  }

  /** Parses the text of a path. */
  requested(text: string): Result<RequestedPath, FileFailure> {
    const normalised = relativePath(text, [], 'linux', KEY_LIMIT)
    if (!normalised.ok) return normalised
    const relative = Buffer.from(normalised.value)
    if (relative.length + this.#options.prefixLength > KEY_LIMIT) {
      return fail({ code: 'INVALID_PATH', reason: 'too_long' })
    }
    return ok({ path: normalised.value || '.', relative, isFolder: namesFolder(text, 'linux') })
  }

  /** Why the policy refuses this use, whether the file exists or not; null: it doesn't. */
  refusal(use: Use, relative: Buffer): ReturnType<Policy['judge']> {
    return this.#options.policy.judge(use, realOf(relative), relative)
  }

  /** Resolves a request's path to a path below the root, if that may be listed. */
  realPath(text: string): Result<Buffer, FileFailure> {
    const requested = this.requested(text)
    if (!requested.ok) return requested
    const refusal = this.refusal('list', requested.value.relative)
    return refusal === null ? ok(requested.value.relative) : fail(refusal)
  }

  /** Whether a folder exists: some key has its path as prefix. The root always exists. */
  async isFolder(relative: Buffer): Promise<boolean> {
    if (relative.length === 0) return true
    const { keys } = await this.#options.store.list(`${relative.toString()}/`, { limit: 1 })
    return keys.length > 0
  }

  /** Whether one of the folders above a path is a file. */
  async fileAbove(relative: Buffer): Promise<boolean> {
    const names = relative.toString().split('/').slice(0, -1)
    const above = names.map((_, i) => names.slice(0, i + 1).join('/'))
    const found = await Promise.all(above.map(key => this.#options.store.head(key)))
    return found.some(facts => facts !== null)
  }

  /**
   * A page of a folder's entries, in byte order of their keys. The key of a subfolder ends in a slash, and so does
   * `next_entry` if it names one. A file and a folder may have the same name.
   */
  async list(relative: Buffer, { after, limit }: PageRequest): Promise<Entries> {
    const { store, policy } = this.#options
    const hidden = policy.hiddenIn(realOf(relative), relative)
    const prefix = relative.length === 0 ? '' : `${relative.toString()}/`
    const entries: (Entry & { key: string })[] = []
    const shows = (name: string, isFolder: boolean): boolean => isName(name) && !hidden(Buffer.from(name), isFolder)
    let from: string | null = after === undefined ? null : prefix + after
    do {
      const listed: Listed = await store.list(prefix, { folders: true, ...(from !== null && { after: from }) })
      const files = listed.keys.map(({ key, size }) => ({ key, name: key.slice(prefix.length), size }))
      const folders = listed.prefixes.map(key => ({ key, name: key.slice(prefix.length, -1) }))
      const page = [
        ...files
          .filter(({ name }) => shows(name, false))
          .map(({ key, name, size }) => ({
            key,
            name,
            type: 'file' as const,
            file_size: size
          })),
        ...folders
          .filter(({ name }) => shows(name, true))
          .map(({ key, name }) => ({
            key,
            name,
            type: 'directory' as const
          }))
      ]
      entries.push(...page.toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))))
      from = listed.next_after
    } while (from !== null && entries.length <= limit)
    const page = entries.slice(0, limit)
    const truncated = from !== null || entries.length > limit
    const last = page.at(-1)
    return {
      entries: page.map(({ key: _, ...entry }) => entry),
      truncated,
      ...(truncated && last !== undefined && { next_entry: last.key.slice(prefix.length) })
    }
  }

  /** FILE_NOT_FOUND, with similar paths, or otherwise with the nearest existing folder. */
  async notFound(relative: Buffer, use: 'edit' | 'look'): Promise<FileFailure> {
    const { store } = this.#options
    const path = relative.toString().replaceAll('\\', '/')
    const { folder, leaf } = split(Buffer.from(path))
    const prefix = folder.length === 0 ? '' : `${folder.toString()}/`
    const wanted = folded(leaf.toString())
    const { keys, prefixes } = await store.list(prefix, { folders: true, limit: LOOKED_AT })
    const names = [...keys.map(({ key }) => key), ...(use === 'look' ? prefixes.map(name => name.slice(0, -1)) : [])]
      .map(key => key.slice(prefix.length))
      .filter(name => isName(name) && this.mayOffer(use, prefix + name))
    const near = nearest(names, wanted).map(name => prefix + name)
    const found = [...near, ...(await this.#there(withoutFirstFolders(path), use))]
    const offered = found.length > 0 ? found : await this.#elsewhere(path, wanted, use)
    const did_you_mean = [...new Set(offered)].slice(0, ANSWERS_LIMIT)
    if (did_you_mean.length > 0) return { code: 'FILE_NOT_FOUND', did_you_mean }
    const there = await this.#shownFolder(folder)
    return { code: 'FILE_NOT_FOUND', ...(there !== undefined && { folder: there }) }
  }

  /** The nearest folder, from this one upwards but below the root, that contains something that may be shown. */
  async #shownFolder(folder: Buffer): Promise<string | undefined> {
    let at = folder
    for (let tries = 0; at.length > 0 && tries < FOLDERS_TRIED; tries++) {
      const { keys } = await this.#options.store.list(`${at.toString()}/`, { limit: KEYS_TRIED })
      if (keys.some(({ key }) => this.mayOffer('look', key))) return at.toString()
      at = split(at).folder
    }
    return undefined
  }

  /** Models often name the root themselves, such as /workspace: suggests the path without its first folders. */
  async #withPathInside(failure: FileFailure, path: string, use: 'edit' | 'look'): Promise<FileFailure> {
    if (failure.code !== 'PATH_NOT_ALLOWED' || !path.startsWith('/') || path.split('/').includes('..')) return failure
    const inside = await this.#there(withoutFirstFolders(path.replace(/\/+$/, '')), use).catch(() => [])
    return inside.length === 0 ? failure : { ...failure, did_you_mean: inside.slice(0, ANSWERS_LIMIT) }
  }

  /** Selects the paths that are existing files and may be suggested. */
  async #there(paths: readonly string[], use: 'edit' | 'look'): Promise<string[]> {
    const { store } = this.#options
    const allowed = paths.filter(path => this.mayOffer(use, path))
    const found = await Promise.all(
      allowed.map(path =>
        // A path that may not be looked at isn't suggested.
        store.head(path).catch((error: unknown) => {
          if (!(error instanceof StoreRefused)) throw error
          return null
        })
      )
    )
    return allowed.filter((_, i) => found[i] !== null)
  }

  /** Files with the same name in other folders, ignoring case. */
  async #elsewhere(path: string, wanted: string, use: 'edit' | 'look'): Promise<string[]> {
    const { store } = this.#options
    const keys: string[] = []
    for (let after: string | null | undefined; after !== null && keys.length < LOOKED_AT;) {
      const page: Listed = await store.list('', after === undefined ? {} : { after })
      keys.push(...page.keys.map(({ key }) => key))
      after = page.next_after?.startsWith(`${OWN}/`) === true ? BEHIND_OWN : page.next_after
    }
    return keys
      .filter(key => folded(split(Buffer.from(key)).leaf.toString()) === wanted && this.mayOffer(use, key))
      .sort((a, b) => distance(a, path) - distance(b, path))
  }

  /** Whether a key may be shown to a caller as a file to edit, or to look at. */
  mayOffer(use: 'edit' | 'look', path: string): boolean {
    return isPath(path) && this.refusal(use === 'edit' ? 'edit' : 'read', Buffer.from(path)) === null
  }
}

/** Makes an absolute path for the policy: the root is `/`, and contains the folder with editd's own data. */
const realOf = (relative: Buffer): Buffer => Buffer.concat([Buffer.from('/'), relative])
export const OWN_FOLDER = Buffer.from(`/${OWN}`)

/** Whether a path can contain this name: others are neither shown nor changed. */
const isName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
export const isPath = (path: string): boolean => path.split('/').every(isName)
