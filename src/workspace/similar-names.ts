// Existing names and paths that a wanted one without a file may have meant. Does not know what is there.
import { distance } from 'fastest-levenshtein'

/** How many paths are offered at most. Chosen, not measured. */
export const ANSWERS_LIMIT = 3
/**
 * When first folders are dropped from a path, only ends of up to this many names are tried, as each try costs as much
 * as it has names. Chosen, not measured.
 */
const DEPTH_LIMIT = 8

export const folded = (name: string): string => name.normalize('NFC').toLowerCase()

/** The names close enough to a wanted one, folded, that they may have been meant; nearest first. */
export const nearest = (names: readonly string[], wanted: string): string[] =>
  names
    .map(name => ({ name, steps: stepsTo(folded(name), wanted) }))
    .filter(({ steps }) => steps <= Math.max(1, Math.floor(wanted.length / 4)))
    .sort((a, b) => a.steps - b.steps)
    .map(({ name }) => name)

/** A name that goes on with an extension is one step away. */
const stepsTo = (name: string, wanted: string): number => (name.startsWith(`${wanted}.`) ? 1 : distance(name, wanted))

/** The path without its first folder, without the first two, and so on. */
export function withoutFirstFolders(path: string): string[] {
  const last = path.split('/').slice(1).slice(-DEPTH_LIMIT)
  return last.map((_, i) => last.slice(i).join('/')).filter(rest => rest !== '')
}
