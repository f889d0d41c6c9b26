// Detects folders in which names can be made but not removed (chattr +a): a temp file would stay there for ever. Does
// not know temp files. Node has no call on Linux that tells; only refused calls do.
import { rmdir, utimes } from 'node:fs/promises'
import { codeOf } from '../../workspace/errno.ts'
import type { Folder } from '../root/pin.ts'

/** In ms: a folder found to allow removals is not tested again for this long. Chosen: a test takes 10 µs. */
const KNOWN = 1000
/** How many folders are remembered. */
const MOST = 256

/** Until when a folder is known to allow removals, in ms of performance.now(); by device, inode and time of birth. */
const known = new Map<string, number>()

/**
 * Whether the file with this name can't be removed from its folder, nor replaced: due to attributes of the folder or
 * the file, or the sticky bit. Tested with rmdir, which removes no file: the kernel checks whether the name may be
 * removed before it checks the type.
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
 * Whether no name can be removed from the folder; false if that can't be known, as in another user's folder. Tested by
 * setting the folder's modification time, as a new name would: such a folder refuses that.
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
