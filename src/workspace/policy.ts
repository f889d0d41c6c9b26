// Which files may be edited or read, judged by their real path, and by a name that a link leads elsewhere: by anybody,
// or by a caller limited to some paths. Does not touch the disk.
import { isAscii } from 'node:buffer'
import type { FileFailure } from './failure.ts'
import { below, join, split } from './path.ts'
import { TEMP_NAME } from './temp-name.ts'

/** Protected by default: files that run code or steer tools when they are written. */
export const DEFAULT_PROTECTED: readonly string[] = [
  '.git',
  '.hg',
  '.svn',
  '.vscode/**',
  '.idea/**',
  '.cursor/**',
  '.claude/**',
  '.mcp.json',
  '.husky/**',
  '.envrc'
]

type Refusal = Extract<FileFailure, { code: 'PROTECTED_PATH' | 'PATH_NOT_ALLOWED' }>

interface PolicyOptions {
  /**
   * Patterns: names with `*` for any run of letters, `/` between them, found at every depth. They cover the name and
   * everything below; with `/**` at the end only what is below. `**` in place of a name is any number of names, or
   * none. Each without a `patternFault`.
   */
  protect: readonly string[]
  /** The patterns that also forbid reading. */
  readProtect: readonly string[]
  /** Endings of names, with the dot; null: all. */
  allowExtensions: readonly string[] | null
  /** Real path of the state folder. */
  stateDir: Buffer
}

export interface Policy {
  /**
   * Null if the file at this real path (absolute, and below the root) may be edited or read, or the folder listed; else
   * PROTECTED_PATH or PATH_NOT_ALLOWED. Whether it exists doesn't matter.
   */
  judge(use: 'edit' | 'read' | 'list', real: Buffer, relative: Buffer): Refusal | null
  /**
   * Null if a path below the root that leads elsewhere by a link has no protected name; else PROTECTED_PATH. A `.git`
   * that is a link to another folder still belongs to git.
   */
  judgeName(use: 'edit' | 'read', relative: Buffer): Refusal | null
  /** Which entries of the folder at this real path (absolute, and below the root) are not shown. */
  hiddenIn(real: Buffer, relative: Buffer): (name: Buffer, isFolder: boolean) => boolean
  /** Absent: all paths that are not protected may be used. */
  limit?: Limit
}

/** Which paths below the root a caller may use, whatever is there. */
interface Limit {
  /** What `judge` returns for paths that may not be used, and for nothing else. */
  readonly refusal: Refusal
  /** Patterns of paths; one of them covers each path that may be used. */
  readonly patterns: readonly string[]
  /** Whether the file at this real path may be used; `list`: whether it, or something below it, may. */
  allows(use: 'edit' | 'read' | 'list', relative: Buffer): boolean
}

/** Private by default: the history keeps no texts of these files, as they often hold secrets. */
export const DEFAULT_PRIVATE: readonly string[] = [
  '.env*',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '.npmrc',
  '.pypirc',
  '.netrc',
  '.pgpass',
  '.git-credentials',
  'id_rsa*',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  '.ssh',
  '.aws',
  'credentials*',
  'secrets*'
]

/** Whether one of the patterns (see PolicyOptions) covers a path below the root. */
export function matcher(patterns: readonly string[]): (relative: Buffer) => boolean {
  const compiled = patterns.map(compile)
  return relative => {
    const names = foldedNames(relative)
    return compiled.some(pattern => pattern.covers(names))
  }
}

export function makePolicy(options: PolicyOptions): Policy {
  const edit = options.protect.map(compile)
  const read = options.readProtect.map(compile)
  const endings = options.allowExtensions?.map(fold) ?? null
  const protectedBy = (use: 'edit' | 'read' | 'list', names: string[]): Refusal | null => {
    const pattern = (use === 'edit' ? edit : read).find(pattern => pattern.covers(names))
    return pattern === undefined ? null : { code: 'PROTECTED_PATH', pattern: pattern.source }
  }
  return {
    judgeName: (use, relative) => protectedBy(use, foldedNames(relative)),
    judge(use, real, relative) {
      if (below(options.stateDir, real) !== null) return { code: 'PROTECTED_PATH', pattern: null }
      const names = foldedNames(relative)
      if (names.some(name => TEMP_NAME.test(name))) return { code: 'PROTECTED_PATH', pattern: null }
      const refusal = protectedBy(use, names)
      if (refusal !== null) return refusal
      if (endings === null || use === 'list' || relative.length === 0) return null
      const leaf = fold(split(relative).leaf.toString())
      if (endings.some(ending => leaf.endsWith(ending))) return null
      return { code: 'PATH_NOT_ALLOWED', reason: 'extension', allowed_extensions: [...(options.allowExtensions ?? [])] }
    },
    hiddenIn(real) {
      const state = below(real, options.stateDir)
      return name => TEMP_NAME.test(name.toString('latin1')) || state?.equals(name) === true
    }
  }
}

// Invisible characters that file systems may skip when they compare names (HFS+ skips some): `.g<U+200C>it` is `.git`.
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu

/** A name as the least exact file system compares it. */
function fold(name: string): string {
  return name.replace(IGNORABLE, '').normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

/** The folded names of a path; in ASCII, folding changes only the case. */
const foldedNames = (relative: Buffer): string[] =>
  isAscii(relative) ? relative.toString('latin1').toLowerCase().split('/') : relative.toString().split('/').map(fold)

interface Pattern {
  source: string
  covers(names: string[]): boolean
}

function compile(source: string): Pattern {
  const names = namesIn(source)
  const onlyBelow = names.length > 1 && names.at(-1) === ANY_NAMES
  /** The runs of names between `**`: if the pattern matches, finding each as early as possible succeeds. */
  const runs = names.reduce<NameTest[][]>(
    (runs, name) => {
      if (name === ANY_NAMES) runs.push([])
      else runs.at(-1)!.push(nameTest(fold(name)))
      return runs
    },
    [[]]
  )
  return {
    source,
    covers(path) {
      let at = 0
      for (const run of runs) {
        while (at + run.length <= path.length && !run.every((test, i) => test(path[at + i]!))) at++
        at += run.length
      }
      return names.length > 0 && at + (onlyBelow ? 1 : 0) <= path.length
    }
  }
}

const ANY_NAMES = '**'

/** The names of a pattern; it is found at every depth, so a leading or trailing `/` and `./` change nothing. */
const namesIn = (pattern: string): string[] => pattern.split('/').filter(name => name !== '' && name !== '.')

/** What is wrong with a pattern of PolicyOptions, so that it would cover nothing; null: nothing. */
export function patternFault(pattern: string): string | null {
  const names = namesIn(pattern)
  if (names.length === 0) return 'must name something'
  return names.includes('..') ? 'must not have .. as a name' : null
}

// Patterns of paths begin at the root: `docs` covers that name, and all below; `docs/**` only what is below. `*` is any
// run of bytes in a name; `**` in place of a name is any number of names, or none, as in `docs/**/*.md`. Names are
// compared byte by byte, so letter case and Unicode's forms count; bytes that aren't UTF-8 are matched by `*` alone.

/** What is wrong with a pattern of paths that a caller may use, as the rest of "a pattern …"; null: nothing. */
export function pathPatternFault(pattern: string): string | null {
  if (pattern === '') return 'must not be empty'
  if (pattern.includes('\0')) return 'must not contain a NUL character'
  if (pattern.includes('\\')) return 'must have / between its names, and no \\'
  if (pattern.startsWith('/')) return 'must begin at the root of the workspace, without /'
  const names = pattern.split('/')
  if (names.includes('')) return 'must not have an empty name, as between // or after a last /'
  if (names.some(name => name === '.' || name === '..')) return 'must not have . or .. as a name'
  if (names.some(name => name.includes('**') && name !== '**')) return 'must have ** only in place of a whole name'
  return null
}

/**
 * A policy for a caller who may use only paths that one of these patterns covers, each without a `pathPatternFault`.
 */
export function limitPolicy(policy: Policy, patterns: readonly string[]): Policy {
  const limit = both(policy.limit, limitOf(patterns))
  return {
    limit,
    judgeName: (use, relative) => policy.judgeName(use, relative),
    judge(use, real, relative) {
      // First, so that nothing is revealed about forbidden paths.
      return limit.allows(use, relative) ? policy.judge(use, real, relative) : limit.refusal
    },
    hiddenIn(real, relative) {
      const isHidden = policy.hiddenIn(real, relative)
      return (name, isFolder) =>
        isHidden(name, isFolder) || !limit.allows(isFolder ? 'list' : 'read', join(relative, name))
    }
  }
}

function limitOf(patterns: readonly string[]): Limit {
  const compiled = patterns.map(compilePath)
  return {
    refusal: { code: 'PATH_NOT_ALLOWED', reason: 'token', allowed_paths: [...patterns] },
    patterns,
    allows(use, relative) {
      // latin1 has one character for each byte.
      const names = relative.length === 0 ? [] : relative.toString('latin1').split('/')
      return compiled.some(pattern => pattern(names)[use === 'list' ? 'leads' : 'covers'])
    }
  }
}

/** What both allow; the refusal is the narrower one's. */
function both(wide: Limit | undefined, narrow: Limit): Limit {
  if (wide === undefined) return narrow
  return {
    refusal: narrow.refusal,
    patterns: narrow.patterns,
    allows: (use, relative) => wide.allows(use, relative) && narrow.allows(use, relative)
  }
}

/** Whether a pattern covers the path with these names, and whether it covers or could cover something below it. */
type PathPattern = (names: readonly string[]) => { covers: boolean; leads: boolean }

function compilePath(source: string): PathPattern {
  const parts = source.split('/')
  // Everything below a covered path is covered as well, so one name is enough.
  if (parts.at(-1) === '**') parts[parts.length - 1] = '*'
  const tests = parts.map(part => (part === '**' ? null : nameTest(Buffer.from(part).toString('latin1'))))
  const end = tests.length
  /** Positions in the pattern: each `**` also gives the next one, as it may match no name. */
  const withNext = (at: number): number[] => (tests[at] === null ? [at, ...withNext(at + 1)] : [at])
  return names => {
    let places = new Set(withNext(0))
    for (const name of names) {
      const next = [...places].flatMap(at => {
        const test = tests[at]
        // What is below the end is covered too.
        if (test === undefined) return [at]
        if (test === null) return withNext(at)
        return test(name) ? withNext(at + 1) : []
      })
      places = new Set(next)
    }
    return { covers: places.has(end), leads: places.size > 0 }
  }
}

type NameTest = (name: string) => boolean

/** Runs in time linear in the lengths of name and pattern, whatever they are. */
function nameTest(pattern: string): NameTest {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return name => name === first
  return name => {
    if (!name.startsWith(first) || !name.endsWith(last)) return false
    let at = first.length
    for (const part of others) {
      const found = name.indexOf(part, at)
      if (found === -1) return false
      at = found + part.length
    }
    return at + last.length <= name.length
  }
}
