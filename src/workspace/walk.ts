// Why a path could not be opened: a careful walk, one name at a time, that follows links only inside the root. Opens nothing and decides nothing but the failure that is told.
import { lstatSync, readlinkSync } from 'node:fs'
import { codeOf, failureOf } from './errno.ts'
import type { FileFailure } from './failure.ts'
import { below } from './path.ts'
import type { Missing } from './pin.ts'

const LINKS_LIMIT = 40
const SLASH = '/'

/**
 * The failure behind `error`, thrown by opening `relative` below `root` (its real path); `at` makes a path for system calls.
 * A link that leads out of the root is told as such whether or not something is there. Null: all of it is there now, try again.
 * Throws `error` on if it isn't about the path.
 */
export function whyNot (error: unknown, relative: Buffer, root: Buffer, at: (relative: Buffer) => Buffer): FileFailure | Missing | null {
  const code = codeOf(error)
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENAMETOOLONG') return failureOf(error)
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(code)) throw error

  // latin1 keeps bytes as they are while they are split and joined.
  let ahead = relative.toString('latin1').split(SLASH)
  let walked: string[] = []
  let links = 0
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
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
      return wouldBe([...walked, name, ...ahead])
    }
    if (target === null) {
      walked.push(name)
      continue
    }
    if (++links > LINKS_LIMIT) return wouldBe([...walked, name, ...ahead])
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

/** Nothing is at the end of `names`; `..` among them may still lead out. */
function wouldBe (names: string[]): FileFailure | Missing {
  const kept: string[] = []
  for (const name of names) {
    if (name === '' || name === '.') continue
    if (name !== '..') kept.push(name)
    else if (kept.pop() === undefined) return { code: 'PATH_NOT_ALLOWED', reason: 'outside' }
  }
  return { code: 'MISSING', relative: Buffer.from(kept.join(SLASH), 'latin1') }
}
