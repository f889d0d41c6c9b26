// How much work the search after a miss may do. Counts steps rather than time, so that the same request always gets the
// same answer.

/** Bytes of the text that count as one step in an exact search. */
export const BYTES_A_STEP = 4

// Thresholds. What changes when one is halved or doubled is measured in docs/decisions/suggestions.md.

/**
 * Limits of the search for a single line by its words: UTF-16 units of the line sought, or bytes of a line of the text;
 * and bytes of the largest text to search.
 */
export const LONGEST_LINE = 200
export const LARGEST_TEXT = 1 << 20

/** A number of steps; a step takes about one to ten nanoseconds. */
export class Budget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  /** Uses up `steps`; false if fewer were left. */
  spend(steps: number): boolean {
    this.#left -= steps
    return this.#left >= 0
  }

  get exhausted(): boolean {
    return this.#left < 0
  }
}
