// Changes files, all or nothing, in any store: the one order of every edit, creation, removal and batch. Does not know
// what a plan does; the store touches the files.
//
//   open the places → check a single step → hold them (not in a dry run) → read each file once → plan each step in
//   memory, on the result of earlier ones → stop here in a dry run, or if nothing changed → announce it to history and
//   audit → commit → settle → answer
import { fail, ok } from '../result.ts'
import type { ComingChange } from '../recording/recorder.ts'
import type { BatchDone, BatchStep, FileChanged, ChangeOptions, Origin } from '../workspace/api.ts'
import { digestOf } from '../workspace/content.ts'
import { codeOf, failureAt, MOVED, Overtaken } from '../workspace/errno.ts'
import { changedMeanwhile, isChangedMeanwhile, type FileFailure, type FileWarning } from '../workspace/failure.ts'
import { isIn, outermostFirst } from '../workspace/path.ts'
import type { FailedFile, FileResult, ManyResult, RequestedPath } from '../workspace/results.ts'
import { announce, auditDone, auditedBy, notDone, type Listeners } from './announce.ts'
import { measured } from './checks.ts'
import {
  OVERTAKEN,
  type CommitRefusal,
  type CommittedFile,
  type FileStore,
  type FilePlace,
  type FilePlaces,
  type FileChange,
  type FileSnapshot
} from './store.ts'
import { beginDigest, bytesOf, isChanged, readTexts, type FileName, type FileText, type NamedText } from './texts.ts'
import { Draft, refusalAt, type ChangeSteps, type Traceless } from './draft.ts'

/** How often a change starts over when a path leads elsewhere by the time its file is held. Chosen, not measured. */
const BEGINNINGS = 3
/** How often it starts over when another program saves a file while its change is planned. Chosen, not measured. */
const PLANS = 10

/** Carries out all steps, or none. A failure names the step that failed. */
export async function changeFiles<T, F, P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  request: ChangeSteps<T, F>
): Promise<ManyResult<BatchDone<T>, F | FileFailure>> {
  for (let attempt = 1; ; attempt++) {
    const done = await changeOnce(store, request)
    const most = done.ok ? 1 : attemptsAfter(done.failure, request.steps[done.at]!)
    if (done.ok || most === 1) return done as ManyResult<BatchDone<T>, F | FileFailure>
    const { others: _, ...overtaken } = done
    if (attempt >= most || request.options.dry_run) return { ...overtaken, failure: changedMeanwhile }
  }
}

/** How often a change is begun that ends with this failure of a step. */
function attemptsAfter(failure: unknown, { operation, target }: BatchStep<unknown, unknown>): number {
  if (failure === MOVED) return BEGINNINGS
  return operation === 'edit' && target.replans === true && isChangedMeanwhile(failure) ? PLANS : 1
}

/** Changes one file, outside a batch. */
export async function changeFile<T, F, P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  step: BatchStep<T, F>,
  requested: RequestedPath,
  options: ChangeOptions<FileChanged<T>>
): Promise<FileResult<FileChanged<T>, F | FileFailure>> {
  const { outcome } = options
  const done = await changeFiles<T, F, P, S>(store, {
    steps: [step],
    requested: [requested],
    options: {
      dry_run: options.dry_run,
      origin: options.origin ?? (step.operation === 'create' ? CREATE : EDIT),
      may_delete: options.may_delete,
      audit: options.audit,
      client: options.client,
      outcome: outcome && (({ steps: [one] }, texts) => outcome(one!, texts))
    },
    newId: null
  })
  if (done.ok) return ok(done.value.steps[0]!)
  const { at: _at, behind: _behind, others: _others, untried: _untried, ...failed } = done
  return failed
}

async function changeOnce<T, F, P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  request: ChangeSteps<T, F>
): Promise<ManyResult<BatchDone<T>, F | FileFailure | typeof MOVED>> {
  const { steps, requested, options } = request
  const opened = await store.open(requested)
  if (!opened.ok) return opened
  let places: FilePlaces<P> = opened.value
  try {
    if (!options.dry_run) {
      // Don't wait for a file in vain. With several steps, a later one may depend on an earlier one.
      const refused = steps.length > 1 ? null : await refusalUnread(store, steps[0]!, places.places[0]!)
      if (refused !== null) return { ...refused, at: 0 }
      const held = await opened.value.hold(options.client)
      if (!held.ok) return held
      places = held.value
    }
    for (let attempt = 1; ; attempt++) {
      const done = await new Change(store, request, places).run()
      if (done.ok || done.failure !== OVERTAKEN) return done as ManyResult<BatchDone<T>, F | FileFailure | typeof MOVED>
      const ended = await places.again!(attempt)
      if (ended !== null) return { ...ended, at: 0 }
    }
  } finally {
    await places.release()
  }
}

/** Why a step must fail whatever the file holds; null: no reason is known. */
async function refusalUnread<P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  step: BatchStep<unknown, unknown>,
  place: P
): Promise<FailedFile<FileFailure> | null> {
  const { isThere } = place
  if (isThere === undefined) return null
  const refusal = await refusalAt(store, step, place, { isThere, coming: [] })
  return refusal && { ...fail(refusal), ...place.info, ...(isThere && (await store.infoNow(place))) }
}

/** What an answer has besides the texts: for each name, the id of its record and how its commit ended. */
interface AnswerFacts<P extends FilePlace> {
  batch_id?: string | undefined
  idOf?: (name: FileName<P>) => string | undefined
  committed?: ReadonlyMap<FileName<P>, CommittedFile>
}

type Outcome<T, F> = Promise<ManyResult<BatchDone<T>, F | FileFailure | typeof MOVED | typeof OVERTAKEN>>

/** Origins for changes whose caller names none. */
const BATCH: Origin = { operation: 'batch' }
const EDIT: Origin = { operation: 'edit' }
const CREATE: Origin = { operation: 'create' }

/** One attempt at a change, on places that stay open until it ends. */
class Change<T, F, P extends FilePlace, S extends FileSnapshot> {
  readonly #store: FileStore<P, S>
  readonly #request: ChangeSteps<T, F>
  readonly #places: FilePlaces<P>
  readonly #draft: Draft<T, F, P, S>
  /** Callbacks that release memory at the end. */
  readonly #taken: (() => void)[] = []

  constructor(store: FileStore<P, S>, request: ChangeSteps<T, F>, places: FilePlaces<P>) {
    this.#store = store
    this.#request = request
    this.#places = places
    this.#draft = new Draft(store, request, places.places)
  }

  async run(): Outcome<T, F> {
    try {
      const read = await readTexts(this.#store, this.#draft.texts, this.#taken, {
        isDry: this.#request.options.dry_run
      })
      if (!read.ok) return read
      return (await this.#draft.planAll()) ?? (await this.#end())
    } catch (error) {
      return this.#failedBy(error)
    } finally {
      // The next request must not get a buffer while its bytes are still being hashed.
      for (const { digest } of this.#draft.texts.all) await digest?.catch(() => {})
      for (const release of this.#taken.reverse()) release()
    }
  }

  /** After all plans: writes what they changed, unless it is a dry run. */
  async #end(): Outcome<T, F> {
    const { dry_run } = this.#request.options
    const changed = this.#draft.texts.all.filter(isChanged)
    for (const text of changed) {
      beginDigest(text)
      // A single file is written while its digest is still being computed; it isn't renamed before both are done.
      if (dry_run || changed.length > 1 || text.names.length > 1) await text.digest
    }
    if (dry_run) return ok(this.#answer({}))
    return changed.length === 0 ? ok(await this.#noteAll()) : this.#commit(changed)
  }

  async #commit(changed: readonly FileText<P, S>[]): Outcome<T, F> {
    const store = this.#store
    const { options, newId } = this.#request
    const batch_id = newId?.()
    const origin = originOf(options, batch_id)
    const removed = changed.find(({ removes }) => removes)
    if (removed !== undefined) removed.made_folders = [...removed.made_folders, ...this.#draft.emptied]
    const members: NamedText<P, S>[] = []
    for (const text of changed) for (const name of text.names) members.push({ text, name })
    this.#draft.at = this.#draft.texts.firstStepOf(changed[0]!)
    const call = auditedBy(store, options)
    const listeners = members.map(({ name, text }): Listeners => ({
      file: { bytes: () => bytesOf(text) },
      recorder: name.recorder,
      audited: text.isNote ? undefined : call?.change(name.place.path, text.snapshot?.digest ?? null)
    }))
    const outcome = (texts: boolean): unknown =>
      options.outcome?.(
        this.#answer({ batch_id, idOf: ({ recorder }) => recorder?.coming_id }),
        texts && this.#keepsTexts()
      )
    let announced: Promise<readonly (string | undefined)[]> | undefined
    const announceAll = async (folders: readonly Buffer[], temps: readonly (string | undefined)[]) => {
      for (const text of changed) await text.digest
      // The stored answer names their records too.
      for (const { name } of this.#draft.traceless) await name.recorder?.prepare()
      const changes = members.map((member, i) =>
        comingChange(store, member, { origin, outcome, folders, temp: temps[i] })
      )
      return announce(listeners, changes)
    }
    const size = members.reduce((sum, { text }) => sum + text.content!.size, 0)
    const done = await measured(store, size, () =>
      store.commit(
        members.map((member, i) => fileChange(member, members.slice(0, i), listeners[i]!)),
        {
          // An earlier step may have made a file there that a later one removed.
          folders: outermostFirst(
            this.#draft.coming.filter(folder =>
              members.some(({ name, text }) => !text.removes && isIn(name.place.path, folder))
            )
          ),
          announce: (folders, temps) => (announced ??= announceAll(folders, temps)),
          notDone: () => listeners.forEach(notDone)
        }
      )
    )
    if (!done.ok) return this.#refused(done.failure, members)
    listeners.forEach(auditDone)
    const committed = new Map<FileName<P>, CommittedFile>()
    for (const [i, { name, text }] of members.entries()) {
      const file = done.value[i]!
      committed.set(name, file)
      await this.#reportSave(name, text, file)
      name.recorder?.done(text.removes ? null : text.content!.pieces, text.removes ? null : text.new_hash)
    }
    // The files are already changed, so a failure to record is a warning.
    /* c8 ignore next 3 -- the history was writable a moment ago, for the same change, and no test gets in between */
    if (this.#draft.traceless.length > 0) {
      await this.#noteTraceless(this.#draft.traceless, origin).catch((error: unknown) => {
        store.options.report?.({ event: 'unrecorded', reason: codeOf(error) })
      })
    }
    return ok(this.#answer({ batch_id, idOf: idOfRecord, committed }))
  }

  /**
   * Keeps and reports what another program saved between the last look and the rename. Never throws: the change is
   * made.
   */
  async #reportSave(
    { place, recorder }: FileName<P>,
    { snapshot }: FileText<P, S>,
    { warnings, write_strategy }: CommittedFile
  ): Promise<void> {
    const { report } = this.#store.options
    try {
      const save = (write_strategy === undefined && snapshot?.written?.()) || null
      if (save === null) return
      warnings.push('save_replaced')
      report?.({ event: 'save_replaced', path: place.path.toString() })
      await recorder?.keepSave(save, await digestOf([save], save.length))
    } catch (error) {
      // The save is too large for memory, or can't be read.
      if (!warnings.includes('save_replaced')) warnings.push('save_replaced')
      report?.({ event: 'save_lost', path: place.path.toString(), reason: codeOf(error) })
    }
  }

  /**
   * Records a change of no byte, once for each name that toggles something. The last note keeps the answer to a key, so
   * that it is kept only if all notes are. Throws if a note can't be written.
   */
  async #noteAll(): Promise<BatchDone<T>> {
    const { newId, options } = this.#request
    const last = this.#draft.traceless.at(-1)
    const batch_id = last === undefined ? undefined : newId?.()
    const origin = originOf(options, batch_id)
    await this.#noteTraceless(this.#draft.traceless.slice(0, -1), origin)
    const name = last?.name ?? this.#draft.texts.all[0]?.names[0]
    const kept = (texts: boolean, edit_id?: string): unknown => {
      const idOf = (other: FileName<P>) => (other === name ? edit_id : idOfRecord(other))
      return options.outcome?.(this.#answer({ batch_id, idOf }), texts && this.#keepsTexts())
    }
    await name?.recorder?.note(origin, kept, last?.toggles)
    return this.#answer({ batch_id, idOf: idOfRecord })
  }

  /** Throws if a note can't be written. */
  async #noteTraceless(traceless: readonly Traceless<P>[], { key: _, ...origin }: Origin): Promise<void> {
    for (const { name, toggles } of traceless) await name.recorder?.note(origin, () => null, toggles)
  }

  async #refused(
    { at, failure }: CommitRefusal,
    members: readonly NamedText<P, S>[]
  ): Promise<ManyResult<never, FileFailure | typeof MOVED | typeof OVERTAKEN>> {
    const { text, name } = members[at]!
    const step = this.#draft.texts.firstStepOf(text)
    if (failure === MOVED || failure === OVERTAKEN) return { ...fail(failure), at: step }
    const { info } = this.#places.places[step]!
    return { ...fail(failure), ...info, ...(await this.#store.infoNow(name.place)), at: step }
  }

  #failedBy(error: unknown): ManyResult<never, FileFailure | typeof MOVED | typeof OVERTAKEN> {
    const { at, texts } = this.#draft
    const { text } = texts.of(at)
    if (error instanceof Overtaken && this.#places.again !== undefined) return { ...fail(OVERTAKEN), at }
    const failure = failureAt(error, text.snapshot === null)
    if (failure === null) throw error
    return { ...fail(failure), ...this.#draft.infoOf(text), at }
  }

  #keepsTexts(): boolean {
    return this.#draft.texts.all.every(({ names }) => names.every(({ recorder }) => recorder?.keepsTexts !== false))
  }

  #answer({ batch_id, idOf, committed }: AnswerFacts<P>): BatchDone<T> {
    const { requested, options } = this.#request
    const steps = this.#draft.done.map((step, i): FileChanged<T> => {
      const { text, name, changed, created, description } = step
      const { content, new_hash, file_hash: hash_before } = text
      const file_hash = options.dry_run ? hash_before : content === null || text.removes ? undefined : new_hash
      const { resolved_path } = this.#places.places[i]!.info
      const isLast = this.#draft.done.findLastIndex(other => other.name === name) === i
      const { write_strategy } = committed?.get(name) ?? {}
      const edit_id = idOf?.(name)
      const warnings = isLast ? this.#warningsOf(text, name, committed?.get(name)) : []
      const file_size = content?.size ?? 0
      const done: FileChanged<T> = { path: requested[i]!.path, changed, file_size, description, warnings }
      if (!text.removes) done.new_hash = new_hash
      if (resolved_path !== undefined) done.resolved_path = resolved_path
      if (created !== undefined) done.created = created
      if (hash_before !== undefined) done.hash_before = hash_before
      if (file_hash !== undefined) done.file_hash = file_hash
      if (write_strategy !== undefined) done.write_strategy = write_strategy
      if (edit_id !== undefined) done.edit_id = edit_id
      if (text.removes && committed !== undefined) done.removed = true
      return done
    })
    return batch_id === undefined ? { steps } : { batch_id, steps }
  }

  #warningsOf(text: FileText<P, S>, { place, recorder }: FileName<P>, committed?: CommittedFile): FileWarning[] {
    const { changes, removes, names, snapshot } = text
    const losses =
      committed?.warnings ??
      (snapshot === null || changes === 0 || removes ? [] : this.#store.lossesOf(place, names.length))
    return recorder?.unrecorded === true ? [...losses, 'unrecorded'] : [...losses]
  }
}

const originOf = ({ origin = BATCH }: { origin?: Origin }, batch_id: string | undefined): Origin =>
  batch_id === undefined ? origin : { ...origin, batch_id }

const idOfRecord = ({ recorder }: FileName<FilePlace>): string | undefined => recorder?.edit_id

/** Whether both names stay one file: they are one now, and hold the same content afterwards. */
const areOne = (a: FileText<FilePlace, FileSnapshot>, b: FileText<FilePlace, FileSnapshot>): boolean =>
  a === b || ((a.twin ?? a) === (b.twin ?? b) && a.new_hash === b.new_hash && !b.removes)

function fileChange<P extends FilePlace, S extends FileSnapshot>(
  { name, text }: NamedText<P, S>,
  before: readonly NamedText<P, S>[],
  { audited }: Listeners
): FileChange<P, S> {
  const { snapshot, content, removes, attributes, made_folders, digest } = text
  const same_as = removes ? -1 : before.findIndex(({ text: other }) => areOne(text, other))
  return {
    place: name.place,
    snapshot,
    content: removes ? null : content,
    digest: digest!,
    attributes,
    made_folders,
    same_as: same_as === -1 ? undefined : same_as,
    audited
  }
}

/**
 * What is recorded of one name. `folders`: those made for all. Members are spelled out, not spread: every edit runs
 * this.
 */
function comingChange<P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  { name: { place }, text }: NamedText<P, S>,
  { origin, outcome, folders, temp }: Pick<ComingChange, 'origin' | 'outcome' | 'temp'> & { folders: readonly Buffer[] }
): ComingChange {
  const { content, alone, encodings, removes, moved, snapshot, new_hash } = text
  const { splices, splice_lines, places, toggles } = alone
  const hasEncodings = encodings.before !== undefined || encodings.after !== undefined
  return {
    origin,
    planned: {
      pieces: content!.pieces,
      splices,
      splice_lines,
      places,
      toggles,
      encodings: hasEncodings ? encodings : undefined
    },
    digest: removes ? null : new_hash,
    size: content!.size,
    temp,
    made_folders: snapshot === null ? folders.filter(folder => isIn(place.path, folder)) : undefined,
    attributes: removes ? store.attributesOf(place) : undefined,
    moved,
    outcome
  }
}
