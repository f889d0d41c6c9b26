// The operations on the files of an open bucket, within a policy. Does not know HTTP, what a plan does, or how the
// bucket is opened and closed.
import { createHash } from 'node:crypto'
import type { Audit } from '../audit/audit.ts'
import type { ObjectStore } from '../object-store/store.ts'
import { StoreUnavailable } from '../object-store/store.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  BatchDone,
  BatchOptions,
  BatchStep,
  FileChanged,
  ChangeOptions,
  CommonOptions,
  Consumer,
  CreateTarget,
  FailedAccess,
  FailedStep,
  FileTarget,
  FileWithPast,
  FindFailure,
  FindQuery,
  FoundFiles,
  FoundUse,
  Looked,
  PageRequest,
  Planner,
  Workspace
} from '../workspace/api.ts'
import { notWritableDown } from '../change/announce.ts'
import type { BufferPool } from '../workspace/buffer-pool.ts'
import { changeFile } from '../change/change.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileResult, RequestedPath } from '../workspace/results.ts'
import { noHistory, type HistoryAccess, WithHistory } from '../recording/questions.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { Queues } from '../workspace/queue.ts'
import { LimitedViews } from '../workspace/limited-views.ts'
import { limitPolicy, type Policy } from '../workspace/policy.ts'
import { staleness } from '../change/checks.ts'
import type { Running } from '../workspace/running.ts'
import { ATTEMPTS } from '../workspace/content.ts'
import { BucketStore, type BucketStoreOptions } from './bucket-store.ts'
import { findObjects, type FindLimits, type TextSearcher } from './find.ts'
import type { StoreHealth } from './health.ts'
import { Objects } from './objects.ts'
import { recallObject } from './recall.ts'
import { notReady } from './store-failure.ts'

type Answer<T, F = never> = Promise<{ ok: true; value: T } | FailedAccess<F | FileFailure>>

const readOnly = fail<FileFailure>({ code: 'READ_ONLY' })
const deleteNotAllowed = fail<FileFailure>({ code: 'DELETE_NOT_ALLOWED', reason: 'bucket' })
const directory = fail<FileFailure>({ code: 'NOT_A_FILE', type: 'directory' })

/** The parts of an open bucket that its operations need. */
interface OpenBucket {
  options: CommonOptions
  store: ObjectStore
  health: Pick<StoreHealth, 'ask'>
  /** Length in bytes of what precedes each key. */
  prefixLength: number
  buffers: BufferPool
  running: Running
  turns: Queues
  finds: Queues
  searcher: TextSearcher
  findLimits?: FindLimits | undefined
  recorder: Recorder
  unknown: BucketStoreOptions['unknown']
  lastWrites: BucketStoreOptions['lastWrites']
  /** Null: no history is kept. */
  kept: HistoryAccess | null
  close(): Promise<void>
}

export class BucketWorkspace extends WithHistory implements Workspace {
  readonly kind = 'bucket'
  readonly confinement = 'keys'
  readonly canFind = true
  readonly root: string
  readonly audit: Audit | null
  readonly #opened: OpenBucket
  readonly #policy: Policy
  readonly #objects: Objects
  readonly #context: BucketStoreOptions
  readonly #store: BucketStore
  readonly #isView: boolean
  readonly #views = new LimitedViews<BucketWorkspace>()

  constructor(opened: OpenBucket, policy: Policy, isView = false) {
    const { store, options, running, kept } = opened
    const objects = new Objects({ ...opened, policy })
    super(kept, {
      options,
      durable: true,
      isView,
      running,
      realPath: path => objects.realPath(path),
      refusal: (use, path) => objects.refusal(use, path)
    })
    this.root = store.name
    this.audit = options.audit ?? null
    this.#opened = opened
    this.#policy = policy
    this.#isView = isView
    this.#objects = objects
    this.#context = { ...opened, ...options, objects }
    this.#store = new BucketStore(this.#context)
  }

  edit<T, F>(
    target: FileTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Answer<FileChanged<T>, F> {
    return this.#change({ operation: 'edit', target, plan }, options)
  }

  create<T, F>(
    target: CreateTarget,
    options: ChangeOptions<FileChanged<T>>,
    plan: Planner<T, F>
  ): Answer<FileChanged<T>, F> {
    return this.#change({ operation: 'create', target, plan }, options)
  }

  #change<T, F>(step: BatchStep<T, F>, options: BatchOptions<FileChanged<T>>): Answer<FileChanged<T>, F> {
    return this.#objects.run<FileChanged<T>, F>(step.target, 'edit', async requested =>
      this.#opened.options.readOnly ? readOnly : changeFile(this.#store, step, requested, options)
    )
  }

  /** A batch of one step is run like a single change: it writes one object, or none. */
  async batch<T, F>(
    steps: readonly BatchStep<T, F>[],
    { outcome, ...options }: ChangeOptions<BatchDone<T>>
  ): Promise<{ ok: true; value: BatchDone<T> } | FailedStep<F | FileFailure>> {
    const [step] = steps
    const path = step?.target.path ?? '.'
    if (this.#opened.options.readOnly) return { ...readOnly, path, at: 0 }
    if (step === undefined || steps.length > 1) return { ...fail({ code: 'BATCH_NOT_SUPPORTED' }), path, at: 0 }
    if (step.operation === 'remove') return { ...deleteNotAllowed, path, at: 0 }
    const done = await this.#change<T, F>(step, {
      ...options,
      outcome: outcome && ((done, texts) => outcome({ steps: [done] }, texts))
    })
    return done.ok ? ok({ steps: [done.value] }) : { ...done, at: 0 }
  }

  /** Nothing can be removed. */
  async filesBelow({ path }: Pick<FileTarget, 'path'>): Answer<null> {
    return { ...(this.#opened.options.readOnly ? readOnly : deleteNotAllowed), path }
  }

  removeFolder(target: Pick<FileTarget, 'path'>): Answer<null> {
    return this.filesBelow(target)
  }

  look<R>(target: FileTarget, use: { file: () => Consumer<R>; directory: PageRequest }): Answer<Looked<R>> {
    return this.#objects.run<Looked<R>, FileFailure>(target, 'look', async requested => {
      const refusal = this.#objects.refusal('read', requested.relative)
      const read =
        refusal === null && requested.relative.length > 0 ? await this.#read(requested, target, use.file) : null
      if (read !== null) return read
      const { path, relative } = requested
      const hidden = this.#objects.refusal('list', relative)
      if (hidden !== null) return fail(refusal ?? hidden)
      if (!(await this.#objects.isFolder(relative))) {
        return fail(refusal ?? (await this.#objects.notFound(relative, 'look')))
      }
      if (target.expected_hash !== undefined) return directory
      return ok({ type: 'directory', path, ...(await this.#objects.list(relative, use.directory)) })
    })
  }

  /** Reads in chunks; null: there is no file. */
  async #read<R>(
    { path, relative, isFolder }: RequestedPath,
    target: FileTarget,
    consumer: () => Consumer<R>
  ): Promise<FileResult<Looked<R>, FileFailure> | null> {
    const { store, options } = this.#opened
    for (let attempt = 1; ; attempt++) {
      const opened = await store.open(relative.toString())
      if (opened === null) return null
      const { size, modified_at, chunks, discard } = opened
      if (size > options.maxFileSize) {
        discard()
        return fail({ code: 'FILE_TOO_LARGE', limit: options.maxFileSize, actual: size })
      }
      const running = createHash('sha256')
      const into = consumer()
      try {
        for await (const chunk of chunks) {
          running.update(chunk)
          into.push(chunk)
        }
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt === ATTEMPTS) throw error
        continue
      }
      const file_hash = running.digest('hex')
      if (isFolder) return { ...fail({ code: 'NOT_A_FILE', type: 'file_as_directory' }), file_hash }
      const stale = staleness(this.#store, target, file_hash)
      if (stale !== null) return { ...fail(stale), file_hash }
      return ok({ type: 'file', path, file_hash, file_size: size, modified_at, value: into.finish() })
    }
  }

  find<R>(query: FindQuery, use: FoundUse<R>): Answer<FoundFiles<R>, FindFailure> {
    return this.#objects.run<FoundFiles<R>, FindFailure>(query, 'look', asked =>
      findObjects({ ...this.#context, ...this.#opened }, asked, query, use)
    )
  }

  recall<T, F>(target: Pick<FileTarget, 'path'>, work: (file: FileWithPast) => Promise<Result<T, F>>): Answer<T, F> {
    return this.#objects.run<T, F>(target, 'look', async requested => {
      const { kept } = this.#opened
      if (kept === null) return noHistory
      return recallObject<T, F>({ ...this.#context, history: kept.history }, requested, work)
    })
  }

  async ready(): Promise<FileFailure | null> {
    const { running, health, options } = this.#opened
    if (running.isClosed) return notReady('draining')
    const fault = await health.ask()
    if (fault !== null) return notReady(fault)
    return notWritableDown(options, this.degraded())
  }

  degraded(): boolean {
    return this.#opened.recorder.degraded
  }

  limitedTo(paths: readonly string[]): Workspace {
    return this.#views.of(paths, () => new BucketWorkspace(this.#opened, limitPolicy(this.#policy, paths), true))
  }

  async close(): Promise<void> {
    // The followers, history and store belong to the whole workspace.
    if (!this.#isView) await this.#opened.close()
  }
}
