// Finds out why and where a path could not be opened: walks it one name at a time and follows links only inside the
// root. In a long path, the names that exist without a link are found by bisection first: a look at each would be
// quadratic. Does not know policy.
import { lstatSync, readlinkSync } from 'node:fs'
import { firstIndex } from '../../engine/text/bisect.ts'
import { codeOf, failureOf } from '../../workspace/errno.ts'
import type { FileFailure } from '../../workspace/failure.ts'
import { below } from '../../workspace/path.ts'
import type { Missing, Stop } from './pin.ts'

/** Linux's limit: open(2) follows no more links in one path (ELOOP). */
const LINKS_LIMIT = 40
const SLASH = '/'
/** Up to this many names, each is looked at. */
const FEW_NAMES = 16

/** How a root looks at paths below it. */
export interface PathAccess {
  /** For system calls. */
  at(relative: Buffer): Buffer
  /** The real path of its target, below the root; null, or throws, if nothing is there or it is outside. */
  resolve(relative: Buffer): Buffer | null
}

/**
 * The failure behind `error`, thrown by opening `relative` below `root` (its real path). A link that leads out of the
 * root is reported as such whether or not its target exists. Null: everything exists now, try again. Throws `error`
 * again if it isn't about the path.
 */
export function explainOpenError(
  error: unknown,
  relative: Buffer,
  root: Buffer,
  access: PathAccess
): FileFailure | Missing | null {
  const code = codeOf(error)
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENAMETOOLONG') return failureOf(error)
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(code)) throw error

  const { failure } = walk(relative, root, access)
  return failure === null && code === 'EACCES' ? failureOf(error) : failure
}

/** See `Root.stop` for the result; parameters are those of `explainOpenError`. */
export function findStop(relative: Buffer, root: Buffer, access: PathAccess): Stop {
  const { failure: _, ...stop } = walk(relative, root, access)
  return stop
}

/** How far a path leads; `failure`: why it leads no further, null: all of it is there. */
function walk(relative: Buffer, root: Buffer, access: PathAccess): Stop & { failure: FileFailure | Missing | null } {
  // latin1 keeps bytes as they are while they are split and joined.
  let ahead = relative.toString('latin1').split(SLASH)
  // How many of those are the path's own; the ones before them come from a link.
  let own = ahead.length
  let walked: string[] = []
  const links: Buffer[] = []
  // The last link, and the request's names that come after it.
  let last: { place: readonly string[]; ahead: readonly string[] } = { place: [], ahead: [] }
  const stopped = (
    failure: FileFailure | Missing | null,
    place: readonly string[],
    ahead: readonly string[]
  ): ReturnType<typeof walk> => {
    const would_be = wouldBe(place, ahead, null)
    return {
      failure,
      place: bytesOf(place),
      would_be: would_be.code === 'MISSING' ? would_be.relative : null,
      loop: links.length > LINKS_LIMIT ? links : []
    }
  }
  const outside = (): ReturnType<typeof walk> =>
    stopped({ code: 'PATH_NOT_ALLOWED', reason: 'outside' }, last.place, last.ahead)
  const skip = (): void => {
    const plain = plainNames(walked, ahead, access)
    walked.push(...ahead.slice(0, plain))
    ahead = ahead.slice(plain)
    own = Math.min(own, ahead.length)
  }
  skip()
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    const linked = ahead.length >= own
    if (!linked) own--
    const nothing = (dangles: boolean): ReturnType<typeof walk> => {
      const why = wouldBe(walked, [name, ...ahead], dangles ? (own === 0 ? 'last' : 'before') : null)
      return why.code === 'MISSING' ? stopped(why, [...walked, name], ahead) : outside()
    }
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (walked.pop() === undefined) return outside()
      continue
    }
    const here = Buffer.from([...walked, name].join(SLASH), 'latin1')
    let target: Buffer | null
    try {
      target = lstatSync(access.at(here)).isSymbolicLink() ? readlinkSync(access.at(here), 'buffer') : null
    } catch (problem) {
      if (codeOf(problem) === 'EACCES') return stopped(failureOf(problem), [...walked, name], ahead)
      return nothing(linked)
    }
    if (target === null) {
      walked.push(name)
      continue
    }
    links.push(here)
    last = { place: [...walked, name], ahead: ahead.slice(ahead.length - own) }
    if (links.length > LINKS_LIMIT) return nothing(true)
    if (target[0] === SLASH.charCodeAt(0)) {
      const inside = below(root, target)
      if (inside === null) return outside()
      walked = []
      target = inside
    }
    ahead = [...target.toString('latin1').split(SLASH), ...ahead]
    skip()
  }
  return stopped(null, walked, [])
}

/** How many of the many names `ahead` certainly exist in the folder `walked` without a link. */
function plainNames(walked: readonly string[], ahead: readonly string[], { resolve }: PathAccess): number {
  const dots = ahead.findIndex(name => name === '' || name === '.' || name === '..')
  const names = dots === -1 ? ahead : ahead.slice(0, dots)
  if (names.length <= FEW_NAMES) return 0
  // A path that is its own real path begins only with such names.
  return firstIndex(names.length, index => {
    const path = bytesOf([...walked, ...names.slice(0, index + 1)])
    try {
      return resolve(path)?.equals(path) !== true
    } catch {
      return true
    }
  })
}

/** Nothing is at `ahead` in the folder `walked`; `..` in it may still lead out. */
function wouldBe(
  walked: readonly string[],
  ahead: readonly string[],
  dangling: 'last' | 'before' | null
): FileFailure | Missing {
  const kept = [...walked]
  for (const name of ahead) {
    if (name === '' || name === '.') continue
    if (name !== '..') kept.push(name)
    else if (kept.pop() === undefined) return { code: 'PATH_NOT_ALLOWED', reason: 'outside' }
  }
  return { code: 'MISSING', relative: bytesOf(kept), folder: bytesOf(walked), ...(dangling !== null && { dangling }) }
}

const bytesOf = (names: readonly string[]): Buffer => Buffer.from(names.join(SLASH), 'latin1')
