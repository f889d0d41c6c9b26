// How often the tests do what they do at random, or again and again: CI once as often as they say, everyone else a part
// of that. Does not know any test.

/** The one run of CI that takes its time: `LONG=1 npm test`. */
export const LONG = process.env.LONG === '1'

/** What CI does so often, and `npm test` a quarter of that, or `short` times. */
export const often = (long: number, short = Math.ceil(long / 4)): number => (LONG ? long : short)
