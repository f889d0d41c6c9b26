// `editd forget`: removes the texts of one file's history, whether servers run on the root or not. Does not know argv.
import { resolve } from 'node:path'
import { openHistory } from '../log/folder-log.ts'
import { ok, type Result } from '../result.ts'
import type { WorkspaceOptions } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { thisOwner } from './locks/owner.ts'
import { relativePath } from '../workspace/path.ts'
import { openRoot } from './root/root.ts'
import { openUsedState } from './state.ts'

/**
 * Removes the texts that the history keeps of the file at `path`, and of the file that a link there leads to. Returns
 * how many changes lost their texts. Failures: those of the path's text. Throws StateUnusable, also if no server has
 * used the folder, and the system's errors.
 */
export async function forgetTexts(
  { root: folder, stateDir, report = () => {} }: Pick<WorkspaceOptions, 'root' | 'stateDir' | 'report'>,
  path: string
): Promise<Result<number, FileFailure>> {
  const root = openRoot(folder)
  try {
    const relative = relativePath(path, [root.real()?.toString() ?? folder, resolve(folder)])
    if (!relative.ok) return relative
    const named = Buffer.from(relative.value)
    const history = await openHistory({
      folder: openUsedState(stateDir).history,
      nonce: thisOwner().nonce,
      level: 'meta',
      isPrivate: () => true,
      // It settles, removes and adds nothing, so whether other servers live doesn't matter.
      isAlive: async () => true,
      stayAlive: () => 0,
      report
    })
    try {
      let count = 0
      for (const each of placesOf(root, named)) count += await history.forget(each)
      return ok(count)
    } finally {
      await history.close()
    }
  } finally {
    root.close()
  }
}

/** The path itself, and where a link there leads inside the root. */
function placesOf(root: ReturnType<typeof openRoot>, named: Buffer): Buffer[] {
  const pinned = root.pin(named)
  if (!pinned.ok) return [named]
  const { relative } = pinned.value
  pinned.value.close()
  return relative.equals(named) ? [named] : [named, relative]
}
