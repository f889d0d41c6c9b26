// Reads a file together with its known changes, without a lock. Does not know what they are used for.
import type { History } from '../log/api.ts'
import { fail, ok, type Result } from '../result.ts'
import type { FileWithPast } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileResult, RequestedPath } from '../workspace/results.ts'
import type { FileAccess, FoundPath } from './file-access.ts'
import { isEnd } from '../recording/chain.ts'
import { readChain, type LastBefore } from '../recording/read-chain.ts'
import { CHANGED, untilUnchanged, workOn } from '../recording/with-past.ts'
import { readPinned, takeMemory, type FileReadContext } from './read-pinned.ts'
import type { Snapshot } from './snapshot.ts'

/** What it needs of the workspace. */
interface RecallContext extends FileReadContext {
  files: FileAccess
  history: History
}

/**
 * Does the work on a file and the changes that end in its content; on no content, if it was removed. Failures: those of
 * reading it; FILE_NOT_FOUND if no change of it is known either; STALE_FILE if it changed each time it was read.
 */
export async function recallFile<T, F>(
  context: RecallContext,
  requested: RequestedPath,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F | FileFailure>> {
  const { history } = context
  return untilUnchanged<T, F | FileFailure>(async () => {
    await history.refresh()
    const known = await history.lastOf(requested.relative)
    // Copy its present state: later statements about the record are written into it.
    const last: LastBefore | null = known && { edit_id: known.edit_id, settled: known.settled }
    return context.files.find<T, F | FileFailure | typeof CHANGED>(requested, 'look', async found => {
      // If a link led elsewhere, the record is another file's.
      const since = (found.pin ?? found.absent).relative.equals(requested.relative) ? last : undefined
      const about = { requested, found, since, work }
      if (found.pin === null) return recall(context, { ...about, content: null })
      if (found.pin.stat.isDirectory()) return fail({ code: 'NOT_A_FILE', type: 'directory' })
      const taken: (() => void)[] = []
      try {
        const noMemory = await takeMemory(context, [found.pin], taken)
        if (noMemory !== null) return fail(noMemory.failure)
        const read = await readPinned(context, found.pin, taken)
        return read.ok ? await recall(context, { ...about, content: read.value }) : read
      } finally {
        for (const release of taken.reverse()) release()
      }
    })
  })
}

interface Recalled<T, F> {
  requested: RequestedPath
  found: FoundPath
  /** Null: there is no file. */
  content: Snapshot | null
  /** See `readChain`. */
  since: LastBefore | null | undefined
  work: (file: FileWithPast) => Promise<Result<T, F>>
}

async function recall<T, F>(
  { files, history }: RecallContext,
  { requested, found, content, since, work }: Recalled<T, F>
): Promise<FileResult<T, F | FileFailure | typeof CHANGED>> {
  const { relative } = found.pin ?? found.absent
  const digest = content?.digest ?? null
  await history.refresh()
  const { stored, chain } = await readChain(history, relative, digest, since)
  if (found.pin === null && (chain.records.length === 0 || requested.isFolder)) {
    return fail(files.notFound(found.absent, 'look'))
  }
  if (!isEnd(chain)) {
    // Another program's change, unless the file has changed since it was read.
    const now = await files.find<string | null, never>(requested, 'look', async now => ok(placeOf(now)))
    if (!now.ok) return now
    if (now.value !== placeOf(found)) return fail(CHANGED)
  }
  const bytes = content?.bytes ?? Buffer.alloc(0)
  return workOn(history, { path: requested.path, relative, info: found.info, digest, bytes, stored, chain }, work)
}

/** Identifies what is at a path: unchanged as long as nothing was done to it. */
function placeOf({ pin }: FoundPath): string | null {
  if (pin === null) return null
  const { dev, ino, size, mtimeNs, ctimeNs } = pin.stat
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}
