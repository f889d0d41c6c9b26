// Since when something is as it is, by this process's own clock: those of other machines are not asked. Does not know
// what it is.

export class Since {
  /** The first seen first. */
  readonly #seen = new Map<string, { state: string; at: number }>()
  readonly #most: number

  /** `most`: of how many names it is remembered; of more, those that were seen first are forgotten. */
  constructor(most = 10_000) {
    this.#most = most
  }

  /** In ms: how long it has been seen in this state, and in no other. */
  age(name: string, state = ''): number {
    const seen = this.#seen.get(name)
    const now = performance.now()
    const at = seen?.state === state ? seen.at : now
    this.#seen.set(name, { state, at })
    for (const [first] of this.#seen) {
      if (this.#seen.size <= this.#most) break
      this.#seen.delete(first)
    }
    return now - at
  }

  forget(name: string): void {
    this.#seen.delete(name)
  }
}
