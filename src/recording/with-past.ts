// A file and its known changes, read without a lock. Does not know what they are needed for.
import { UNKNOWN_CHANGE, type RecordedChange } from '../engine/undo/change.ts'
import { differing } from '../engine/undo/refine.ts'
import type { History } from '../log/api.ts'
import type { Stored } from '../log/record.ts'
import { fail, type Result } from '../result.ts'
import type { FileWithPast } from '../workspace/api.ts'
import { ATTEMPTS } from '../workspace/content.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { FileInfo, FileResult } from '../workspace/results.ts'
import { isEnd, type Chain } from './chain.ts'
import { verdictsOf } from './verdicts.ts'

/** The file was changed while it was read. */
export const CHANGED: unique symbol = Symbol('changed')

/** Retries while the file changes as it is read. STALE_FILE: it changed each time. */
export async function untilUnchanged<T, F>(
  read: () => Promise<FileResult<T, F | typeof CHANGED>>
): Promise<FileResult<T, F | FileFailure>> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const done = await read()
    if (done.ok) return done
    const { failure, ...known } = done
    if (failure !== CHANGED) return { ...known, failure }
  }
  return fail({ code: 'STALE_FILE', reason: 'changed_meanwhile' })
}

/** A file as it was read, with its stored records, and the chain that ends in it. */
interface Read {
  path: string
  /** Real path below the root. */
  relative: Buffer
  info: FileInfo
  /** SHA-256, 64 hex digits; null: there is no file. */
  digest: string | null
  bytes: Buffer
  stored: readonly Stored[]
  chain: Chain
}

/** Runs the work on the file, with the change by others after the last record, if there is one. */
export async function workOn<T, F>(
  history: History,
  { path, relative, info, digest, bytes, stored, chain }: Read,
  work: (file: FileWithPast) => Promise<Result<T, F>>
): Promise<FileResult<T, F>> {
  const file_hash = digest === null ? {} : { file_hash: digest }
  const present = digest === null ? null : bytes
  const done = await work({
    path,
    ...info,
    ...file_hash,
    bytes,
    changes: isEnd(chain) ? chain.changes : await withChangeOfOthers(history, relative, chain, present),
    records: chain.records,
    verdicts: verdictsOf(stored)
  })
  return done.ok ? done : { ...done, ...file_hash }
}

/**
 * Adds texts to the last change, made by another program, if there is a copy of the content before it. `content`: null:
 * the file was removed.
 */
async function withChangeOfOthers(
  history: History,
  path: Buffer,
  { records, changes }: Chain,
  content: Buffer | null
): Promise<readonly RecordedChange[]> {
  const hash = records.at(-1)!.hash_after
  const copy = hash === null ? null : await history.copyOf(path)
  const before = hash === null ? Buffer.alloc(0) : copy?.hash === hash ? copy.bytes : null
  if (before === null) return changes
  const change: RecordedChange = {
    ...UNKNOWN_CHANGE,
    splices: differing(before, content ?? Buffer.alloc(0)),
    ...(hash === null && { existence: 'made' as const }),
    ...(content === null && { existence: 'removed' as const })
  }
  return [...changes.slice(0, -1), change]
}
