// For a path where nothing is: paths that may have been meant, from names that are really there. Knows no policy but the one it is handed.
import { opendirSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { split } from './path.ts'
import type { Pin, Root } from './pin.ts'

/** So many names of the folder are looked at, in the system's order; what comes after them is never offered. */
const NAMES_LIMIT = 5000
const ANSWERS_LIMIT = 3
/** Of the path without its first folders, only what has so few names is tried: each try costs as much as it has names. */
const DEPTH_LIMIT = 8

/** At most three files below the root, nearest first: the same name in another spelling, or the path without its first folders. `allowed` says of which ones may be spoken. */
export function nearPaths (root: Root, missing: Buffer, allowed: (pin: Pin) => boolean): string[] {
  const { folder, leaf } = split(missing)
  const wanted = leaf.toString().normalize('NFC').toLowerCase()
  const near = namesIn(root, folder)
    .map(name => ({ name, steps: distance(name.normalize('NFC').toLowerCase(), wanted) }))
    .filter(({ steps }) => steps <= Math.max(1, Math.floor(wanted.length / 4)))
    .sort((a, b) => a.steps - b.steps)
    .map(({ name }) => folder.length === 0 ? name : `${folder.toString()}/${name}`)
  const names = missing.toString().split('/')
  const last = names.slice(1).slice(-DEPTH_LIMIT)
  const shorter = last.map((_, i) => last.slice(i).join('/'))
  return [...new Set([...near.slice(0, 2 * ANSWERS_LIMIT), ...shorter])].filter(path => isFile(root, path, allowed)).slice(0, ANSWERS_LIMIT)
}

function namesIn (root: Root, folder: Buffer): string[] {
  try {
    const parent = root.openFolder(folder)
    try {
      const listing = opendirSync(parent.at('.'))
      try {
        const names = []
        for (let entry = listing.readSync(); entry !== null && names.length < NAMES_LIMIT; entry = listing.readSync()) names.push(entry.name)
        return names
      } finally { listing.closeSync() }
    } finally { parent.close() }
  } catch { return [] }
}

function isFile (root: Root, path: string, allowed: (pin: Pin) => boolean): boolean {
  try {
    const pinned = root.pin(Buffer.from(path))
    if (!pinned.ok) return false
    try { return pinned.value.stat.isFile() && allowed(pinned.value) } finally { pinned.value.close() }
  } catch { return false }
}
