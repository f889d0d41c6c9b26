// A temp file beside the file that it becomes: written down before it exists, and gone afterwards. Knows not how it gets its name.
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsync, openSync, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Result } from '../result.ts'
import { quietly, Raced } from './errno.ts'
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

/** Writes the content to a temp file, and `put` gives it its name, in one tick; where that succeeds, nothing may be left at the temp file's. Throws the system's error. */
export async function withTemp<T, F> ({ intents, durability, folder, place, mode, content, finish }: TempOptions, put: (temp: Buffer) => Result<T, F>): Promise<Result<T, F>> {
  const name = `.${randomBytes(12).toString('hex')}.tmp`
  const slot = intents.begin(join(place, name))
  try {
    const fd = openSync(folder.at(name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, mode)
    let used = false
    try {
      try {
        await writeAll(fd, content.pieces, content.size)
        if (fstatSync(fd).size !== content.size) throw new Raced('the temp file has another size')
        finish?.(fd)
        if (durability === 'full') await fsyncLater(fd)
      } finally { closeSync(fd) }
      const done = put(folder.at(name))
      used = done.ok
      return done
    } finally {
      if (!used) quietly(() => unlinkSync(folder.at(name)))
    }
  } finally { intents.done(slot) }
}
