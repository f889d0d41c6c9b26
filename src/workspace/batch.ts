// Changes many files, all or nothing: which steps are of one file, the plans one after the other in memory, and the
// answers. Does not know what a plan does; commit/commit-batch.ts touches the disk.
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok } from '../result.ts'
import type { BatchDone, BatchStep, BatchStepDone, ChangeOptions, Planned } from './api.ts'
import { BatchError, type BatchFile, type CommittedFile } from './commit/batch-member.ts'
import { commitBatch } from './commit/commit-batch.ts'
import { foldersBetween } from './commit/commit-new.ts'
import { lossesOf } from './commit/commit.ts'
import { notADirectory, refusalToMake, refusalToReplace } from './create.ts'
import { pastOf, recordedBy, refusalToWrite, reportSave, staleness, type WriteContext } from './edit.ts'
import { codeOf } from './errno.ts'
import type { FileFailure, FileWarning } from './failure.ts'
import {
  failedBy,
  MOVED,
  type FailedFile,
  type FileInfo,
  type FoundPath,
  type ManyResult,
  type RequestedPath
} from './file-access.ts'
import type { FileRecorder } from './history/recorder.ts'
import type { Lock } from './locks/lock.ts'
import { isIn, split } from './root/path.ts'
import { same, type Missing, type Pin } from './root/pin.ts'
import { areSame, digestOf, readWhole, shortHash, SYNC_IO_BYTES, type Snapshot } from './text-file.ts'

/** The steps of a batch, each with its path, and how they are carried out. */
export interface BatchRequest<T, F> {
  steps: readonly BatchStep<T, F>[]
  asked: readonly RequestedPath[]
  options: ChangeOptions<BatchDone<T>>
  /** Of the history, for all records of this batch; null: there is none. */
  newId: (() => string) | null
}

type Outcome<T, F> = Promise<ManyResult<BatchDone<T>, F | FileFailure | typeof MOVED>>

/** Changes all files of the batch, or none. */
export function changeFiles<T, F>(
  context: WriteContext,
  request: BatchRequest<T, F>
): Promise<ManyResult<BatchDone<T>, F | FileFailure>> {
  const { asked, options } = request
  return context.files.changeAll<BatchDone<T>, F | FileFailure>(asked, options.dry_run, (found, locks) =>
    new FileBatch(context, request, found, locks).run()
  )
}

/** A name of a file, where links have led to: what the steps that name it have in common. */
interface FileName {
  path: Buffer
  absent: Missing | null
  pin: Pin | null
  lock: Lock | null
  recorder: FileRecorder | null
}

/** A file with all its names in this batch, and what the steps so far have made of it. */
interface BatchText {
  names: FileName[]
  snapshot: Snapshot | null
  /** Before the batch. */
  file_hash: string | undefined
  /** Null: it isn't there yet. */
  content: { pieces: readonly Buffer[]; size: number } | null
  /** Where one step alone has changed it: that step's splices of what was read. */
  splices: Planned<unknown>['splices']
  changes: number
  digest: string
}

interface StepDone<T> {
  text: BatchText
  name: FileName
  info: FileInfo
  changed: boolean
  created?: boolean
  description: T
}

class FileBatch<T, F> {
  readonly #context: WriteContext
  readonly #request: BatchRequest<T, F>
  readonly #found: readonly FoundPath[]
  readonly #locks: readonly Lock[] | null
  readonly #texts: BatchText[] = []
  readonly #names = new Map<string, { name: FileName; text: BatchText }>()
  readonly #done: StepDone<T>[] = []
  /** Folders that will have been made for new files. */
  readonly #coming: Buffer[] = []
  /** What will be given back in the end. */
  readonly #taken: (() => void)[] = []
  /** The step that is being worked on. */
  #at = 0

  constructor(
    context: WriteContext,
    request: BatchRequest<T, F>,
    found: readonly FoundPath[],
    locks: readonly Lock[] | null
  ) {
    this.#context = context
    this.#request = request
    this.#found = found
    this.#locks = locks
  }

  async run(): Outcome<T, F> {
    try {
      const refused = (await this.#open()) ?? (await this.#planAll())
      return refused ?? (await this.#write())
    } catch (error) {
      return { ...failedBy(error, {}), at: this.#at }
    } finally {
      for (const release of this.#taken.reverse()) release()
    }
  }

  /** Finds out which paths are one file, and reads each once. */
  async #open(): Promise<(FailedFile<FileFailure> & { at: number }) | null> {
    for (const [at, { pin, absent }] of this.#found.entries()) {
      const path = (pin ?? absent).relative
      const key = path.toString('latin1')
      const lock = this.#locks?.[at] ?? null
      if (this.#names.has(key)) continue
      const name: FileName = { path, absent, pin, lock, recorder: null }
      const known = this.#texts.find(
        ({ names: [first] }) => pin !== null && first?.pin && same(first.pin.stat, pin.stat)
      )
      if (known !== undefined) known.names.push(name)
      const text = known ?? textOf(name)
      if (known === undefined) this.#texts.push(text)
      this.#names.set(key, { name, text })
    }
    return (await this.#takeMemory()) ?? (await this.#readAll())
  }

  async #takeMemory(): Promise<(FailedFile<FileFailure> & { at: number }) | null> {
    const { buffers, options } = this.#context
    const sizes = this.#texts.map(({ names: [first] }) => Number(first?.pin?.stat.size ?? 0))
    const large = sizes.filter(size => size > SYNC_IO_BYTES && size <= options.maxFileSize)
    const actual = large.reduce((sum, size) => sum + size, 0)
    if (actual === 0) return null
    const at = this.#stepOf(this.#texts[sizes.findIndex(size => size === large[0])]!)
    if (actual > buffers.size) {
      return { ...fail({ code: 'FILE_TOO_LARGE', limit: buffers.size, actual, together: true }), at }
    }
    const release = await buffers.take(actual, options.lockTimeout)
    if (release === null) return { ...fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 }), at }
    this.#taken.push(release)
    return null
  }

  async #readAll(): Promise<(FailedFile<FileFailure> & { at: number }) | null> {
    const { files, buffers, options, recorder } = this.#context
    for (const text of this.#texts) {
      const [{ pin }] = text.names as [FileName]
      const at = this.#stepOf(text)
      this.#at = at
      if (pin !== null) {
        const unwritable = refusalToWrite(pin)
        if (unwritable !== null) return { ...fail(unwritable), ...(await files.hash(pin)), at }
        const read = await readWhole(pin, options.maxFileSize, size => buffers.buffer(size))
        if (!read.ok) return { ...read, at }
        const snapshot = read.value
        this.#taken.push(() => {
          snapshot.close()
          buffers.reuse(snapshot.bytes)
        })
        text.snapshot = snapshot
        text.digest = snapshot.digest
        text.file_hash = shortHash(snapshot.digest)
        text.content = { pieces: [snapshot.bytes], size: snapshot.bytes.length }
        const encoding = binaryEncodingOf(snapshot.bytes)
        const file_size = snapshot.bytes.length
        const { file_hash } = text
        if (encoding !== null) return { ...fail({ code: 'BINARY_FILE', encoding, file_size }), file_hash, at }
      }
      for (const name of text.names) {
        name.recorder = recorder.begin({
          path: name.path,
          digest: text.snapshot?.digest ?? null,
          bytes: () => text.snapshot?.bytes ?? Buffer.alloc(0),
          alone_since: name.lock?.alone_since ?? null
        })
      }
    }
    return null
  }

  /** The first step that names one of the file's names. */
  #stepOf(text: BatchText): number {
    return this.#found.findIndex(({ pin, absent }) =>
      text.names.some(({ path }) => path.equals((pin ?? absent).relative))
    )
  }

  async #planAll(): Promise<(FailedFile<F | FileFailure> & { at: number }) | null> {
    for (const at of this.#found.keys()) {
      this.#at = at
      const failed = await this.#planStep(at)
      if (failed !== null) return { ...failed, at }
    }
    return null
  }

  async #planStep(at: number): Promise<FailedFile<F | FileFailure> | null> {
    const { steps, asked } = this.#request
    const step = steps[at]!
    const { info, pin, absent } = this.#found[at]!
    const { name, text } = this.#names.get((pin ?? absent).relative.toString('latin1'))!
    const { path } = asked[at]!
    const led = {
      ...(absent !== null &&
        !absent.relative.equals(asked[at]!.relative) && { resolved_path: absent.relative.toString() }),
      ...info
    }
    const known = { ...led, ...(text.file_hash !== undefined && { file_hash: text.file_hash }) }
    const refusal = this.#refusalOf(step, name, text)
    if (refusal !== null) return { ...fail(refusal), ...known }
    // A file that this batch makes had no hash before it.
    const stale = text.content === null ? null : staleness(step.target, text.file_hash ?? '')
    const before = this.#contentOf(text)
    const planned = await step.plan(before, {
      path,
      ...(led.resolved_path !== undefined && { resolved_path: led.resolved_path }),
      exists: text.content !== null,
      ...(stale !== null && { stale }),
      history: () => pastOf(name.recorder)
    })
    if (!planned.ok) return { ...planned, ...known }
    if (stale !== null) return { ...fail(stale), ...known }
    const { pieces, description, original, splices } = planned.value
    const content = { pieces, size: pieces.reduce((sum, { length }) => sum + length, 0) }
    if (original !== undefined && text.changes === 0 && text.snapshot !== null) text.snapshot.bytes = original
    const created = step.operation === 'create' ? text.content === null : undefined
    const changed = created === true || !areSame(content.pieces, content.size, original ?? before)
    if (changed) {
      text.changes++
      text.splices = text.changes === 1 ? splices : undefined
      text.content = content
    }
    if (created === true) this.#coming.push(...foldersBetween(name.absent!.folder, split(name.path).folder))
    this.#done.push({ text, name, info: led, changed, ...(created !== undefined && { created }), description })
    return null
  }

  #refusalOf(step: BatchStep<T, F>, { path, absent }: FileName, text: BatchText): FileFailure | null {
    const { files, options } = this.#context
    const isThere = text.content !== null
    if (step.operation === 'edit') {
      if (!isThere) return files.notFound(absent!, 'edit')
    } else {
      if (isThere) {
        const refusal = refusalToReplace(step.target)
        if (refusal !== null) return refusal
      } else {
        const refusal = refusalToMake(this.#context, absent!, step.target, this.#coming) ?? this.#refusalAmongNew(path)
        if (refusal !== null) return refusal
      }
    }
    const needsHash = options.requireHash && text.file_hash !== undefined && step.target.expected_hash === undefined
    return needsHash ? { code: 'PRECONDITION_REQUIRED' } : null
  }

  /** Where another new file of the batch stands in the way. */
  #refusalAmongNew(path: Buffer): FileFailure | null {
    if (this.#coming.some(folder => folder.equals(path))) return { code: 'NOT_A_FILE', type: 'directory' }
    const isBelow = this.#texts.some(
      ({ content, snapshot, names: [first] }) => snapshot === null && content !== null && isIn(path, first!.path)
    )
    return isBelow ? notADirectory : null
  }

  /** In memory that a planner may give away. */
  #contentOf({ content, snapshot, changes }: BatchText): Buffer {
    if (content === null) return Buffer.alloc(0)
    return changes === 0 && snapshot !== null ? snapshot.bytes : Buffer.concat(content.pieces, content.size)
  }

  async #write(): Outcome<T, F> {
    const { options, newId } = this.#request
    const { origin = { operation: 'batch' }, outcome } = options
    for (const text of this.#texts) {
      if (text.content === null || text.changes === 0) continue
      const { pieces, size } = text.content
      const { bytes, marks } = text.snapshot ?? { bytes: undefined, marks: [] }
      text.digest = await digestOf(pieces, size, bytes, marks)
    }
    const changed = this.#texts.filter(text => text.changes > 0 && text.digest !== text.snapshot?.digest)
    if (this.#locks === null || changed.length === 0) {
      const would = this.#answer(new Map(), this.#locks === null)
      const noted = this.#texts[0]?.names[0]?.recorder
      if (this.#locks !== null) await noted?.note(origin, texts => outcome?.(would, texts && this.#keepsTexts()))
      return ok(would)
    }
    const members = changed.flatMap(text => text.names.map(name => ({ text, name })))
    const batch_id = newId?.()
    const recorders = members.flatMap(({ name: { recorder } }) => (recorder === null ? [] : [recorder]))
    const ids = new Map<FileName, string>()
    for (const { name } of members) if (name.recorder !== null) ids.set(name, await name.recorder.prepare())
    const withIds = { ...origin, ...(batch_id !== undefined && { batch_id }) }
    let committed: Awaited<ReturnType<typeof commitBatch>>
    try {
      committed = await commitBatch(
        {
          ...this.#context,
          durability: this.#context.options.durability,
          report: this.#context.options.report ?? (() => {})
        },
        members.map((member, i) => this.#fileOf(member, members.slice(0, i))),
        {
          folders: this.#missingFolders(),
          record: async ({ folders }) => {
            // All of them, also where one fails: none may be written after it is said that it didn't take place.
            const written = await Promise.allSettled(
              members.map(({ name, text }, i) => {
                // The answer is kept with the last one.
                const { key, ...others } = withIds
                const isLast = i === members.length - 1
                return name.recorder?.record({
                  origin: isLast && key !== undefined ? withIds : others,
                  planned: {
                    pieces: text.content!.pieces,
                    ...(text.splices !== undefined && { splices: text.splices })
                  },
                  digest: text.digest,
                  size: text.content!.size,
                  temp: name.lock!.temp,
                  made_folders: folders.filter(folder => text.snapshot === null && isIn(name.path, folder)),
                  outcome: (_, texts) =>
                    outcome?.(this.#answer(new Map(), false, { batch_id, ids }), texts && this.#keepsTexts())
                })
              })
            )
            const failed = written.find(result => result.status === 'rejected')
            if (failed !== undefined) throw failed.reason
          },
          notDone: () => {
            for (const recorder of recorders) recorder.notDone()
          }
        }
      )
    } catch (error) {
      return this.#failedBy(error, members)
    }
    if (!committed.ok) {
      const { at, failure } = committed.failure
      const { text } = members[at]!
      const isNew = text.snapshot === null && failure.code === 'STALE_FILE'
      const at_step = this.#stepOf(text)
      if (isNew) return { ...fail(MOVED), at: at_step }
      const { path: relative } = members[at]!.name
      return {
        ...fail(failure),
        ...(await this.#context.files.currentInfo({ relative, isFolder: false })),
        at: at_step
      }
    }
    const outcomes = new Map<FileName, CommittedFile>()
    for (const [i, { name, text }] of members.entries()) {
      const file = committed.value[i]!
      outcomes.set(name, file)
      if (name.pin !== null && text.snapshot !== null) {
        await reportSave(this.#context, name.recorder, name.pin, text.snapshot, file)
      }
      name.recorder?.done(text.content!.pieces, text.digest)
    }
    return ok(this.#answer(outcomes, false, { batch_id, ids }))
  }

  #keepsTexts(): boolean {
    return this.#texts.every(({ names }) => names.every(({ recorder }) => recorder?.keepsTexts !== false))
  }

  #missingFolders(): Buffer[] {
    return [...new Map(this.#coming.map(folder => [folder.toString('latin1'), folder])).values()].sort(
      (a, b) => a.length - b.length
    )
  }

  #fileOf({ text, name }: { text: BatchText; name: FileName }, before: readonly { text: BatchText }[]): BatchFile {
    const { snapshot, content, digest } = text
    const same_as = before.findIndex(other => other.text === text)
    return {
      path: name.path,
      present: name.pin !== null && snapshot !== null ? { pin: name.pin, snapshot } : null,
      lock: name.lock!,
      content: content!,
      digest,
      ...(same_as !== -1 && { same_as })
    }
  }

  #failedBy(error: unknown, members: readonly { text: BatchText }[]): ManyResult<never, FileFailure | typeof MOVED> {
    const text = members[error instanceof BatchError ? error.at : 0]!.text
    const at = this.#stepOf(text)
    // Something has come, or a folder above it has gone: look again.
    if (text.snapshot === null && ['EEXIST', 'ENOENT', 'ENOTDIR', 'RACED'].includes(codeOf(error))) {
      return { ...fail(MOVED), at }
    }
    return { ...failedBy(error, text.file_hash === undefined ? {} : { file_hash: text.file_hash }), at }
  }

  #answer(
    committed: ReadonlyMap<FileName, CommittedFile>,
    isDry: boolean,
    { batch_id, ids }: { batch_id?: string | undefined; ids?: ReadonlyMap<FileName, string> } = {}
  ): BatchDone<T> {
    const { asked } = this.#request
    const steps = this.#done.map((step, i): BatchStepDone<T> => {
      const { text, name, info, changed, created, description } = step
      const new_hash = shortHash(text.digest)
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
        file_size: text.content!.size,
        description,
        ...(write_strategy !== undefined && { write_strategy }),
        ...(edit_id !== undefined && { edit_id }),
        warnings: isLast ? this.#warningsOf(text, name, committed.get(name)) : []
      }
    })
    return { ...(batch_id !== undefined && { batch_id }), steps }
  }

  #warningsOf({ changes, names }: BatchText, { pin, recorder }: FileName, committed?: CommittedFile): FileWarning[] {
    if (committed !== undefined) return recordedBy(recorder, committed.warnings).warnings
    if (pin === null || changes === 0) return []
    return lossesOf(pin, 'rename', names.length)
  }
}

const textOf = (name: FileName): BatchText => ({
  names: [name],
  snapshot: null,
  file_hash: undefined,
  content: null,
  splices: undefined,
  changes: 0,
  digest: ''
})
