// A temp file beside the file that it becomes: written down before it exists, and gone afterwards. Knows not how it gets its name.
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsync, openSync, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Result } from '../result.ts'
import { codeOf, Raced } from './errno.ts'
import type { Intents } from './intents.ts'
import { join } from './path.ts'
import type { Folder } from './pin.ts'
import { writeAll } from './text-file.ts'

/** What is written: pieces of `size` bytes. */
export interface Content { pieces: readonly Buffer[], size: number }

export interface TempOptions {
  intents: Intents
  durability: 'full' | 'fast'
  folder: Folder
  /** The folder's real path below the root. */
  place: Buffer
  /** From it the system takes the umask. */
  mode: number
  content: Content
  /** What else the file has to be before it is synced; throws if it can't be had. */
  finish? (fd: number): void
}

const fsyncLater = promisify(fsync)

/** Writes the content to a temp file, and `put` gives it its name, in one tick. Then the temp file's name is removed, or stays written down for a later sweep. Throws the system's error. */
export async function withTemp<T, F> ({ intents, durability, folder, place, mode, content, finish }: TempOptions, put: (temp: Buffer) => Result<T, F>): Promise<Result<T, F>> {
  const name = `.${randomBytes(12).toString('hex')}.tmp`
  const slot = intents.begin(join(place, name))
  let left = false
  try {
    const fd = openSync(folder.at(name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode)
    try {
      try {
        await writeAll(fd, content.pieces, content.size)
        if (fstatSync(fd).size !== content.size) throw new Raced('the temp file has another size')
        finish?.(fd)
        if (durability === 'full') await fsyncLater(fd)
      } finally { closeSync(fd) }
      return put(folder.at(name))
    } finally { left = !isRemoved(folder.at(name)) }
  } finally {
    if (left) intents.leave()
    else intents.done(slot)
  }
}

/** Also where it has been renamed. */
function isRemoved (path: Buffer): boolean {
  try { unlinkSync(path) } catch (error) { return codeOf(error) === 'ENOENT' }
  return true
}
