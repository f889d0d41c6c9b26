// The last record of each path that was asked for lately. Does not know where records are.
import type { Latest } from './api.ts'
import type { Settlement } from './record.ts'
import type { Facts } from './record-json.ts'
import { keyOf } from './segment-index.ts'

/** Paths that are remembered. */
const LIMIT = 10_000

export class LatestOfPaths {
  /** Null: the path has no record. */
  readonly #latest = new Map<string, Latest | null>()
  /** Of the ids in it, their paths. */
  readonly #paths = new Map<string, string>()

  get(path: string): Latest | null | undefined {
    return this.#latest.get(path)
  }

  clear(): void {
    this.#latest.clear()
    this.#paths.clear()
  }

  put(path: string, latest: Latest | null): void {
    this.#drop(path)
    this.#latest.set(path, latest)
    if (latest !== null) this.#paths.set(latest.edit_id, path)
    if (this.#latest.size <= LIMIT) return
    const [oldest] = this.#latest.keys()
    this.#drop(oldest!)
  }

  /** A record was written. */
  saw({ edit_id, operation, at, hash_after, size_after, path }: Facts): void {
    if (operation === 'review') return
    const key = keyOf(path)
    const known = this.#latest.get(key)
    if (known === undefined || (known !== null && known.edit_id >= edit_id)) return
    this.put(key, { edit_id, operation, at, hash_after, size_after, settled: null })
  }

  settled(edit_id: string, settled: Settlement): void {
    const path = this.#paths.get(edit_id)
    if (path === undefined) return
    const latest = this.#latest.get(path)
    // Else the one before it is the last again.
    if (settled !== 'done') this.#drop(path)
    else if (latest) latest.settled = settled
  }

  #drop(path: string): void {
    const latest = this.#latest.get(path)
    if (latest) this.#paths.delete(latest.edit_id)
    this.#latest.delete(path)
  }
}
