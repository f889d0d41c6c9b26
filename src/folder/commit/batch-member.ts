// One name that a batch gives new content or removes, and how it is given back: what is done in the tick, and for it.
// Does not know the other members, or in which order they come; that is commit-batch.ts's.
import { renameSync, unlinkSync } from 'node:fs'
import type { CommittedFile } from '../../change/store.ts'
import type { FileAttributes } from '../../log/record.ts'
import { codeOf, Hindered } from '../../workspace/errno.ts'
import { changedMeanwhile, type FileFailure } from '../../workspace/failure.ts'
import type { Lock } from '../../workspace/queue.ts'
import { same, statAt, type Folder, type Pin } from '../root/pin.ts'
import type { Snapshot } from '../text-file.ts'
import { identityOf, isFile } from './batch-record.ts'
import { takeName } from './commit-new.ts'
import { attributesOf, lossesOf, madeAs, REFUSALS } from './commit.ts'
import type { InPlaceWrite } from './in-place.ts'
import type { Intents } from './intents.ts'
import { isKept, keepsNames } from './kept-names.ts'
import type { Content } from '../../workspace/content.ts'
import { linkTemp, moveToTemp, writeTemp, type Temp, type TempOptions, type TempPlace } from './temp.ts'

/** One name that gets new content, or is removed, its lock held. */
export type BatchFile = ChangedFile | RemovedFile

interface NamedFile {
  /** Real path below the root. */
  path: Buffer
  /** The file as it was read; null: nothing is there. */
  present: PresentFile | null
  lock: Lock
  /** Which earlier one of the batch is the same file by another name: both names stay one file. */
  same_as?: number
}

interface ChangedFile extends NamedFile {
  content: Content
  /** Of the content: SHA-256, 64 hex digits. */
  digest: string
  /** Of a new file; without them it gets the system's defaults. */
  attributes?: FileAttributes
}

interface RemovedFile extends NamedFile {
  present: PresentFile
  content: null
  digest: null
  /** Folders that are removed then if they are empty, each before those in it. */
  made_folders: readonly Buffer[]
}

interface PresentFile {
  pin: Pin
  snapshot: Snapshot
}

/** What has become of one file so far. */
export type Member = BatchFile & {
  at: number
  folder: Folder
  folderPath: Buffer
  leaf: Buffer
  /** Null: it is written in place, or removed. */
  temp: (Temp & { name: string }) | null
  /** The name of the old link, and that link, once there is one. */
  link: string
  old: Temp | null
  /** The new content has its name, or nothing has it any more. */
  isNew: boolean
  /** The old file has its name again. */
  isRestored: boolean
  inPlace: InPlaceWrite | null
}

/** What its temp files need. */
export interface MemberContext {
  intents: Intents
  durability: 'full' | 'fast'
}

/** A system error of one of the files, by its index. */
export class BatchError extends Error {
  readonly at: number
  readonly code: string
  /** Its old file could not be linked. */
  readonly isOfOldLink: boolean

  constructor(at: number, cause: unknown, isOfOldLink = false) {
    super('a file of the batch could not be changed', { cause })
    this.at = at
    this.code = codeOf(cause)
    this.isOfOldLink = isOfOldLink
  }
}

/** Some files may be new and others old until the recovery has dealt with the batch. */
export class BatchLeft extends Error {
  readonly code = 'BATCH_LEFT'

  constructor(cause: unknown) {
    super('the batch could not be taken back', { cause })
  }
}

/** Runs the work for one file; its system errors say which. */
export async function ofFile<T>(at: number, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new BatchError(at, error)
  }
}

export const isOwn = ({ same_as }: BatchFile): boolean => same_as === undefined

/**
 * Writes its temp file; `twin`: the one that it is to be a link to. It stays without one where it can't be renamed, or is
 * to be removed.
 */
export async function writeMember(member: Member, context: MemberContext, twin: Temp | null): Promise<void> {
  const { at, present, folder, content, lock } = member
  if (content === null) return
  if (present !== null && (folder.stat.dev !== present.pin.stat.dev || (await isKept(folder, member.leaf)))) return
  if (present === null && (await keepsNames(folder))) {
    throw new BatchError(at, new Hindered({ code: 'PERMISSION_DENIED', reason: 'names_kept' }))
  }
  const place = placeOf(member, lock.temp, context)
  try {
    const temp =
      twin === null || present === null
        ? await writeTemp({ ...place, ...likeOld(member, context), content })
        : linkTemp(place, twin.path, twin.stat)
    member.temp = { ...temp, name: lock.temp }
  } catch (error) {
    if (present === null || !REFUSALS.includes(codeOf(error))) throw new BatchError(at, error)
  }
}

/** Null: the lock is still ours, and what is there is what was read. */
export function refusalOf({ lock, present, folder, leaf, temp, content }: Member): FileFailure | null {
  if (!lock.held()) return { code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 }
  const there = statAt(folder.at(leaf))
  // What was written in place has changed.
  const mayHaveChanged = temp === null && content !== null
  const isAsRead =
    present === null
      ? there === undefined
      : there !== undefined && same(there, present.snapshot.stat) && (mayHaveChanged || present.snapshot.unchanged())
  return folder.inPlace() && isAsRead ? null : changedMeanwhile
}

/** Makes the old link. Throws BatchError. */
export function linkOld(member: Member, context: MemberContext): void {
  const { at, folder, leaf, link, present } = member
  try {
    member.old = linkTemp(placeOf(member, link, context), folder.at(leaf), present!.pin.stat)
    present!.snapshot.linked()
  } catch (error) {
    throw new BatchError(at, error, true)
  }
}

/** Where there are no hard links: a copy of the old file instead. Throws BatchError. */
export async function copyOld(member: Member, context: MemberContext): Promise<void> {
  const { at, link, present } = member
  if (present === null || member.old !== null) return
  const { bytes } = present.snapshot
  const content = { pieces: [bytes], size: bytes.length }
  const options = { ...placeOf(member, link, context), ...likeOld(member, context), content }
  member.old = await ofFile(at, () => writeTemp(options))
}

/** Gives the new content its name. False: this file can't be renamed. Throws BatchError. */
export function takeOver(member: Member): boolean {
  const { at, present, folder, leaf, lock, temp } = member
  try {
    if (present === null) takeName(lock, folder, temp!.path, leaf)
    else renameSync(temp!.path, folder.at(leaf))
  } catch (error) {
    if (present !== null && REFUSALS.includes(codeOf(error))) return false
    throw new BatchError(at, error)
  }
  member.isNew = true
  return true
}

/**
 * Removes the name: the old file has its old link's. What another program has saved in this instant is moved too, and
 * is the reason for a failure: to be given back. Throws BatchError.
 */
export function removeName(member: Member, context: MemberContext): FileFailure | null {
  const { at, present, folder, leaf, link } = member
  try {
    member.old = moveToTemp(placeOf(member, link, context), folder.at(leaf), present!.pin.stat)
    member.isNew = true
    if (!isFile(statAt(member.old.path), identityOf(present!.snapshot.stat))) return changedMeanwhile
    present!.snapshot.linked()
    return null
  } catch (error) {
    throw new BatchError(at, error)
  }
}

/** The reverse, unless another program has saved the file meanwhile. Throws the system's error. */
export function giveBack(member: Member): void {
  const { folder, leaf, old, temp, lock } = member
  const there = statAt(folder.at(leaf))
  if (temp === null) {
    // It was removed.
    if (there === undefined) member.isRestored = takeName(lock, folder, old!.path, leaf) === 'moved'
    member.isNew = false
    return
  }
  // The time too: an inode that was freed may be another file's at once.
  if (isFile(there, identityOf(temp!.stat)) && there?.mtimeNs === temp!.stat.mtimeNs) {
    if (old === null) unlinkSync(folder.at(leaf))
    else {
      renameSync(old.path, folder.at(leaf))
      member.isRestored = true
    }
  }
  member.isNew = false
}

/** What is answered of it. `names`: of its file that are in the batch. */
export function committed({ present, temp, content }: Member, isUnsynced: boolean, names: number): CommittedFile {
  if (present === null) return { warnings: isUnsynced ? ['unsynced_creation'] : [] }
  if (content === null) return { warnings: isUnsynced ? ['unsynced_change'] : [] }
  const isRenamed = temp !== null
  const losses = lossesOf(present.pin, isRenamed ? 'rename' : 'in_place', names)
  return {
    warnings: isUnsynced && isRenamed ? [...losses, 'unsynced_change'] : losses,
    ...(!isRenamed && { write_strategy: 'in_place' })
  }
}

const placeOf = ({ folder, folderPath }: Member, name: string, { intents }: MemberContext): TempPlace => ({
  name,
  intents,
  folder,
  folderPath
})

/** What makes a file like the one that it replaces; of a new one, what it is to be. */
function likeOld(member: Member, { durability }: MemberContext): Pick<TempOptions, 'durability' | 'mode' | 'finish'> {
  const { present, folder } = member
  const attributes =
    present !== null ? attributesOf(present.pin) : member.content === null ? undefined : member.attributes
  return { durability, ...madeAs(attributes, folder) }
}
