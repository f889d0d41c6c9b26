// A set of the changes of one edit, by their index. Does not know what the set says of them.

/** How many changes the edit has is not always known; indexes from `count` on are never in it. */
export class IndexSet {
  readonly #count: number
  /** Whether those are in it that aren't listed. */
  #rest = false
  readonly #listed = new Set<number>()

  constructor(count = Infinity) {
    this.#count = count
  }

  /** The indexes that are unlike the rest. */
  get listed(): ReadonlySet<number> {
    return this.#listed
  }

  has(index: number): boolean {
    return index < this.#count && this.#listed.has(index) !== this.#rest
  }

  /** Puts these indexes in, or takes them out; without `indexes`, all. */
  put(isIn: boolean, indexes?: readonly number[]): void {
    if (indexes === undefined) {
      this.#listed.clear()
      this.#rest = isIn
    }
    for (const index of indexes ?? []) if (index < this.#count && this.has(index) !== isIn) this.#switch(index)
  }

  /** What is in it is out of it afterwards, and the reverse; without `indexes`, all. */
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

/** Indexes below `count` by which sets of one edit differ: if these are alike in two ways, all are. */
export function* tellingIndexes(sets: readonly IndexSet[], count: number): Generator<number> {
  const listed = new Set(sets.flatMap(set => [...set.listed]))
  for (const index of listed) if (index < count) yield index
  for (let index = 0; index < count; index++) {
    if (listed.has(index)) continue
    yield index
    return
  }
}
