// Reads a file's records and their chain without the file's lock. Does not know what they are needed for.
import { UNKNOWN_CHANGE } from '../engine/undo/change.ts'
import type { History, Latest } from '../log/api.ts'
import type { EditRecord, Stored } from '../log/record.ts'
import { chainOf, isChange, isEnd, type Chain } from './chain.ts'

/** What `lastOf` of the history returns. */
export type LastBefore = Pick<Latest, 'edit_id' | 'settled'>

/** Records of a path, oldest first, and the chain of those that happened. */
interface PathChain {
  stored: readonly Stored[]
  chain: Chain
}

/**
 * Returns the stored records of a real path, and their chain, which ends in a text with the hash `present`. Call
 * `refresh` first. No record is missing that was written before one of those returned; later ones may be. `since`: the
 * last record known before the text was read, also after a `refresh`; null: there was none. With it the chain ends in
 * the text even if the file was changed after it was read.
 */
export async function readChain(
  history: Pick<History, 'ofPath' | 'refresh'>,
  path: Buffer,
  present: string | null,
  since?: LastBefore | null
): Promise<PathChain> {
  const { records: stored } = await history.ofPath(path)
  const chain = chainOf(stored, present)
  const last = stored.at(-1)?.record.edit_id
  if (last === undefined || !chain.changes.includes(UNKNOWN_CHANGE)) return { stored, chain }
  // Logs of several servers are read one after the other. A record may follow one in another log that was appended
  // after we had read that log: reading once more finds it.
  await history.refresh()
  const { records } = await history.ofPath(path)
  const whole = records.filter(({ record }) => record.edit_id <= last)
  const read = { stored: whole, chain: chainOf(whole, present) }
  return isEnd(read.chain) || since === undefined ? read : (asOf(present, since, whole) ?? read)
}

/**
 * Whether the copy of the file proves that the record happened: a copy with its id is written only from the result, and
 * before others can acquire the lock. Call it under the lock.
 */
export async function isCopied(
  history: Pick<History, 'copyOf'>,
  { edit_id, path }: Pick<EditRecord, 'edit_id' | 'path'>
): Promise<boolean> {
  return (await history.copyOf(path))?.edit_id === edit_id
}

/**
 * Leaves out the changes made after the text was read. Null: no change from `since` on began with this text or led to
 * it, so another program made it.
 */
function asOf(present: string | null, since: LastBefore | null, stored: readonly Stored[]): PathChain | null {
  const changes = stored.filter(({ record, settled }) => settled !== 'void' && isChange(record))
  const known = since === null ? -1 : changes.findLastIndex(({ record }) => record.edit_id <= since.edit_id)
  // A record that was open then may have been applied only after the text was read.
  const isOpen = since?.settled === null && changes[known]?.record.edit_id === since.edit_id
  const first = isOpen ? known - 1 : known
  const end = changes.findLastIndex(({ record }) => record.hash_after === present)
  if (end < first || (end === -1 && changes[0]?.record.hash_before !== present)) return null
  const later = new Set(changes.slice(end + 1))
  const asRead = stored.filter(one => !later.has(one))
  return { stored: asRead, chain: chainOf(asRead, present) }
}
