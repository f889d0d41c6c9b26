// An object with what is known of its changes, read together. Does not know what is asked of them.
import { UNKNOWN_CHANGE } from '../engine/history/change.ts'
import type { History } from '../history/api.ts'
import { fail, type Result } from '../result.ts'
import type { FileWithPast } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileResult, RequestedPath } from '../workspace/file-access.ts'
import { chainOf, landedOf } from '../workspace/history/chain.ts'
import { withChangeOfOthers } from '../workspace/history/others.ts'
import { verdictsOf } from '../workspace/history/verdicts.ts'
import { ATTEMPTS, shortHash } from '../workspace/text-file.ts'
import { NOTHING, withContent, type ObjectContent, type ReadContext } from './content.ts'
import type { Objects } from './objects.ts'

export interface ObjectRecall extends ReadContext {
  objects: Objects
  history: History
}

/** The object was changed while it was read. */
const CHANGED: unique symbol = Symbol('changed')

/** As `recallFile` of a folder. */
export async function recallObject<T, F>(
  context: ObjectRecall,
  asked: RequestedPath,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F | FileFailure>> {
  const { objects } = context
  const refusal = objects.refusal('read', asked.relative)
  if (refusal !== null) return fail(refusal)
  if (asked.relative.length === 0) return fail({ code: 'NOT_A_FILE', type: 'directory' })
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    type Recalled = FileResult<T, F | FileFailure | typeof CHANGED>
    const done = await withContent(context, asked.relative.toString(), async (content): Promise<Recalled> =>
      asked.isFolder ? fail({ code: 'NOT_A_FILE', type: 'file_as_directory' }) : recall(context, asked, content, work)
    )
    if (done?.ok === false) return done
    const result = done === null ? await recall(context, asked, NOTHING(), work) : done.value
    if (result.ok) return result
    const { failure, ...known } = result
    if (failure !== CHANGED) return { ...known, failure }
  }
  return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
}

async function recall<T, F>(
  { objects, history, store }: ObjectRecall,
  asked: RequestedPath,
  content: ObjectContent,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F | FileFailure | typeof CHANGED>> {
  const { digest, landed, bytes } = content
  const { relative } = asked
  await history.refresh()
  const { records: stored } = await history.ofPath(relative)
  const attempts = landed.map(({ attempt }) => attempt)
  const chain = chainOf(landedOf(stored, attempts), digest)
  if (digest === null && (await objects.isFolder(relative))) return fail({ code: 'NOT_A_FILE', type: 'directory' })
  if (digest === null && (chain.records.length === 0 || asked.isFolder)) {
    return fail(await objects.notFound(relative, 'look'))
  }
  const isEnd = chain.changes.at(-1) !== UNKNOWN_CHANGE
  if (!isEnd) {
    // A change by others, unless the object has changed since it was read.
    const now = await store.head(relative.toString())
    const was = content.condition === 'absent' ? null : content.condition.is
    if ((now?.version ?? null) !== was) return fail(CHANGED)
  }
  const file_hash = digest === null ? {} : { file_hash: shortHash(digest) }
  const done = await work({
    path: asked.path,
    ...file_hash,
    bytes,
    changes: isEnd ? chain.changes : await withChangeOfOthers(history, relative, chain, digest === null ? null : bytes),
    records: chain.records,
    verdicts: verdictsOf(stored)
  })
  return done.ok ? done : { ...done, ...file_hash }
}
