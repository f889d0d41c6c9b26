// How much work the search after a miss may do. Does not know the clock: it counts steps, so that the same request gets
// the same answer.

/** Steps of about a nanosecond to ten. */
export class Budget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** Takes `steps` away; false where so many aren't left. */
  spend(steps: number): boolean {
    this.#left -= steps
    return this.#left >= 0
  }

  get exhausted(): boolean {
    return this.#left < 0
  }
}
