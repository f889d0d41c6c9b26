// For a path where nothing is: paths that may have been meant, from names that are really there. Knows no policy but the one it is handed.
import { readdirSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { split } from './path.ts'
import type { Pin, Root } from './pin.ts'

const NAMES_LIMIT = 5000
const ANSWERS_LIMIT = 3

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
  const shorter = names.slice(1).map((_, i) => names.slice(i + 1).join('/'))
  return [...new Set([...near.slice(0, 2 * ANSWERS_LIMIT), ...shorter])].filter(path => isFile(root, path, allowed)).slice(0, ANSWERS_LIMIT)
}

function namesIn (root: Root, folder: Buffer): string[] {
  try {
    const parent = root.openFolder(folder)
    try { return readdirSync(parent.at('.')).slice(0, NAMES_LIMIT) } finally { parent.close() }
  } catch { return [] }
}

function isFile (root: Root, path: string, allowed: (pin: Pin) => boolean): boolean {
  try {
    const pinned = root.pin(Buffer.from(path))
    if (!pinned.ok) return false
    try { return pinned.value.stat.isFile() && allowed(pinned.value) } finally { pinned.value.close() }
  } catch { return false }
}
