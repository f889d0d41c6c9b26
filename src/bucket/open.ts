// Opens a bucket, or a prefix of one, as a workspace, and closes it. Does not know HTTP, or operations on files.
import { createHash, randomBytes } from 'node:crypto'
import { codeOf } from '../error-code.ts'
import { OWN, type BucketAddress } from '../object-store/address.ts'
import { openS3Store, type S3StoreOptions } from '../object-store/s3-store.ts'
import type { History } from '../log/api.ts'
import { newAttempt, type ObjectStore } from '../object-store/store.ts'
import { openBucketHistory } from './log/bucket-log.ts'
import { KeyLeases } from './log/key-leases.ts'
import { Settler, type PresentFile } from './log/settle.ts'
import { Followers } from '../recording/follow.ts'
import type { CommonOptions, Workspace } from '../workspace/api.ts'
import { BackgroundWork } from '../workspace/background.ts'
import { BufferPool } from '../workspace/buffer-pool.ts'
import type { HistoryAccess } from '../recording/questions.ts'
import { Recorder } from '../recording/recorder.ts'
import { Queues } from '../workspace/queue.ts'
import { makePolicy, matcher } from '../workspace/policy.ts'
import { Running } from '../workspace/running.ts'
import { BucketWorkspace } from './bucket-workspace.ts'
import { compareClocks } from './clock.ts'
import type { FindLimits, TextSearcher } from './find.ts'
import { StoreHealth } from './health.ts'
import { LastWrites } from './last-writes.ts'
import { OWN_FOLDER } from './objects.ts'
import { UnknownChanges } from './unknown.ts'

export interface BucketOptions extends CommonOptions, Pick<S3StoreOptions, 'endpoint' | 'region' | 'form'> {
  address: BucketAddress
  /** Closed with the workspace. */
  searcher: TextSearcher
  /** Replaces the limits of a find in tests. */
  findLimits?: FindLimits
}

/** In bytes: how much of large files may be edited at the same time, as in a folder. Chosen, not measured. */
const MEMORY = 256e6

/** Throws what opening the store throws. */
export async function openBucket(options: BucketOptions): Promise<Workspace> {
  const { address, endpoint, region, form, readOnly } = options
  const opened = await openS3Store({ ...address, endpoint, region, readOnly, ...(form !== undefined && { form }) })
  const store = new StoreHealth(opened, options.report ?? (() => {}))
  try {
    compareClocks(store.now(), options.report ?? (() => {}))
    return await openWithHistory(options, store)
  } catch (error) {
    store.close()
    throw error
  }
}

/** Does what `openBucket` does, with an open store. */
async function openWithHistory(options: BucketOptions, store: StoreHealth): Promise<Workspace> {
  const { address, lockTimeout, maxFileSize, readOnly } = options
  const report = options.report ?? (() => {})
  const running = new Running()
  let trim = (): void => {}
  const nonce = randomBytes(12).toString('hex')
  const history =
    options.history === 'off'
      ? null
      : await openBucketHistory(store, {
          nonce,
          level: options.history === 'meta' ? 'meta' : 'full',
          isPrivate: matcher(options.historyPrivate),
          grown: () => trim(),
          size: options.historySize,
          report
        })
  const present = async (path: Buffer): Promise<PresentFile> => {
    const found = await store.open(path.toString())
    if (found === null) return { hash: null, attempts: [] }
    // Reads in chunks: another program may have put an object of any size there.
    const hash = createHash('sha256')
    for await (const chunk of found.chunks) hash.update(chunk)
    return { hash: hash.digest('hex'), attempts: found.landed.map(({ attempt }) => attempt) }
  }
  const { audit, meter } = options
  const settling = history && { history, settler: new Settler({ history, present, report, audit }) }
  const unknown = new UnknownChanges({ present, settling, answers: () => store.fault === null, report })
  const kept = settling && (await keep(settling, { store, nonce, lockTimeout, readOnly }))
  const sweep = async (): Promise<void> => {
    if (kept === null || settling === null || readOnly) return
    await settling.settler.settleAll()
    await kept.keys.sweep()
    const { bytes } = await kept.history.sweep({ days: options.historyDays, bytes: options.historySize })
    meter?.history(bytes)
  }
  const sweeping = new BackgroundWork(sweep, error => report({ event: 'sweep_failed', reason: codeOf(error) }))
  const timer = setInterval(() => sweeping.begin(), SWEEP).unref()
  trim = () => sweeping.again()
  const workspace = new BucketWorkspace(
    {
      options,
      store,
      health: store,
      prefixLength: address.prefix === '' ? 0 : Buffer.byteLength(address.prefix) + 1,
      buffers: new BufferPool(Math.max(MEMORY, maxFileSize)),
      running,
      turns: new Queues(lockTimeout),
      finds: new Queues(lockTimeout),
      searcher: options.searcher,
      findLimits: options.findLimits,
      recorder: new Recorder({ history, required: options.history === 'required', durable: true, report }),
      unknown,
      lastWrites: kept && new LastWrites(kept.secret),
      kept,
      async close() {
        clearInterval(timer)
        sweeping.stop()
        kept?.followers.close()
        await running.close()
        await unknown.close()
        await options.searcher.close()
        await sweeping.ended()
        await history?.close()
        store.close()
        meter?.closed()
      }
    },
    makePolicy({ ...options, stateDir: OWN_FOLDER })
  )
  return workspace
}

interface Keeping {
  store: ObjectStore
  nonce: string
  lockTimeout: number
  readOnly: boolean
}

/** Opens the history, with its settler and its key leases. */
async function keep(
  { history, settler }: { history: History; settler: Settler },
  { store, nonce, lockTimeout, readOnly }: Keeping
): Promise<HistoryAccess & { keys: KeyLeases }> {
  const keys = new KeyLeases({ store, nonce, wait: lockTimeout })
  return {
    history,
    followers: new Followers(history),
    secret: await secretOf(store, readOnly),
    acquire: name => keys.acquire(name),
    settle: stored => settler.settle(stored),
    keys
  }
}

const SECRET = `${OWN}/secret`

/** The secret shared by all servers of the bucket; the first server makes it. A read-only server doesn't need one. */
async function secretOf(store: ObjectStore, readOnly: boolean): Promise<Buffer> {
  for (;;) {
    const there = await store.get(SECRET)
    if (there?.bytes?.length === 32) return there.bytes
    const made = randomBytes(32)
    if (readOnly) return made
    const condition = there === null ? 'absent' : { is: there.version, landed: there.landed }
    const attempt = newAttempt()
    const written = await store.write(SECRET, { bytes: made, if: condition, attempt })
    if (written !== null && written.version !== null) return made
  }
}

/** In ms, between two sweeps of what killed servers left and of history beyond the limits. */
const SWEEP = 60_000
