// Removes one file, when an undo takes back its creation; any other removal is a member of a batch. Does not know plans
// or policy.
import { unlinkSync } from 'node:fs'
import { fail, ok, type Result } from '../../result.ts'
import type { FileFailure, FileWarning } from '../../workspace/failure.ts'
import { split } from '../../workspace/path.ts'
import { removeIfEmpty } from './commit-new.ts'
import type { Change } from './commit.ts'
import { refusalNow, type InPlaceContext } from './in-place.ts'
import { answers } from './temp.ts'

/**
 * Removes the file, and then those of `made_folders` (each before those inside it) that are empty. The journal keeps
 * the old bytes meanwhile: there is no temp file whose removal would stop a holder of the lock that was suspended
 * before its `unlink`, so the next holder must wait until it has ended (as for a write in place). Failures and errors
 * are those of `writeInPlace`.
 */
export async function remove(
  { root, journal, lock, durability }: InPlaceContext,
  { pin, snapshot, record }: Change,
  made_folders: readonly Buffer[]
): Promise<Result<FileWarning[], FileFailure>> {
  const { folder: folderPath, leaf } = split(pin.relative)
  const folder = root.openFolder(folderPath)
  const warnings: FileWarning[] = []
  try {
    const saved = await journal.save(pin, snapshot, snapshot.digest)
    try {
      await answers(folder)
      await record()
      const refusal = refusalNow([lock], pin, snapshot)
      if (refusal !== null) return fail(refusal)
      unlinkSync(folder.at(leaf))
      pin.replaced = true
    } finally {
      saved.drop()
    }
    if (durability === 'full') await folder.sync().catch(() => warnings.push('unsynced_change'))
  } finally {
    folder.close()
  }
  await removeIfEmpty(root, made_folders)
  return ok(warnings)
}
