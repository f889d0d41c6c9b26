// The writes that an object comes from, as its metadata have them. Does not know S3.
import type { Landed } from './store.ts'

/** The name of the metadata. */
export const LANDED = 'editd-landed'

/**
 * How many are kept: each takes up to 75 bytes, and all metadata of an object may take 2,048. So many others can write
 * an object between a write and the look at what became of it; chosen, not measured.
 */
const KEPT = 16

/** `attempt@replaced`, newest first; what another program wrote there doesn't count. */
export function parseLanded(text: string | undefined): Landed[] {
  if (text === undefined) return []
  const parsed = text.split(' ').map(entry => /^([\w-]{1,40})@([^\s@]*)$/.exec(entry))
  return parsed.every(match => match !== null)
    ? parsed.map(([, attempt = '', replaced = '']) => ({ attempt, replaced: replaced === '' ? null : replaced }))
    : []
}

/** With one more write; the oldest fall out. */
export const formatLanded = (landed: readonly Landed[]): string =>
  landed
    .slice(0, KEPT)
    .map(({ attempt, replaced }) => `${attempt}@${replaced ?? ''}`)
    .join(' ')
