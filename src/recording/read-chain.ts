// A file's records and their chain, read without the file's lock. Does not know what is asked of them.
import { UNKNOWN_CHANGE } from '../engine/history/change.ts'
import type { History, Latest } from '../log/api.ts'
import type { EditRecord, Stored } from '../log/record.ts'
import { chainOf, isChange, isEnd, type Chain } from './chain.ts'

/** As `lastOf` of the history has it. */
export type LastBefore = Pick<Latest, 'edit_id' | 'settled'>

/** Records of a path, oldest first, and the chain of those that took place. */
export interface PathChain {
  stored: readonly Stored[]
  chain: Chain
}

/**
 * The records of a real path as they are stored, and their chain, which ends in a text with the hash `present`. Call
 * `refresh` before it. None is missing that was written before one of those returned; more may have been written since.
 * `since`: the last record that was known before the text was read, also after a `refresh`; null: there was none. With it
 * the chain ends in the text even where the file was changed after it had been read.
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
  // The logs of several servers are read one after the other. What comes before a record of one may have been written to
  // another that had been read: it is found if that is read once more.
  await history.refresh()
  const { records } = await history.ofPath(path)
  const whole = records.filter(({ record }) => record.edit_id <= last)
  const read = { stored: whole, chain: chainOf(whole, present) }
  return isEnd(read.chain) || since === undefined ? read : (asOf(present, since, whole) ?? read)
}

/**
 * Whether the record took place, by the copy of its file: one with its id is kept only of what the file held after it, and
 * before others can have the lock. To be asked under the lock.
 */
export async function isCopied(
  history: Pick<History, 'copyOf'>,
  { edit_id, path }: Pick<EditRecord, 'edit_id' | 'path'>
): Promise<boolean> {
  return (await history.copyOf(path))?.edit_id === edit_id
}

/**
 * Without the changes that were made after the text had been read. Null: it is no text that they began with or led to from
 * `since` on, so that another program made it.
 */
function asOf(present: string | null, since: LastBefore | null, stored: readonly Stored[]): PathChain | null {
  const changes = stored.filter(({ record, settled }) => settled !== 'void' && isChange(record))
  const known = since === null ? -1 : changes.findLastIndex(({ record }) => record.edit_id <= since.edit_id)
  // One about which nothing had been said may have been made only after the reading.
  const isOpen = since?.settled === null && changes[known]?.record.edit_id === since.edit_id
  const first = isOpen ? known - 1 : known
  const end = changes.findLastIndex(({ record }) => record.hash_after === present)
  if (end < first || (end === -1 && changes[0]?.record.hash_before !== present)) return null
  const later = new Set(changes.slice(end + 1))
  const asRead = stored.filter(one => !later.has(one))
  return { stored: asRead, chain: chainOf(asRead, present) }
}
