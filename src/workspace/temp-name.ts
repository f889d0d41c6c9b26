// Names of the service's own temp files. Does not know where they are, or what becomes of them.
import { randomBytes } from 'node:crypto'

export const TEMP_NAME = /^\.[0-9a-f]{24}\.tmp$/

/** `digits`: at least 24 of base 16, in lower case. */
export const tempName = (digits: string): string => `.${digits.slice(0, 24)}.tmp`

const BYTES = 12
/** Random bytes fetched at once: fetching for each name alone takes fourteen times as long. */
const FETCHED = 100 * BYTES
let [chance, used] = [Buffer.alloc(0), 0]

/** A unique name that nobody can guess. */
export function randomTempName(): string {
  if (used === chance.length) [chance, used] = [randomBytes(FETCHED), 0]
  used += BYTES
  return tempName(chance.toString('hex', used - BYTES, used))
}
