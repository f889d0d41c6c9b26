// LRU cache of values by name.

export class LruCache<Value> {
  /** The most recently used is at the end. */
  readonly #all = new Map<string, Value>()
  readonly #most: number
  readonly #sizeOf: (value: Value) => number
  #size = 0

  /** `most`: limit of the total size; `sizeOf` must return the same size for a value each time. */
  constructor(most: number, sizeOf: (value: Value) => number) {
    this.#most = most
    this.#sizeOf = sizeOf
  }

  get(name: string): Value | undefined {
    const value = this.#all.get(name)
    if (value !== undefined) {
      this.#all.delete(name)
      this.#all.set(name, value)
    }
    return value
  }

  keep(name: string, value: Value): void {
    this.forget(name)
    this.#all.set(name, value)
    this.#size += this.#sizeOf(value)
    for (const [oldest] of this.#all) {
      if (this.#size <= this.#most) return
      this.forget(oldest)
    }
  }

  forget(name: string): void {
    const value = this.#all.get(name)
    if (value === undefined) return
    this.#size -= this.#sizeOf(value)
    this.#all.delete(name)
  }
}
