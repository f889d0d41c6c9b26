// The names of all files that a find may look at, as ripgrep lists them. Does not know text.
import { isUtf8 } from 'node:buffer'
import type { FindFailure, FindQuery } from '../../workspace/api.ts'
import { below, isIn } from '../../workspace/path.ts'
import type { Policy } from '../../workspace/policy.ts'
import type { Pin, Root } from '../root/pin.ts'
import { excluding, fixedNames, isPrunable, pruning } from './globs.ts'
import type { Pace } from './pace.ts'
import { runRipgrep, TooManyArguments, type Ripgrep, type RipgrepEnd } from './ripgrep.ts'

/** Bytes of the names kept: of about 500,000 files. A bound on memory; chosen, not measured. */
const NAMES = 32 * 1024 * 1024
/** Names sorted without a rest. Chosen, not measured. */
const SORTED_AT_ONCE = 2000
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

/** The place of a file in the order of answers: its bytes as they are shown, one character for each. */
export type SortKey = string

export const keyOf = (shown: string): SortKey => Buffer.from(shown).toString('latin1')

/** Files below the root. */
export interface Names {
  /** In order. */
  keys: SortKey[]
  /** There are more, after these. */
  isCut: boolean
  /** Folders that can't be read. */
  unreadable: number
  /** The path in bytes. */
  pathOf(key: SortKey): Buffer
}

/**
 * Files at or below `pin` that the policy lets the caller read, as far as they sort after `query.after` or there is
 * room for all. Their folders may have been exchanged meanwhile. Null: stopped. Throws BadQuery (BAD_GLOB).
 *
 * The walk always begins at the root and leaves out what is beside the folder, so that the folder's files are those of
 * the root that are in it: the ignore files of all folders from the root on count, those above the root don't.
 */
export async function namesBelow(place: FindPlace, query: FindQuery, ripgrep: Ripgrep): Promise<Names | null> {
  const { root, policy, pin } = place
  const list = new NameList(query.after === undefined ? '' : keyOf(query.after))
  if (pin.stat.isFile()) {
    list.push(pin.relative)
    return { ...(await list.finish(ripgrep.pace)), unreadable: 0 }
  }
  const mayRead = readable(root, policy, pin)
  const ended = await walk(place, query, ripgrep, ['--files', '--null'], name => {
    if (name !== null && mayRead('read', name)) list.push(name)
  })
  if (ended === null) return null
  const unreadable = unreadableIn(ended.messages).filter(path => mayRead('list', path))
  return { ...(await list.finish(ripgrep.pace)), unreadable: unreadable.length }
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
 * NUL. Null: stopped. Throws BadQuery (BAD_GLOB), TooManyArguments.
 */
export async function walk(
  { root, policy, readProtect, stateDir, pin }: FindPlace,
  { include, exclude, ignored }: FindQuery,
  ripgrep: Ripgrep,
  args: readonly string[],
  part: (part: Buffer | null) => void
): Promise<RipgrepEnd | null> {
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
    const bad = /^rg: error parsing glob '([^]*?)': ([^]*)/.exec(ended?.messages ?? '')
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

export class NameList {
  readonly #after: SortKey
  /** The paths whose names aren't UTF-8. */
  readonly #odd = new Map<SortKey, Buffer>()
  #keys: SortKey[] = []
  #length = 0
  #last: SortKey | null = null

  constructor(after: SortKey) {
    this.#after = after
  }

  push(path: Buffer): void {
    const key = this.#keyOf(path)
    if (this.#last !== null && (key > this.#last || key <= this.#after)) return
    this.#keys.push(key)
    this.#length += key.length
    if (this.#length > NAMES) this.#cut()
  }

  #keyOf(path: Buffer): SortKey {
    if (isUtf8(path)) return path.toString('latin1')
    // As `listFolder` has it: it sorts where it seems to belong, and is unique.
    const key = keyOf(`${path.toString()}/${path.toString('hex')}`)
    this.#odd.set(key, Buffer.from(path))
    return key
  }

  /** Keeps the first half of what is to be returned. */
  #cut(): void {
    const rest = this.#keys.filter(key => key > this.#after).sort()
    this.#keys = rest.slice(0, Math.ceil(rest.length / 2))
    this.#last = this.#keys.at(-1) ?? this.#after
    this.#length = this.#keys.reduce((sum, key) => sum + key.length, 0)
  }

  async finish(pace: Pace): Promise<Omit<Names, 'unreadable'>> {
    return {
      keys: await sorted(this.#keys, pace),
      isCut: this.#last !== null,
      pathOf: key => this.#odd.get(key) ?? Buffer.from(key, 'latin1')
    }
  }
}

/** Sorts with rests in between. */
async function sorted(keys: readonly SortKey[], pace: Pace): Promise<SortKey[]> {
  let runs: SortKey[][] = []
  for (let at = 0; at < keys.length; at += SORTED_AT_ONCE) {
    runs.push(keys.slice(at, at + SORTED_AT_ONCE).sort())
    await pace.rest()
  }
  while (runs.length > 1) {
    const longer: SortKey[][] = []
    for (let i = 0; i < runs.length; i += 2) longer.push(await merged(runs[i]!, runs[i + 1] ?? [], pace))
    runs = longer
  }
  return runs[0] ?? []
}

async function merged(one: readonly SortKey[], other: readonly SortKey[], pace: Pace): Promise<SortKey[]> {
  const both: SortKey[] = []
  for (let [a, b] = [0, 0]; a < one.length || b < other.length;) {
    const first = b >= other.length || (a < one.length && one[a]! < other[b]!)
    both.push(first ? one[a++]! : other[b++]!)
    if (both.length % SORTED_AT_ONCE === 0) await pace.rest()
  }
  return both
}
