// Completes a batch that a crash cut short, or takes it back, as docs/decisions/batch.md says. Does not know locks, or
// who asks.
import { linkSync, renameSync, unlinkSync } from 'node:fs'
import { codeOf, Hindered } from '../../workspace/errno.ts'
import { split } from '../../workspace/path.ts'
import { same, statAt, type Folder, type Root } from '../root/pin.ts'
import { digestAt } from '../scan.ts'
import { beside, isFile, type BatchDecision, type BatchMember, type LeftBatch } from './batch-record.ts'
import { NO_HARD_LINKS, removeIfEmpty } from './commit-new.ts'
import { REFUSALS } from './commit.ts'
import { recoverBatchInPlace, type InPlaceContext } from './in-place.ts'

export type BatchRecovery = Omit<InPlaceContext, 'lock'>

/**
 * What a member's name leads to: the batch's result (nothing, if it removed the file), the old file, or another
 * program's save. `isThere`: the name exists; `hasTemp`, `hasLink`: the temp file, and the old link, exist.
 */
interface Found {
  member: BatchMember
  holds: 'new' | 'old' | 'other'
  isThere: boolean
  hasTemp: boolean
  hasLink: boolean
}

/**
 * Call it under the batch's own lock, while nobody works on its members. Each step is idempotent, so it may be cut
 * short anywhere. False: something can't be recovered now, and the batch record stays. It stays too when this throws
 * the system's error.
 */
export async function recoverBatch(context: BatchRecovery, left: LeftBatch): Promise<boolean> {
  const found = await lookAtAll(context.root, left.members)
  const batch = left.decision === null ? await left.decide(decisionFor(found)) : left
  const decision = batch.decision!
  const outcomes = []
  try {
    for (const one of decision === 'void' ? [] : found) {
      outcomes.push(decision === 'forward' ? await bringForward(context, one) : await bringBack(context.root, one))
    }
  } catch (error) {
    // A file can't be renamed, which the owner hadn't found out yet.
    const isRefused = decision === 'forward' && REFUSALS.includes(codeOf(error))
    if (!isRefused || !canGoBack(await lookAtAll(context.root, left.members))) throw error
    return recoverBatch(context, await batch.decide('back'))
  }
  if (!(await recoverBatchInPlace(context, batch.id, decision === 'forward' ? 'new' : 'old'))) return false
  if (context.durability === 'full') await syncFolders(context.root, batch.members)
  // Report while the temp files exist: a repeated recovery then gets the same outcomes.
  tell(context, { decision, files: found.length }, outcomes)
  for (const { member } of found) removeNames(context.root, member)
  const unneeded = decision === 'forward' ? batch.emptied : batch.folders
  await removeIfEmpty(context.root, unneeded)
  batch.drop()
  return true
}

/** forward, if any member is new, unless another one's new content is lost and all can be made old again. */
function decisionFor(found: readonly Found[]): BatchDecision {
  const isStarted = found.some(
    // Old links are made before the first rename.
    ({ holds, hasTemp, hasLink }) => holds === 'new' || (holds === 'other' && hasLink && !hasTemp)
  )
  const isLost = found.some(({ member, holds, hasTemp }) => member.temp !== null && !hasTemp && holds === 'old')
  return isStarted ? (isLost && canGoBack(found) ? 'back' : 'forward') : 'void'
}

const canGoBack = (found: readonly Found[]): boolean =>
  found.every(({ member, holds, hasLink }) => holds !== 'new' || member.old === null || hasLink)

async function lookAtAll(root: Root, members: readonly BatchMember[]): Promise<Found[]> {
  const found: Found[] = []
  for (const member of members) found.push(await look(root, member))
  return found
}

/** Throws the system's error if the state can't be determined. */
async function look(root: Root, member: BatchMember): Promise<Found> {
  const found = lookAtNames(root, member)
  // A freed inode may be reused for another file at once, and the new content may have been overwritten.
  const isAsWritten =
    found.holds !== 'new' || member.digest === null || (await digestOf(root, member.path)) === member.digest
  return isAsWritten ? found : { ...found, holds: 'other' }
}

function lookAtNames(root: Root, member: BatchMember): Found {
  const { old, temp, digest, link } = member
  const gone: Found = { member, holds: 'other', isThere: false, hasTemp: false, hasLink: false }
  return inFolder(root, member.path, gone, (folder, leaf) => {
    const there = statAt(folder.at(leaf))
    const isThere = there !== undefined
    const hasLink = link !== null && statAt(folder.at(link)) !== undefined
    const isNew = digest === null ? !isThere && hasLink : temp !== null && isFile(there, temp)
    const isOld = old === null ? !isThere : isFile(there, old)
    return {
      member,
      holds: isNew ? 'new' : isOld ? 'old' : 'other',
      isThere,
      hasTemp: temp !== null && isFile(statAt(folder.at(temp.name)), temp),
      hasLink
    }
  })
}

type Outcome = { path: string; outcome: 'done' | 'left_alone' | 'left_mixed'; kept?: string }

/** Gives the new content its name, or removes the file, unless another program has saved it meanwhile. */
async function bringForward({ root, journal }: BatchRecovery, found: Found): Promise<Outcome> {
  const { member, holds, hasTemp } = found
  const path = member.path.toString()
  const { temp, old } = member
  if (member.digest === null) return { path, outcome: (await removeOld(root, found)) ? 'done' : 'left_alone' }
  if (temp === null || holds === 'new') return { path, outcome: 'done' }
  const isAsBefore = holds === 'old' && (old === null || (await digestOf(root, member.path)) === old.digest)
  // Another program saved the file, which was reported if this was in its way; or the new content is lost.
  if (!hasTemp) return { path, outcome: isAsBefore ? 'left_mixed' : 'done' }
  if (isAsBefore) {
    inFolder(root, member.path, undefined, (folder, leaf) =>
      nameIt(folder.at(temp.name), folder.at(leaf), old === null)
    )
    return { path, outcome: 'done' }
  }
  const kept = await inFolder(root, member.path, undefined, folder =>
    journal.keepCopy(folder.at(temp.name), temp.name.slice(1, -'.tmp'.length))
  )
  return { path, outcome: 'left_alone', ...(kept !== undefined && { kept }) }
}

/** Moves the old file to its old link. False: another program saved the present file, or the one moved before. */
async function removeOld(root: Root, { member, holds, isThere }: Found): Promise<boolean> {
  const { path, old } = member
  const link = beside(path, member.link!)
  if (holds === 'other') return !isThere
  const isGone = holds === 'new'
  const isAsBefore = (await digestOf(root, isGone ? link : path)) === old!.digest
  inFolder(root, path, undefined, (folder, leaf) => {
    const [name, kept] = [folder.at(leaf), folder.at(member.link!)]
    if (isAsBefore && !isGone) removeName(name, kept)
    else if (isGone && !isAsBefore) nameIt(kept, name, true)
  })
  return isAsBefore
}

function removeName(path: Buffer, link: Buffer): void {
  const [there, kept] = [statAt(path), statAt(link)]
  // If it was given back already, it has both names, and renaming one to the other does nothing.
  if (there !== undefined && kept !== undefined && same(there, kept)) unlinkSync(path)
  else renameSync(path, link)
}

function nameIt(temp: Buffer, path: Buffer, isNew: boolean): void {
  if (!isNew) return renameSync(temp, path)
  try {
    linkSync(temp, path)
  } catch (error) {
    if (!NO_HARD_LINKS.includes(codeOf(error))) throw error
    renameSync(temp, path)
  }
}

/** Gives the old file its name again, unless another program has saved it meanwhile. */
async function bringBack(root: Root, { member, holds }: Found): Promise<Outcome> {
  const path = member.path.toString()
  const { temp, old, digest, link } = member
  const isInPlace = temp === null && digest !== null
  if (isInPlace || holds === 'old') return { path, outcome: 'done' }
  // A file that others put there may never be readable: don't look at it.
  const isAsWritten = holds === 'new' && (digest === null || (await digestOf(root, member.path)) === digest)
  if (!isAsWritten) return { path, outcome: 'left_alone' }
  return inFolder(root, member.path, { path, outcome: 'left_mixed' } as Outcome, (folder, leaf) => {
    if (old === null) unlinkSync(folder.at(leaf))
    else if (link !== null && statAt(folder.at(link)) !== undefined) {
      nameIt(folder.at(link), folder.at(leaf), digest === null)
    } else return { path, outcome: 'left_mixed' }
    return { path, outcome: 'done' }
  })
}

/** Removes the temp file and the old link, if they still exist. Throws the system's error if one can't be removed. */
function removeNames(root: Root, { path, temp, link }: BatchMember): void {
  inFolder(root, path, undefined, folder => {
    for (const name of [temp?.name, link]) {
      try {
        if (typeof name === 'string') unlinkSync(folder.at(name))
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error
      }
    }
  })
}

async function syncFolders(root: Root, members: readonly BatchMember[]): Promise<void> {
  for (const path of new Map(members.map(({ path }) => [split(path).folder.toString('latin1'), path])).values()) {
    await inFolder(root, path, undefined, folder => folder.sync())
  }
}

function tell(
  { report }: BatchRecovery,
  done: { decision: BatchDecision; files: number },
  outcomes: readonly Outcome[]
): void {
  report({ event: 'batch_recovered', ...done })
  for (const { path, outcome, kept } of outcomes) {
    if (outcome !== 'done') report({ event: 'batch_unrecovered', path, outcome, ...(kept !== undefined && { kept }) })
  }
}

/** Throws if it can't be read now: that doesn't mean that another program has saved the file. */
async function digestOf(root: Root, path: Buffer): Promise<string | null> {
  const found = await digestAt(root, path)
  if (!found.ok) throw new Hindered(found.failure)
  return found.value
}

/** Does the work in the folder of a path; returns `gone` if that folder no longer exists. */
function inFolder<T>(root: Root, path: Buffer, gone: T, work: (folder: Folder, leaf: Buffer) => T): T {
  const { folder: folderPath, leaf } = split(path)
  let folder: Folder
  try {
    folder = root.openFolder(folderPath)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'RACED'].includes(codeOf(error))) return gone
    throw error
  }
  let result: T
  try {
    result = work(folder, leaf)
  } catch (error) {
    folder.close()
    throw error
  }
  if (result instanceof Promise) return result.finally(() => folder.close()) as T
  folder.close()
  return result
}
