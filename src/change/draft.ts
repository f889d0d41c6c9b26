// Plans the steps of a change in memory: each is checked and planned on the result of the earlier ones. Does not know
// where files are, or how they are written.
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { fail } from '../result.ts'
import type { BatchDone, BatchOptions, BatchStep, Planned } from '../workspace/api.ts'
import { areSame } from '../workspace/content.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { isIn } from '../workspace/path.ts'
import type { FailedFile, FailedMany, FailedOne, FileInfo, RequestedPath } from '../workspace/results.ts'
import { pastOf, refusalToReplace, staleness } from './checks.ts'
import type { FilePlace, FileSnapshot, FileStore } from './store.ts'
import { groupTexts, type FileName, type FileText, type FileTexts, type NamedText } from './texts.ts'
import { Unknown } from './unknown.ts'

/** Steps, each with its path, and the options for carrying them out. */
export interface ChangeSteps<T, F> {
  steps: readonly BatchStep<T, F>[]
  requested: readonly RequestedPath[]
  options: BatchOptions<BatchDone<T>>
  /** Makes the id that the records of a batch share; null: not a batch, or no history is kept. */
  newId: (() => string) | null
}

/** What an undo or redo toggles in a file whose bytes stay as they are. */
export interface Traceless<P extends FilePlace> {
  name: FileName<P>
  toggles: NonNullable<Planned<unknown>['toggles']>
}

interface DoneStep<T, P extends FilePlace, S extends FileSnapshot> extends NamedText<P, S> {
  at: number
  changed: boolean
  created: boolean | undefined
  description: T
}

/** The plan of a step that removes its file. */
const REMOVAL: Pick<Planned<never>, 'pieces' | 'splices' | 'splice_lines' | 'places' | 'toggles' | 'removes'> = {
  pieces: [],
  removes: true
}
const NO_SPLICES: Pick<Planned<never>, 'splices' | 'splice_lines' | 'places'> = {
  splices: [],
  splice_lines: [],
  places: []
}
const NOTHING = Buffer.alloc(0)

/**
 * Why a step fails whatever a file holds, as far as is known of its place; null: nothing is known against it. `coming`:
 * folders that earlier steps make.
 */
export async function refusalAt<P extends FilePlace, S extends FileSnapshot>(
  store: FileStore<P, S>,
  step: BatchStep<unknown, unknown>,
  place: P,
  { isThere, coming }: { isThere: boolean; coming: readonly Buffer[] }
): Promise<FileFailure | null> {
  if (step.operation !== 'create') {
    if (isThere) return null
    return step.target.recorded === true ? { code: 'FILE_NOT_FOUND' } : store.notFound(place)
  }
  return isThere ? refusalToReplace(step.target) : store.refusalToMake(place, step.target, coming)
}

/** All steps of a change, applied to the texts of its files until these are written. */
export class Draft<T, F, P extends FilePlace, S extends FileSnapshot> {
  readonly texts: FileTexts<P, S>
  readonly done: DoneStep<T, P, S>[] = []
  /** Folders that the steps so far make for new files. */
  readonly coming: Buffer[] = []
  readonly traceless: Traceless<P>[] = []
  /** Folders to remove if they are empty, named with files that this change makes and removes. */
  readonly emptied: Buffer[] = []
  /** The step being worked on. */
  at = 0
  readonly #store: FileStore<P, S>
  readonly #request: ChangeSteps<T, F>
  readonly #places: readonly P[]

  constructor(store: FileStore<P, S>, request: ChangeSteps<T, F>, places: readonly P[]) {
    this.#store = store
    this.#request = request
    this.#places = places
    const apart = request.steps.map(
      step => step.operation === 'remove' || (step.operation === 'edit' && step.apart === true)
    )
    this.texts = groupTexts<P, S>(places, apart, (a, b) => store.isSame(a, b))
  }

  /** Plans each step on the result of the earlier ones. Null: nothing failed. */
  async planAll(): Promise<FailedMany<F | FileFailure> | null> {
    const { steps, options } = this.#request
    const { other_failures = 0 } = options
    const failed: FailedOne<F | FileFailure>[] = []
    const untried: number[] = []
    let unknown: Unknown<P, S> | undefined
    for (const [at, step] of steps.entries()) {
      const named = this.texts.of(at)
      if (unknown !== undefined) {
        const { text: previous } = this.texts.of(at - 1)
        if (failed.length > other_failures || unknown.concerns(step, named, previous)) {
          untried.push(at)
          unknown.add(step, named)
          continue
        }
      }
      this.at = at
      // A plan made on the event loop may take tens of milliseconds, and there may be a thousand.
      if (at > 0) await yieldToOthers()
      const one = await this.#planStep(step, named)
      if (one === null) continue
      failed.push({ ...one, at })
      unknown ??= new Unknown<P, S>(place => this.#store.foldersFor(place))
      unknown.addFailed(step, named, one.failure)
    }
    const [first, ...others] = failed
    return first === undefined ? null : { ...first, others, untried }
  }

  async #planStep(
    step: BatchStep<T, F>,
    { name, text }: NamedText<P, S>
  ): Promise<Omit<FailedOne<F | FileFailure>, 'at'> | null> {
    const { requested } = this.#request
    // Not the name's place: an earlier step may have reached the file by another path, such as a link.
    const place = this.#places[this.at]!
    const { info } = place
    const failed = <G>(failure: G): FailedFile<G> => ({ ...fail(failure), ...this.infoOf(text) })
    const refusal = await this.#refusalOf(step, place, { name, text })
    if (refusal !== null) return { ...failed(refusal), ...this.#behind(refusal, text, place) }
    const { origin } = this.#request.options
    // An undo or redo may turn out to remove the file.
    const mayRemove = step.operation === 'remove' || origin?.operation === 'undo' || origin?.operation === 'redo'
    const unfit = text.refused ?? (mayRemove ? null : text.binary)
    if (unfit !== null) return { ...info, ...unfit }
    // A file that this change makes had no hash before, unless it was moved.
    const stale =
      text.content === null ? null : staleness(this.#store, step.target, text.file_hash ?? text.moved_hash ?? '')
    const before = this.#contentOf(text)
    const planned = await step.plan(before, {
      path: requested[this.at]!.path,
      resolved_path: info.resolved_path,
      exists: text.content !== null,
      attributes: text.snapshot === null ? text.attributes : this.#store.attributesOf(place),
      file_hash: text.file_hash,
      stale: stale ?? undefined,
      rebased: text.rebased,
      history: () => pastOf(name.recorder)
    })
    const failedNow = stale === null ? failed : <G>(failure: G) => ({ ...failed(failure), ...this.#movedFrom(text) })
    if (!planned.ok) return failedNow(planned.failure)
    if (stale !== null && planned.value.rebased === undefined) return failedNow(stale)
    const unremovable = this.#refusalOfPlan(step, text, planned.value)
    if (unremovable !== null) return failed(unremovable)
    const isRemoved = step.operation === 'remove' || planned.value.removes === true
    if (text.binary !== null && !isRemoved) return { ...info, ...text.binary }
    this.#take(step, { name, text }, { before, planned: planned.value })
    return null
  }

  /** Why a step can't be carried out, whatever its plan is. */
  async #refusalOf(
    step: BatchStep<T, F>,
    place: P,
    { name: { recorder }, text }: NamedText<P, S>
  ): Promise<FileFailure | null> {
    const store = this.#store
    // Nothing may follow a removal.
    if (text.removes) {
      const isItself = step.operation === 'create' && step.moves === true && this.texts.of(this.at - 1).text === text
      return {
        code: 'FILE_NOT_FOUND',
        missing: 'removed',
        ...(text.moved && { moved_to: text.moved.toString() }),
        ...(isItself && { onto_itself: true })
      }
    }
    const isFit = text.refused === null
    const isThere = text.content !== null || !isFit
    const isMade = isThere && isFit && text.snapshot === null
    if (step.operation === 'create' && isMade) return { code: 'ALREADY_EXISTS', reason: 'made' }
    const refusal = await refusalAt(store, step, place, { isThere, coming: this.coming })
    if (refusal !== null) return refusal
    const among = step.operation === 'create' && !isThere ? this.#refusalAmongNew(place) : null
    if (among !== null) return among
    // What this change makes needs no history to be removed.
    if (step.operation === 'remove' && isFit && !isMade) {
      // A caller who names a link may mean the link, not its target.
      if (place.info.resolved_path !== undefined) return { code: 'NOT_A_FILE', type: 'link' }
      if (recorder === null) return { code: 'DELETE_NOT_ALLOWED', reason: 'history_off' }
      if (!recorder.keepsTexts) return { code: 'DELETE_NOT_ALLOWED', reason: 'texts_not_kept' }
      const unrestorable = store.refusalToRestore(place)
      if (unrestorable !== null) return unrestorable
    }
    const needsHash =
      store.options.requireHash && text.file_hash !== undefined && step.target.expected_hash === undefined
    return needsHash ? { code: 'PRECONDITION_REQUIRED' } : null
  }

  /** Why a plan that removes the file can't be carried out. */
  #refusalOfPlan(step: BatchStep<T, F>, { content }: FileText<P, S>, { removes }: Planned<T>): FileFailure | null {
    if (step.operation === 'remove' || removes !== true) return null
    const { options, refusesRemovals } = this.#store
    if (refusesRemovals !== null) return refusesRemovals
    // A removal that was undone may not be redone by a caller who may not remove files.
    const { origin, may_delete = options.allowDelete } = this.#request.options
    const isRefused = content !== null && origin?.operation === 'redo' && !may_delete
    return isRefused ? { code: 'DELETE_NOT_ALLOWED', reason: 'setting' } : null
  }

  /** Applies a plan's result to a text. `before`: the content that was planned on. */
  #take(
    step: BatchStep<T, F>,
    { name, text }: NamedText<P, S>,
    { before, planned }: { before: Buffer; planned: Planned<T> }
  ): void {
    const { description, original, made_folders = [], attributes, encodings = {}, rebased } = planned
    const isRemoval = step.operation === 'remove'
    const { pieces, splices, splice_lines, places, toggles, removes = false } = isRemoval ? REMOVAL : planned
    const content = { pieces, size: pieces.reduce((sum, { length }) => sum + length, 0) }
    // The planner was given the bytes that were read, not a copy.
    if (original !== undefined && text.changes === 0 && text.twin === null && text.snapshot !== null) {
      text.snapshot.bytes = original
    }
    const isThere = text.content !== null
    const created = step.operation === 'create' ? !isThere && !removes : undefined
    const changed =
      created === true || (isThere && (removes || !areSame(content.pieces, content.size, original ?? before)))
    text.isNote = !changed && text.changes === 0
    const isWritten = changed || (isThere && toggles !== undefined && this.#store.writesToggles)
    if (isWritten) {
      text.changes++
      const isFirst = text.changes === 1
      text.alone = !isFirst ? {} : changed ? { splices, splice_lines, places, toggles } : { ...NO_SPLICES, toggles }
      const { before: was } = isFirst ? encodings : text.encodings
      const { after: is } = isRemoval ? {} : encodings
      text.encodings = { ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }
      text.content = content
      text.removes = removes
      text.made_folders = made_folders
      text.rebased = rebased
      text.attributes = attributes ?? text.attributes
    } else if (toggles !== undefined) this.traceless.push({ name, toggles })
    if (isRemoval && text.snapshot === null) {
      // If it was moved here, it is removed where it was.
      const from = this.#origin(text)
      if (from !== undefined) from.moved = undefined
      this.emptied.push(...made_folders)
    }
    if (step.operation === 'create' && step.moves === true) {
      const old = this.texts.of(this.at - 1)
      text.binary = old.text.binary
      text.moved_hash = old.text.file_hash ?? old.text.moved_hash
      this.#link(old, { name, text })
    }
    if (created === true) this.coming.push(...this.#store.foldersFor(name.place))
    this.done.push({ at: this.at, text, name, changed, created, description })
  }

  /** The file that this change moved to a name that it makes. */
  #origin({ moved }: FileText<P, S>): FileText<P, S> | undefined {
    return this.texts.all.find(({ names: [first] }) => first!.place.path === moved)
  }

  /** Makes two names the halves of a move. A file that this change has moved already comes from its first name. */
  #link(old: NamedText<P, S>, made: NamedText<P, S>): void {
    const from = old.text.snapshot === null ? this.#origin(old.text) : old.text
    old.text.moved = made.name.place.path
    if (from === undefined) return
    from.moved = made.name.place.path
    made.text.moved = from.names[0]!.place.path
  }

  /** The step that makes the file which is in this one's way, or one above or below it. */
  #behind({ code }: FileFailure, text: FileText<P, S>, { path }: P): { behind?: number } {
    if (code !== 'ALREADY_EXISTS' && code !== 'NOT_A_FILE') return {}
    const step = this.done.find(
      ({ created, text: made, name: { place: other } }) =>
        created === true && (made === text || isIn(other.path, path) || isIn(path, other.path))
    )
    return step === undefined ? {} : { behind: step.at }
  }

  /** Refuses a new file that conflicts with another new file of this change. */
  #refusalAmongNew({ path }: P): FileFailure | null {
    if (this.coming.some(folder => folder.equals(path))) return { code: 'NOT_A_FILE', type: 'directory' }
    const isBelow = this.texts.all.some(
      ({ content, snapshot, removes, names: [first] }) =>
        snapshot === null && content !== null && !removes && isIn(path, first!.place.path)
    )
    return isBelow ? { code: 'NOT_A_FILE', type: 'not_a_directory' } : null
  }

  /** The content that the next step is planned on, in memory that a planner may give away. */
  #contentOf({ content, snapshot, changes, twin }: FileText<P, S>): Buffer {
    if (content === null) return NOTHING
    if (changes > 0 || snapshot === null) return Buffer.concat(content.pieces, content.size)
    // The other name is planned on these bytes too, so give away a copy.
    return twin === null ? snapshot.bytes : Buffer.from(snapshot.bytes)
  }

  /** The path and hash of a file that this change moved to where it is; empty if it didn't. */
  #movedFrom({ moved, moved_hash }: FileText<P, S>): Pick<FailedOne<never>, 'path' | 'file_hash'> {
    return moved === undefined || moved_hash === undefined ? {} : { path: moved.toString(), file_hash: moved_hash }
  }

  /** What is known of the current step's file as it was read. */
  infoOf(text: FileText<P, S>): FileInfo {
    const { info } = this.#places[this.at]!
    const file_hash = text.file_hash ?? text.refused?.file_hash
    return file_hash === undefined ? info : { ...info, file_hash }
  }
}
