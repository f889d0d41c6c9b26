// The queries that a workspace's history answers for callers that may see the files, in a folder or a bucket. Does not
// know how files are read or changed.
import type { History } from '../log/api.ts'
import { Cursor } from '../log/cursor.ts'
import { isId } from '../log/ids.ts'
import type { Settlement, Stored } from '../log/record.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  ChangeRecord,
  ChangesPage,
  ChangesQuery,
  CommonOptions,
  Follower,
  HistoryPage,
  HistoryQuery,
  Key,
  MovedText,
  ReviewTarget
} from '../workspace/api.ts'
import { unlessUnreadable } from '../workspace/errno.ts'
import type { CursorFailure, FileFailure, KeyFailure, RequestInFlight } from '../workspace/failure.ts'
import { nextChanges, type Followers, type Where } from './follow.ts'
import { sealCursor, unsealCursor } from './sealed-cursor.ts'
import { onceByKey, type KeyedRequest, type Keys } from './keys.ts'
import { isArrival, readMovedText } from './moved-files.ts'
import { pastEdits } from './past.ts'
import { giveVerdict } from './verdicts.ts'

const readOnly = fail<FileFailure>({ code: 'READ_ONLY' })
export const noHistory = fail({ code: 'HISTORY_GONE', reason: 'off' } as const)

/** The history, and how its changes are settled. */
export interface HistoryAccess extends Pick<Keys, 'secret' | 'acquire'> {
  history: History
  followers: Followers
  /** Settles a change that its server has left open. */
  settle(stored: Stored): Promise<Settlement | 'under_way'>
}

/** The workspace that asks, and its rights. */
interface Requester {
  options: Pick<CommonOptions, 'audit' | 'readOnly' | 'report'>
  durable: boolean
  /** Whether it is a view of part of the workspace. */
  isView: boolean
  running: { counted<R>(work: () => Promise<R>): Promise<R> }
  /** Resolves a request's path to a real path below the root, if that may be listed. */
  realPath(path: string): Result<Buffer, FileFailure>
  /** Why this use of the file at this real path is refused, whether the file exists or not; null: it is allowed. */
  refusal(use: 'edit' | 'read', path: Buffer): ReturnType<Keys['refusalOf']>
}

/** The members of `Workspace` that its history answers. */
export abstract class WithHistory {
  /** Null: there is no history. */
  readonly #access: HistoryAccess | null
  readonly #requester: Requester

  constructor(access: HistoryAccess | null, requester: Requester) {
    this.#access = access
    this.#requester = requester
  }

  async history(query: HistoryQuery): Promise<Result<HistoryPage, FileFailure>> {
    if (this.#access === null) return noHistory
    const { history, settle } = this.#access
    const { path, under, ...others } = query
    const where = this.#where({ path, under })
    if (!where.ok) return where
    return unlessUnreadable(async () =>
      ok(await pastEdits({ history, mayRead: this.#mayRead, settle }, { ...others, ...where.value }))
    )
  }

  async movedText(edit: ChangeRecord): Promise<Result<MovedText | null, FileFailure>> {
    if (this.#access === null) return noHistory
    const { history } = this.#access
    if (!isArrival(edit) || !this.#mayRead(edit.moved)) return ok(null)
    return unlessUnreadable(async () => ok(await readMovedText(history, edit)))
  }

  async hasSwept(id?: string): Promise<Result<boolean, FileFailure>> {
    if (this.#access === null) return noHistory
    const { history } = this.#access
    return unlessUnreadable(async () => {
      const end = await history.sweptTo()
      return ok(id === undefined ? end !== '' : isId(id) && id <= end)
    })
  }

  /** Resolves the paths of a query to real paths. */
  #where(query: { path: string | undefined; under: string | undefined }): Result<Where, FileFailure> {
    const where: Where = {}
    for (const name of ['path', 'under'] as const) {
      const given = query[name]
      if (given === undefined) continue
      const real = this.#requester.realPath(given)
      if (!real.ok) return real
      where[name] = real.value
    }
    return ok(where)
  }

  /** Whether the file at this real path may be read, whether it exists or not. */
  readonly #mayRead = (path: Buffer): boolean => this.#requester.refusal('read', path) === null

  async changes({
    after,
    path,
    under,
    client,
    ...waiting
  }: ChangesQuery): Promise<Result<ChangesPage, FileFailure | CursorFailure>> {
    const where = this.#where({ path, under })
    if (!where.ok) return where
    const following = await this.follow(after)
    if (!following.ok) return following
    const follower = following.value
    client?.onGone(() => follower.end())
    try {
      const changes = await nextChanges(follower, { ...waiting, ...where.value })
      return changes.ok ? ok({ events: changes.value, next_after: follower.textOf(follower.after) }) : changes
    } finally {
      follower.end()
    }
  }

  async follow(after?: string): Promise<Result<Follower, FileFailure | CursorFailure>> {
    if (this.#access === null) return noHistory
    const { followers, secret } = this.#access
    const cursor = after === undefined ? null : Cursor.parse(unsealCursor(after, secret))
    if (after !== undefined && cursor === null) return fail({ code: 'INVALID_CURSOR' })
    const textOf = (cursor: Cursor): string =>
      this.#requester.isView ? sealCursor(cursor.toString(), secret) : cursor.toString()
    const settled = await unlessUnreadable<void, never>(async () => ok(await this.#sayAll()))
    return settled.ok ? followers.follow(cursor, this.#mayRead, textOf) : settled
  }

  /** Settles the changes that any server has already confirmed to a client, so that they appear now and not later. */
  async #sayAll(): Promise<void> {
    const { history, settle } = this.#access!
    for (const stored of await history.openElsewhere()) if (this.#mayRead(stored.record.path)) await settle(stored)
    await history.sayAll()
  }

  endFollowing(): void {
    if (!this.#requester.isView) this.#access?.followers.close()
  }

  async review(target: ReviewTarget): Promise<Result<null, FileFailure | RequestInFlight>> {
    const { options, durable, running } = this.#requester
    if (options.readOnly) return readOnly
    if (this.#access === null) return noHistory
    const giving = { history: this.#access.history, durable, report: options.report ?? (() => {}) }
    const audit = target.audit ?? options.audit?.call()
    return running.counted(() => giveVerdict(giving, { ...target, ...(audit !== undefined && { audit }) }))
  }

  async keyed<T>(
    request: KeyedRequest,
    work: (key: Key) => Promise<T>,
    pathsIn: (outcome: unknown) => readonly string[] = () => [],
    use: 'edit' | 'read' = 'edit'
  ): Promise<Result<{ done: T } | { replayed: unknown }, KeyFailure>> {
    if (this.#access === null) return noHistory
    const refusalOf = (path: Buffer) => this.#requester.refusal(use, path)
    return onceByKey({ ...this.#access, refusalOf }, request, work, pathsIn)
  }
}
