// LRU cache of the last record of each path.
import type { Latest } from './api.ts'
import type { Settlement } from './record.ts'
import type { Facts } from './record-json.ts'
import { keyOf } from './segment-index.ts'

/** How many paths are remembered. */
const LIMIT = 10_000

export class LatestOfPaths {
  /** Null: the path has no record. */
  readonly #latest = new Map<string, Latest | null>()
  /** The paths of the ids in `#latest`. */
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
    // Otherwise the record before it is the last again.
    if (settled !== 'done') this.#drop(path)
    else if (latest) latest.settled = settled
  }

  #drop(path: string): void {
    const latest = this.#latest.get(path)
    if (latest) this.#paths.delete(latest.edit_id)
    this.#latest.delete(path)
  }
}
