// Changes an object, or makes one: the checks, the plan, and the write on the condition that it is still what was read.
// Does not know what a plan does.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditedCall } from '../audit/audit.ts'
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { StoreUnavailable } from '../object-store/store.ts'
import { fail, ok } from '../result.ts'
import type {
  ChangeOptions,
  Client,
  CommonOptions,
  Created,
  CreateTarget,
  Edited,
  FileTarget,
  Planner
} from '../workspace/api.ts'
import { announce, auditDone, auditedBy, notDone } from '../change/announce.ts'
import { Overtaken } from '../workspace/errno.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FailedFile, FileInfo, FileResult, RequestedPath } from '../workspace/results.ts'
import type { Recorder } from '../recording/recorder.ts'
import type { FileLocked, Queues } from '../workspace/queue.ts'
import { refusalOfName } from '../workspace/odd-name.ts'
import { measured, pastOf, recordedBy, runPlan, staleness } from '../change/run-plan.ts'
import { areSame } from '../workspace/content.ts'
import { isStill, NOTHING, withContent, type ObjectContent, type ReadContext } from './content.ts'
import type { LastWrites } from './last-writes.ts'
import type { Objects } from './objects.ts'
import type { UnknownChanges } from './unknown.ts'

export interface ChangeContext extends ReadContext {
  options: CommonOptions
  objects: Objects
  recorder: Recorder
  /** One request after the other in this process: else each would be refused by the store as often as others come first. */
  turns: Queues
  /** Changes of which no answer came. */
  unknown: Pick<UnknownChanges, 'add'>
  /** Null: no history is kept. */
  lastWrites: LastWrites | null
}

export interface ObjectRequest<T, F, D> {
  asked: RequestedPath
  target: FileTarget
  options: ChangeOptions<D>
  plan: Planner<T, F>
}

/** Something else was written meanwhile: everything begins again. */
const AGAIN: unique symbol = Symbol('again')
/** In ms, before everything begins again; chosen, not measured. */
const PAUSE = 5
const LONGEST_PAUSE = 250
/** Metadata: the SHA-256 of the object. */
const DIGEST = 'editd-sha256'

/** A change of what is there; where nothing is, `absent` says what becomes of it. */
interface Change<T, F> {
  context: ChangeContext
  asked: RequestedPath
  target: FileTarget
  dry_run: boolean
  plan: Planner<T, F>
  origin: NonNullable<ChangeOptions<unknown>['origin']>
  outcome: ((done: Done<T>, texts: boolean) => unknown) | undefined
  /** Undefined: there is no audit. */
  audit: AuditedCall | undefined
  client: Client | undefined
}

type Done<T> = Omit<Created<T>, 'created'>

function changeOf<T, F, D>(
  context: ChangeContext,
  { asked, target, options, plan }: ObjectRequest<T, F, D>,
  operation: 'edit' | 'create',
  outcome: Change<T, F>['outcome']
): Change<T, F> {
  const { origin = { operation }, dry_run, client } = options
  return { context, asked, target, dry_run, plan, origin, outcome, audit: auditedBy(context, options), client }
}

export async function editObject<T, F>(
  context: ChangeContext,
  request: ObjectRequest<T, F, Edited<T>>
): Promise<FileResult<Edited<T>, F | FileFailure>> {
  const { asked } = request
  const { outcome } = request.options
  const change = changeOf(context, request, 'edit', outcome && ((done, texts) => outcome(done as Edited<T>, texts)))
  const done = await inTurn(change, async () => {
    const refused = refusalOf(context, asked)
    if (refused !== null) return fail(refused)
    return (await changeThere(change)) ?? fail(await absence(context, asked))
  })
  return done as FileResult<Edited<T>, F | FileFailure>
}

export async function createObject<T, F>(
  context: ChangeContext,
  request: ObjectRequest<T, F, Created<T>> & { target: CreateTarget },
  refusalToReplace: (target: CreateTarget) => FileFailure | null
): Promise<FileResult<Created<T>, F | FileFailure>> {
  const { asked, target } = request
  const { outcome } = request.options
  const outcomeAs = (created: boolean): Change<T, F>['outcome'] =>
    outcome && ((done, texts) => outcome({ ...done, created }, texts))
  const replacing = changeOf(context, request, 'create', outcomeAs(false))
  const done = await inTurn(replacing, async (): Promise<FileResult<Created<T>, F | FileFailure | typeof AGAIN>> => {
    const refused = refusalOf(context, asked)
    if (refused !== null) return fail(refused)
    const there = await changeThere(replacing, refusalToReplace(target))
    if (there !== null) return there.ok ? ok({ ...there.value, created: false }) : there
    const unmakable = await refusalToMake(context, asked, target)
    if (unmakable !== null) return fail(unmakable)
    const made = await changeContent({ ...replacing, outcome: outcomeAs(true) }, NOTHING())
    return made.ok ? ok({ ...made.value, created: true }) : made
  })
  return done
}

/** In a commit after those before it in this process, and again where others came first, until there is no time. */
async function inTurn<T, F, D>(
  { context, asked, dry_run, client }: Pick<Change<T, F>, 'context' | 'asked' | 'dry_run' | 'client'>,
  work: () => Promise<FileResult<D, F | FileFailure | typeof AGAIN>>
): Promise<FileResult<D, F | FileFailure>> {
  const { turns, options } = context
  const deadline = turns.deadline()
  const asking = performance.now()
  /** Others that come first are waited for as a lock is in a folder. */
  const waited = (until: number, isHeld: boolean): void => {
    if (!dry_run) options.meter?.locked((until - asking) / 1000, isHeld)
  }
  const turn = dry_run ? null : await turns.acquire(asked.relative, deadline)
  const locked = async (reason: FileLocked['reason']): Promise<FailedFile<FileFailure>> => {
    waited(performance.now(), false)
    // Where a flood is turned away, the object would be read for each request; where the client has gone, for nobody.
    const known = reason === 'timeout' ? await infoNow(context, asked) : {}
    return { ...fail({ code: 'FILE_LOCKED', reason, retry_after: 1 }), ...known }
  }
  if (turn?.ok === false) return locked(turn.failure.reason)
  try {
    for (let pause = PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const beginning = performance.now()
      if (!dry_run && client?.isGone()) return await locked('client_gone')
      const done = await unlessOvertaken(work)
      if (done.ok || done.failure !== AGAIN) waited(beginning, true)
      if (done.ok) return done
      const { failure, ...known } = done
      if (failure !== AGAIN) return { ...known, failure }
      if (performance.now() + pause >= deadline) return await locked('timeout')
      // Not all at once.
      await sleep(pause * Math.random())
    }
  } finally {
    await turn?.value.release()
  }
}

/** What is known of the object as it is now; empty where it may not be used, or is too large to be read. */
async function infoNow(context: ChangeContext, asked: RequestedPath): Promise<FileInfo> {
  if (refusalOf(context, asked) !== null) return {}
  const digest = await withContent(context, asked.relative.toString(), async content => content.digest)
  return digest?.ok === true && digest.value !== null ? { file_hash: digest.value } : {}
}

/** As when the write was refused: then it is known earlier that it would be. */
async function unlessOvertaken<T>(work: () => Promise<T>): Promise<T | { ok: false; failure: typeof AGAIN }> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Overtaken) return fail(AGAIN)
    throw error
  }
}

const refusalOf = ({ objects }: ChangeContext, { relative }: RequestedPath): FileFailure | null =>
  relative.length === 0
    ? (objects.refusal('list', relative) ?? { code: 'NOT_A_FILE', type: 'directory' })
    : objects.refusal('edit', relative)

/** Null: nothing is there. */
async function changeThere<T, F>(
  change: Change<T, F>,
  refusal: FileFailure | null = null
): Promise<FileResult<Done<T>, F | FileFailure | typeof AGAIN> | null> {
  const { context, asked } = change
  const done = await withContent(context, asked.relative.toString(), async content => {
    const unfit: FileFailure | null = asked.isFolder ? { code: 'NOT_A_FILE', type: 'file_as_directory' } : refusal
    if (unfit !== null) return failedAt(unfit, content)
    context.options.meter?.read(content.bytes.length)
    return changeContent(change, content)
  })
  if (done === null) return null
  return done.ok ? done.value : done
}

const failedAt = <F>(failure: F, { digest }: ObjectContent): FailedFile<F> => ({
  ...fail(failure),
  ...(digest !== null && { file_hash: digest })
})

/** Why there is no file. */
async function absence({ objects }: ChangeContext, { relative }: RequestedPath): Promise<FileFailure> {
  return (await objects.isFolder(relative))
    ? { code: 'NOT_A_FILE', type: 'directory' }
    : objects.notFound(relative, 'edit')
}

/** Null: nothing is against it. */
async function refusalToMake(
  context: ChangeContext,
  { relative, isFolder }: RequestedPath,
  target: CreateTarget
): Promise<FileFailure | null> {
  const { objects } = context
  if (target.expected_hash !== undefined) {
    const failure = await objects.notFound(relative, 'edit')
    return failure.code === 'FILE_NOT_FOUND' ? { ...failure, missing: 'expected' } : failure
  }
  const at = relative.lastIndexOf('/')
  // Only what may be odd is worth a request.
  if ((refusalOfName(target, true) ?? refusalOfName(target, false)) !== null) {
    const odd = refusalOfName(target, at === -1 || (await objects.isFolder(relative.subarray(0, at))))
    if (odd !== null) return odd
  }
  if (await objects.isFolder(relative)) return { code: 'NOT_A_FILE', type: 'directory' }
  if (isFolder) return { code: 'NOT_A_FILE', type: 'trailing_slash' }
  if (await objects.fileAbove(relative)) return { code: 'NOT_A_FILE', type: 'not_a_directory' }
  const cut = relative.lastIndexOf('/')
  const isMissing = !target.create_parents && cut > 0 && !(await objects.isFolder(relative.subarray(0, cut)))
  return isMissing ? { code: 'FILE_NOT_FOUND', missing: 'parent' } : null
}

/** The checks of what was read, the plan and, in a commit, the write. */
async function changeContent<T, F>(
  { context, asked, target, dry_run, plan, origin, outcome, audit }: Change<T, F>,
  content: ObjectContent
): Promise<FileResult<Done<T>, F | FileFailure | typeof AGAIN>> {
  const exists = content.digest !== null
  const file_hash = content.digest
  const failed = <G>(failure: G): FailedFile<G> => failedAt(failure, content)
  const { options, store, recorder: records } = context
  if (exists && options.requireHash && target.expected_hash === undefined) {
    return failed({ code: 'PRECONDITION_REQUIRED' })
  }
  const encoding = binaryEncodingOf(content.bytes)
  if (encoding !== null) return failed({ code: 'BINARY_FILE', encoding, file_size: content.bytes.length })
  const stale = file_hash === null ? null : staleness(target, file_hash)
  const landed = content.landed.map(({ attempt }) => attempt)
  const before = {
    path: asked.relative,
    digest: content.digest,
    bytes: () => content.bytes,
    lock: null,
    landed,
    last: context.lastWrites?.of(asked.relative, content),
    unchanged: () => isStill(store, asked.relative.toString(), content)
  }
  const recorder = records.begin(before)
  const file = { path: asked.path, exists, ...(stale !== null && { stale }), history: () => pastOf(recorder) }
  const made = await runPlan(plan, file, { bytes: content.bytes, marks: [] })
  if (!made.ok) return failed(made.failure)
  if (stale !== null) return failed(stale)
  const { planned, content: result, digest: hashing } = made.value
  const { description, original, removes, toggles } = planned
  const new_hash = await hashing
  if (removes === true) return failed({ code: 'DELETE_NOT_ALLOWED', reason: 'bucket' })
  if (original !== undefined) content.bytes = original
  const changed = !exists || !areSame(result.pieces, result.size, content.bytes)
  const would: Done<T> = {
    path: asked.path,
    changed,
    ...(file_hash !== null && { hash_before: file_hash, file_hash }),
    new_hash,
    file_size: result.size,
    description,
    warnings: []
  }
  if (dry_run) return ok(would)
  // An undo that changes no byte is written too: the object then names its record, after which the next has to come.
  if (!changed && toggles === undefined) {
    await recorder?.note(origin, texts => outcome?.(would, texts))
    return ok(would)
  }
  const done: Done<T> = { ...would, file_hash: new_hash }
  const audited = changed ? audit?.change(before.path, before.digest) : undefined
  const listeners = { file: before, recorder, audited }
  let attempt = ''
  try {
    const written = await measured(context, result.size, async () => {
      await announce(listeners, {
        origin,
        planned: changed ? planned : { ...planned, splices: [], splice_lines: [], places: [] },
        digest: new_hash,
        size: result.size,
        outcome: (edit_id, texts) => outcome?.({ ...done, edit_id }, texts)
      })
      const edit_id = recorder?.edit_id
      attempt = edit_id ?? randomBytes(12).toString('hex')
      const proof = edit_id === undefined ? {} : context.lastWrites?.metadata(before.path, edit_id, new_hash)
      const write = { bytes: result.pieces, if: content.condition, attempt, metadata: { [DIGEST]: new_hash, ...proof } }
      if ((await store.write(before.path.toString(), write)) === null) return fail(AGAIN)
      if (edit_id !== undefined) context.lastWrites?.wrote(before.path, edit_id)
      return ok(null)
    })
    if (!written.ok) {
      notDone(listeners)
      return failed(written.failure)
    }
  } catch (error) {
    if (error instanceof StoreUnavailable && error.unknown) {
      context.unknown.add({
        path: before.path,
        attempt,
        isRecorded: recorder?.edit_id !== undefined,
        hash_before: before.digest,
        hash_after: new_hash,
        size_after: result.size,
        audited: listeners.audited
      })
    } else notDone(listeners)
    throw error
  }
  auditDone(listeners)
  recorder?.done(result.pieces, new_hash)
  return ok({ ...done, ...recordedBy(recorder, []) })
}
