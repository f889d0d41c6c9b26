// What is in a folder: each file with its bytes and mode, and each folder. Does not know any test.
import { lstatSync, readdirSync, readFileSync } from 'node:fs'

/** By path: mode and bytes of a file in hex; `link` or `folder`. */
export type FolderState = Record<string, string>

/** `at`: the path of the folder below `root`, a character for each byte. */
export function stateOf(root: string, at = ''): FolderState {
  const pathOf = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')])
  const state: FolderState = {}
  for (const name of readdirSync(pathOf(at), 'latin1').sort()) {
    const path = at === '' ? name : `${at}/${name}`
    const stat = lstatSync(pathOf(path))
    if (stat.isDirectory()) Object.assign(state, { [path]: 'folder' }, stateOf(root, path))
    else if (stat.isSymbolicLink()) state[path] = 'link'
    else state[path] = `${(stat.mode & 0o7777).toString(8)} ${readFileSync(pathOf(path), 'hex')}`
  }
  return state
}
