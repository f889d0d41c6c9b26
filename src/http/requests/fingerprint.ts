// What a request asks for, as one hash: the same for the same members in any order. Does not know any operation.
import { createHash } from 'node:crypto'

/** SHA-256 of a JSON value, in hex. Takes as long as writing it out. */
export const fingerprintOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')

/** A copy in which the members of every object are in order. The depth of a request is bounded. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)])
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}
