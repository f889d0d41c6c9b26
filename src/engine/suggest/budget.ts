// How much work the search after a miss may do. Does not know the clock: it counts steps, so that the same request gets
// the same answer.

/** Bytes of the text that one step stands for where it is searched for one text as it is. */
export const BYTES_A_STEP = 4

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/**
 * Where a single line is sought by its words: UTF-16 units of it, or bytes of a line that is looked at; and bytes of
 * the largest text that is searched.
 */
export const LONGEST_LINE = 200
export const LARGEST_TEXT = 1 << 20

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
