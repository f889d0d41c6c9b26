// A file's records and their chain, read without the file's lock. Does not know what is asked of them.
import { UNKNOWN_CHANGE } from '../../engine/history/change.ts'
import type { History } from '../../history/api.ts'
import type { Stored } from '../../history/record.ts'
import { chainOf, type Chain } from './chain.ts'

/**
 * The records of a real path as they are stored, and their chain, which ends in a text with the hash `present`. Call
 * `refresh` before it. None is missing that was written before one of those returned; more may have been written since.
 */
export async function readChain(
  history: Pick<History, 'ofPath' | 'refresh'>,
  path: Buffer,
  present: string | null
): Promise<{ stored: readonly Stored[]; chain: Chain }> {
  const { records: stored } = await history.ofPath(path)
  const chain = chainOf(stored, present)
  const last = stored.at(-1)?.record.edit_id
  if (last === undefined || !chain.changes.includes(UNKNOWN_CHANGE)) return { stored, chain }
  // The logs of several servers are read one after the other. What comes before a record of one may have been written to
  // another that had been read: it is found if that is read once more.
  await history.refresh()
  const { records } = await history.ofPath(path)
  const whole = records.filter(({ record }) => record.edit_id <= last)
  return { stored: whole, chain: chainOf(whole, present) }
}
