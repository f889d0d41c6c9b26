// What the tests of patches share: a workspace with files, and the entries of a patch. Does not know any test.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { WorkspaceOptions } from '../../../src/workspace/api.ts'
import { makeFolders, open, removeFolders } from '../../folder/support/open.ts'

/** Texts by path. */
export type Files = Record<string, string>

export const create = (path: string, content: string) => ({ operation: 'create', path, content })
export const remove = (path: string) => ({ operation: 'delete', path })

export const ALLOWED: Partial<WorkspaceOptions> = { allowDelete: true, history: 'full' }

/** Opens a workspace with these files until the test ends. `texts`: returns its files. */
export async function openWith(t: Test, files: Files, options: Partial<WorkspaceOptions> = ALLOWED) {
  const folders = makeFolders()
  t.teardown(() => removeFolders(folders))
  const { root, state } = folders
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const workspace = await open(folders, options)
  t.teardown(() => workspace.close())
  return { root, state, workspace, texts: () => textsIn(root) }
}

/** The texts of all files below a folder, by their paths in it. */
export const textsIn = (folder: string): Files =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => statSync(join(folder, name)).isFile())
      .sort()
      .map(name => [name, readFileSync(join(folder, name), 'utf8')])
  )
