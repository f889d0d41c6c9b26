// What another program has done to a file since its last recorded change. Does not know how files are read.
import { UNKNOWN_CHANGE, type RecordedChange } from '../../engine/history/change.ts'
import { differing } from '../../engine/history/refine.ts'
import type { History } from '../../history/api.ts'
import type { Chain } from './chain.ts'

/**
 * The changes, the last of which isn't known, with what it came to if a copy of the content before it is there.
 * `content`: null: the file is gone.
 */
export async function withChangeOfOthers(
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
