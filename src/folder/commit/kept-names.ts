// Folders in which names can be made and not removed again (chattr +a): a temp file would stay in them for ever. Does not
// know temp files. Linux has no call in Node that tells; what it refuses does.
import { rmdir, utimes } from 'node:fs/promises'
import { codeOf } from '../../workspace/errno.ts'
import type { Folder } from '../root/pin.ts'

/** In ms: a folder that was found to let names go is not asked again for so long. Chosen: to ask takes 10 us. */
const KNOWN = 1000
/** So many folders are remembered. */
const MOST = 256

/** Until when a folder is known to let names go, in ms of performance.now(); by device, inode and time of birth. */
const known = new Map<string, number>()

/**
 * Whether the file of this name can't be removed from its folder, and so not be replaced either: by the folder's
 * attributes, its own, or the sticky bit. It is asked as if it were a folder, which removes nothing: before it looks at
 * what it is, the kernel looks at whether it may go.
 */
export async function isKept(folder: Folder, leaf: Buffer): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const id = `${folder.stat.dev}:${folder.stat.ino}:${folder.stat.birthtimeNs}`
  if ((known.get(id) ?? 0) > performance.now()) return false
  if (await isRefused(folder, () => rmdir(folder.at(leaf)))) return true
  if (known.size >= MOST) known.clear()
  known.set(id, performance.now() + KNOWN)
  return false
}

/**
 * Whether no name can be removed from the folder; false where that can't be known, as of a folder of another user. Sets
 * its time of change, as a new name does: in such a folder that is refused.
 */
export async function keepsNames(folder: Folder): Promise<boolean> {
  const { stat, at } = folder
  const uid = process.geteuid?.()
  if (process.platform !== 'linux' || (uid !== 0 && stat.uid !== BigInt(uid ?? -1))) return false
  return isRefused(folder, () => utimes(at('.'), stat.atime, new Date()))
}

async function isRefused({ disk }: Folder, call: () => Promise<void>): Promise<boolean> {
  try {
    await disk.call(call)
    return false
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
