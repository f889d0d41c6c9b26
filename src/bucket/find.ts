// Finds objects below a prefix by their keys and their text. Each one is judged by the policy, and read as every other
// read does. Does not know HTTP, or how a text is searched.
import { StoreRefused, type Listed, type ListOptions } from '../object-store/store.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Client, FindFailure, FindQuery, FoundFile, FoundFiles, FoundUse, TextRange } from '../workspace/api.ts'
import { readableText } from '../workspace/decoded-text.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { PathFilter } from '../workspace/globs.ts'
import type { Queues } from '../workspace/queue.ts'
import type { RequestedPath } from '../workspace/results.ts'
import { readContent, type ObjectContent, type ReadContext } from './content.ts'
import { isPath, type Objects } from './objects.ts'

/** How many finds of a workspace run at once; others wait for `lockTimeout`. Chosen. */
export const FINDS_AT_ONCE = 2
/** What bounds one find. */
export interface FindLimits {
  /** In ms, once it runs. */
  time: number
  /** Objects read, and their bytes together; an object larger than that isn't read. */
  objects: number
  bytes: number
  /** Keys listed that the caller may know; each request lists 1000, or no more than this. */
  listed: number
}
/** Chosen, not measured. */
const LIMITS: FindLimits = { time: 10_000, objects: 1000, bytes: 64e6, listed: 100_000 }
/** Part of the time left that a search gets, so that what it found by then can be answered. Chosen. */
const SEARCH_SHARE = 0.9
/**
 * How many objects are read at once, unless these bytes are reached before. Chosen: 400 a second, if each takes 20 ms.
 */
const READ_AT_ONCE = 8
const BYTES_AT_ONCE = 8e6
/** Sorts after all keys below a folder; no key has it. */
const BEHIND = '\u{10ffff}'

/** Searches texts in other threads: one for each find that runs, so that none waits for another. */
export interface TextSearcher {
  /** Whether an expression can be compiled; null: that takes too long. */
  check(request: SearchedText): Promise<Result<null, { message: string }> | null>
  /**
   * What is in a text, within `time` ms; null if the time was over long ago. `ranges`: start and end of each match in
   * turn; null: there are too many. The buffer moves: the one returned holds the same bytes.
   */
  searchRanges(
    text: Buffer,
    request: SearchedText,
    time: number
  ): Promise<{ text: Buffer; ranges: Uint32Array | null; isStopped: boolean } | null>
  close(): Promise<void>
}

type SearchedText = { text: string } & Omit<NonNullable<FindQuery['text']>, 'pattern'>

export interface FindContext extends ReadContext {
  objects: Objects
  searcher: TextSearcher
  finds: Queues
  /** Replaces `LIMITS` in tests. */
  findLimits?: FindLimits | undefined
}

type Failure = FileFailure | FindFailure
const searching = fail<FileFailure>({ code: 'NOT_READY', reason: 'searching', retry_after: 1 })

let finds = 0

/** Failures: FindFailure; what `look` fails with; NOT_READY (too many wait, or the client has gone). */
export async function findObjects<R>(
  context: FindContext,
  asked: RequestedPath,
  query: FindQuery,
  use: FoundUse<R>
): Promise<Result<FoundFiles<R>, Failure>> {
  const lane = String(finds++ % FINDS_AT_ONCE)
  const turn = await context.finds.turn(lane, context.finds.deadline())
  if (!turn.ok) return searching
  const limits = context.findLimits ?? LIMITS
  const stop = new Stop(limits.time, query.client)
  try {
    const filter = await filterOf(query)
    if (!filter.ok) return filter
    const search = query.text && { ...query.text, text: query.text.pattern }
    const checked = search?.regex === true ? await context.searcher.check(search) : ok(null)
    if (checked === null) return fail({ code: 'BAD_REGEX', message: 'it takes too long to compile' })
    if (!checked.ok) return fail({ code: 'BAD_REGEX', message: checked.failure.message })
    const found = await new Find(context, { asked, query, search, filter: filter.value, use, stop, limits }).run()
    return query.client?.isGone() === true ? searching : found
  } finally {
    stop.end()
    context.finds.pass(lane, 'next')
  }
}

/** Which paths the globs of a query take. Most queries have none: the code for them is loaded when needed. */
async function filterOf({ include, exclude }: FindQuery): Promise<Result<PathFilter, FindFailure>> {
  if (include.length + exclude.length === 0) return ok(() => true)
  const { pathFilter } = await import('../workspace/globs.ts')
  return pathFilter(include, exclude)
}

const STOPPED = Symbol('stopped')

/** The end of a find's time, or of its client's waiting. */
class Stop {
  readonly #until: number
  readonly #time: number
  readonly #timer: NodeJS.Timeout
  readonly #stopped: Promise<typeof STOPPED>

  constructor(time: number, client: Client | undefined) {
    let stop = (): void => {}
    this.#stopped = new Promise(resolve => {
      stop = () => resolve(STOPPED)
    })
    this.#time = time
    this.#until = performance.now() + time
    this.#timer = setTimeout(stop, time)
    client?.onGone(stop)
  }

  /** In ms; at least 1. */
  get left(): number {
    return Math.max(1, this.#until - performance.now())
  }

  /** Whether most of the time is left. */
  get hasMost(): boolean {
    return this.left > this.#time / 2
  }

  /** What the work gives, or STOPPED, and then the work goes on unheeded. */
  async unless<T>(work: Promise<T>): Promise<T | typeof STOPPED> {
    work.catch(() => {})
    return Promise.race([this.#stopped, work])
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

type Item = Listed['keys'][number]

/** A file that was read. `bytes` may move to another thread. */
interface ReadFile extends Pick<FoundFile<unknown>, 'path' | 'file_hash' | 'file_size' | 'modified_at'> {
  bytes: Buffer
}

interface FindTask<R> {
  asked: RequestedPath
  query: FindQuery
  search: SearchedText | undefined
  filter: PathFilter
  use: FoundUse<R>
  stop: Stop
  limits: FindLimits
}

/** One query while it runs. */
class Find<R> {
  readonly #context: FindContext
  readonly #task: FindTask<R>
  /** In bytes: larger objects aren't read. */
  readonly #largest: number
  readonly #found: FoundFiles<R>
  /** Why nothing more is looked at. */
  #end: 'time' | 'size' | undefined
  /** By name alone: as much was read as may be, and other files are only counted. */
  #hasReadAll = false
  /** Files were found that aren't returned. */
  #isCut = false
  /** The last key looked at that the caller may know. */
  #looked: string | undefined
  #objects = 0
  #bytes = 0
  #folder: { path: string; dead: string | undefined } = { path: '', dead: undefined }

  constructor(context: FindContext, task: FindTask<R>) {
    this.#context = context
    this.#task = task
    this.#largest = Math.min(context.maxFileSize, task.limits.bytes)
    this.#found = {
      path: task.asked.path,
      files: [],
      total_files: 0,
      total_matches: 0,
      searched_files: 0,
      skipped: { binary: 0, too_large: 0, unreadable: 0 }
    }
  }

  async run(): Promise<Result<FoundFiles<R>, Failure>> {
    const { query, search } = this.#task
    const files = await this.#files()
    if (!files.ok) return files
    const isNewest = query.sort === 'modified' && search === undefined
    for await (const items of isNewest ? this.#newestFirst(files.value) : files.value) {
      const failure = await this.#take(items)
      if (failure !== null) return fail(failure)
      if (this.#end !== undefined) break
    }
    const { path, files: found } = this.#found
    const truncated = this.#end ?? (this.#hasReadAll ? 'size' : this.#isCut ? 'limit' : undefined)
    if (truncated === undefined) return ok(this.#found)
    const looked = isNewest ? undefined : (this.#looked ?? query.after ?? path)
    const next_after = (this.#isCut ? found.at(-1)?.path : undefined) ?? looked
    return ok({ ...this.#found, truncated, ...(next_after !== undefined && { next_after }) })
  }

  /** The files that may be found, some at a time, in byte order of their keys. Failures are those of `look`. */
  async #files(): Promise<Result<AsyncIterable<Item[]> | Iterable<Item[]>, Failure>> {
    const { objects, store } = this.#context
    const { relative, isFolder } = this.#task.asked
    const key = relative.toString()
    const refusal = objects.refusal('read', relative)
    const facts = refusal === null && key !== '' && !isFolder ? await store.head(key) : null
    if (facts !== null) return ok([[{ ...facts, key }]])
    const hidden = objects.refusal('list', relative)
    if (hidden !== null) return fail(refusal ?? hidden)
    if (!(await objects.isFolder(relative))) return fail(refusal ?? (await objects.notFound(relative, 'look')))
    return ok(this.#filesBelow(key === '' ? '' : `${key}/`))
  }

  async *#filesBelow(prefix: string): AsyncGenerator<Item[]> {
    const { query, stop, limits } = this.#task
    const { store, objects } = this.#context
    const after = query.sort === 'modified' || query.after === '.' ? undefined : query.after
    let from: string | null = after ?? ''
    for (let listed = 0; from !== null;) {
      const options: ListOptions = { limit: Math.min(1000, limits.listed), ...(from !== '' && { after: from }) }
      const page: Listed | typeof STOPPED = await stop.unless(store.list(prefix, options))
      if (page === STOPPED) {
        this.#end = 'time'
        return
      }
      yield page.keys.filter(({ key }) => this.#takes(key))
      const known = page.keys.filter(({ key }) => isPath(key) && objects.refusal('list', Buffer.from(key)) === null)
      this.#looked = known.at(-1)?.key ?? this.#looked
      listed += known.length
      from = page.next_after
      if (from !== null && listed >= limits.listed) {
        this.#end = 'size'
        return
      }
      const dead: string | undefined = from === null ? undefined : this.#deadFolder(from)
      if (dead !== undefined) from = `${dead}/${BEHIND}`
    }
  }

  #takes(key: string): boolean {
    return (
      !isGit(key) &&
      this.#deadFolder(key) === undefined &&
      this.#context.objects.mayOffer('look', key) &&
      this.#task.filter(Buffer.from(key), false)
    )
  }

  /** The outermost folder above a key in which nothing may be found. */
  #deadFolder(key: string): string | undefined {
    const folders = key.split('/').slice(0, -1)
    const path = folders.join('/')
    if (path !== this.#folder.path) {
      const above = folders.map((_, i) => folders.slice(0, i + 1).join('/'))
      this.#folder = { path, dead: above.find(folder => this.#isDead(folder)) }
    }
    return this.#folder.dead
  }

  #isDead(folder: string): boolean {
    const relative = Buffer.from(folder)
    return (
      !isPath(folder) ||
      isGit(folder) ||
      this.#context.objects.refusal('list', relative) !== null ||
      !this.#task.filter(relative, true)
    )
  }

  async *#newestFirst(files: AsyncIterable<Item[]> | Iterable<Item[]>): AsyncGenerator<Item[]> {
    const all: Item[] = []
    for await (const items of files) all.push(...items)
    const end = this.#end
    if (end === 'time') return
    // The newest of those that were listed.
    this.#end = undefined
    const sorted = all.toSorted((a, b) => b.modified_at.getTime() - a.modified_at.getTime())
    yield sorted.slice(sorted.findIndex(({ key }) => key === this.#task.query.after) + 1)
    this.#end ??= end
  }

  /** Looks at these files in order, and takes what is found, until the find ends. Returns why nothing can be found. */
  async #take(items: readonly Item[]): Promise<Failure | null> {
    const { limits, search } = this.#task
    const isByName = search === undefined
    for (let at = 0; at < items.length && this.#end === undefined;) {
      const room = isByName ? this.#task.query.max_files - this.#found.files.length : READ_AT_ONCE
      if (room === 0 || this.#hasReadAll) {
        this.#count(items.slice(at))
        return null
      }
      const together: Item[] = []
      let bytes = 0
      for (; at < items.length && together.length < Math.min(room, READ_AT_ONCE) && bytes < BYTES_AT_ONCE; at++) {
        const item = items[at]!
        if (item.size > this.#largest) {
          this.#found.skipped.too_large++
          continue
        }
        if (this.#objects === limits.objects || this.#bytes + item.size > limits.bytes) {
          if (isByName) this.#hasReadAll = true
          else this.#end = 'size'
          break
        }
        together.push(item)
        bytes += item.size
        this.#objects++
        this.#bytes += item.size
      }
      const failure = await this.#read(together)
      if (failure !== null) return failure
    }
    return null
  }

  /** Counts files by their names alone. */
  #count(items: readonly Item[]): void {
    const fitting = items.filter(({ size }) => size <= this.#largest)
    this.#found.searched_files += items.length
    this.#found.total_files += fitting.length
    this.#found.skipped.too_large += items.length - fitting.length
    this.#isCut ||= fitting.length > 0
  }

  async #read(items: readonly Item[]): Promise<Failure | null> {
    const { stop, search } = this.#task
    const taken: (() => void)[] = []
    const reads = items.map(({ key }) => this.#contentOf(key, taken))
    try {
      const contents = await stop.unless(Promise.all(reads))
      if (contents === STOPPED) {
        this.#end = 'time'
        return null
      }
      const files: ReadFile[] = []
      for (const [i, content] of contents.entries()) {
        if (content === null) continue
        if (content === 'unreadable') this.#found.skipped.unreadable++
        else if (content.ok) files.push(readFile(items[i]!.key, content.value))
        else if (content.failure.code !== 'FILE_TOO_LARGE') return content.failure
        else this.#found.skipped.too_large++
      }
      const isDone = search === undefined ? this.#takeNamed(files) : await this.#search(files, search)
      if (isDone) this.#looked = items.at(-1)?.key ?? this.#looked
      else this.#end = 'time'
      return null
    } finally {
      // Those that go on unheeded keep their memory until they end.
      Promise.allSettled(reads).then(() => {
        for (const release of taken) release()
      })
    }
  }

  /** Null: there is no object any more. */
  async #contentOf(
    key: string,
    taken: (() => void)[]
  ): Promise<Awaited<ReturnType<typeof readContent>> | 'unreadable'> {
    try {
      return await readContent({ ...this.#context, maxFileSize: this.#largest }, key, taken)
    } catch (error) {
      if (error instanceof StoreRefused && !error.isOfAll) return 'unreadable'
      throw error
    }
  }

  #takeNamed(files: readonly ReadFile[]): true {
    this.#found.searched_files += files.length
    this.#found.total_files += files.length
    for (const { bytes: _, ...file } of files) {
      this.#found.files.push({ ...file, count: 0, value: this.#task.use.cut(Buffer.alloc(0), [], file.path) })
    }
    return true
  }

  /** Whether there was time to search all of them. */
  async #search(files: readonly ReadFile[], search: SearchedText): Promise<boolean> {
    for (const file of files) if (!(await this.#searchFile(file, search))) return false
    return true
  }

  async #searchFile(file: ReadFile, search: SearchedText): Promise<boolean> {
    const { stop } = this.#task
    const isFirst = this.#found.searched_files === 0 && stop.hasMost
    const text = await readableText(file.bytes)
    const searching = this.#context.searcher.searchRanges(text ?? file.bytes, search, stop.left * SEARCH_SHARE)
    const searched = await stop.unless(searching)
    if (searched === STOPPED || searched === null || (searched.isStopped && searched.ranges !== null)) {
      // A caller who goes on begins with it, and has all the time for it; unless that was so now.
      if (isFirst) {
        this.#found.skipped.too_large++
        this.#looked = file.path
      }
      return false
    }
    this.#found.searched_files++
    await this.#takeFound(file, searched.text, searched.ranges, text === null)
    this.#looked = file.path
    return true
  }

  async #takeFound(
    { bytes: _, ...file }: ReadFile,
    text: Buffer,
    ranges: Uint32Array | null,
    isBinary: boolean
  ): Promise<void> {
    const found = this.#found
    const { use, query } = this.#task
    if (ranges === null) found.skipped.too_large++
    else if (isBinary && (ranges.length > 0 || file.path === this.#task.asked.path)) {
      found.searched_files--
      found.skipped.binary++
      use.binary?.(file.path)
    }
    if (ranges === null || isBinary || ranges.length === 0) return
    const matches: TextRange[] = []
    for (let i = 0; i < ranges.length; i += 2) matches.push({ start: ranges[i]!, end: ranges[i + 1]! })
    const selected = (await use.select?.(text, matches, file.path)) ?? matches
    if (selected.length === 0) return
    found.total_files++
    found.total_matches += selected.length
    if (found.files.length === query.max_files) this.#isCut = true
    else found.files.push({ ...file, count: selected.length, value: use.cut(text, selected, file.path) })
  }
}

const isGit = (path: string): boolean => /(^|\/)\.git$/i.test(path)

const readFile = (path: string, { bytes, digest, modified_at }: ObjectContent): ReadFile => ({
  path,
  file_hash: digest,
  file_size: bytes.length,
  modified_at,
  bytes
})
