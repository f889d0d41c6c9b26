// Tracks for how long each thing has been in its state, by this process's clock rather than other machines'.

export class UnchangedSince {
  /** In the order in which they were first seen. */
  readonly #seen = new Map<string, { state: string; at: number }>()
  readonly #most: number

  /** `most`: how many names are remembered; beyond that the oldest are forgotten. */
  constructor(most = 10_000) {
    this.#most = most
  }

  /** How long the name has been seen in this state without a change, in ms. */
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
