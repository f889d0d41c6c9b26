// Counts which offered fixes were used: whether a caller's next calls contain exactly what was offered. Keeps digests,
// not texts. Does not know what a fix means.
import { hash } from 'node:crypto'

/** The fields of a fix that can be sent in a request. */
interface SendableFix {
  type: string
  edit?: object
  call?: { arguments: object }
  diff?: string
}

/** The names of a fix's fields, and the digest of their values. */
interface Offered {
  type: string
  fields: string[]
  digest: string
}

/** For how many pairs of caller and file offers are kept. It bounds memory; chosen, not measured. */
const MAX_KEPT = 1_000
/** How many parts of one request are checked: the request and, with the default settings, all its edits. */
const MAX_PARTS = 1_001

const digestOf = (from: object, fields: readonly string[]): string =>
  hash('sha256', JSON.stringify(fields.map(name => new Map<string, unknown>(Object.entries(from)).get(name) ?? null)))

/** The request itself, and all objects in its lists: edits and operations. */
const partsOf = (value: object): object[] => [
  value,
  ...Object.values(value).flatMap(of =>
    Array.isArray(of) ? of.flatMap(item => (typeof item === 'object' && item !== null ? partsOf(item) : [])) : []
  )
]

export class OfferedFixes {
  readonly #kept = new Map<string, Offered[]>()

  /** `by`: the caller and the file; earlier offers to them are dropped. Returns the types of the fixes. */
  offer(by: string, fixes: readonly SendableFix[]): string[] {
    const offered = fixes.flatMap(({ type, edit, call, diff }) => {
      const sendable = edit ?? call?.arguments ?? (diff === undefined ? null : { diff })
      if (sendable === null) return []
      const fields = Object.keys(sendable)
      return fields.length === 0 ? [] : [{ type, fields, digest: digestOf(sendable, fields) }]
    })
    if (offered.length === 0) return []
    this.#kept.delete(by)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(by, offered)
    return offered.map(({ type }) => type)
  }

  /** The type of the fix that a request uses, which then is no longer on offer; null: it uses none. */
  taken(by: string, request: object): string | null {
    const offered = this.#kept.get(by)
    if (offered === undefined) return null
    const parts = partsOf(request).slice(0, MAX_PARTS)
    // Hash each part only once for all fixes that have the same fields.
    const digests = new Map<string, Set<string>>()
    const taken = offered.find(({ fields, digest }) => {
      const named = fields.join()
      if (!digests.has(named)) digests.set(named, new Set(parts.map(part => digestOf(part, fields))))
      return digests.get(named)!.has(digest)
    })
    if (taken === undefined) return null
    this.#kept.delete(by)
    return taken.type
  }

  get size(): number {
    return this.#kept.size
  }
}
