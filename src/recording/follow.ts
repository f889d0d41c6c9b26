// Readers of what is changed, who go on from a cursor. They all read up to the same place, so that what comes next is read
// once for all who have caught up. Does not know requests, connections, or how events are written.
import type { CursorGone, FeedPage, History, Told } from '../log/api.ts'
import type { Cursor } from '../log/cursor.ts'
import { ok, type Result } from '../result.ts'
import type { Follower } from '../workspace/api.ts'
import { unlessUnreadable } from '../workspace/errno.ts'
import type { NotReady } from '../workspace/failure.ts'
import { isIn } from '../workspace/path.ts'
import { isNote } from './chain.ts'

/** Whether the file at this real path below the root may be read, whether it is there or not. */
export type MayRead = (path: Buffer) => boolean

/** Of which files changes are asked for, by their real paths: of one, or of those in a directory or below it. */
export interface Where {
  path?: Buffer
  under?: Buffer
}

/** What a program that waits asks for. `wait_ms`: 0: not at all. */
export interface Waiting extends Where {
  limit: number
  wait_ms: number
}

/** Pages that are kept for those who come to the same place. */
const KEPT = 4

export class Followers {
  readonly #history: History
  readonly #all = new Set<FeedReader>()
  readonly #pages = new Map<string, Promise<Result<FeedPage, CursorGone>>>()
  /** What of a page those are told who may read the same. */
  readonly #told = new WeakMap<FeedPage, Map<MayRead, FeedPage>>()
  /** How far everybody may read; null: it has to be looked. */
  #until: Promise<Cursor> | null = null
  #unwatch: (() => void) | undefined
  #isClosed = false

  constructor(history: History) {
    this.#history = history
  }

  /**
   * From a cursor on, or from now on. Readers who are given the same `mayRead` share what it comes to. CURSOR_GONE:
   * nothing can be told.
   */
  follow(
    after: Cursor | null,
    mayRead: MayRead,
    textOf: Follower['textOf']
  ): Promise<Result<Follower, CursorGone | NotReady>> {
    return unlessUnreadable(() => this.#follow(after, mayRead, textOf))
  }

  async #follow(
    after: Cursor | null,
    mayRead: MayRead,
    textOf: Follower['textOf']
  ): Promise<Result<Follower, CursorGone>> {
    // From here on it is known when there is more.
    this.#unwatch ??= this.#history.watch(() => {
      this.#until = null
      for (const reader of this.#all) reader.wake()
    })
    const reader = new FeedReader(this, mayRead, textOf)
    this.#all.add(reader)
    try {
      reader.after = after ?? (await this.#history.feedEnd())
      const first = await this.#history.readOn(reader.after, 1)
      if (!first.ok || this.#isClosed) reader.end()
      // It may be further on than what the others have read.
      this.#until = null
      return first.ok ? ok(reader) : first
    } catch (error) {
      reader.end()
      throw error
    }
  }

  /** Ends all readers, also those that come. */
  close(): void {
    this.#isClosed = true
    for (const reader of this.#all) reader.end()
  }

  leave(reader: FeedReader): void {
    this.#all.delete(reader)
    if (this.#all.size > 0) return
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#pages.clear()
  }

  /** What may be told after a cursor. */
  async read(after: Cursor, most: number, mayRead: MayRead): Promise<Result<FeedPage, CursorGone | NotReady>> {
    const page = await unlessUnreadable(() => this.#pageAfter(after, most))
    return page.ok ? ok(this.#toldOf(page.value, mayRead)) : page
  }

  #toldOf(page: FeedPage, mayRead: MayRead): FeedPage {
    const known = this.#told.get(page) ?? new Map<MayRead, FeedPage>()
    this.#told.set(page, known)
    const allowed = known.get(mayRead) ?? { ...page, told: page.told.filter(({ facts }) => mayRead(facts.path)) }
    known.set(mayRead, allowed)
    return allowed
  }

  async #pageAfter(after: Cursor, most: number): Promise<Result<FeedPage, CursorGone>> {
    this.#until ??= this.#history.feedEnd().catch((error: unknown) => {
      this.#until = null
      throw error
    })
    const until = await this.#until
    const place = `${most} ${after.toString()} ${until.toString()}`
    const page =
      this.#pages.get(place) ??
      this.#read(after, most, until).catch((error: unknown) => {
        this.#pages.delete(place)
        throw error
      })
    this.#pages.set(place, page)
    for (const [oldest] of this.#pages) {
      if (this.#pages.size <= KEPT) break
      this.#pages.delete(oldest)
    }
    return page
  }

  async #read(after: Cursor, most: number, until: Cursor): Promise<Result<FeedPage, CursorGone>> {
    const page = await this.#history.readOn(after, most, until)
    return page.ok ? ok({ ...page.value, told: page.value.told.filter(({ facts }) => isTold(facts)) }) : page
  }
}

/** The next changes that are asked for, as soon as there are any; none where it waited in vain. */
export async function nextChanges(
  follower: Follower,
  { limit, wait_ms, ...where }: Waiting
): Promise<Result<readonly Told[], CursorGone | NotReady>> {
  let isOver = wait_ms === 0
  let over: () => void
  const end = new Promise<void>(resolve => {
    over = resolve
  })
  const timer = setTimeout(() => {
    isOver = true
    over()
  }, wait_ms)
  try {
    for (;;) {
      const page = await follower.next(limit)
      if (!page.ok) return page
      const told = page.value.filter(({ facts }) => isWanted(facts.path, where))
      const hasCaughtUp = page.value.length === 0
      if (told.length > 0 || follower.isEnded || (hasCaughtUp && isOver)) return ok(told)
      if (hasCaughtUp) await Promise.race([follower.more(), end])
    }
  } finally {
    clearTimeout(timer)
  }
}

const isWanted = (real: Buffer, { path, under }: Where): boolean =>
  (path === undefined || real.equals(path)) && (under === undefined || under.length === 0 || isIn(real, under))

/** What changed nothing is told only if it is a verdict. */
const isTold = (facts: Told['facts']): boolean => facts.operation === 'review' || !isNote(facts)

class FeedReader implements Follower {
  readonly #followers: Followers
  readonly #mayRead: MayRead
  #isWoken = false
  #wake: (() => void) | undefined
  isEnded = false
  after!: Cursor

  readonly textOf: Follower['textOf']

  constructor(followers: Followers, mayRead: MayRead, textOf: Follower['textOf']) {
    this.#followers = followers
    this.#mayRead = mayRead
    this.textOf = textOf
  }

  async next(most: number): Promise<Result<readonly Told[], CursorGone | NotReady>> {
    for (;;) {
      // What comes from here on wakes it again.
      this.#isWoken = false
      const page = await this.#followers.read(this.after, most, this.#mayRead)
      if (!page.ok) return page
      const { told, next, isEnd } = page.value
      this.after = next
      if (!isEnd) this.#isWoken = true
      if (told.length > 0 || isEnd || this.isEnded) return ok(told)
    }
  }

  more(): Promise<void> {
    if (this.#isWoken || this.isEnded) return Promise.resolve()
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  end(): void {
    this.isEnded = true
    this.#followers.leave(this)
    this.#wake?.()
  }
}
