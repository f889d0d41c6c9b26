// The steps of a batch for one name that gets new content or is removed, in the tick and around it, and their reverse.
// Does not know the other members, or the order; commit-batch.ts does.
import { renameSync, unlinkSync } from 'node:fs'
import type { CommittedFile } from '../../change/store.ts'
import type { FileAttributes } from '../../log/record.ts'
import { codeOf, Hindered } from '../../workspace/errno.ts'
import { changedMeanwhile, type FileFailure } from '../../workspace/failure.ts'
import type { Lock } from '../../workspace/queue.ts'
import { same, statAt, type Folder, type Pin } from '../root/pin.ts'
import type { Snapshot } from '../snapshot.ts'
import { identityOf, isFile } from './batch-record.ts'
import { takeName } from './commit-new.ts'
import { attributesOf, lossesOf, madeAs, REFUSALS } from './commit.ts'
import type { InPlaceWrite } from './in-place.ts'
import type { Intents } from './intents.ts'
import { isKept, keepsNames } from './kept-names.ts'
import type { Content } from '../../workspace/content.ts'
import { linkTemp, moveToTemp, writeTemp, type Temp, type TempOptions, type TempPlace } from './temp.ts'

/** One name that gets new content, or is removed; its lock is held. */
export type BatchFile = ChangedFile | RemovedFile

interface NamedFile {
  /** Real path below the root. */
  path: Buffer
  /** The file as it was read; null: there was none. */
  present: PresentFile | null
  lock: Lock
  /** The index of an earlier file of the batch that is the same file by another name: both names stay one file. */
  same_as?: number
}

interface ChangedFile extends NamedFile {
  content: Content
  /** SHA-256 of the content, 64 hex digits. */
  digest: string
  /** For a new file; without them it gets the system's defaults. */
  attributes?: FileAttributes
}

interface RemovedFile extends NamedFile {
  present: PresentFile
  content: null
  digest: null
  /** Folders to remove if they are empty afterwards, each before those inside it. */
  made_folders: readonly Buffer[]
}

interface PresentFile {
  pin: Pin
  snapshot: Snapshot
}

/** One file, with its progress so far. */
export type Member = BatchFile & {
  at: number
  folder: Folder
  folderPath: Buffer
  leaf: Buffer
  /** Null: it is written in place, or removed. */
  temp: (Temp & { name: string }) | null
  /** The name for the old link; `old` is that link, once it exists. */
  link: string
  old: Temp | null
  /** The new content has the name, or the name is removed. */
  isNew: boolean
  /** The old file has its name again. */
  isRestored: boolean
  inPlace: InPlaceWrite | null
}

/** What a member's temp files need. */
interface MemberContext {
  intents: Intents
  durability: 'full' | 'fast'
}

/** A system error on one of the files, by its index. */
export class BatchError extends Error {
  readonly at: number
  readonly code: string
  /** The old file could not be linked. */
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

/** Runs the work for one file; its system errors carry the file's index. */
export async function ofFile<T>(at: number, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new BatchError(at, error)
  }
}

export const isOwn = ({ same_as }: BatchFile): boolean => same_as === undefined

/**
 * Writes the member's temp file, or makes it a link to `twin`. The member gets none if it can't be renamed, or is to be
 * removed.
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

/** Null: the lock is still ours, and the file is the one that was read. */
export function refusalOf({ lock, present, folder, leaf, temp, content }: Member): FileFailure | null {
  if (!lock.held()) return { code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 }
  const there = statAt(folder.at(leaf))
  // A member that was written in place has changed.
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

/** Copies the old file, on file systems without hard links. Throws BatchError. */
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
 * Removes the name by moving the file to its old link. If another program has saved the file in this instant, its save
 * is moved too, and a failure is returned: it must be moved back. Throws BatchError.
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

/** Reverses the change of the name, unless another program has saved the file meanwhile. Throws the system's error. */
export function giveBack(member: Member): void {
  const { folder, leaf, old, temp, lock } = member
  const there = statAt(folder.at(leaf))
  if (temp === null) {
    // The member was a removal.
    if (there === undefined) member.isRestored = takeName(lock, folder, old!.path, leaf) === 'moved'
    member.isNew = false
    return
  }
  // Compare the time too: a freed inode may be reused for another file at once.
  if (isFile(there, identityOf(temp!.stat)) && there?.mtimeNs === temp!.stat.mtimeNs) {
    if (old === null) unlinkSync(folder.at(leaf))
    else {
      renameSync(old.path, folder.at(leaf))
      member.isRestored = true
    }
  }
  member.isNew = false
}

/** The member's part of the answer. `names`: how many names of its file are in the batch. */
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

/** Options that give the temp file the attributes of the file it replaces; for a new file, the requested ones. */
function likeOld(member: Member, { durability }: MemberContext): Pick<TempOptions, 'durability' | 'mode' | 'finish'> {
  const { present, folder } = member
  const attributes =
    present !== null ? attributesOf(present.pin) : member.content === null ? undefined : member.attributes
  return { durability, ...madeAs(attributes, folder) }
}
