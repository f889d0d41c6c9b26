// A hash of what a request asks for, independent of the order of members. Does not know any operation.
import { createHash } from 'node:crypto'

/** SHA-256 of a JSON value, in hex. Takes as long as serializing it. */
export const fingerprintOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')

/** A copy with the members of every object sorted. The depth of a request is bounded, so recursion is safe. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)])
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}
