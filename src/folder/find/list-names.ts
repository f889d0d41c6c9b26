// The names of all files that a find may look at, as ripgrep lists them. Does not know text.
import { isUtf8 } from 'node:buffer'
import type { FindFailure, FindQuery } from '../../workspace/api.ts'
import { below, isIn } from '../../workspace/path.ts'
import type { Policy } from '../../workspace/policy.ts'
import type { Pin, Root } from '../root/pin.ts'
import { excluding, fixedNames, isPrunable, pruning, pruningBefore } from './globs.ts'
import { runRipgrep, TooManyArguments, type Ripgrep, type RipgrepEnd } from './ripgrep.ts'

/** Names listed at a time, and in how many ms: those are searched before more are listed. Chosen, not measured. */
const NAMES = 20_000
const LIST_TIME = 1000
/** UTF-16 units of globs that are too much for the system if the arguments are. Linux takes 128 KB in one. */
const GLOBS = 64 * 1024
/** No path is longer. */
const PATH = 64 * 1024

/** Where to find. */
export interface FindPlace {
  root: Root
  policy: Policy
  /** Patterns of the policy that forbid reading. */
  readProtect: readonly string[]
  /** Real path of the state folder. */
  stateDir: Buffer
  /** In bytes, of a file. */
  maxFileSize: number
  /** Whether the policy limits the endings of names. */
  hasEndings: boolean
  /** The folder or file to look in. */
  pin: Pin
  /** Aborted when the workspace closes. */
  closing: AbortSignal
}

/** A query that can't be carried out; thrown. */
export class BadQuery extends Error {
  readonly failure: FindFailure
  constructor(failure: FindFailure) {
    super(failure.code)
    this.failure = failure
  }
}

/**
 * The place of a file in the order of answers, which is that of a walk: by the bytes of names, a folder's files where
 * its name belongs. It is the path, one character for each byte, with NUL between its names.
 */
export type SortKey = string

export const keyOf = (path: Buffer): SortKey => path.toString('latin1').replaceAll('/', '\0')
export const pathOf = (key: SortKey): Buffer => Buffer.from(key.replaceAll('\0', '/'), 'latin1')

/** The path as `after` has it: if it isn't UTF-8, `/` and its bytes in hex are appended. */
export function textOfKey(key: SortKey): string {
  const path = pathOf(key)
  return isUtf8(path) ? path.toString() : `${path.toString()}/${path.toString('hex')}`
}

export function keyOfText(text: string): SortKey {
  const path = Buffer.from(/\/([0-9a-f]+)$/.exec(text)?.[1] ?? '', 'hex')
  return keyOf(!isUtf8(path) && textOfKey(keyOf(path)) === text ? path : Buffer.from(text))
}

/** Some names, in order. */
export interface Names {
  keys: SortKey[]
  /** There are no more after these. */
  isEnd: boolean
  /** Folders among them that can't be read. */
  unreadable: number
}

/**
 * The next files at or below `pin`, after `after`, that the policy lets the caller read. Their folders may have been
 * exchanged meanwhile. Null: stopped. Throws BadQuery (BAD_GLOB).
 *
 * The walk always begins at the root and leaves out what is beside the folder, so that the folder's files are those of
 * the root that are in it: the ignore files of all folders from the root on count, those above the root don't.
 */
export async function namesAfter(
  place: FindPlace,
  query: FindQuery,
  after: SortKey,
  ripgrep: Ripgrep
): Promise<Names | null> {
  const { root, policy, pin } = place
  if (pin.stat.isFile()) {
    const key = keyOf(pin.relative)
    return { keys: key > after ? [key] : [], isEnd: true, unreadable: 0 }
  }
  const mayRead = readable(root, policy, pin)
  const keys: SortKey[] = []
  const enough = new AbortController()
  const signal = AbortSignal.any([ripgrep.signal, enough.signal])
  let since: number | undefined
  const before = pruningBefore(pathOf(after).toString().split('/'))
  const args = ['--files', '--null', '--sort=path', ...before.map(glob => `--glob=${glob}`)]
  const ended = await walk(place, query, { ...ripgrep, signal }, args, name => {
    const key = name === null || enough.signal.aborted ? '' : keyOf(name)
    if (key <= after || !mayRead('read', name!)) return
    keys.push(key)
    since ??= performance.now()
    if (keys.length === NAMES || performance.now() - since > LIST_TIME) enough.abort()
  })
  if (ripgrep.signal.aborted) return null
  const isEnd = !enough.signal.aborted
  const isHere = (key: SortKey): boolean => key > after && (isEnd || key < keys.at(-1)!)
  const unreadable = unreadableIn(ended.messages).filter(path => mayRead('list', path) && isHere(keyOf(path)))
  return { keys, isEnd, unreadable: unreadable.length }
}

/** Whether a path is at or below the one to look in, and may be used. */
export function readable(root: Root, policy: Policy, pin: Pin): (use: 'read' | 'list', path: Buffer) => boolean {
  const prefix = Buffer.concat([root.real() ?? Buffer.alloc(0), Buffer.from('/')])
  return (use, path) => isBelow(path, pin.relative) && policy.judge(use, Buffer.concat([prefix, path]), path) === null
}

/** Whether ripgrep looks at nothing beside the folder. */
export const isWalkedAlone = ({ pin }: FindPlace): boolean => namesOf(pin.relative).every(isPrunable)

const namesOf = (path: Buffer): string[] => (path.length === 0 ? [] : path.toString().split('/'))

/**
 * Lets ripgrep walk the files at or below `pin`, and perhaps others; `part` gets the parts of its output that end in a
 * NUL. Throws BadQuery (BAD_GLOB), TooManyArguments.
 */
export async function walk(
  { root, policy, readProtect, stateDir, pin }: FindPlace,
  { include, exclude, ignored }: FindQuery,
  ripgrep: Ripgrep,
  args: readonly string[],
  part: (part: Buffer | null) => void
): Promise<RipgrepEnd> {
  const wanted = (policy.limit?.patterns ?? ['**']).flatMap(pattern =>
    narrower(namesOf(pin.relative), fixedNames(pattern))
  )
  const globs = [...include.map(globOf), ...exclude.map(glob => `!${glob}`), ...pruning(wanted)]
  const state = below(root.real() ?? Buffer.alloc(0), stateDir)
  const unread = ['.git', ...readProtect].map(pattern => `**/${pattern}`)
  const protectedGlobs = [...unread, ...(state === null ? [] : [`/${state.toString()}`])].map(excluding)
  const given = [...include, ...exclude]
  const longest = given.toSorted((a, b) => b.length - a.length)[0] ?? ''
  try {
    const ended = await runRipgrep(
      ripgrep,
      [
        ...['--hidden', '--no-require-git', '--no-ignore-global', '--no-ignore-exclude'],
        ignored ? '--no-ignore' : '--no-ignore-parent',
        ...globs.map(glob => `--glob=${glob}`),
        ...protectedGlobs.map(glob => `--iglob=${glob}`),
        ...args
      ],
      { delimiter: 0, bound: PATH },
      part
    )
    const bad = /^rg: error parsing glob '([^]*?)': ([^]*)/.exec(ended.messages)
    const isBad = (glob: string): boolean => bad !== null && [globOf(glob), `!${glob}`].includes(bad[1]!)
    if (bad !== null) throw badGlob(given.find(isBad) ?? bad[1]!, bad[2]!.trim())
    return ended
  } catch (error) {
    const isOfGlobs = error instanceof TooManyArguments && given.join('').length > GLOBS
    throw isOfGlobs ? badGlob(longest, 'the globs are too long') : error
  }
}

const badGlob = (glob: string, message: string): BadQuery => new BadQuery({ code: 'BAD_GLOB', glob, message })

/** A glob that begins with `#` would be a comment. */
const globOf = (glob: string): string => (glob.startsWith('#') ? `\\${glob}` : glob)

const isBelow = (path: Buffer, folder: Buffer): boolean => folder.length === 0 || isIn(path, folder)

/** The narrower of two places, as names; none if neither is in the other. */
function narrower(a: readonly string[], b: readonly string[]): (readonly string[])[] {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.every((name, at) => long[at] === name) ? [long] : []
}

/** Paths that ripgrep may not read, from its messages. */
export const unreadableIn = (messages: string): Buffer[] =>
  [...messages.matchAll(/^rg: (?:\.\/)?(.*): .*\(os error (?:1|13)\)$/gm)].map(([, path]) => Buffer.from(path!))

/** Paths of files that are too large for it, from its messages. */
export const tooLargeIn = (messages: string): Buffer[] =>
  [...messages.matchAll(/^rg: DEBUG\|ignore::walk\|.*?: ignoring (?:\.\/)?(.*): \d+ bytes$/gm)].map(([, path]) =>
    Buffer.from(path!)
  )
