// Replaces a file: temp file, fsync, re-check and rename in one tick, fsync of the folder. Does not know plans or
// policy.
import { fchmodSync, fchownSync, renameSync, type BigIntStats } from 'node:fs'
import { fail, ok, type Result } from '../../result.ts'
import { codeOf } from '../../workspace/errno.ts'
import type { FileFailure, FileWarning } from '../../workspace/failure.ts'
import type { FileAttributes } from '../../log/record.ts'
import type { Intents } from './intents.ts'
import { isKept } from './kept-names.ts'
import type { Lock } from '../../workspace/queue.ts'
import { OWN_GID, OWN_UID } from '../own-ids.ts'
import { split } from '../../workspace/path.ts'
import { statAt, same, type Folder, type Pin, type Root } from '../root/pin.ts'
import type { Content } from '../../workspace/content.ts'
import { withTemp, type Put, type TempOptions } from './temp.ts'
import type { Snapshot } from '../snapshot.ts'

/** One file as it was read, and its new content with the SHA-256 `digest` (hex) of it, which may be pending. */
export interface Change extends Content {
  pin: Pin
  snapshot: Snapshot
  digest: Promise<string>
  /**
   * Records what is about to be done, once; await it before the file gets its content. `temp`: the temp file's name.
   * Throws if the change must not be made.
   */
  record(temp?: string): Promise<void>
}

export interface CommitContext {
  root: Root
  intents: Intents
  durability: 'full' | 'fast'
  lock: Lock
}

/** A rename would not keep the file's owner or mount, so it must be written in place. */
interface Unrenamable {
  code: 'UNRENAMABLE'
}

/** The part of a file's mode that is kept: everything but set-user-id and set-group-id. */
export const KEPT_MODE = 0o1777
const SET_ID = 0o6000n
const ALL_MODES = 0o7777

/** What a replacement of this file, under this number of its names, will not keep. Known before anything is written. */
export function lossesOf(pin: Pin, strategy: 'rename' | 'in_place', names = 1): FileWarning[] {
  const losses: FileWarning[] = []
  if ((pin.stat.mode & SET_ID) !== 0n) losses.push('set_id_dropped')
  if (strategy === 'rename' && pin.stat.nlink > BigInt(names)) losses.push('links_left')
  return losses
}

/**
 * Replaces the file, whole or not at all. Returns warnings: after the rename nothing can fail any more.
 * Failures: STALE_FILE, FILE_LOCKED (lost), Unrenamable. Throws the system's error. Unless it returns ok, the file is
 * as it was and the temp file gone.
 */
export async function commit(
  context: CommitContext,
  change: Change
): Promise<Result<FileWarning[], FileFailure | Unrenamable>> {
  const { pin } = change
  const { folder: folderPath, leaf } = split(pin.relative)
  const folder = context.root.sharedFolder(folderPath)
  try {
    if (folder.stat.dev !== pin.stat.dev || (await isKept(folder, leaf))) return fail({ code: 'UNRENAMABLE' })
    const { intents, durability, lock } = context
    const { mode, finish } = madeAs(attributesOf(pin), folder)
    const replaced = await withTemp(
      {
        name: lock.temp,
        intents,
        durability,
        folder,
        folderPath,
        mode,
        finish,
        replaces: true,
        content: change,
        ready: () => change.record(lock.temp)
      },
      temp => renameUnlessChanged(context, change, temp, { folder, leaf })
    )
    if (!replaced.ok) return replaced
    pin.replaced = true
    const warnings = lossesOf(pin, 'rename')
    if (context.durability === 'full') {
      await folder.sync().catch(() => {
        warnings.push('unsynced_change')
      })
    }
    return ok(warnings)
  } catch (error) {
    if (REFUSALS.includes(codeOf(error))) return fail({ code: 'UNRENAMABLE' })
    throw error
  } finally {
    folder.close()
  }
}

/** The attributes that a file's replacement keeps. */
export const attributesOf = ({ stat }: Pin): FileAttributes => ({
  mode: Number(stat.mode) & KEPT_MODE,
  uid: Number(stat.uid),
  gid: Number(stat.gid)
})

/** How to make a temp file in the folder with these attributes; without any, with the system's defaults. */
export function madeAs(attributes: FileAttributes | undefined, folder: Folder): Pick<TempOptions, 'mode' | 'finish'> {
  if (attributes === undefined) return { mode: 0o666 }
  return { mode: modeFor(attributes, folder), finish: (fd, made) => giveAttributes(fd, made, attributes) }
}

/** Gives a new file the owner and mode of another one. Throws EPERM if it can't. */
function giveAttributes(fd: number, made: BigIntStats, { mode, uid, gid }: FileAttributes): void {
  if (Number(made.uid) !== uid || Number(made.gid) !== gid) {
    try {
      fchownSync(fd, uid, gid)
    } catch {
      throw Object.assign(new Error('the owner cannot be kept'), { code: 'EPERM' })
    }
  }
  if ((Number(made.mode) & ALL_MODES) !== mode) fchmodSync(fd, mode)
}

/** Whether this process can give a file it makes this owner and group. */
export function canGive({ uid, gid }: FileAttributes): boolean {
  const { geteuid, getegid, getgroups } = process
  const [user, group] = [geteuid?.() ?? -1, getegid?.() ?? -1]
  return user === 0 || (uid === user && (gid === group || getgroups?.().includes(gid) === true))
}

/**
 * The mode to make the temp file with: the final one if owner and group will be right from the start, which saves a
 * call; else nobody but us may open it until they are.
 */
function modeFor({ mode, uid, gid }: FileAttributes, folder: Folder): number {
  // A file may get the group of its folder.
  return uid === OWN_UID && gid === OWN_GID && gid === Number(folder.stat.gid) ? mode & 0o777 : 0o600
}

/** Checks again everything that may have changed since the file was read, and renames in the same tick. */
function renameUnlessChanged(
  context: CommitContext,
  change: Change,
  temp: Buffer,
  { folder, leaf }: { folder: Folder; leaf: Buffer }
): Result<Put, FileFailure> {
  if (!context.lock.held()) return fail({ code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 })
  const { snapshot } = change
  const target = folder.at(leaf)
  const isInPlace = folder.inPlace()
  const there = statAt(target)
  if (!isInPlace || there === undefined || !same(there, snapshot.stat) || !snapshot.unchanged(there)) {
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  }
  try {
    renameSync(temp, target)
  } catch (error) {
    // A server that took our lock over has removed the temp file (see fence.ts), and owns the file now.
    if (codeOf(error) === 'ENOENT') return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
    throw error
  }
  return ok('moved')
}

/** Error codes when a rename is impossible: on making a file here, setting its owner, or renaming it. */
export const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'EBUSY', 'EXDEV']
