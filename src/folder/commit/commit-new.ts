// Makes a new file, and its missing folders: temp file, fsync, link, fsync of the folders. Does not know plans or
// policy.
import { closeSync, constants, linkSync, openSync, renameSync, unlinkSync } from 'node:fs'
import { mkdir, rmdir } from 'node:fs/promises'
import { fail, ok, type Result } from '../../result.ts'
import type { FileAttributes } from '../../log/record.ts'
import { madeAs, type CommitContext } from './commit.ts'
import { codeOf, quietly, Raced } from '../../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../../workspace/failure.ts'
import type { Lock } from '../../workspace/queue.ts'
import { keepsNames } from './kept-names.ts'
import { split } from '../../workspace/path.ts'
import type { Folder, Missing, Root } from '../root/pin.ts'
import type { Content } from '../../workspace/content.ts'
import { withTemp, type Put } from './temp.ts'

/**
 * Makes the file with these attributes; without them its mode is 0666, less the umask. Folders always get 0777, less
 * the umask, which the system applies itself. `record` records what is about to be done, with the folders made for the
 * file. Returns warnings.
 * Failures: FILE_LOCKED (lost), STALE_FILE. Throws the system's error, EEXIST if something is there by now, or Raced.
 * Unless it returns ok, the folders that it made are removed again, except those that others use by now.
 */
export async function commitNew(
  context: CommitContext,
  absent: Missing,
  { attributes, ...content }: Content & { attributes?: FileAttributes | undefined },
  record: (temp: string, made_folders: readonly Buffer[]) => Promise<void>
): Promise<Result<FileWarning[], FileFailure>> {
  const { folder: folderPath, leaf } = split(absent.relative)
  const missingFolders = foldersBetween(absent.folder, folderPath)
  const made: Buffer[] = []
  let done = false
  try {
    for (const missing of missingFolders) {
      if (await mkdirBelowRoot(context.root, missing)) made.push(missing)
    }
    const folder = context.root.openFolder(folderPath)
    try {
      if (await keepsNames(folder)) return fail({ code: 'PERMISSION_DENIED', reason: 'names_kept' })
      const named = await withTemp(
        {
          ...context,
          name: context.lock.temp,
          folder,
          folderPath,
          ...madeAs(attributes, folder),
          content,
          ready: () => record(context.lock.temp, made)
        },
        temp => nameUnlessTaken(context, folder, temp, leaf)
      )
      if (!named.ok) return named
      done = true
      return ok(context.durability === 'full' ? await syncAll(context.root, folder, missingFolders) : [])
    } finally {
      folder.close()
    }
  } finally {
    if (!done) await removeIfEmpty(context.root, made)
  }
}

/** The folders below `from` down to `to`, each before those inside it. */
export function foldersBetween(from: Buffer, to: Buffer): Buffer[] {
  const folders = []
  for (let end = from.length; end < to.length;) {
    const next = to.indexOf('/', end + 1)
    end = next === -1 ? to.length : next
    folders.push(to.subarray(0, end))
  }
  return folders
}

/** False: it exists by now, perhaps because another request needs it too. Throws the system's error, or Raced. */
export async function mkdirBelowRoot(root: Root, realPath: Buffer): Promise<boolean> {
  const { folder, leaf } = split(realPath)
  const parent = root.openFolder(folder)
  try {
    await root.disk.call(() => mkdir(parent.at(leaf)))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    parent.close()
  }
}

/** Removes the folders that are empty and can be removed; given each before those inside it. */
export async function removeIfEmpty(root: Root, realPaths: readonly Buffer[]): Promise<void> {
  for (const realPath of realPaths.toReversed()) await removeFolder(root, realPath).catch(() => {})
}

/** Removes an empty folder. Throws the system's error: ENOTEMPTY if it isn't. */
export async function removeFolder(root: Root, realPath: Buffer): Promise<void> {
  const { folder, leaf } = split(realPath)
  const parent = root.openFolder(folder)
  try {
    await root.disk.call(() => rmdir(parent.at(leaf)))
  } finally {
    parent.close()
  }
}

function nameUnlessTaken(context: CommitContext, folder: Folder, temp: Buffer, leaf: Buffer): Result<Put, FileFailure> {
  if (!context.lock.held()) return fail({ code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 })
  if (!folder.inPlace()) throw new Raced('the folder was moved')
  try {
    return ok(takeName(context.lock, folder, temp, leaf))
  } catch (error) {
    // A server that took our lock over has removed the temp file (see fence.ts), and owns the file now.
    if (codeOf(error) === 'ENOENT') return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
    throw error
  }
}

/** Error codes of file systems without hard links. */
export const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']

/**
 * Gives a temp file its name. Throws the system's error: EEXIST if the name is taken, ENOENT if the temp file is gone.
 */
export function takeName(lock: Lock, folder: Folder, temp: Buffer, leaf: Buffer): Put {
  try {
    linkSync(temp, folder.at(leaf))
    return 'named'
  } catch (error) {
    if (!NO_HARD_LINKS.includes(codeOf(error))) throw error
    return claim(lock, folder, temp, leaf)
  }
}

/**
 * Without hard links: takes the name with an empty file first, so that no other file is replaced; others may see the
 * empty file for an instant.
 */
function claim(lock: Lock, folder: Folder, temp: Buffer, leaf: Buffer): Put {
  const fd = openSync(folder.at(leaf), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW)
  try {
    renameSync(temp, folder.at(leaf))
    return 'moved'
  } catch (error) {
    // If another server has the lock by now, the empty file may be its own.
    if (lock.held()) quietly(() => unlinkSync(folder.at(leaf)))
    throw error
  } finally {
    closeSync(fd)
  }
}

/**
 * Syncs the folders with the new names, including those of missing folders that another request made at the same time
 * and may not have synced yet.
 */
async function syncAll(root: Root, folder: Folder, missingFolders: Buffer[]): Promise<FileWarning[]> {
  try {
    await folder.sync()
    for (const realPath of missingFolders) {
      const parent = root.openFolder(split(realPath).folder)
      try {
        await parent.sync()
      } finally {
        parent.close()
      }
    }
    return []
  } catch {
    return ['unsynced_creation']
  }
}
