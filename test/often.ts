// How often tests repeat something or try random cases: the full count in .ci/long, a part of it in .ci/run, at most
// that part in `npm test`. Does not know any test.

/** Whether this run has the full counts: `LONG=1`. */
export const LONG = process.env.LONG === '1'

/** Why a test is skipped in `npm test`, or false with LONG=1, and with CI=true as .ci/run sets it. */
export const ONLY_CI: string | false = !LONG && process.env.CI === undefined && 'runs in .ci/run (CI=true)'

/** Why a test is skipped except in .ci/long, or false with LONG=1. */
export const ONLY_LONG: string | false = !LONG && 'runs in .ci/long (LONG=1)'

/**
 * A count: `full` with LONG=1; `short` with CI=true, by default a twentieth of `full`; else `brief`, by default `short`.
 */
export function often(full: number, short = Math.ceil(full / 20), brief = short): number {
  if (short > full || brief > short) {
    throw new Error(`counts are swapped: ${brief} in npm test, ${short} in .ci/run, ${full} in the long run`)
  }
  if (LONG) return full
  return ONLY_CI === false ? short : brief
}

/** A stride, to try every n-th case: `long` with LONG=1, else `short`, which is larger. */
export function every(long: number, short: number): number {
  if (long > short) {
    throw new Error(`strides are swapped: every ${short}th in the short run, every ${long}th in the long one`)
  }
  return LONG ? long : short
}
