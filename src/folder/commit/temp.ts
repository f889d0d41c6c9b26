// A temp file beside the file that it becomes: recorded before it exists, and gone afterwards. Does not know how it
// gets its final name.
import { closeSync, constants, fstatSync, linkSync, open, rename, renameSync, unlink, type BigIntStats } from 'node:fs'
import { promisify } from 'node:util'
import type { Result } from '../../result.ts'
import { codeOf, Raced } from '../../workspace/errno.ts'
import type { Intents } from './intents.ts'
import { join } from '../../workspace/path.ts'
import type { Folder } from '../root/pin.ts'
import { randomTempName } from '../../workspace/temp-name.ts'
import { syncFile } from '../sync.ts'
import { bothDone, SYNC_IO_BYTES, type Content } from '../../workspace/content.ts'
import { writeAll } from '../snapshot.ts'

// In another thread: making or removing a name may wait for the file system's journal.
const openLater = promisify(open)
const unlinkLater = promisify(unlink)
const renameLater = promisify(rename)
const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export interface TempPlace {
  /** The temp file's name (see Lock). */
  name: string
  intents: Intents
  folder: Folder
  /** The folder's real path below the root. */
  folderPath: Buffer
}

export interface TempOptions extends TempPlace {
  durability: 'full' | 'fast'
  /** The system subtracts the umask. */
  mode: number
  /** It will replace a file. */
  replaces?: true
  content: Content
  /** Sets further attributes before the file is synced; throws if it can't. */
  finish?: ((fd: number, made: BigIntStats) => void) | undefined
  /**
   * Work that must be done before the file gets its name. Runs while the file is synced; if it isn't synced, after the
   * write, or for a small file, if no other temp file exists, while another thread creates it. Awaited even if the file
   * can't be created.
   */
  ready?(): Promise<unknown>
}

/** A temp file that is written, and synced if requested. */
export interface Temp {
  /** For system calls. */
  readonly path: Buffer
  readonly stat: BigIntStats
  /**
   * Must be called once. `moved`: it has only another name now. Otherwise its name is removed, or stays recorded for a
   * later sweep.
   */
  end(moved: boolean): Promise<void>
}

/** Writes the content to a temp file. Throws the system's error, with the temp file removed. */
export async function writeTemp(options: TempOptions): Promise<Temp> {
  const { durability, content, replaces } = options
  const { path, end } = begin(options)
  try {
    const isAside = replaces === true && durability === 'fast' && content.size > SYNC_IO_BYTES
    const stat = isAside ? await writeAside(options, path) : await write(options, path)
    return { path, stat, end }
  } catch (error) {
    await end(false)
    throw error
  }
}

/**
 * Whether to run `ready` early. Without a sync, this thread is idle while another one creates the file, unless there
 * are other edits. With those, `ready` runs later, so that their records are written together: with 16 clients, 20 %
 * more edits a second than when run early.
 */
const isEarly = ({ durability, content, intents }: TempOptions): boolean =>
  durability === 'fast' && content.size <= SYNC_IO_BYTES && intents.count === 1

/** Makes the file at `path`, which must not exist. */
async function write(options: TempOptions, path: Buffer): Promise<BigIntStats> {
  const { durability, mode, content, finish, ready } = options
  const { disk } = options.folder
  const opening = disk.call(() => openLater(path, NEW, mode))
  const early = isEarly(options) ? ready?.() : undefined
  // A rejection of it is thrown below, unless another error comes first.
  const over = early?.catch(() => {})
  try {
    const fd = await opening
    try {
      const written = (): Promise<void> => writeAll(fd, content.pieces, content.size)
      await (content.size > SYNC_IO_BYTES ? disk.call(written) : written())
      const stat = fstatSync(fd, { bigint: true })
      if (stat.size !== BigInt(content.size)) throw new Raced('the size of the temp file is wrong')
      finish?.(fd, stat)
      const synced = (): Promise<void> => syncFile(fd)
      if (durability === 'full') await bothDone(disk.call(synced), ready?.())
      else await (early ?? ready?.())
      return stat
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    await over
    throw error
  }
}

/**
 * Writes the file under another name, and renames it over an empty file at `path` in another thread. ext4 allocates the
 * blocks of an unsynced file when it replaces another one: that would block this thread at the final rename for 0.3-0.5
 * ms with 10 MB and 5-11 ms with 100 MB; after this, the final rename takes 0.02-0.05 ms.
 */
async function writeAside(options: TempOptions, path: Buffer): Promise<BigIntStats> {
  const aside = begin({ ...options, name: randomTempName() })
  let moved = false
  try {
    const stat = await write(options, aside.path)
    await options.folder.disk.call(async () => {
      closeSync(await openLater(path, NEW, 0o600))
      await renameLater(aside.path, path)
    })
    moved = true
    return stat
  } finally {
    await aside.end(moved)
  }
}

/** Gives the file with these stats a second name, in this tick. Throws the system's error; then it has none. */
export const linkTemp = (options: TempPlace, target: Buffer, stat: BigIntStats): Temp =>
  nameTemp(options, stat, path => linkSync(target, path))

/** Moves the file with these stats to a temp name, in this tick. Throws the system's error; then it isn't moved. */
export const moveToTemp = (options: TempPlace, target: Buffer, stat: BigIntStats): Temp =>
  nameTemp(options, stat, path => renameSync(target, path))

function nameTemp(options: TempPlace, stat: BigIntStats, name: (path: Buffer) => void): Temp {
  const { path, end, forget } = begin(options)
  try {
    name(path)
  } catch (error) {
    forget()
    throw error
  }
  return { path, stat, end }
}

/** Records the temp file; it may be made afterwards. */
function begin({ name, intents, folder, folderPath }: TempPlace): Omit<Temp, 'stat'> & { forget(): void } {
  const slot = intents.begin(join(folderPath, name))
  const path = folder.at(name)
  return {
    path,
    forget: () => intents.done(slot),
    async end(moved) {
      if (moved || (await isRemoved(folder, path))) intents.done(slot)
      else intents.leave()
    }
  }
}

/** Whether the temp file was renamed, or got a second name. */
export type Put = 'moved' | 'named'

/**
 * Writes the content to a temp file, and lets `put` give it its name in one tick. Then the temp file's name is removed,
 * or stays recorded for a later sweep. Throws the system's error.
 */
export async function withTemp<F>(
  options: TempOptions,
  put: (temp: Buffer) => Result<Put, F>
): Promise<Result<Put, F>> {
  const temp = await writeTemp(options)
  let moved = false
  try {
    const done = put(temp.path)
    moved = done.ok && done.value === 'moved'
    return done
  } finally {
    await temp.end(moved)
  }
}

/**
 * Waits in another thread until the file system makes a change, by removing a name that doesn't exist: one that hangs
 * must not block this thread, which changes it next.
 */
export async function answers(folder: Folder): Promise<void> {
  await isRemoved(folder, folder.at(randomTempName()))
}

/** Also true if it never existed. */
async function isRemoved({ disk }: Folder, path: Buffer): Promise<boolean> {
  try {
    await disk.call(() => unlinkLater(path))
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
  return true
}
