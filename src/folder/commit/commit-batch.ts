// Replaces or removes many files, all or nothing. Does not know plans or policy; recover-batch.ts handles crashes. The
// order, and why it is safe: docs/decisions/batch.md.
import type { CommittedFile } from '../../change/store.ts'
import { fail, ok, type Result } from '../../result.ts'
import { codeOf, quietly } from '../../workspace/errno.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import { isIn, outermostFirst, split } from '../../workspace/path.ts'
import type { Folder, Root } from '../root/pin.ts'
import { randomTempName } from '../../workspace/temp-name.ts'
import { bothDone } from '../../workspace/content.ts'
import {
  BatchError,
  BatchLeft,
  committed,
  copyOld,
  giveBack,
  isOwn,
  linkOld,
  ofFile,
  refusalOf,
  removeName,
  takeOver,
  writeMember,
  type BatchFile,
  type Member
} from './batch-member.ts'
import { identityOf, type BatchMember, type BatchRecords, type RunningBatch } from './batch-record.ts'
import { mkdirBelowRoot, NO_HARD_LINKS, removeIfEmpty } from './commit-new.ts'
import { beginInPlace, type InPlaceContext } from './in-place.ts'
import type { Intents } from './intents.ts'
import { answers, type Temp } from './temp.ts'

interface BatchContext extends Omit<InPlaceContext, 'lock'> {
  root: Root
  intents: Intents
  batches: BatchRecords
}

/** What else a batch needs. */
interface BatchExtras {
  /** Folders below the root that are missing, each before those inside it. */
  folders: readonly Buffer[]
  /**
   * Records what is about to be done, once; awaited before any file gets its content. Throws if the batch must not be
   * done.
   */
  record(made: { folders: readonly Buffer[] }): Promise<void>
  /**
   * Reports that the recorded changes did not happen, or will be taken back. Not called if the recovery is to decide
   * that.
   */
  notDone(): void
}

/** Why nothing was changed, and the index of the file at fault. */
export interface BatchRefusal {
  at: number
  failure: FileFailure
}

/** The files at these indices can't be renamed. */
interface Unrenamable {
  unrenamable: readonly number[]
}

/** How many temp files are written at once. Chosen: there are four threads to sync them. */
const AT_ONCE = 8

/**
 * Replaces, makes and removes all files or none; all names of one file get the same content. Failures: STALE_FILE,
 * FILE_LOCKED (lost). Throws BatchError, or the system's error if no request caused it. Unless it returns ok, all files
 * are as they were; if even that is impossible, it throws BatchLeft, each such file is reported, and the batch record
 * stays for the recovery.
 */
export async function commitBatch(
  context: BatchContext,
  files: readonly BatchFile[],
  extras: BatchExtras
): Promise<Result<CommittedFile[], BatchRefusal>> {
  const inPlace = new Set<number>()
  for (;;) {
    const batch = new Batch(context, files, inPlace)
    const [run] = await Promise.allSettled([batch.run(extras)])
    const done = run.status === 'fulfilled' ? run.value : null
    if (batch.left === null && done?.ok === false && 'unrenamable' in done.failure) {
      for (const at of done.failure.unrenamable) inPlace.add(at)
      continue
    }
    if (done?.ok !== true && !batch.isOpen) extras.notDone()
    // Throw this first: any other outcome would say that nothing was written, or lead to another attempt.
    if (batch.left !== null) throw batch.left
    if (run.status === 'rejected') throw run.reason
    return run.value as Result<CommittedFile[], BatchRefusal>
  }
}

const inode = ({ present }: Member): bigint => present?.pin.stat.ino ?? 0n
const byObject = (a: Member, b: Member): number => (inode(a) < inode(b) ? -1 : Number(inode(a) > inode(b)))

class Batch {
  readonly #context: BatchContext
  readonly #files: readonly BatchFile[]
  /** Indices of the files that can't be renamed. */
  readonly #unrenamable: ReadonlySet<number>
  readonly #id: string
  readonly #folders = new Map<string, Folder>()
  readonly #members: Member[] = []
  #madeFolders: Buffer[] = []
  /** Folders to remove at the end if they are empty, each before those inside it. */
  readonly #emptied: readonly Buffer[]
  #running: RunningBatch | null = null
  /** Why the batch could not be taken back; null: it could, or needn't be. */
  #left: BatchLeft | null = null
  /** The record says that the batch must be taken back, whatever the recovery finds. */
  #isToGoBack = false

  constructor(context: BatchContext, files: readonly BatchFile[], unrenamable: ReadonlySet<number>) {
    this.#context = context
    this.#files = files
    this.#unrenamable = unrenamable
    this.#id = context.batches.newId()
    this.#emptied = outermostFirst(files.flatMap(file => (file.content === null ? file.made_folders : [])))
  }

  get left(): BatchLeft | null {
    return this.#left
  }

  /** It could not be taken back, and the state of the files will decide how it ends. */
  get isOpen(): boolean {
    return this.#left !== null && !this.#isToGoBack
  }

  async run(extras: BatchExtras): Promise<Result<CommittedFile[], BatchRefusal | Unrenamable>> {
    let done = false
    try {
      await this.#makeFolders(extras.folders)
      await this.#writeTemps()
      // Report all at once: each attempt writes and syncs the temp files of all others again.
      const unrenamable = this.#members.filter(
        member => member.temp === null && member.content !== null && !this.#isInPlace(member)
      )
      if (unrenamable.length > 0) return fail({ unrenamable: unrenamable.map(({ at }) => at) })
      await this.#writeRecords(extras)
      if (this.#members.every(({ temp }) => temp === null)) await answers(this.#members[0]!.folder)
      const refusal = (await this.#writeInPlace()) ?? (await this.#putAll())
      if (refusal !== null) return fail(refusal)
      done = true
      return ok(await this.#finish(extras.folders))
    } finally {
      try {
        if (!done) await this.#rollBack()
      } finally {
        await this.#clean(done)
      }
    }
  }

  /** The temp file of the member that is the same file, if it has one. */
  #twinOf({ same_as }: Member): Temp | null {
    return same_as === undefined ? null : this.#members[same_as]!.temp
  }

  #isInPlace({ at, same_as }: BatchFile & { at: number }): boolean {
    return (
      this.#unrenamable.has(at) ||
      (same_as !== undefined && this.#unrenamable.has(same_as)) ||
      this.#files.some((other, i) => other.same_as === at && this.#unrenamable.has(i))
    )
  }

  async #makeFolders(missing: readonly Buffer[]): Promise<void> {
    for (const folder of missing) {
      const at = this.#files.findIndex(({ path }) => isIn(path, folder))
      if (await ofFile(at, () => mkdirBelowRoot(this.#context.root, folder))) this.#madeFolders.push(folder)
    }
  }

  #folder(path: Buffer): Folder {
    const key = path.toString('latin1')
    const folder = this.#folders.get(key) ?? this.#context.root.openFolder(path)
    this.#folders.set(key, folder)
    return folder
  }

  async #writeTemps(): Promise<void> {
    for (const [at, file] of this.#files.entries()) {
      const { folder: folderPath, leaf } = split(file.path)
      const link = randomTempName()
      const folder = await ofFile(at, () => this.#folder(folderPath))
      const state = { temp: null, link, old: null, isNew: false, isRestored: false, inPlace: null }
      this.#members.push({ ...file, at, folder, folderPath, leaf, ...state })
    }
    const waiting = this.#members.filter(member => !this.#isInPlace(member))
    // Links to other temp files come after those.
    const [first, links] = [waiting.filter(isOwn), waiting.filter(member => !isOwn(member))]
    for (const group of [first, links]) {
      for (let i = 0; i < group.length; i += AT_ONCE) {
        const written = await Promise.allSettled(
          group.slice(i, i + AT_ONCE).map(member => writeMember(member, this.#context, this.#twinOf(member)))
        )
        const failed = written.find(result => result.status === 'rejected')
        if (failed !== undefined) throw failed.reason
      }
    }
  }

  /** Writes the batch record and the caller's record; both are on the disk before any file gets its content. */
  async #writeRecords({ record }: BatchExtras): Promise<void> {
    const members = this.#members.map(({ path, present, digest, temp, link }): BatchMember => ({
      path,
      old: present && { ...identityOf(present.pin.stat), digest: present.snapshot.digest },
      digest,
      temp: temp && { ...identityOf(temp.stat), name: temp.name },
      link: present !== null && (temp !== null || digest === null) ? link : null
    }))
    const folders = this.#madeFolders
    const saved = this.#context.batches.save(this.#id, { members, folders, emptied: this.#emptied }).then(running => {
      // Set it even if the other write fails.
      this.#running = running
    })
    await bothDone(saved, record({ folders }))
  }

  async #writeInPlace(): Promise<BatchRefusal | null> {
    // Each keeps the lock of its object; sorted, as all batches must acquire several locks in one order.
    for (const member of this.#members.toSorted(byObject)) {
      const { at, present, content, digest, lock } = member
      if (member.temp !== null || present === null || content === null || !isOwn(member)) continue
      const change = { ...present, ...content, digest: Promise.resolve(digest), record: async () => {} }
      const written = await ofFile(at, () => beginInPlace({ ...this.#context, lock }, change, this.#id))
      if (!written.ok) return { at, failure: written.failure }
      member.inPlace = written.value
    }
    return null
  }

  /** Puts all files in one tick. If the file system has no hard links, copies the old files first. */
  async #putAll(): Promise<BatchRefusal | Unrenamable | null> {
    try {
      return this.#putInOneTick()
    } catch (error) {
      if (!(error instanceof BatchError) || !error.isOfOldLink || !NO_HARD_LINKS.includes(error.code)) throw error
      for (const member of this.#replaced()) await copyOld(member, this.#context)
      return this.#putInOneTick()
    }
  }

  #putInOneTick(): BatchRefusal | Unrenamable | null {
    for (const member of this.#members) {
      const failure = refusalOf(member)
      if (failure !== null) return { at: member.at, failure }
    }
    for (const member of this.#replaced()) if (member.old === null) linkOld(member, this.#context)
    for (const member of this.#replaced()) if (!takeOver(member)) return { unrenamable: [member.at] }
    for (const member of this.#removed()) {
      const failure = removeName(member, this.#context)
      if (failure !== null) return { at: member.at, failure }
    }
    // New files come last, as taking one back removes a file.
    for (const member of this.#members) if (member.present === null) takeOver(member)
    return null
  }

  /** Members whose existing file is replaced by a rename. */
  #replaced(): Member[] {
    return this.#members.filter(({ present, temp }) => present !== null && temp !== null)
  }

  #removed(): Member[] {
    return this.#members.filter(({ content }) => content === null)
  }

  /** Reverses all changes of names in one tick, and writes the old bytes back to files written in place. */
  async #rollBack(): Promise<void> {
    const changed = this.#members.filter(({ isNew }) => isNew)
    for (const member of changed.reverse()) {
      try {
        giveBack(member)
      } catch (error) {
        this.#leave(member, error)
      }
    }
    // Sync while the record exists: a power failure must not bring back some of the new files without it.
    if (changed.length > 0) await this.#syncFolders([])
    for (const member of this.#members) {
      const { inPlace } = member
      if (inPlace === null) continue
      // The recovery may complete the batch, and then needs to find this file written.
      if (this.isOpen) await inPlace.leave()
      else await inPlace.restore().catch((error: unknown) => this.#leave(member, error))
      member.inPlace = null
    }
  }

  #leave({ path }: Member, error: unknown): void {
    if (this.#left === null) this.#isToGoBack = this.#running?.leave() ?? false
    this.#left ??= new BatchLeft(error)
    this.#context.report({ event: 'batch_left', path: path.toString(), reason: codeOf(error) })
  }

  /** After the files got their content: syncs the folders, and makes each file's part of the answer. */
  async #finish(folders: readonly Buffer[]): Promise<CommittedFile[]> {
    const unsynced = await this.#syncFolders(folders)
    // A rename can't be repeated by the recovery, but writing old bytes back can; so sync the record's removal.
    if (this.#members.some(({ inPlace }) => inPlace !== null)) await this.#forget()
    else this.#running?.drop()
    for (const { inPlace } of this.#members) await inPlace?.finish()
    return this.#members.map(member => {
      const { present, folder } = member
      if (present !== null && member.isNew) present.pin.replaced = true
      return committed(member, unsynced.has(folder), this.#namesOf(member))
    })
  }

  /** How many names of its file are in the batch. */
  #namesOf({ at, same_as = at }: Member): number {
    return this.#members.filter(member => (member.same_as ?? member.at) === same_as).length
  }

  /**
   * Syncs folders; returns the members' folders whose names may be lost. `missing`: folders that new files needed,
   * including those that another request made meanwhile. Never throws: the files are changed.
   */
  async #syncFolders(missing: readonly Buffer[]): Promise<Set<Folder>> {
    const failed = new Set<Folder>()
    if (this.#context.durability === 'fast') return failed
    const own = [...new Set(this.#members.map(({ folder }) => folder))].map(folder =>
      folder.sync().catch(() => failed.add(folder))
    )
    const above = missing.map(async path => {
      try {
        await this.#folder(split(path).folder).sync()
      } catch {
        for (const { folder, folderPath } of this.#members) {
          if (folderPath.equals(path) || isIn(folderPath, path)) failed.add(folder)
        }
      }
    })
    await Promise.all([...own, ...above])
    return failed
  }

  /** Removes the batch record so that no power failure brings it back. */
  async #forget(): Promise<void> {
    this.#running?.drop()
    await this.#context.batches.sync().catch((error: unknown) => {
      this.#context.report({ event: 'batch_record_unsynced', reason: codeOf(error) })
    })
  }

  /** Removes the temporary names; those that the recovery needs stay. */
  async #clean(done: boolean): Promise<void> {
    if (this.#left !== null) this.#context.intents.leave()
    else if (!done) await this.#forget()
    const ends =
      this.#left !== null
        ? []
        : this.#members.flatMap(({ temp, old, isNew, present, isRestored }) => [
            temp?.end(isNew && present !== null),
            old?.end(isRestored)
          ])
    await Promise.all(ends)
    // The batch may be tried again with another file written in place.
    for (const { present, old } of done ? [] : this.#members) {
      if (old !== null) quietly(() => present?.snapshot.unlinked())
    }
    if (this.#left === null) await removeIfEmpty(this.#context.root, done ? this.#emptied : this.#madeFolders)
    for (const folder of this.#folders.values()) folder.close()
  }
}
