// Makes a folder and its missing parents. Does not know the root or requests.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../../workspace/errno.ts'

/**
 * Makes a folder and its missing parents; does nothing if it exists. Throws the system's error. Node's own recursive
 * mkdir never ends if the system answers ENOENT for a name in an existing folder, as /proc does.
 */
export function ensureDir(path: string, mode = 0o777): void {
  try {
    makeDir(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    const parent = dirname(path)
    // Another process may have made the parent since.
    if (!existsSync(parent)) ensureDir(parent, mode)
    makeDir(path, mode)
  }
}

function makeDir(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !statSync(path).isDirectory()) throw error
  }
}
