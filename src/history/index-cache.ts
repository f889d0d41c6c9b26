// Indexes of closed segments that are kept in memory, as many as may be: those that were used last. Does not know how they
// are read.
import type { SegmentIndex } from './segment-index.ts'

export class IndexCache {
  /** The last used at the end. */
  readonly #indexes = new Map<string, SegmentIndex>()
  readonly #most: number
  #bytes = 0

  /** `most`: in bytes. */
  constructor(most: number) {
    this.#most = most
  }

  get(name: string): SegmentIndex | undefined {
    const index = this.#indexes.get(name)
    if (index !== undefined) {
      this.#indexes.delete(name)
      this.#indexes.set(name, index)
    }
    return index
  }

  keep(name: string, index: SegmentIndex): void {
    this.forget(name)
    this.#indexes.set(name, index)
    this.#bytes += index.bytes
    for (const [oldest] of this.#indexes) {
      if (this.#bytes <= this.#most) return
      this.forget(oldest)
    }
  }

  forget(name: string): void {
    this.#bytes -= this.#indexes.get(name)?.bytes ?? 0
    this.#indexes.delete(name)
  }
}
