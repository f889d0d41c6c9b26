// Puts a result in the place of a file: temp file, fsync, re-check and rename in one tick, fsync of the folder. Knows no plans and no policy.
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, fsync, lstatSync, openSync, renameSync, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { fail, ok, type Result } from '../result.ts'
import { codeOf, quietly, Raced } from './errno.ts'
import type { FileFailure } from './failure.ts'
import type { Intents } from './intents.ts'
import { split } from './path.ts'
import { same, type Folder, type Pin, type Root } from './pin.ts'
import { writeAll, type Snapshot } from './text-file.ts'

/** One file, as it was read, and what it is to hold: pieces of `size` bytes with the SHA-256 `digest` (hex). */
export interface Change {
  pin: Pin
  snapshot: Snapshot
  pieces: readonly Buffer[]
  size: number
  digest: string
}

export interface CommitContext {
  root: Root
  intents: Intents
  durability: 'full' | 'fast'
  /** Whether the lock is still ours; synchronous. */
  held: () => boolean
}

/** A rename would not keep what the file is: its owner, its mount. It has to be written in place. */
export interface Unrenamable { code: 'UNRENAMABLE' }

/** What a file's mode may keep: everything but set-user-id and set-group-id. */
export const KEPT_MODE = 0o1777
const SET_ID = 0o6000n
const fsyncLater = promisify(fsync)

/** What a replacement of this file will not keep, as sentences. Known before anything is written. */
export function lossesOf (pin: Pin, strategy: 'rename' | 'in_place'): string[] {
  const losses = []
  if ((pin.stat.mode & SET_ID) !== 0n) losses.push('The set-user-id and set-group-id bits are dropped.')
  if (strategy === 'rename' && pin.stat.nlink > 1n) losses.push('The file has other hard links; they keep the old content.')
  return losses
}

/**
 * Replaces the file, whole or not at all. Answers warnings as sentences: once the rename is done nothing else can be said.
 * Failures: STALE_FILE, FILE_LOCKED (lost), Unrenamable. Throws the system's error. Unless it answers ok, the file is as it was and the temp file gone.
 */
export async function commit (context: CommitContext, change: Change): Promise<Result<string[], FileFailure | Unrenamable>> {
  const { pin } = change
  const place = split(pin.relative)
  const folder = context.root.openFolder(place.folder)
  try {
    if (folder.stat.dev !== pin.stat.dev) return fail({ code: 'UNRENAMABLE' })
    const replaced = await replace(context, change, folder, place.leaf)
    if (!replaced.ok) return replaced
    pin.replaced = true
    const warnings = lossesOf(pin, 'rename')
    if (context.durability === 'full') {
      await folder.sync().catch(() => {
        warnings.push('The file is changed, but its folder could not be synced: a power cut may bring the old content back.')
      })
    }
    return ok(warnings)
  } finally { folder.close() }
}

async function replace (context: CommitContext, change: Change, folder: Folder, leaf: Buffer): Promise<Result<null, FileFailure | Unrenamable>> {
  const temp = `.${randomBytes(12).toString('hex')}.tmp`
  const parent = split(change.pin.relative).folder
  const slot = context.intents.begin(parent.length === 0 ? Buffer.from(temp) : Buffer.concat([parent, Buffer.from('/' + temp)]))
  try {
    let fd
    try {
      fd = openSync(folder.at(temp), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    } catch (error) {
      if (isRefusal(error)) return fail({ code: 'UNRENAMABLE' })
      throw error
    }
    let renamed = false
    try {
      try {
        if (!await fillTemp(fd, change, context.durability)) return fail({ code: 'UNRENAMABLE' })
      } finally { closeSync(fd) }
      const moved = renameUnlessChanged(context, change, folder, temp, leaf)
      renamed = moved.ok
      return moved
    } finally {
      if (!renamed) quietly(() => unlinkSync(folder.at(temp)))
    }
  } finally { context.intents.done(slot) }
}

/** False: the owner can't be kept. */
async function fillTemp (fd: number, { pin, pieces, size }: Change, durability: 'full' | 'fast'): Promise<boolean> {
  await writeAll(fd, pieces, size)
  const made = fstatSync(fd, { bigint: true })
  if (made.size !== BigInt(size)) throw new Raced('the temp file has another size')
  if (made.uid !== pin.stat.uid || made.gid !== pin.stat.gid) {
    try { fchownSync(fd, Number(pin.stat.uid), Number(pin.stat.gid)) } catch { return false }
  }
  fchmodSync(fd, Number(pin.stat.mode) & KEPT_MODE)
  if (durability === 'full') await fsyncLater(fd)
  return true
}

/** Everything that may have changed since the file was read is looked at again, and the rename follows in the same tick. */
function renameUnlessChanged (context: CommitContext, change: Change, folder: Folder, temp: string, leaf: Buffer): Result<null, FileFailure | Unrenamable> {
  if (!context.held()) return fail({ code: 'FILE_LOCKED', reason: 'lost', retry_after: 1 })
  const there = lstatSync(folder.at(leaf), { bigint: true, throwIfNoEntry: false })
  if (!folder.inPlace() || there === undefined || !same(there, change.snapshot.stat) || !change.snapshot.unchanged()) {
    return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
  }
  try { renameSync(folder.at(temp), folder.at(leaf)) } catch (error) {
    if (isRefusal(error) || codeOf(error) === 'EBUSY' || codeOf(error) === 'EXDEV') return fail({ code: 'UNRENAMABLE' })
    throw error
  }
  return ok(null)
}

const isRefusal = (error: unknown): boolean => ['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error))
