// A set of changes of one edit, by index.

/** The number of changes isn't always known; indexes from `count` on are never in the set. */
export class IndexSet {
  readonly #count: number
  /** Whether unlisted indexes are in the set. */
  #rest = false
  readonly #listed = new Set<number>()

  constructor(count = Infinity) {
    this.#count = count
  }

  /** The indexes that differ from the rest. */
  get listed(): ReadonlySet<number> {
    return this.#listed
  }

  has(index: number): boolean {
    return index < this.#count && this.#listed.has(index) !== this.#rest
  }

  /** Adds or removes these indexes; without `indexes`, all. */
  put(isIn: boolean, indexes?: readonly number[]): void {
    if (indexes === undefined) {
      this.#listed.clear()
      this.#rest = isIn
    }
    for (const index of indexes ?? []) if (index < this.#count && this.has(index) !== isIn) this.#switch(index)
  }

  /** Inverts membership of these indexes; without `indexes`, of all. */
  toggle(indexes?: readonly number[]): void {
    if (indexes === undefined) this.#rest = !this.#rest
    for (const index of indexes ?? []) if (index < this.#count) this.#switch(index)
  }

  #switch(index: number): void {
    if (!this.#listed.delete(index)) this.#listed.add(index)
    if (this.#listed.size < this.#count) return
    this.#listed.clear()
    this.#rest = !this.#rest
  }
}

/**
 * Indexes below `count` that represent all of an edit's: those that a set lists, and one of the others, which all
 * behave alike.
 */
export function* representatives(sets: readonly IndexSet[], count: number): Generator<number> {
  const listed = new Set(sets.flatMap(set => [...set.listed]))
  for (const index of listed) if (index < count) yield index
  for (let index = 0; index < count; index++) {
    if (listed.has(index)) continue
    yield index
    return
  }
}
