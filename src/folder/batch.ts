// Changes many files, all or nothing: the plans one after the other in memory, the writing, and the answers. Does not
// know what a plan does; commit/commit-batch.ts touches the disk.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Selection } from '../engine/history/change.ts'
import { fail, ok } from '../result.ts'
import type { BatchDone, BatchOptions, BatchStep, BatchStepDone, Origin, Planned } from '../workspace/api.ts'
import { groupTexts, readTexts, type BatchText, type BatchTexts, type FileName } from './batch-texts.ts'
import { BatchError, type BatchFile, type CommittedFile } from './commit/batch-member.ts'
import { commitBatch, type BatchContext, type BatchRefusal } from './commit/commit-batch.ts'
import { foldersBetween, outermostFirst } from './commit/commit-new.ts'
import { attributesOf, canGive, lossesOf } from './commit/commit.ts'
import { notADirectory, refusalToMake } from './create.ts'
import { refusalToRemoveAgain, reportSave, type WriteContext } from './edit.ts'
import { announceAll, auditDone, auditedBy, notDone } from '../change/announce.ts'
import { measured, pastOf, recordedBy, refusalToReplace, staleness } from '../change/run-plan.ts'
import { codeOf } from '../workspace/errno.ts'
import { changedMeanwhile, type FileFailure, type FileWarning } from '../workspace/failure.ts'
import type { FailedMany, FailedOne, FileInfo, ManyResult, RequestedPath } from '../workspace/results.ts'
import { ATTEMPTS, failedBy, MOVED, type FoundPath, type OpenPaths } from './file-access.ts'
import { BatchRecorder } from '../recording/batch-recorder.ts'
import type { ComingChange } from '../recording/recorder.ts'
import type { Lock } from '../workspace/queue.ts'
import { isIn, split } from '../workspace/path.ts'
import { areSame, digestOf } from '../workspace/content.ts'

/** The steps of a batch, each with its path, and how they are carried out. */
export interface BatchRequest<T, F> {
  steps: readonly BatchStep<T, F>[]
  asked: readonly RequestedPath[]
  options: BatchOptions<BatchDone<T>>
  /** Of the history, for all records of this batch; null: there is none. */
  newId: (() => string) | null
}

type Outcome<T, F> = Promise<ManyResult<BatchDone<T>, F | FileFailure | typeof MOVED>>

/** Changes all files of the batch, or none. */
export async function changeFiles<T, F>(
  context: WriteContext,
  request: BatchRequest<T, F>
): Promise<ManyResult<BatchDone<T>, F | FileFailure>> {
  try {
    for (let attempt = 1; ; attempt++) {
      const done = await changeOnce(context, request)
      if (done.ok || done.failure !== MOVED) return done as ManyResult<BatchDone<T>, F | FileFailure>
      const { others: _, ...moved } = done
      if (attempt === ATTEMPTS) return { ...moved, failure: changedMeanwhile }
    }
  } catch (error) {
    return { ...failedBy(error, {}), at: atOf(error) }
  }
}

async function changeOnce<T, F>(context: WriteContext, request: BatchRequest<T, F>): Outcome<T, F> {
  const { files } = context
  const { asked, options } = request
  const opened = options.dry_run ? await files.openAll(asked) : await files.holdAll(asked, options.client)
  if (!opened.ok) return opened
  try {
    return await new FileBatch(context, request, opened.value).run()
  } finally {
    await opened.value.release()
  }
}

/** Of which file, or step, an error is. */
const atOf = (error: unknown): number => (error instanceof BatchError ? error.at : 0)

/** Where nobody says who changes the files. */
const BATCH: Origin = { operation: 'batch' }

/** A name that is changed, and its file. */
interface NamedText {
  text: BatchText
  name: FileName
}

/** What an undo or redo takes back or makes again in a file whose bytes stay as they are. */
interface Traceless {
  name: FileName
  toggles: readonly Selection[]
}

interface StepDone<T> {
  at: number
  text: BatchText
  name: FileName
  info: FileInfo
  changed: boolean
  created?: boolean
  description: T
}

/** What steps that failed, or weren't tried because of one that did, would have made: nobody knows. */
class Unknown {
  readonly #texts = new Set<BatchText>()
  readonly #meant = new Set<string>()
  #last: BatchText | undefined
  #hasNew = false

  /** `meant`: paths that were likely meant by the step. */
  add({ operation }: BatchStep<unknown, unknown>, { text }: NamedText, meant: readonly string[] = []): void {
    this.#texts.add(text)
    this.#hasNew ||= operation === 'create'
    for (const path of meant) this.#meant.add(path)
  }

  /** Whether a step depends on that. To be asked of each, in their order. */
  concerns(step: BatchStep<unknown, unknown>, { text, name }: NamedText): boolean {
    const moved = this.#last
    this.#last = text
    if (this.#texts.has(text) || this.#meant.has(name.path.toString())) return true
    // Another one might have made the file, or its folder.
    if (step.operation !== 'create') return this.#hasNew && text.content === null
    return (this.#hasNew && foldersFor(name).length > 0) || (step.moves === true && this.#texts.has(moved!))
  }
}

/** The paths that were meant instead of one at which nothing is, if some are likely. */
function meantInstead(failure: unknown): readonly string[] {
  const { code, did_you_mean = [] } = failure as { code: string; did_you_mean?: readonly string[] }
  return code === 'FILE_NOT_FOUND' ? did_you_mean : []
}

/** The folders that are missing for a name. */
const foldersFor = ({ absent, path }: FileName): Buffer[] =>
  absent === null ? [] : foldersBetween(absent.folder, split(path).folder)

class FileBatch<T, F> {
  readonly #context: WriteContext
  readonly #request: BatchRequest<T, F>
  readonly #found: readonly FoundPath[]
  readonly #locks: readonly Lock[] | null
  readonly #texts: BatchTexts
  readonly #done: StepDone<T>[] = []
  /** Folders that will have been made for new files. */
  readonly #coming: Buffer[] = []
  readonly #traceless: Traceless[] = []
  /** What will be given back in the end. */
  readonly #taken: (() => void)[] = []
  /** The step that is being worked on. */
  #at = 0

  constructor(context: WriteContext, request: BatchRequest<T, F>, { found, locks }: OpenPaths) {
    this.#context = context
    this.#request = request
    this.#found = found
    this.#locks = locks
    const apart = request.steps.map(
      step => step.operation === 'remove' || (step.operation === 'edit' && step.apart === true)
    )
    this.#texts = groupTexts({ found, apart, locks })
  }

  async run(): Outcome<T, F> {
    try {
      const read = await readTexts(this.#context, this.#texts, this.#taken)
      if (!read.ok) return read
      return (await this.#planAll()) ?? (await this.#write())
    } catch (error) {
      return { ...failedBy(error, {}), at: this.#at }
    } finally {
      for (const release of this.#taken.reverse()) release()
    }
  }

  /** Null: nothing failed. */
  async #planAll(): Promise<FailedMany<F | FileFailure> | null> {
    const { steps, options } = this.#request
    const { other_failures = 0 } = options
    const failed: FailedOne<F | FileFailure>[] = []
    const untried: number[] = []
    const unknown = new Unknown()
    for (const [at, step] of steps.entries()) {
      const named = this.#texts.of(at)
      if (failed.length > other_failures || unknown.concerns(step, named)) {
        untried.push(at)
        unknown.add(step, named)
        continue
      }
      this.#at = at
      // A plan that is made on the event loop may take some ten milliseconds, and there may be a thousand.
      if (at > 0) await yieldToOthers()
      const one = await this.#planStep(at)
      if (one === null) continue
      failed.push({ ...one, at })
      unknown.add(step, named, meantInstead(one.failure))
    }
    const [first, ...others] = failed
    return first === undefined ? null : { ...first, others, untried }
  }

  async #planStep(at: number): Promise<Omit<FailedOne<F | FileFailure>, 'at'> | null> {
    const { steps, asked } = this.#request
    const step = steps[at]!
    const { info, absent } = this.#found[at]!
    const { name, text } = this.#texts.of(at)
    const { path } = asked[at]!
    const led = {
      ...(absent !== null &&
        !absent.relative.equals(asked[at]!.relative) && { resolved_path: absent.relative.toString() }),
      ...info
    }
    const file_hash = text.file_hash ?? text.refused?.file_hash
    const known = { ...led, ...(file_hash !== undefined && { file_hash }) }
    const refusal = this.#refusalOf(step, name, text, info)
    if (refusal !== null) return { ...fail(refusal), ...known, ...this.#behind(refusal, text, name) }
    if (text.refused !== null) return { ...led, ...text.refused }
    // A file that this batch makes had no hash before it.
    const stale = text.content === null ? null : staleness(step.target, text.file_hash ?? '')
    const before = this.#contentOf(text)
    const planned = await step.plan(before, {
      path,
      ...(led.resolved_path !== undefined && { resolved_path: led.resolved_path }),
      exists: text.content !== null,
      ...(text.snapshot !== null && { attributes: attributesOf(name.pin!) }),
      ...(stale !== null && { stale }),
      history: () => pastOf(name.recorder)
    })
    if (!planned.ok) return { ...planned, ...known }
    if (stale !== null) return { ...fail(stale), ...known }
    const { description, original, made_folders = [], attributes } = planned.value
    const isRemoval = step.operation === 'remove'
    const { pieces, splices, places, toggles, removes = false } = isRemoval ? REMOVAL : planned.value
    const { encodings = {} } = planned.value
    const isThere = text.content !== null
    const unremovable = removes && isThere ? refusalToRemoveAgain(this.#context, this.#request.options) : null
    if (unremovable !== null) return { ...fail(unremovable), ...known }
    const content = { pieces, size: pieces.reduce((sum, { length }) => sum + length, 0) }
    // The plan was given what was read, and not a copy.
    const lent = text.changes === 0 && text.twin === null ? text.snapshot : null
    if (original !== undefined && lent !== null) lent.bytes = original
    const created = step.operation === 'create' ? !isThere && !removes : undefined
    const changed =
      created === true || (isThere && (removes || !areSame(content.pieces, content.size, original ?? before)))
    if (changed) {
      text.changes++
      text.alone =
        text.changes === 1
          ? {
              ...(splices !== undefined && { splices }),
              ...(places !== undefined && { places }),
              ...(toggles !== undefined && { toggles })
            }
          : {}
      const { before: was } = text.changes === 1 ? encodings : text.encodings
      const { after: is } = isRemoval ? {} : encodings
      text.encodings = { ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }
      text.content = content
      text.removes = removes
      text.made_folders = made_folders
      text.attributes = attributes ?? text.attributes
    }
    if (!changed && toggles !== undefined) this.#traceless.push({ name, toggles })
    if (step.operation === 'create' && step.moves === true) {
      const old = this.#texts.of(at - 1)
      text.moved = old.name.path
      old.text.moved = name.path
    }
    if (created === true) this.#coming.push(...foldersFor(name))
    this.#done.push({ at, text, name, info: led, changed, ...(created !== undefined && { created }), description })
    return null
  }

  #refusalOf(step: BatchStep<T, F>, name: FileName, text: BatchText, info: FileInfo): FileFailure | null {
    const { path, absent } = name
    const { files, options } = this.#context
    // Whoever removes a file is the last one who has anything to do with it.
    if (text.removes) return { code: 'FILE_NOT_FOUND', missing: 'removed' }
    const isFit = text.refused === null
    const isThere = text.content !== null || !isFit
    if (step.operation !== 'create') {
      if (!isThere) return files.notFound(absent!, 'edit')
      const refusal = step.operation === 'remove' && isFit ? refusalToRemove(name, text, info) : null
      if (refusal !== null) return refusal
    } else {
      if (isThere) {
        const isMade = text.snapshot === null && isFit
        const refusal: FileFailure | null = isMade
          ? { code: 'ALREADY_EXISTS', reason: 'made' }
          : refusalToReplace(step.target)
        if (refusal !== null) return refusal
      } else {
        const refusal = refusalToMake(this.#context, absent!, step.target, this.#coming) ?? this.#refusalAmongNew(path)
        if (refusal !== null) return refusal
      }
    }
    const needsHash = options.requireHash && text.file_hash !== undefined && step.target.expected_hash === undefined
    return needsHash ? { code: 'PRECONDITION_REQUIRED' } : null
  }

  /** The step that makes the file for which another one is refused, or one above or below it. */
  #behind({ code }: FileFailure, text: BatchText, { path }: FileName): { behind?: number } {
    if (code !== 'ALREADY_EXISTS' && code !== 'NOT_A_FILE') return {}
    const step = this.#done.find(
      ({ created, text: made, name: { path: other } }) =>
        created === true && (made === text || isIn(other, path) || isIn(path, other))
    )
    return step === undefined ? {} : { behind: step.at }
  }

  /** Where another new file of the batch stands in the way. */
  #refusalAmongNew(path: Buffer): FileFailure | null {
    if (this.#coming.some(folder => folder.equals(path))) return { code: 'NOT_A_FILE', type: 'directory' }
    const isBelow = this.#texts.all.some(
      ({ content, snapshot, names: [first] }) => snapshot === null && content !== null && isIn(path, first!.path)
    )
    return isBelow ? notADirectory : null
  }

  /** In memory that a planner may give away. */
  #contentOf({ content, snapshot, changes, twin }: BatchText): Buffer {
    if (content === null) return Buffer.alloc(0)
    if (changes > 0 || snapshot === null) return Buffer.concat(content.pieces, content.size)
    // What is planned of the other name is made of what was read.
    return twin === null ? snapshot.bytes : Buffer.from(snapshot.bytes)
  }

  async #write(): Outcome<T, F> {
    const { options, newId } = this.#request
    const { origin = BATCH, outcome } = options
    await this.#digestAll()
    const changed = this.#texts.all.filter(
      ({ changes, removes, digest, snapshot }) => changes > 0 && (removes || digest !== snapshot?.digest)
    )
    if (this.#locks === null) return ok(this.#answer(new Map(), true))
    if (changed.length === 0) return ok(await this.#noteAll(origin))
    const members = changed.flatMap(text => text.names.map(name => ({ text, name })))
    const batch_id = newId?.()
    const recorder = new BatchRecorder(
      members.map(({ name }) => name.recorder),
      { ...origin, batch_id }
    )
    const edit_ids = await recorder.prepare()
    const call = auditedBy(this.#context, options)
    const listeners = members.map(({ name, text }) => ({
      file: { bytes: () => text.snapshot?.bytes ?? Buffer.alloc(0) },
      recorder: name.recorder,
      audited: call?.change(name.path, text.snapshot?.digest ?? null)
    }))
    const ids = new Map(members.map(({ name }, i) => [name, edit_ids[i]]))
    // The answer that is kept is written down before what it says of these.
    const coming = new Map(ids)
    for (const { name } of this.#traceless) coming.set(name, await name.recorder?.prepare())
    const known = { batch_id, ids: coming }
    const kept = (texts: boolean): unknown =>
      outcome?.(this.#answer(new Map(), false, known), texts && this.#keepsTexts())
    let committed: Awaited<ReturnType<typeof commitBatch>>
    const size = members.reduce((sum, { text }) => sum + (text.content?.size ?? 0), 0)
    try {
      committed = await measured(this.#context, size, () =>
        commitBatch(
          this.#commitContext(),
          members.map((member, i) => this.#fileOf(member, members.slice(0, i))),
          {
            folders: outermostFirst(this.#coming),
            record: ({ folders }) =>
              announceAll(
                recorder,
                listeners,
                members.map(member => changeOf(member, folders)),
                { batch_id, edit_ids, outcome: kept }
              ),
            notDone: () => listeners.forEach(notDone)
          }
        )
      )
    } catch (error) {
      return this.#failedBy(error, members)
    }
    if (!committed.ok) return this.#refused(committed.failure, members)
    listeners.forEach(auditDone)
    const finished = await this.#finish(members, committed.value)
    // The files are changed by now: that it could not be written is a warning.
    /* c8 ignore next 4 -- the history was writable a moment ago, for the same batch, and no test gets in between */
    const traceless = await this.#noteTraceless(this.#traceless, origin, batch_id).catch((error: unknown) => {
      this.#context.options.report?.({ event: 'unrecorded', reason: codeOf(error) })
      return []
    })
    return ok(this.#answer(finished, false, { batch_id, ids: new Map([...ids, ...traceless]) }))
  }

  /**
   * Notes a batch that changes no byte, once for each name that toggles something. The last note keeps the answer to a
   * key, so that this answer is kept only if all of it is true. Throws where a note can't be written.
   */
  async #noteAll(origin: Origin): Promise<BatchDone<T>> {
    const { newId, options } = this.#request
    const last = this.#traceless.at(-1)
    const batch_id = last === undefined ? undefined : newId?.()
    const ids = await this.#noteTraceless(this.#traceless.slice(0, -1), origin, batch_id)
    const name = last?.name ?? this.#texts.all[0]?.names[0]
    const answer = (edit_id: string | undefined): BatchDone<T> => {
      if (last !== undefined) ids.set(last.name, edit_id)
      return this.#answer(new Map(), false, { batch_id, ids })
    }
    await name?.recorder?.note(
      { ...origin, batch_id },
      (texts, edit_id) => options.outcome?.(answer(edit_id), texts && this.#keepsTexts()),
      last?.toggles
    )
    return answer(name?.recorder?.edit_id)
  }

  /** Throws where it can't be written. */
  async #noteTraceless(
    traceless: readonly Traceless[],
    { key: _, ...origin }: Origin,
    batch_id: string | undefined
  ): Promise<Map<FileName, string | undefined>> {
    const ids = new Map<FileName, string | undefined>()
    for (const { name, toggles } of traceless) {
      await name.recorder?.note({ ...origin, batch_id }, () => null, toggles)
      ids.set(name, name.recorder?.edit_id)
    }
    return ids
  }

  async #digestAll(): Promise<void> {
    for (const text of this.#texts.all) {
      if (text.content === null || text.changes === 0) continue
      const { pieces, size } = text.content
      const { bytes, marks } = text.snapshot ?? { bytes: undefined, marks: [] }
      text.digest = await digestOf(pieces, size, bytes, marks)
    }
  }

  #commitContext(): BatchContext {
    const { durability, report = () => {} } = this.#context.options
    return { ...this.#context, durability, report }
  }

  /** After all files got their content: the last things that are said of each. */
  async #finish(members: readonly NamedText[], files: readonly CommittedFile[]): Promise<Map<FileName, CommittedFile>> {
    const committed = new Map<FileName, CommittedFile>()
    for (const [i, { name, text }] of members.entries()) {
      const file = files[i]!
      committed.set(name, file)
      if (name.pin !== null && text.snapshot !== null) {
        await reportSave(this.#context, name.recorder, name.pin, text.snapshot, file)
      }
      const { pieces } = text.content!
      if (text.removes) name.recorder?.done(null, null)
      else name.recorder?.done(pieces, text.digest)
    }
    return committed
  }

  async #refused(
    { at, failure }: BatchRefusal,
    members: readonly NamedText[]
  ): Promise<ManyResult<never, FileFailure | typeof MOVED>> {
    const { text, name } = members[at]!
    const step = this.#texts.firstStepOf(text)
    if (text.snapshot === null && failure.code === 'STALE_FILE') return { ...fail(MOVED), at: step }
    const info = await this.#context.files.currentInfo({ relative: name.path, isFolder: false })
    return { ...fail(failure), ...info, at: step }
  }

  #keepsTexts(): boolean {
    return this.#texts.all.every(({ names }) => names.every(({ recorder }) => recorder?.keepsTexts !== false))
  }

  #fileOf({ text, name }: NamedText, before: readonly NamedText[]): BatchFile {
    const { path, pin } = name
    const { snapshot, content, digest, removes, made_folders, attributes } = text
    const present = pin !== null && snapshot !== null ? { pin, snapshot } : null
    const lock = name.lock!
    if (removes) return { path, present: present!, lock, content: null, digest: null, made_folders }
    const same_as = before.findIndex(({ text: other }) => areOne(text, other))
    return {
      path,
      present,
      lock,
      content: content!,
      digest,
      ...(attributes !== undefined && { attributes }),
      ...(same_as !== -1 && { same_as })
    }
  }

  #failedBy(error: unknown, members: readonly NamedText[]): ManyResult<never, FileFailure | typeof MOVED> {
    const { text } = members[atOf(error)]!
    const at = this.#texts.firstStepOf(text)
    // Something has come, or a folder above it has gone: look again.
    if (text.snapshot === null && ['EEXIST', 'ENOENT', 'ENOTDIR', 'RACED'].includes(codeOf(error))) {
      return { ...fail(MOVED), at }
    }
    return { ...failedBy(error, text.file_hash === undefined ? {} : { file_hash: text.file_hash }), at }
  }

  #answer(
    committed: ReadonlyMap<FileName, CommittedFile>,
    isDry: boolean,
    { batch_id, ids }: { batch_id?: string | undefined; ids?: ReadonlyMap<FileName, string | undefined> } = {}
  ): BatchDone<T> {
    const { asked } = this.#request
    const steps = this.#done.map((step, i): BatchStepDone<T> => {
      const { text, name, info, changed, created, description } = step
      const new_hash = text.digest
      const file_hash = isDry ? text.file_hash : new_hash
      const isLast = this.#done.findLastIndex(other => other.name === name) === i
      const { write_strategy } = committed.get(name) ?? {}
      const edit_id = ids?.get(name)
      return {
        path: asked[i]!.path,
        ...(info.resolved_path !== undefined && { resolved_path: info.resolved_path }),
        changed,
        ...(created !== undefined && { created }),
        ...(text.file_hash !== undefined && { hash_before: text.file_hash }),
        new_hash,
        ...(file_hash !== undefined && { file_hash }),
        file_size: text.content?.size ?? 0,
        description,
        ...(write_strategy !== undefined && { write_strategy }),
        ...(edit_id !== undefined && { edit_id }),
        warnings: isLast ? this.#warningsOf(text, name, committed.get(name)) : []
      }
    })
    return { ...(batch_id !== undefined && { batch_id }), steps }
  }

  #warningsOf(
    { changes, removes, names }: BatchText,
    { pin, recorder }: FileName,
    committed?: CommittedFile
  ): FileWarning[] {
    if (committed !== undefined) return recordedBy(recorder, committed.warnings).warnings
    if (pin === null || changes === 0 || removes) return recordedBy(recorder, []).warnings
    return lossesOf(pin, 'rename', names.length)
  }
}

/** What a step that removes its file comes to. */
const REMOVAL: Pick<Planned<never>, 'pieces' | 'splices' | 'places' | 'toggles' | 'removes'> = {
  pieces: [],
  removes: true
}

/** Null: the history can bring the file back, as it is. */
function refusalToRemove(
  { pin, recorder }: FileName,
  { snapshot }: BatchText,
  { resolved_path }: FileInfo
): FileFailure | null {
  if (snapshot === null || pin === null) return { code: 'FILE_NOT_FOUND', missing: 'made' }
  // Whoever names a link may mean it, and not what it leads to.
  if (resolved_path !== undefined) return { code: 'NOT_A_FILE', type: 'link' }
  if (recorder === null) return { code: 'DELETE_NOT_ALLOWED', reason: 'history_off' }
  if (!recorder.keepsTexts) return { code: 'DELETE_NOT_ALLOWED', reason: 'texts_not_kept' }
  return canGive(attributesOf(pin)) ? null : { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
}

/** Whether both names stay one file: they are, and hold the same afterwards. */
const areOne = (a: BatchText, b: BatchText): boolean =>
  a === b || ((a.twin ?? a) === (b.twin ?? b) && a.digest === b.digest && !b.removes)

/** What is recorded of one name. `folders`: those that were made for the batch. */
const changeOf = ({ name, text }: NamedText, folders: readonly Buffer[]): Omit<ComingChange, 'origin' | 'outcome'> => ({
  planned: {
    pieces: text.content!.pieces,
    ...text.alone,
    ...(Object.keys(text.encodings).length > 0 && { encodings: text.encodings })
  },
  digest: text.removes ? null : text.digest,
  size: text.content!.size,
  ...(text.removes ? { attributes: attributesOf(name.pin!) } : { temp: name.lock!.temp }),
  ...(text.moved !== undefined && { moved: text.moved }),
  made_folders: folders.filter(folder => text.snapshot === null && isIn(name.path, folder))
})
