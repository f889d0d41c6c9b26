// The last writes of an object, as its metadata lists them. Does not know S3.
import type { Landed } from './store.ts'

/** The name of the metadata entry. */
export const LANDED = 'editd-landed'

/**
 * How many writes the metadata lists: each takes up to 75 bytes, and all metadata of an object may take 2,048. A write
 * can still be found if fewer than this many others followed it. Chosen, not measured.
 */
const KEPT = 16

/** Parses entries `attempt@replaced`, newest first; returns none if another program wrote the metadata. */
export function parseLanded(text: string | undefined): Landed[] {
  if (text === undefined) return []
  const parsed = text.split(' ').map(entry => /^([\w-]{1,40})@([^\s@]*)$/.exec(entry))
  return parsed.every(match => match !== null)
    ? parsed.map(([, attempt = '', replaced = '']) => ({ attempt, replaced: replaced === '' ? null : replaced }))
    : []
}

/** Keeps the newest entries and drops the rest. */
export const formatLanded = (landed: readonly Landed[]): string =>
  landed
    .slice(0, KEPT)
    .map(({ attempt, replaced }) => `${attempt}@${replaced ?? ''}`)
    .join(' ')
