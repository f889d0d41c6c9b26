// For a path where nothing is: paths that may have been meant, from names that are really there. Does not know
// policy: the caller says which may be offered.
import { type Dirent, opendirSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { join, split } from '../../workspace/path.ts'
import type { Pin, Root } from './pin.ts'
import { ANSWERS_LIMIT, folded, nearest, withoutFirstFolders } from '../../workspace/similar-names.ts'

/**
 * How many names of the folder are looked at, in the system's order; later ones are never offered. This and the limits
 * below were chosen, not measured.
 */
const NAMES_LIMIT = 5000
/**
 * How many entries of folders are searched for the same name elsewhere, nearest to the root first; later ones are never
 * offered.
 */
const ENTRIES_LIMIT = 5000
const ELSEWHERE_LIMIT = 20

/** Which paths may be revealed. */
export interface Speakable {
  /** Whether this path, which leads to that object, may be offered. */
  offers(pin: Pin, path: Buffer): boolean
  /** Whether an entry with this path, below the root, may be revealed. */
  shows(path: Buffer, isFolder: boolean): boolean
}

/**
 * At most three files below the root, nearest first: the path with `/` for `\\`, the same name in another spelling or
 * with an extension, the path without its first folders, then the same name in other folders, in any case. What isn't
 * shown counts only for the limits of what is looked at.
 */
export function similarPaths(root: Root, missing: Buffer, speakable: Speakable): string[] {
  const path = missing.toString().replaceAll('\\', '/')
  const { folder, leaf } = split(Buffer.from(path))
  const wanted = folded(leaf.toString())
  const names = entriesIn(root, folder, NAMES_LIMIT)
    .filter(entry => speakable.shows(join(folder, entry.name), entry.isDirectory()))
    .map(({ name }) => name)
  const near = nearest(names, wanted).map(name => (folder.length === 0 ? name : `${folder.toString()}/${name}`))
  const found = offered(root, [...near.slice(0, 2 * ANSWERS_LIMIT), ...withoutFirstFolders(path)], speakable)
  if (found.length > 0) return found
  return offered(
    root,
    elsewhere(root, wanted, speakable).sort((a, b) => distance(a, path) - distance(b, path)),
    speakable
  )
}

/**
 * For an absolute path outside the root: existing paths inside, folders too, that equal an end of it, longest first. At
 * most three.
 */
export const samePathInside = (root: Root, absolute: string, speakable: Pick<Speakable, 'offers'>): string[] =>
  offered(root, withoutFirstFolders(absolute.replace(/\/+$/, '')), speakable, { folders: true })

/** The existing paths among these that may be offered, at most three. */
function offered(
  root: Root,
  paths: readonly string[],
  speakable: Pick<Speakable, 'offers'>,
  { folders } = { folders: false }
): string[] {
  const found = new Set<string>()
  for (const path of paths) {
    if (found.size < ANSWERS_LIMIT && !found.has(path) && isThere(root, path, speakable, folders)) found.add(path)
  }
  return [...found]
}

/**
 * Paths of the same name, breadth first; links are not followed, and folders of dependencies or hidden ones come last.
 */
function elsewhere(root: Root, wanted: string, { shows }: Pick<Speakable, 'shows'>): string[] {
  const found: string[] = []
  const folders = ['']
  const later: string[] = []
  for (let seen = 0; seen < ENTRIES_LIMIT && found.length < ELSEWHERE_LIMIT;) {
    const folder = folders.shift() ?? later.shift()
    if (folder === undefined) break
    for (const entry of entriesIn(root, Buffer.from(folder), ENTRIES_LIMIT - seen)) {
      seen++
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (!shows(Buffer.from(path), entry.isDirectory())) continue
      if (entry.isDirectory()) {
        ;(entry.name.startsWith('.') || entry.name === 'node_modules' ? later : folders).push(path)
      } else if (folded(entry.name) === wanted) found.push(path)
    }
  }
  return found
}

/** The entries of a folder; none if it can't be read. */
function entriesIn(root: Root, folder: Buffer, limit: number): Dirent[] {
  try {
    const parent = root.openFolder(folder)
    try {
      const listing = opendirSync(parent.at('.'))
      try {
        const entries: Dirent[] = []
        for (let entry = listing.readSync(); entry !== null && entries.length < limit; entry = listing.readSync()) {
          entries.push(entry)
        }
        return entries
      } finally {
        listing.closeSync()
      }
    } finally {
      parent.close()
    }
  } catch {
    return []
  }
}

/** Whether a file, or with `folders` a folder, exists at this path and may be offered. Never throws. */
export function isThere(root: Root, path: string, { offers }: Pick<Speakable, 'offers'>, folders: boolean): boolean {
  try {
    const pinned = root.pin(Buffer.from(path))
    if (!pinned.ok) return false
    try {
      const { stat } = pinned.value
      return (stat.isFile() || (folders && stat.isDirectory())) && offers(pinned.value, Buffer.from(path))
    } finally {
      pinned.value.close()
    }
  } catch {
    // A folder vanished during the look, or no descriptor is free: one suggestion less.
    return false
  }
}
