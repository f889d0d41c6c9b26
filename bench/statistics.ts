// Medians and quartiles.

export interface Quartiles {
  low: number
  median: number
  high: number
}

/** For a variant that wasn't measured. */
export const NO_QUARTILES: Quartiles = { low: NaN, median: NaN, high: NaN }

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)] ?? NaN
  return below + ((sorted[Math.ceil(at)] ?? NaN) - below) * (at - Math.floor(at))
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const quartiles = (values: readonly number[]): Quartiles => ({
  low: quantile(values, 0.25),
  median: median(values),
  high: quantile(values, 0.75)
})
