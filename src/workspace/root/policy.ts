// Which files may be edited or read, judged by their real path. Does not touch the disk.
import type { FileFailure } from '../failure.ts'
import { below, split } from './path.ts'

/** Protected where nothing else is configured: what runs code or steers tools when it is written. */
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

/** Names of the service's own temp files. */
export const TEMP_NAME = /^\.[0-9a-f]{24}\.tmp$/

type Refusal = Extract<FileFailure, { code: 'PROTECTED_PATH' | 'PATH_NOT_ALLOWED' }>

export interface PolicyOptions {
  /**
   * Patterns: names with `*` for any run of letters, `/` between them, found at every depth. The name and all below;
   * with `/**` at the end only what is below.
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
  /** Which names in the folder at this real path (absolute) are the service's own, and not shown. */
  hiddenIn(real: Buffer): (name: Buffer) => boolean
}

/** Of such files the history keeps no texts unless it is told otherwise: what often holds secrets. */
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
    const names = relative.toString().split('/').map(fold)
    return compiled.some(pattern => pattern.covers(names))
  }
}

export function makePolicy(options: PolicyOptions): Policy {
  const edit = options.protect.map(compile)
  const read = options.readProtect.map(compile)
  const endings = options.allowExtensions?.map(fold) ?? null
  return {
    judge(use, real, relative) {
      if (below(options.stateDir, real) !== null) return { code: 'PROTECTED_PATH', pattern: null }
      const names = relative.toString().split('/').map(fold)
      if (names.some(name => TEMP_NAME.test(name))) return { code: 'PROTECTED_PATH', pattern: null }
      for (const pattern of use === 'edit' ? edit : read) {
        if (pattern.covers(names)) return { code: 'PROTECTED_PATH', pattern: pattern.source }
      }
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

// Code points that HFS+ leaves out when it compares names: `.g<U+200C>it` is `.git` there.
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** A name as the least exact of file systems sees it. */
function fold(name: string): string {
  return name.replace(IGNORABLE, '').normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}

interface Pattern {
  source: string
  covers(names: string[]): boolean
}

function compile(source: string): Pattern {
  const onlyBelow = source.endsWith('/**')
  const parts = fold(onlyBelow ? source.slice(0, -3) : source)
    .split('/')
    .filter(part => part !== '')
  const tests = parts.map(
    part => new RegExp('^' + part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replace(/\*+/g, '.*') + '$', 's')
  )
  const least = tests.length + (onlyBelow ? 1 : 0)
  return {
    source,
    covers(names) {
      if (tests.length === 0) return false
      for (let start = 0; start + least <= names.length; start++) {
        if (tests.every((test, i) => test.test(names[start + i] ?? ''))) return true
      }
      return false
    }
  }
}
