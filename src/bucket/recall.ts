// Reads an object together with its known changes.
import type { History } from '../log/api.ts'
import { fail, type Result } from '../result.ts'
import type { FileWithPast } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileResult, RequestedPath } from '../workspace/results.ts'
import { chainOf, isEnd, landedOf } from '../recording/chain.ts'
import { CHANGED, untilUnchanged, workOn } from '../recording/with-past.ts'
import { isStill, readContent, type ObjectContent, type ReadContext } from './content.ts'
import type { Objects } from './objects.ts'

interface ObjectRecall extends ReadContext {
  objects: Objects
  history: History
}

/** Does for an object what `recallFile` does for a file in a folder. */
export async function recallObject<T, F>(
  context: ObjectRecall,
  requested: RequestedPath,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F | FileFailure>> {
  const { objects } = context
  const refusal = objects.refusal('read', requested.relative)
  if (refusal !== null) return fail(refusal)
  if (requested.relative.length === 0) return fail({ code: 'NOT_A_FILE', type: 'directory' })
  return untilUnchanged<T, F | FileFailure>(async () => {
    const taken: (() => void)[] = []
    try {
      const read = await readContent(context, requested.relative.toString(), taken)
      if (read?.ok === false) return read
      if (read !== null && requested.isFolder) return fail({ code: 'NOT_A_FILE', type: 'file_as_directory' })
      return await recall(context, requested, read?.value ?? null, work)
    } finally {
      for (const release of taken) release()
    }
  })
}

async function recall<T, F>(
  { objects, history, store }: ObjectRecall,
  requested: RequestedPath,
  content: ObjectContent | null,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F | FileFailure | typeof CHANGED>> {
  const { digest = null, landed = [], bytes = Buffer.alloc(0) } = content ?? {}
  const { relative } = requested
  await history.refresh()
  const { records: stored } = await history.ofPath(relative)
  const attempts = landed.map(({ attempt }) => attempt)
  const chain = chainOf(landedOf(stored, attempts), digest)
  if (digest === null && (await objects.isFolder(relative))) return fail({ code: 'NOT_A_FILE', type: 'directory' })
  if (digest === null && (chain.records.length === 0 || requested.isFolder)) {
    return fail(await objects.notFound(relative, 'look'))
  }
  // The chain doesn't end in what we read: either another program made it, or the object has changed since.
  if (!isEnd(chain) && !(await isStill(store, relative.toString(), content))) return fail(CHANGED)
  return workOn(history, { path: requested.path, relative, info: {}, digest, bytes, stored, chain }, work)
}
