// Finds files in a folder, a few finds at once. What ripgrep says of files is a hint: each file that it names is opened
// inside the root, judged by the policy and read, and what is found is in those bytes. Does not know HTTP.
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { fail, ok, type Result } from '../../result.ts'
import type { FindFailure, FindQuery, FoundFiles, FoundUse } from '../../workspace/api.ts'
import { readableText } from '../../workspace/decoded-text.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import {
  BadQuery,
  isWalkedAlone,
  keyOfText,
  namesAfter,
  pathOf,
  textOfKey,
  type FindPlace,
  type SortKey
} from './list-names.ts'
import { Looker, whyUnread } from './looker.ts'
import { Pace } from './pace.ts'
import { readBytes, type FileBytes } from './read-bytes.ts'
import { ripgrepPath, type Ripgrep } from './ripgrep.ts'
import { filesBelow, filesWith, searchTexts, type FilesFound, type FoundText } from './search-texts.ts'

/** In ms: how long a find may take, from when it is asked for. Chosen. */
const TIME = 10_000
/** In ms: how long all files are searched at once; then it begins again in order, so that it can go on. Chosen. */
const SOON = 2500
/** How many finds of this process run at once; each runs one ripgrep at a time. Chosen. */
const AT_ONCE = 2
/** How many may wait for these. A bound on memory; chosen, not measured. */
const WAITING = 100
/** Files of the first portion, and how many times as much the next one has. Chosen. */
const FIRST_FILES = 500
const GROWTH = 8
/** Bytes of files in a portion, for each of its files. Chosen: then the first one takes less than a second. */
const FILE_BYTES = 100_000
/** Bytes of the arguments of one run. macOS takes 1 MB together with the environment, Linux 2 MB. */
const ARGUMENTS = 512 * 1024
/** Files that are sorted by their times. A bound on memory; chosen, not measured. */
const DATED = 500_000
/**
 * Bytes of texts that are searched together in memory: at first, so that something is found where that takes long, and
 * at most. Chosen, not measured.
 */
const FIRST_TEXTS = 256 * 1024
const TEXTS = 8 * 1024 * 1024

type Failure = FileFailure | FindFailure
type Found<R> = Omit<FoundFiles<R>, 'path' | 'resolved_path'>

const searching = fail<FileFailure>({ code: 'NOT_READY', reason: 'searching', retry_after: 1 })
const draining = fail<FileFailure>({ code: 'NOT_READY', reason: 'draining', retry_after: 5 })

export class Finder {
  readonly #time: number
  readonly #soon: number
  readonly #most: number
  #left: number
  readonly #waiting: (() => void)[] = []

  /** `time` in ms: for a find, and half of it to wait for its turn; `soon`: to search all files at once. */
  constructor({ time = TIME, soon = SOON, atOnce = AT_ONCE, waiting = WAITING } = {}) {
    this.#time = time
    this.#soon = soon
    this.#left = atOnce
    this.#most = waiting
  }

  /** Failures: FindFailure; NOT_READY (too many wait, the workspace closes, the client has gone). */
  async find<R>(place: FindPlace, query: FindQuery, use: FoundUse<R>): Promise<Result<Found<R>, Failure>> {
    const stop = new AbortController()
    const end = (): void => stop.abort()
    const timer = setTimeout(end, this.#time)
    query.client?.onGone(end)
    place.closing.addEventListener('abort', end)
    try {
      const hasTurn = await this.#turn(stop.signal, this.#time / 2)
      if (!hasTurn) return place.closing.aborted ? draining : searching
      try {
        const program = await ripgrepPath()
        if (program === null) return fail({ code: 'FIND_NOT_SUPPORTED' })
        const found = await findIn(place, query, use, { program, signal: stop.signal, soon: this.#soon })
        if (place.closing.aborted) return draining
        return query.client?.isGone() === true ? searching : found
      } finally {
        this.#pass()
      }
    } finally {
      clearTimeout(timer)
      place.closing.removeEventListener('abort', end)
    }
  }

  /** Whether its turn has come within `time` ms; then it must be passed on. */
  #turn(stop: AbortSignal, time: number): Promise<boolean> {
    if (stop.aborted) return Promise.resolve(false)
    if (this.#left > 0) {
      this.#left--
      return Promise.resolve(true)
    }
    if (this.#waiting.length >= this.#most) return Promise.resolve(false)
    return new Promise(resolve => {
      const ended = (hasTurn: boolean): void => {
        clearTimeout(timer)
        stop.removeEventListener('abort', leave)
        resolve(hasTurn)
      }
      const begin = (): void => ended(true)
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        ended(false)
      }
      const timer = setTimeout(leave, time)
      stop.addEventListener('abort', leave)
      this.#waiting.push(begin)
    })
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#left++
    else next()
  }
}

/** The finds of this process. */
export const FINDER = new Finder()

async function findIn<R>(
  place: FindPlace,
  query: FindQuery,
  use: FoundUse<R>,
  { soon, ...ripgrep }: Omit<Ripgrep, 'cwd' | 'pace'> & { soon: number }
): Promise<Result<Found<R>, Failure>> {
  const looker = new Looker(place.root)
  const root = place.root.openFolder(Buffer.alloc(0))
  try {
    const found = new Find(
      place,
      query,
      use,
      { ...ripgrep, pace: new Pace(), cwd: root.at('.').toString() },
      looker,
      soon
    )
    return ok(await found.run())
  } catch (error) {
    if (error instanceof BadQuery) return fail(error.failure)
    throw error
  } finally {
    root.close()
    looker.close()
  }
}

/** A file that was read. */
interface ReadFile extends FileBytes {
  path: string
}

/**
 * A file to look at. `isReturned`: if it is found, and there is room. `isOther`: if it is binary, nothing says that it
 * holds the text.
 */
interface Candidate {
  key: SortKey
  path: Buffer
  isReturned: boolean
  isOther?: boolean
}

interface TextOfFile extends Candidate {
  file: ReadFile
  text: Buffer
}

/** One query while it runs. */
class Find<R> {
  readonly #place: FindPlace
  readonly #query: FindQuery
  readonly #use: FoundUse<R>
  readonly #ripgrep: Ripgrep
  readonly #looker: Looker
  readonly #soon: number
  readonly #found: Found<R> = {
    files: [],
    total_files: 0,
    total_matches: 0,
    searched_files: 0,
    skipped: { binary: 0, too_large: 0, unreadable: 0 }
  }
  /** The last file returned. */
  #last: SortKey = ''
  /** More files are found, after the last one returned. */
  #hasMore = false
  /** Not all matches were looked at. */
  #isLow = false
  /** It is done with the files up to this one, in order. */
  #past: SortKey = ''
  /** It is done with all files that might be returned. */
  #isDone = false
  /** It is done with all files. */
  #isAll = false
  /** Files of the next portion. */
  #most = FIRST_FILES

  constructor(place: FindPlace, query: FindQuery, use: FoundUse<R>, ripgrep: Ripgrep, looker: Looker, soon: number) {
    this.#soon = soon
    this.#place = place
    this.#query = query
    this.#use = use
    this.#ripgrep = ripgrep
    this.#looker = looker
  }

  get #isStopped(): boolean {
    return this.#ripgrep.signal.aborted
  }

  async run(): Promise<Found<R>> {
    const { text, sort, after } = this.#query
    const found = this.#found
    const key = after === undefined ? '' : keyOfText(after)
    const direct = text === undefined ? null : await this.#directly(text)
    if (direct !== null) await this.#finish(direct, key, text!)
    else if (sort === 'modified') await this.#newestFirst(key)
    else {
      // What is to be returned comes first: so going on always gets further.
      this.#isDone = await this.#walk(key, null)
      this.#isAll = this.#isDone && (key === '' || (await this.#walk('', key)))
    }
    if (!this.#isAll) found.truncated = 'time'
    else if (this.#isLow) found.truncated = 'size'
    else if (this.#hasMore) found.truncated = 'limit'
    const next = this.#hasMore ? this.#last : this.#isDone ? '' : this.#past
    if (next !== '') found.next_after = textOfKey(next)
    return found
  }

  /** Searches the files that one walk has found. */
  async #finish(found: FilesFound, after: SortKey, text: FoundText): Promise<void> {
    const { keys, others, searched, too_large, unreadable } = found
    const candidates = (some: readonly SortKey[], isReturned: boolean): Candidate[] =>
      some.map(key => ({ ...candidateAt(isReturned)(key), isOther: others.has(key) }))
    this.#found.searched_files = searched
    this.#found.skipped.too_large = too_large
    this.#found.skipped.unreadable = unreadable
    const from = placeAfter(keys, after)
    this.#isDone = await this.#search(candidates(keys.slice(from), true), text)
    this.#isAll = this.#isDone && (await this.#search(candidates(keys.slice(0, from), false), text))
  }

  /**
   * Looks at all files after this place, in order: to return them if `to` is null; else to count those up to `to`.
   * False: stopped.
   */
  async #walk(from: SortKey, to: SortKey | null): Promise<boolean> {
    const { text } = this.#query
    for (let [after, isEnd] = [from, false]; !isEnd;) {
      const names = await namesAfter(this.#place, this.#query, after, this.#ripgrep)
      if (names === null) return false
      this.#found.skipped.unreadable += names.unreadable
      const keys = to === null ? names.keys : names.keys.filter(key => key <= to)
      const files = keys.map(candidateAt(to === null))
      if (!(await (text === undefined ? this.#byName(files) : this.#byText(files, text)))) return false
      isEnd = names.isEnd || keys.length < names.keys.length
      after = names.keys.at(-1) ?? after
    }
    return true
  }

  /** Searches all files at once, if the caller may read all and it doesn't take long; null otherwise. */
  async #directly(text: FoundText): Promise<FilesFound | null> {
    const { policy, pin, hasEndings } = this.#place
    if (policy.limit !== undefined || hasEndings || pin.stat.isFile() || !isWalkedAlone(this.#place)) return null
    const soon = AbortSignal.any([this.#ripgrep.signal, AbortSignal.timeout(this.#soon)])
    return filesBelow(text, this.#place, this.#query, { ...this.#ripgrep, signal: soon })
  }

  /** Finds files by name, the newest first. */
  async #newestFirst(after: SortKey): Promise<void> {
    const dated: { key: SortKey; time: bigint }[] = []
    for (let [last, isEnd] = ['', false]; !isEnd;) {
      const names = await namesAfter(this.#place, this.#query, last, this.#ripgrep)
      if (names === null) return
      this.#found.skipped.unreadable += names.unreadable
      for (const key of names.keys) {
        const at = this.#looker.look(pathOf(key))
        if (typeof at !== 'string') dated.push({ key, time: at.mtimeNs })
        await this.#ripgrep.pace.rest()
      }
      isEnd = names.isEnd || dated.length > DATED
      this.#isLow = !names.isEnd
      last = names.keys.at(-1) ?? last
    }
    const keys = dated.sort((a, b) => Number(b.time - a.time)).map(({ key }) => key)
    const from = keys.indexOf(after) + 1
    this.#isDone = await this.#byName(keys.slice(from).map(candidateAt(true)))
    this.#isAll = this.#isDone && (await this.#byName(keys.slice(0, from).map(candidateAt(false))))
  }

  /** The size of the file; null: it isn't there, or `skipped` says why it isn't read. */
  #sizeOf(path: Buffer): number | null {
    const at = this.#looker.look(path)
    if (typeof at === 'string') return this.#unread(at)
    return at.size > this.#place.maxFileSize ? this.#unread('too_large') : Number(at.size)
  }

  /** Finds these files by name; false: stopped. */
  async #byName(files: readonly Candidate[]): Promise<boolean> {
    for (const { key, path, isReturned } of files) {
      await this.#ripgrep.pace.rest()
      if (this.#isStopped) return false
      this.#past = key
      if (this.#sizeOf(path) === null) continue
      this.#found.searched_files++
      const hasRoom = isReturned && this.#found.files.length < this.#query.max_files
      const file = hasRoom ? await this.#read(path) : null
      if (hasRoom && file === null) continue
      this.#found.total_files++
      if (file !== null) this.#add(key, file, 0, this.#use.cut(Buffer.alloc(0), [], file.path))
      else if (isReturned) this.#hasMore = true
    }
    return true
  }

  /** Searches these files, a portion after the other; without any, checks the expression. False: stopped. */
  async #byText(files: readonly Candidate[], text: FoundText): Promise<boolean> {
    for (let at = 0; at < files.length || files.length === 0; this.#most *= GROWTH) {
      const portion: Candidate[] = []
      for (let [size, length] = [0, 0]; at < files.length && portion.length < this.#most && length < ARGUMENTS; at++) {
        await this.#ripgrep.pace.rest()
        const file = files[at]!
        const bytes = this.#sizeOf(file.path)
        if (bytes === null) continue
        portion.push(file)
        // Each argument also takes a pointer and its own end.
        length += file.path.length + 11
        size += bytes
        if (size > this.#most * FILE_BYTES) length = ARGUMENTS
      }
      if (!(await this.#searchByPath(portion, text))) return false
      if (files.length === 0) return true
      this.#past = files[at - 1]!.key
    }
    return true
  }

  /** Searches these files; false: stopped. */
  async #searchByPath(portion: readonly Candidate[], text: FoundText): Promise<boolean> {
    const named = portion.filter(({ path }) => isUtf8(path)).map(({ path }) => path.toString())
    const hinted = await filesWith(text, named, this.#ripgrep)
    if (hinted === null) return false
    this.#found.skipped.unreadable += hinted.unreadable
    this.#found.searched_files += portion.length
    // A file that is named as the one to look in is read in any case: it may be binary.
    const isOne = this.#place.pin.stat.isFile()
    const searched = portion.flatMap(candidate => {
      const path = candidate.path.toString()
      if (isOne || !isUtf8(candidate.path) || hinted.paths.has(path)) return [candidate]
      return hinted.others.has(path) ? [{ ...candidate, isOther: true }] : []
    })
    return this.#search(searched, text)
  }

  /** Reads and searches these files; false: stopped. */
  async #search(files: readonly Candidate[], text: FoundText): Promise<boolean> {
    let together: TextOfFile[] = []
    let size = 0
    let most = FIRST_TEXTS
    for (const [i, candidate] of files.entries()) {
      const read = await this.#read(candidate.path)
      const readable = read && (await readableText(read.bytes))
      if (read !== null && readable === null && candidate.isOther !== true) this.#passBinary(read.path)
      if (read !== null && readable !== null) together.push({ ...candidate, file: read, text: readable })
      size += readable?.length ?? 0
      if (size < most && i < files.length - 1) continue
      if (!(await this.#searchTexts(together, text))) return false
      together = []
      size = 0
      most = Math.min(TEXTS, most * GROWTH)
      await this.#ripgrep.pace.rest()
    }
    return !this.#isStopped
  }

  /** Finds what is in these texts; false: stopped. */
  async #searchTexts(texts: readonly TextOfFile[], wanted: FoundText): Promise<boolean> {
    const matches = await searchTexts(
      wanted,
      texts.map(({ text }) => text),
      this.#ripgrep,
      this.#use.most
    )
    for (const [i, { key, file, text, isReturned }] of texts.entries()) {
      const found = matches[i]
      if (found === undefined || (this.#isStopped && this.#use.select !== undefined)) return false
      if (found === 'too_long') this.#found.skipped.too_large++
      else {
        const { select } = this.#use
        const ranges = await (select === undefined ? found.ranges : select(text, found.ranges, file.path))
        this.#isLow ||= select !== undefined && found.count > found.ranges.length
        const count = select === undefined ? found.count : ranges.length
        if (count > 0) {
          this.#found.total_files++
          this.#found.total_matches += count
          if (isReturned && this.#found.files.length === this.#query.max_files) this.#hasMore = true
          else if (isReturned) this.#add(key, file, count, this.#use.cut(text, ranges, file.path))
        }
      }
      this.#past = key
      await this.#ripgrep.pace.rest()
    }
    return true
  }

  #add(key: SortKey, { path, bytes, stat }: ReadFile, count: number, value: R): void {
    const modified_at = new Date(Number(stat.mtimeNs / 1_000_000n))
    const file_hash = hash('sha256', bytes, 'hex')
    const after = textOfKey(key)
    const names = after === path ? { path } : { path, after }
    this.#found.files.push({ ...names, file_hash, file_size: bytes.length, modified_at, count, value })
    this.#last = key
  }

  /** Reads the file at this very path, if it may be read; null: it isn't there, or `skipped` says why. */
  async #read(path: Buffer): Promise<ReadFile | null> {
    const { root, policy, maxFileSize } = this.#place
    const pinned = root.pin(path)
    if (!pinned.ok) return this.#unread(pinned.failure.code === 'PERMISSION_DENIED' ? 'unreadable' : 'nothing')
    const pin = pinned.value
    try {
      if (!pin.relative.equals(path) || !pin.stat.isFile() || policy.judge('read', pin.real, path) !== null) return null
      const read = await readBytes(pin, maxFileSize).catch(whyUnread)
      return typeof read === 'string' ? this.#unread(read) : { path: path.toString(), ...read }
    } finally {
      pin.close()
    }
  }

  #passBinary(path: string): void {
    this.#found.searched_files--
    this.#found.skipped.binary++
    this.#use.binary?.(path)
  }

  #unread(why: 'nothing' | 'unreadable' | 'too_large'): null {
    if (why !== 'nothing') this.#found.skipped[why]++
    return null
  }
}

const candidateAt =
  (isReturned: boolean) =>
  (key: SortKey): Candidate => ({ key, path: pathOf(key), isReturned })

/** The place of the first key after this one. */
function placeAfter(keys: readonly SortKey[], key: SortKey): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle]! <= key) low = middle + 1
    else high = middle
  }
  return low
}
