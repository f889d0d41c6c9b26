// How often tests repeat something or try random cases: in one run of CI the full count, everywhere else a part of it.
// Does not know any test.

/** Whether this is the run with the full counts: `LONG=1`, once in CI. */
export const LONG = process.env.LONG === '1'

/** A count: `full` with LONG=1, else `short`, by default a quarter of it. */
export const often = (full: number, short = Math.ceil(full / 4)): number => (LONG ? full : short)
