// editd without HTTP: a workspace of its own, and the operation /edit on it.
import { join } from 'node:path'
import { Workers } from '../src/workers/workers.ts'
import { makeOperations } from '../src/operations.ts'
import type { Workspace } from '../src/workspace/api.ts'
import { openWorkspace } from '../src/folder/open.ts'
import type { Edit } from './corpora.ts'

export interface Mode {
  durability: 'full' | 'fast'
  lock: 'shared' | 'local'
}
export const FAST: Mode = { durability: 'fast', lock: 'local' }
export const FULL: Mode = { durability: 'full', lock: 'shared' }

export interface Product {
  /** `path` is relative to the root. Throws unless the file is changed. */
  edit(path: string, edits: readonly Edit[]): Promise<object>
  close(): Promise<void>
}

const LIMIT = 1_000_000_000

/** A workspace on `root` without path rules, with the options in `mode`; `state` is a folder beside the root. */
export const openPlain = (root: string, state: string, mode: Mode): Promise<Workspace> =>
  openWorkspace({
    root,
    stateDir: join(state, 'state'),
    ...mode,
    lockTimeout: 10_000,
    maxFileSize: LIMIT,
    readOnly: false,
    requireHash: false,
    allowDelete: false,
    protect: [],
    readProtect: [],
    allowExtensions: null,
    history: 'full',
    historyDays: 30,
    historySize: 1e9,
    historyPrivate: []
  })

/** Edits below `root`; `state` is a folder beside the root. */
export async function openProduct(root: string, state: string, mode: Mode): Promise<Product> {
  const workspace = await openPlain(root, state, mode)
  const workers = new Workers()
  const { edit } = makeOperations(workspace, { max_edits: 100_000, max_file_size: LIMIT }, workers)
  return {
    async edit(path, edits) {
      const answer = await edit.call({ path, edits: [...edits], show_diff: true })
      if (!answer.ok) throw new Error(JSON.stringify(answer.failure).slice(0, 1000))
      if (!('changed' in answer.value.outcome) || !answer.value.outcome.changed) throw new Error('nothing changed')
      return answer.value.outcome
    },
    async close() {
      await workers.close()
      await workspace.close()
    }
  }
}
