// Readers that follow changes from a cursor on. All read up to the same position, so that the next page is read once
// for all who have caught up. Does not know requests, connections, or how events are written.
import type { CursorGone, FeedPage, History, ChangeEvent } from '../log/api.ts'
import type { Cursor } from '../log/cursor.ts'
import { ok, type Result } from '../result.ts'
import type { Follower } from '../workspace/api.ts'
import { unlessUnreadable } from '../workspace/errno.ts'
import type { NotReady } from '../workspace/failure.ts'
import { isIn } from '../workspace/path.ts'
import { isNote } from './chain.ts'

/** Whether the file at this real path below the root may be read, whether it exists or not. */
type MayRead = (path: Buffer) => boolean

/** Limits changes to one file, or to files in a directory or below it, by real paths. */
export interface Where {
  path?: Buffer
  under?: Buffer
}

/** What a waiting client asks for. `wait_ms`: 0: don't wait. */
interface Waiting extends Where {
  limit: number
  wait_ms: number
}

/** How many pages are kept for readers that reach the same position. */
const KEPT = 4

export class Followers {
  readonly #history: History
  readonly #all = new Set<FeedReader>()
  readonly #pages = new Map<string, Promise<Result<FeedPage, CursorGone>>>()
  /** The allowed part of a page, shared by readers with the same rights. */
  readonly #allowed = new WeakMap<FeedPage, Map<MayRead, FeedPage>>()
  /** The position up to which all may read; null: it has to be looked up. */
  #until: Promise<Cursor> | null = null
  #unwatch: (() => void) | undefined
  #isClosed = false

  constructor(history: History) {
    this.#history = history
  }

  /**
   * Follows changes from a cursor on, or from now on. Readers with the same `mayRead` share filtered pages.
   * CURSOR_GONE: changes after the cursor can't be read.
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
    // From here on the history announces new changes.
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
      // This reader's cursor may be ahead of what the others have read.
      this.#until = null
      return first.ok ? ok(reader) : first
    } catch (error) {
      reader.end()
      throw error
    }
  }

  /** Ends all readers, including later ones. */
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

  /** Returns the changes after a cursor that the reader may see. */
  async read(after: Cursor, most: number, mayRead: MayRead): Promise<Result<FeedPage, CursorGone | NotReady>> {
    const page = await unlessUnreadable(() => this.#pageAfter(after, most))
    return page.ok ? ok(this.#allowedOf(page.value, mayRead)) : page
  }

  #allowedOf(page: FeedPage, mayRead: MayRead): FeedPage {
    const known = this.#allowed.get(page) ?? new Map<MayRead, FeedPage>()
    this.#allowed.set(page, known)
    const allowed = known.get(mayRead) ?? { ...page, events: page.events.filter(({ facts }) => mayRead(facts.path)) }
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
    return page.ok ? ok({ ...page.value, events: page.value.events.filter(({ facts }) => isReported(facts)) }) : page
  }
}

/** Returns the next changes that match, as soon as there are any; none if the wait is over. */
export async function nextChanges(
  follower: Follower,
  { limit, wait_ms, ...where }: Waiting
): Promise<Result<readonly ChangeEvent[], CursorGone | NotReady>> {
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
      const events = page.value.filter(({ facts }) => isWanted(facts.path, where))
      const hasCaughtUp = page.value.length === 0
      if (events.length > 0 || follower.isEnded || (hasCaughtUp && isOver)) return ok(events)
      if (hasCaughtUp) await Promise.race([follower.more(), end])
    }
  } finally {
    clearTimeout(timer)
  }
}

const isWanted = (real: Buffer, { path, under }: Where): boolean =>
  (path === undefined || real.equals(path)) && (under === undefined || under.length === 0 || isIn(real, under))

/** A record that changed nothing is shown only if it is a verdict. */
const isReported = (facts: ChangeEvent['facts']): boolean => facts.operation === 'review' || !isNote(facts)

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

  async next(most: number): Promise<Result<readonly ChangeEvent[], CursorGone | NotReady>> {
    for (;;) {
      // Changes from here on wake it again.
      this.#isWoken = false
      const page = await this.#followers.read(this.after, most, this.#mayRead)
      if (!page.ok) return page
      const { events, next, isEnd } = page.value
      this.after = next
      if (!isEnd) this.#isWoken = true
      if (events.length > 0 || isEnd || this.isEnded) return ok(events)
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
