// What a person types to filter edits, as fields of a request for /history. Pure; does not know how it is sent.
import type { Shown } from './model.ts'

/** Fields of a request for /history; all that are given must hold. */
interface Asked {
  agent?: string
  session?: string
  token?: string
  /** Globs of paths. */
  include?: string[]
  /** ISO 8601. */
  since?: string
  words?: string
}

/** What a filter asks for, or what is wrong with it, in a sentence. */
export type ReadFilter = { ok: true; asked: Asked } | { ok: false; fault: string }

/** What /history is asked for besides, for each choice of edits but those to review, which are always asked for. */
export const ASKED_FOR: Readonly<Record<Exclude<Shown, 'pending'>, object>> = {
  undone: { state: 'undone' },
  kept: { review: 'kept' },
  all: {}
}

/** ms in each unit of an age. */
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

const TERM = /(agent|session|token|path|since):("[^"]*"?|\S*)|"[^"]*"?|\S+/gi

/**
 * Reads a filter: `agent:`, `session:`, `token:`, `path:` (a glob, or a file or directory), `since:` (an age such as
 * 10m, or a time), and words. A value in quotation marks may have spaces; a name without a value asks for nothing.
 * `now`: ms since 1970.
 */
export function readFilter(text: string, now: number): ReadFilter {
  const asked: Asked = {}
  const words: string[] = []
  for (const [term, given, quoted = term] of text.matchAll(TERM)) {
    const value = quoted.replaceAll('"', '')
    const name = given?.toLowerCase() as 'agent' | 'session' | 'token' | 'path' | 'since' | undefined
    if (value === '') continue
    if (name === undefined) words.push(value)
    else if (name === 'path') asked.include = [...(asked.include ?? []), ...globsOf(value)]
    else if (asked[name] !== undefined) return { ok: false, fault: `${name}: is there twice; one edit has only one.` }
    else if (name !== 'since') asked[name] = value
    else {
      const since = timeOf(value, now)
      if (since === undefined) {
        return { ok: false, fault: 'since: takes an age such as 10m, 2h or 3d, or a date such as 2026-11-30.' }
      }
      asked.since = since
    }
  }
  if (words.length > 0) asked.words = words.join(' ')
  return { ok: true, asked }
}

/** A path without a wildcard is that file, or all files of that directory. */
function globsOf(path: string): string[] {
  if (/[*?[{]/.test(path)) return [path]
  const bare = path.replace(/^\.?\/|\/$/g, '')
  return [`/${bare}`, `/${bare}/**`]
}

function timeOf(value: string, now: number): string | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/i.exec(value) ?? []
  const time = count === undefined ? Date.parse(value) : now - Number(count) * UNITS[unit.toLowerCase()]!
  return Number.isNaN(time) || /^\d+$/.test(value) ? undefined : new Date(time).toISOString()
}
