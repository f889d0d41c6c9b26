// Why a path could not be opened: walks it one name at a time and follows links only inside the root. Opens nothing;
// does not know policy.
import { lstatSync, readlinkSync } from 'node:fs'
import { codeOf, failureOf } from '../errno.ts'
import type { FileFailure } from '../failure.ts'
import { below } from './path.ts'
import type { Missing } from './pin.ts'

/** As Linux has it: open(2) follows no more links in one path (ELOOP). */
const LINKS_LIMIT = 40
const SLASH = '/'

/**
 * The failure behind `error`, thrown by opening `relative` below `root` (its real path); `at` makes a path for system
 * calls. A link that leads out of the root is reported as such whether or not something is there.
 * Null: all of it is there now, try again. Throws `error` again if it isn't about the path.
 */
export function explainOpenError(
  error: unknown,
  relative: Buffer,
  root: Buffer,
  at: (relative: Buffer) => Buffer
): FileFailure | Missing | null {
  const code = codeOf(error)
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENAMETOOLONG') return failureOf(error)
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(code)) throw error

  // latin1 keeps bytes as they are while they are split and joined.
  let ahead = relative.toString('latin1').split(SLASH)
  // How many of those are the path's own; the ones before them come from a link.
  let own = ahead.length
  let walked: string[] = []
  let links = 0
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    const linked = ahead.length >= own
    if (!linked) own--
    const nothing = (dangles: boolean): FileFailure | Missing =>
      wouldBe(walked, [name, ...ahead], dangles ? (own === 0 ? 'last' : 'before') : null)
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (walked.pop() === undefined) return { code: 'PATH_NOT_ALLOWED', reason: 'outside' }
      continue
    }
    const here = Buffer.from([...walked, name].join(SLASH), 'latin1')
    let target: Buffer | null
    try {
      target = lstatSync(at(here)).isSymbolicLink() ? readlinkSync(at(here), 'buffer') : null
    } catch (problem) {
      if (codeOf(problem) === 'EACCES') return failureOf(problem)
      return nothing(linked)
    }
    if (target === null) {
      walked.push(name)
      continue
    }
    if (++links > LINKS_LIMIT) return nothing(true)
    if (target[0] === SLASH.charCodeAt(0)) {
      const inside = below(root, target)
      if (inside === null) return { code: 'PATH_NOT_ALLOWED', reason: 'outside' }
      walked = []
      target = inside
    }
    ahead = [...target.toString('latin1').split(SLASH), ...ahead]
  }
  return code === 'EACCES' ? failureOf(error) : null
}

/** Nothing is at `ahead` in the folder `walked`; `..` in it may still lead out. */
function wouldBe(walked: string[], ahead: string[], dangling: 'last' | 'before' | null): FileFailure | Missing {
  const kept = [...walked]
  for (const name of ahead) {
    if (name === '' || name === '.') continue
    if (name !== '..') kept.push(name)
    else if (kept.pop() === undefined) return { code: 'PATH_NOT_ALLOWED', reason: 'outside' }
  }
  const bytes = (names: string[]): Buffer => Buffer.from(names.join(SLASH), 'latin1')
  return { code: 'MISSING', relative: bytes(kept), folder: bytes(walked), ...(dangling !== null && { dangling }) }
}
