// The operations on the files of an open root, within a policy. Does not know HTTP, what a plan does, or how the root
// is opened, swept and closed.
import type { Audit } from '../audit/audit.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  BatchDone,
  BatchOptions,
  BatchStep,
  ChangeOptions,
  Consumer,
  FileChanged,
  CreateTarget,
  Entries,
  FailedAccess,
  FailedSteps,
  FilesBelow,
  FileTarget,
  FileWithPast,
  FindFailure,
  FindQuery,
  FoundFiles,
  FoundUse,
  Looked,
  PageRequest,
  Planner,
  Workspace,
  WorkspaceOptions
} from '../workspace/api.ts'
import { notWritableDown } from '../change/announce.ts'
import { changeFile, changeFiles } from '../change/change.ts'
import { staleness } from '../change/checks.ts'
import { FolderStore, type FolderStoreOptions } from './folder-store.ts'
import { codeOf } from '../workspace/errno.ts'
import { changedMeanwhile, type FileFailure } from '../workspace/failure.ts'
import type { FailedFile, FileResult, RequestedPath } from '../workspace/results.ts'
import { FileAccess, type FileAccessOptions } from './file-access.ts'
import type { Followers } from '../recording/follow.ts'
import { noHistory, WithHistory } from '../recording/questions.ts'
import { FINDER } from './find/finder.ts'
import { filesBelow, leftBy, madeBelow } from './files-below.ts'
import { settle, type Settling } from './settle.ts'
import { listFolder } from './list.ts'
import { recallFile } from './recall.ts'
import { removeFolder } from './commit/commit-new.ts'
import type { Pin, Root } from './root/pin.ts'
import { LimitedViews } from '../workspace/limited-views.ts'
import { limitPolicy, type Policy } from '../workspace/policy.ts'
import { scanPinned } from './scan.ts'
import type { Turns } from './turns.ts'

type BatchAnswer<T, F> = Promise<{ ok: true; value: BatchDone<T> } | FailedSteps<F | FileFailure>>
type Answer<T, F = never> = Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>>

const readOnly: FailedFile<FileFailure> = { ok: false, failure: { code: 'READ_ONLY' } }
const deleteNotAllowed: FailedFile<FileFailure> = {
  ok: false,
  failure: { code: 'DELETE_NOT_ALLOWED', reason: 'setting' }
}

/** An open root, with what its users need. */
export interface OpenRoot extends Omit<FolderStoreOptions, 'files'>, Pick<FileAccessOptions, 'hashes' | 'checkState'> {
  turns: Turns
  /** Shared by all servers on this root. */
  secret: Buffer
  /** Null: there is no history. */
  settling: Settling | null
  /** Whether anything more can be written into the state folder. */
  hasRoom: () => boolean
  /** Null: there is no history. */
  followers: Followers | null
  /** Aborted when it closes. */
  closing: AbortSignal
  /** Real path of the state folder. */
  stateDir: Buffer
  /** Whether ripgrep is installed for this system. */
  canFind: boolean
}

/** The owner of the open root. */
interface Keeper {
  close(): Promise<void>
  sweep(): Promise<void>
}

/** The keeper of a view, which doesn't own the root. */
const OTHERS_KEEP: Keeper = { close: async () => {}, sweep: async () => {} }

export class FileWorkspace extends WithHistory implements Workspace {
  readonly kind = 'folder'
  readonly root: string
  readonly confinement: Root['confinement']
  readonly canFind: boolean
  readonly audit: Audit | null
  readonly #keeper: Keeper
  readonly #options: WorkspaceOptions
  readonly #opened: OpenRoot
  readonly #policy: Policy
  readonly #files: FileAccess
  readonly #store: FolderStore
  readonly #views = new LimitedViews<FileWorkspace>()

  constructor(opened: OpenRoot, policy: Policy, keeper: Keeper) {
    const { root, options, settling, followers, secret, running } = opened
    const files = new FileAccess({ ...opened, policy })
    super(
      settling &&
        followers && {
          history: settling.history,
          followers,
          secret,
          settle: stored => settle(settling, stored),
          acquire: settling.acquire
        },
      {
        options,
        durable: options.durability === 'full',
        // A view must not end other callers' following.
        isView: policy.limit !== undefined,
        running,
        realPath: path => files.realPath(path),
        refusal: (use, path) => files.refusal(use, path)
      }
    )
    this.confinement = root.confinement
    this.canFind = opened.canFind
    this.audit = options.audit ?? null
    this.root = root.real()?.toString() ?? options.root
    this.#keeper = keeper
    this.#options = options
    this.#opened = opened
    this.#policy = policy
    this.#files = files
    this.#store = new FolderStore({ ...opened, files })
  }

  edit<T, F>(
    target: FileTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Answer<FileChanged<T>, F> {
    return this.#change(target, requested => {
      const change = () => changeFile(this.#store, { operation: 'edit', target, plan }, requested, options)
      return options.dry_run ? change() : this.#opened.turns.take(change)
    })
  }

  create<T, F>(
    target: CreateTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Answer<FileChanged<T>, F> {
    return this.#change(target, requested =>
      changeFile(this.#store, { operation: 'create', target, plan }, requested, options)
    )
  }

  #change<T, F>(
    target: FileTarget,
    work: (requested: RequestedPath) => Promise<FileResult<T, F | FileFailure>>
  ): Answer<T, F> {
    return this.#files.run<T, F>(target, 'edit', async requested =>
      this.#options.readOnly ? readOnly : work(requested)
    )
  }

  async batch<T, F>(steps: readonly BatchStep<T, F>[], options: BatchOptions<BatchDone<T>>): BatchAnswer<T, F> {
    if (this.#options.readOnly) return { ...readOnly, path: steps[0]?.target.path ?? '.', at: 0 }
    const removal = steps.findIndex(({ operation }) => operation === 'remove')
    const refusal = removal === -1 ? null : this.#refusalToRemove(options.may_delete)
    if (refusal !== null) return { ...refusal, path: steps[removal]!.target.path, at: removal }
    return this.#files.runAll(
      steps.map(({ target }) => target),
      'edit',
      requested => {
        const settling = this.#opened.settling
        const newId = settling && (() => settling.history.nextId())
        return changeFiles(this.#store, { steps, requested, options, newId })
      }
    )
  }

  #refusalToRemove(may_delete = this.#options.allowDelete): FailedFile<FileFailure> | null {
    return this.#options.readOnly ? readOnly : may_delete ? null : deleteNotAllowed
  }

  look<R>(target: FileTarget, use: { file: () => Consumer<R>; directory: PageRequest }): Answer<Looked<R>> {
    return this.#files.run(target, 'look', requested =>
      this.#files.pinned<Looked<R>, FileFailure>(requested, 'look', async ({ pin, info }) => {
        const facts = { path: requested.path, ...info }
        if (pin.stat.isDirectory()) {
          if (target.expected_hash !== undefined) return fail({ code: 'NOT_A_FILE', type: 'directory' })
          return ok({ type: 'directory', ...facts, ...(await this.#list(pin, use.directory)) })
        }
        const read = await scanPinned(pin, this.#options.maxFileSize, use.file)
        if (!read.ok) return read
        const { stat, digest: file_hash, value } = read.value
        const stale = staleness({ options: this.#options }, target, file_hash)
        if (stale !== null) return { ...fail(stale), file_hash }
        const modified_at = new Date(Number(stat.mtimeNs / 1_000_000n))
        return ok({ type: 'file', ...facts, file_hash, file_size: Number(stat.size), modified_at, value })
      })
    )
  }

  find<R>(query: FindQuery, use: FoundUse<R>): Answer<FoundFiles<R>, FindFailure> {
    return this.#files.run<FoundFiles<R>, FindFailure>(query, 'look', asked =>
      this.#files.pinned<FoundFiles<R>, FileFailure | FindFailure>(asked, 'look', async ({ pin, info }) => {
        const { readProtect, maxFileSize, allowExtensions } = this.#options
        const policy = { policy: this.#policy, readProtect, maxFileSize, hasEndings: allowExtensions !== null }
        const place = { ...this.#opened, ...policy, pin }
        const found = await FINDER.find(place, query, use)
        return found.ok ? ok({ path: asked.path, ...info, ...found.value }) : found
      })
    )
  }

  async #list(pin: Pin, page: PageRequest): Promise<Entries> {
    const folder = this.#opened.root.openFolder(pin.relative)
    try {
      return await listFolder(folder, page, this.#policy.hiddenIn(pin.real, pin.relative))
    } finally {
      folder.close()
    }
  }

  async filesBelow(
    { path }: Pick<FileTarget, 'path'>,
    { most, after = [], may_delete }: Parameters<Workspace['filesBelow']>[1]
  ): Answer<FilesBelow | null> {
    const refusal = this.#refusalToRemove(may_delete)
    if (refusal !== null) return { ...refusal, path }
    return this.#files.run<FilesBelow | null, never>({ path }, 'look', asked =>
      this.#files.find<FilesBelow | null, FileFailure>(asked, 'look', async ({ pin, info }) => {
        const left = leftBy(this.#files, after)
        const isThere = pin?.stat.isDirectory() === true
        if (!isThere && madeBelow(left, asked.relative).length === 0) return ok(null)
        // A caller who names a link may mean the link, not its target.
        if (info.resolved_path !== undefined) return fail({ code: 'NOT_A_FILE', type: 'link' })
        return filesBelow({ root: this.#opened.root, files: this.#files }, asked, { most, left, isThere })
      })
    )
  }

  async removeFolder(
    target: Pick<FileTarget, 'path'>,
    { dry_run, may_delete }: Pick<ChangeOptions<never>, 'dry_run' | 'may_delete'>
  ): Answer<null> {
    const found = await this.filesBelow(target, { most: 0, may_delete })
    if (!found.ok) return found
    const { folders = [], blocked = null } = found.value ?? {}
    if (blocked !== null) return blocked
    return this.#files.run<null, never>(target, 'look', async () => {
      if (dry_run) return ok(null)
      try {
        for (const folder of folders.toReversed()) await removeFolder(this.#opened.root, folder)
        return ok(null)
      } catch (error) {
        if (codeOf(error) !== 'ENOTEMPTY') throw error
        return fail(changedMeanwhile)
      }
    })
  }

  recall<T, F>(target: Pick<FileTarget, 'path'>, work: (file: FileWithPast) => Promise<Result<T, F>>): Answer<T, F> {
    return this.#files.run<T, F>(target, 'look', async requested => {
      if (this.#opened.settling === null) return noHistory
      const { history } = this.#opened.settling
      return recallFile<T, F>({ ...this.#opened, files: this.#files, history }, requested, work)
    })
  }

  async ready(): Promise<FileFailure | null> {
    const failure = this.#files.ready()
    return failure ?? notWritableDown(this.#options, this.degraded())
  }

  degraded(): boolean {
    const { recorder, settling, hasRoom } = this.#opened
    return recorder.degraded || (settling !== null && !hasRoom())
  }

  limitedTo(paths: readonly string[]): Workspace {
    return this.#views.of(paths, () => new FileWorkspace(this.#opened, limitPolicy(this.#policy, paths), OTHERS_KEEP))
  }

  close(): Promise<void> {
    return this.#keeper.close()
  }

  /** Removes what dead servers left, as also happens each minute. Not part of `Workspace`. */
  sweep(): Promise<void> {
    return this.#keeper.sweep()
  }
}
