// Keeps a holder whose lock was taken over from writing after all: its temp file is removed before anybody reads the
// file under the lock. Does not know what is edited, or how locks are taken.
//
// A holder can be suspended at any moment, so "is the lock still mine?" and the rename that follows are never one step.
// But the rename needs the temp file, whose name belongs to one hold of the lock and to no other:
//   holder: take the lock → make the temp file → is the lock still mine? → rename
//   taker:  take the lock over → remove the temp files of all earlier holders that never released it → read
// If the holder's question was answered with yes, its temp file was there before the lock was taken over, and so it is
// removed: the late rename (or link) fails. If it makes the temp file later, the answer is no.
// (Kleppmann's fencing token, "How to do distributed locking", 2016, with the file system as the store that checks it.)
import { unlinkSync } from 'node:fs'
import { codeOf } from '../../workspace/errno.ts'
import { split } from '../../workspace/path.ts'
import type { Folder, Root } from '../root/pin.ts'

/**
 * Removes the temp files of earlier holders beside the file at this real path below the root. To be called while its
 * lock is held and before the file is read, as lock.ts does. Throws the system's error where one can't be removed: then
 * the file must not be edited.
 */
export function fence(root: Root, realPath: Buffer, temps: readonly string[]): void {
  const folder = openIfThere(root, split(realPath).folder)
  if (folder === null) return
  try {
    for (const name of temps) unlinkIfThere(folder.at(name))
  } finally {
    folder.close()
  }
}

/** Null: there is no such folder, and so no temp file in it. */
function openIfThere(root: Root, relative: Buffer): Folder | null {
  try {
    return root.openFolder(relative)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))) return null
    throw error
  }
}

function unlinkIfThere(path: Buffer): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
