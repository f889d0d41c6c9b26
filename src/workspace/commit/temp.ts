// A temp file beside the file that it becomes: recorded before it exists, and gone afterwards. Does not know how it
// gets its final name.
import { closeSync, constants, fstatSync, open, unlink, type BigIntStats } from 'node:fs'
import { promisify } from 'node:util'
import type { Result } from '../../result.ts'
import { codeOf, Raced } from '../errno.ts'
import type { Intents } from './intents.ts'
import { join } from '../root/path.ts'
import type { Folder } from '../root/pin.ts'
import { syncFile } from '../sync.ts'
import { bothDone, writeAll } from '../text-file.ts'

// In another thread: a name that is made or removed may wait for the file system's journal.
const openLater = promisify(open)
const unlinkLater = promisify(unlink)

/** What is written: pieces of `size` bytes. */
export interface Content {
  pieces: readonly Buffer[]
  size: number
}

export interface TempOptions {
  /** Its name (see Lock). */
  name: string
  intents: Intents
  durability: 'full' | 'fast'
  folder: Folder
  /** The folder's real path below the root. */
  folderPath: Buffer
  /** From it the system takes the umask. */
  mode: number
  content: Content
  /** What else the file has to be before it is synced; throws if it can't be had. */
  finish?(fd: number, made: BigIntStats): void
  /** What has to be done before the file gets its name, while it is synced. */
  ready(): Promise<unknown>
}

/** Whether the temp file has another name now, or one more. */
export type Put = 'moved' | 'named'

/**
 * Writes the content to a temp file, and `put` gives it its name, in one tick. Then the temp file's name is removed, or
 * stays written down for a later sweep. Throws the system's error.
 */
export async function withTemp<F>(
  { name, intents, durability, folder, folderPath, mode, content, finish, ready }: TempOptions,
  put: (temp: Buffer) => Result<Put, F>
): Promise<Result<Put, F>> {
  const slot = intents.begin(join(folderPath, name))
  let left = false
  let moved = false
  try {
    const fd = await openLater(
      folder.at(name),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      mode
    )
    try {
      try {
        await writeAll(fd, content.pieces, content.size)
        const made = fstatSync(fd, { bigint: true })
        if (made.size !== BigInt(content.size)) throw new Raced('the size of the temp file is wrong')
        finish?.(fd, made)
        await bothDone(durability === 'full' ? syncFile(fd) : undefined, ready())
      } finally {
        closeSync(fd)
      }
      const done = put(folder.at(name))
      moved = done.ok && done.value === 'moved'
      return done
    } finally {
      left = !moved && !(await isRemoved(folder.at(name)))
    }
  } finally {
    if (left) intents.leave()
    else intents.done(slot)
  }
}

/** Also where it was never made. */
async function isRemoved(path: Buffer): Promise<boolean> {
  try {
    await unlinkLater(path)
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
  return true
}
