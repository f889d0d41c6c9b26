// Interprets a request's path from its text alone. Does not touch the disk.
import { fail, ok, type Result } from '../result.ts'
import type { FileFailure } from './failure.ts'

const PATH_LIMIT = 4096
const NAME_LIMIT = 255
/** A name that is empty, `.` or `..`. */
const TO_RESOLVE = /(?:^|\/)\.{0,2}(?:\/|$)/
const outside = fail<FileFailure>({ code: 'PATH_NOT_ALLOWED', reason: 'outside' })

/**
 * A path relative to the root, `/` between its names, without `.`, `..` and empty names; '' is the root itself. An
 * absolute path must lie in one of `roots` (normalised absolute paths of the same folder).
 * Failures: INVALID_PATH (empty, NUL, more than 4,096 bytes, a name of more than `nameLimit` bytes), PATH_NOT_ALLOWED
 * (leads out of the root).
 */
export function relativePath(
  path: string,
  roots: readonly string[],
  platform: string = process.platform,
  nameLimit = NAME_LIMIT
): Result<string, FileFailure> {
  if (path === '') return fail({ code: 'INVALID_PATH', reason: 'empty' })
  if (path.includes('\0')) return fail({ code: 'INVALID_PATH', reason: 'nul' })
  const length = Buffer.byteLength(path)
  if (length > PATH_LIMIT) return fail({ code: 'INVALID_PATH', reason: 'too_long' })
  // The usual case: splitting and joining the path would take ten times as long.
  if (platform !== 'win32' && length <= NAME_LIMIT && !TO_RESOLVE.test(path)) return ok(path)

  let rest = path
  if (platform === 'win32') {
    if (path.split(/[\\/]/).some(isWindowsForm)) return outside
    rest = path.replaceAll('\\', '/')
  }
  const names: string[] = []
  const absolute = rest.startsWith('/')
  for (const name of rest.split('/')) {
    if (Buffer.byteLength(name) > nameLimit) return fail({ code: 'INVALID_PATH', reason: 'too_long' })
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined && !absolute) return outside
  }
  if (!absolute) return ok(names.join('/'))

  const whole = '/' + names.join('/')
  for (const root of roots) {
    if (root === '/' || whole === root) return ok(whole.slice(root.length + (root === '/' ? 0 : 1)))
    if (whole.startsWith(root + '/')) return ok(whole.slice(root.length + 1))
  }
  return outside
}

/** Whether a path can only be a folder's, whatever is there: it ends in `/`, `.` or `..`. */
export const namesFolder = (path: string, platform: string = process.platform): boolean =>
  /(^|\/)\.{0,2}$/.test(platform === 'win32' ? path.replaceAll('\\', '/') : path)

/**
 * Whether Windows would take this name for something else: a drive, a stream, a device, a name without its last dot or
 * space.
 */
function isWindowsForm(name: string): boolean {
  return (
    /[:<>"|?*]/.test(name) ||
    /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i.test(name) ||
    (/[. ]$/.test(name) && name !== '.' && name !== '..')
  )
}

const SLASH = 0x2f

/** The part of an absolute path below `root` ('' for the root itself), or null if it lies elsewhere. Both in bytes. */
export function below(root: Buffer, real: Buffer): Buffer | null {
  if (real.length <= root.length) return real.equals(root) ? Buffer.alloc(0) : null
  const length = root.length === 1 ? 0 : root.length
  const isBelow = real[length] === SLASH && real.compare(root, 0, length, 0, length) === 0
  return isBelow ? real.subarray(length + 1) : null
}

/** Whether a path lies below a folder that isn't the root; both relative to the root. */
export const isIn = (path: Buffer, folder: Buffer): boolean =>
  path.length > folder.length && path[folder.length] === SLASH && path.subarray(0, folder.length).equals(folder)

/** Folder and last name of a path in bytes; the folder of a bare name is ''. */
export function split(path: Buffer): { folder: Buffer; leaf: Buffer } {
  const cut = path.lastIndexOf(SLASH)
  return { folder: path.subarray(0, Math.max(cut, 0)), leaf: path.subarray(cut + 1) }
}

/** The path of an entry of `folder`; '' is the root. */
export function join(folder: Buffer, leaf: Buffer | string): Buffer {
  return folder.length === 0 ? Buffer.from(leaf) : Buffer.concat([folder, Buffer.from('/'), Buffer.from(leaf)])
}

/** Paths of folders without duplicates, each before those inside it. */
export const outermostFirst = (folders: readonly Buffer[]): Buffer[] =>
  [...new Map(folders.map(folder => [folder.toString('latin1'), folder])).values()].sort((a, b) => a.length - b.length)
