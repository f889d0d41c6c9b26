// A goal, and whether a run meets it. Does not know any goal.

export interface Verdict {
  goal: string
  asks: string
  found: string
  met: 'met' | 'not met' | 'not measured'
}

/** `numbers`: the measured values; one that is NaN was not measured. */
export const verdict = (
  goal: string,
  asks: string,
  numbers: readonly number[],
  found: string,
  met: boolean
): Verdict =>
  numbers.some(Number.isNaN)
    ? { goal, asks, found: '', met: 'not measured' }
    : { goal, asks, found, met: met ? 'met' : 'not met' }
