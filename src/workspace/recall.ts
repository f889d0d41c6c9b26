// A file with what is known of its changes, read together without a lock. Does not know what is asked of them.
import { differing } from '../engine/history/refine.ts'
import { UNKNOWN_CHANGE, type RecordedChange } from '../engine/history/change.ts'
import type { History } from '../history/api.ts'
import { fail, ok, type Result } from '../result.ts'
import type { FileWithPast } from './api.ts'
import type { WriteContext } from './edit.ts'
import type { FileFailure } from './failure.ts'
import type { FileResult, FoundPath, RequestedPath } from './file-access.ts'
import { chainOf, type Chain } from './history/chain.ts'
import { verdictsOf } from './history/verdicts.ts'
import { ATTEMPTS, readWhole, shortHash, SYNC_IO_BYTES, type Snapshot } from './text-file.ts'

/** What it needs of the workspace. */
export type RecallContext = Pick<WriteContext, 'options' | 'files' | 'buffers'> & { history: History }

/** The file was changed while it was read. */
const CHANGED: unique symbol = Symbol('changed')

/**
 * Does the work on a file as it is and the changes that end in that; on nothing, where it was removed. Failures: those of
 * reading it; FILE_NOT_FOUND where no change of it is known either; STALE_FILE where it changed each time it was read.
 */
export async function recallFile<T, F>(
  context: RecallContext,
  asked: RequestedPath,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F | FileFailure>> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const done = await context.files.find<T, F | FileFailure | typeof CHANGED>(asked, 'look', found =>
      withContent(context, found, content => recall(context, { asked, found, content, work }))
    )
    if (done.ok) return done
    const { failure, ...known } = done
    if (failure !== CHANGED) return { ...known, failure }
  }
  return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
}

/** Reads the whole file, and gives the memory back after the work. Null: there is none. */
async function withContent<T, F>(
  { options, buffers }: RecallContext,
  { pin }: FoundPath,
  work: (content: Snapshot | null) => Promise<FileResult<T, F>>
): Promise<FileResult<T, F | FileFailure>> {
  if (pin === null) return work(null)
  if (pin.stat.isDirectory()) return fail({ code: 'NOT_A_FILE', type: 'directory' })
  const size = Number(pin.stat.size)
  // One that is too large isn't read at all.
  const isSmall = size <= SYNC_IO_BYTES || size > options.maxFileSize
  const release = isSmall ? () => {} : await buffers.take(size, options.lockTimeout)
  if (release === null) return fail({ code: 'NOT_READY', reason: 'large_files', retry_after: 1 })
  try {
    const read = await readWhole(pin, options.maxFileSize, size => buffers.buffer(size))
    if (!read.ok) return read
    const content = read.value
    try {
      return await work(content)
    } finally {
      content.close()
      buffers.reuse(content.bytes)
    }
  } finally {
    release()
  }
}

interface Recalled<T, F> {
  asked: RequestedPath
  found: FoundPath
  content: Snapshot | null
  work: (file: FileWithPast) => Promise<Result<T, F>>
}

async function recall<T, F>(
  { files, history }: RecallContext,
  { asked, found, content, work }: Recalled<T, F>
): Promise<FileResult<T, F | FileFailure | typeof CHANGED>> {
  const { relative } = found.pin ?? found.absent
  const digest = content?.digest ?? null
  await history.refresh()
  const { records: stored } = await history.ofPath(relative)
  const chain = chainOf(stored, digest)
  if (found.pin === null && (chain.records.length === 0 || asked.isFolder)) {
    return fail(files.notFound(found.absent, 'look'))
  }
  const isEnd = chain.changes.at(-1) !== UNKNOWN_CHANGE
  if (!isEnd) {
    // A change by others, unless the file has changed since it was read.
    const now = await files.find<string | null, never>(asked, 'look', async now => ok(placeOf(now)))
    if (!now.ok) return now
    if (now.value !== placeOf(found)) return fail(CHANGED)
  }
  const bytes = content?.bytes ?? Buffer.alloc(0)
  const file_hash = digest === null ? {} : { file_hash: shortHash(digest) }
  const done = await work({
    path: asked.path,
    ...found.info,
    ...file_hash,
    bytes,
    changes: isEnd ? chain.changes : await withChangeOfOthers(history, relative, chain, content),
    records: chain.records,
    verdicts: verdictsOf(stored)
  })
  return done.ok ? done : { ...done, ...file_hash }
}

/** What is at a path: the same as long as nothing was done to it. */
function placeOf({ pin }: FoundPath): string | null {
  if (pin === null) return null
  const { dev, ino, size, mtimeNs, ctimeNs } = pin.stat
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}

/** The changes, the last of which isn't known, with what it came to if a copy of the content before it is there. */
async function withChangeOfOthers(
  history: History,
  path: Buffer,
  { records, changes }: Chain,
  content: Snapshot | null
): Promise<readonly RecordedChange[]> {
  const hash = records.at(-1)!.hash_after
  const copy = hash === null ? null : await history.copyOf(path)
  const before = hash === null ? Buffer.alloc(0) : copy?.hash === hash ? copy.bytes : null
  if (before === null) return changes
  const change: RecordedChange = {
    ...UNKNOWN_CHANGE,
    splices: differing(before, content?.bytes ?? Buffer.alloc(0)),
    ...(hash === null && { existence: 'made' as const }),
    ...(content === null && { existence: 'removed' as const })
  }
  return [...changes.slice(0, -1), change]
}
