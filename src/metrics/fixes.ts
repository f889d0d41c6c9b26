// Which fixes that were offered were taken: whether somebody's next calls have just what was offered. Keeps digests, not
// texts. Does not know what a fix means.
import { hash } from 'node:crypto'

/** A fix as a problem offers it, as far as it can be sent. */
export interface SendableFix {
  type: string
  edit?: object
  call?: { arguments: object }
  diff?: string
}

/** The fields of a fix, by name, and the digest of their values. */
interface Offered {
  type: string
  fields: string[]
  digest: string
}

/** Of how many callers and files offers are kept. A bound on memory; chosen, not measured. */
const MAX_KEPT = 1_000
/** Parts of one request that are looked at: as many as it has edits with the settings a server starts with. */
const MAX_PARTS = 1_001

const digestOf = (from: object, fields: readonly string[]): string =>
  hash('sha256', JSON.stringify(fields.map(name => new Map<string, unknown>(Object.entries(from)).get(name) ?? null)))

/** The request itself, and all objects in lists in it: edits and operations. */
const partsOf = (value: object): object[] => [
  value,
  ...Object.values(value).flatMap(of =>
    Array.isArray(of) ? of.flatMap(item => (typeof item === 'object' && item !== null ? partsOf(item) : [])) : []
  )
]

export class OfferedFixes {
  readonly #kept = new Map<string, Offered[]>()

  /** `by`: who was offered them, and for which file; what was offered there before is forgotten. Returns their types. */
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

  /** The type of the fix that a request takes, which is offered no more then; null: it takes none. */
  taken(by: string, request: object): string | null {
    const offered = this.#kept.get(by)
    if (offered === undefined) return null
    const parts = partsOf(request).slice(0, MAX_PARTS)
    // Each part is hashed once for all fixes that have the same fields.
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
