// Which of many places are shown: some, spread over all.

/** At most `most` (two or more) indexes of a list of `count` items, ascending: the first, the last, and between them. */
export function spread(count: number, most: number): number[] {
  const shown = Math.min(count, most)
  if (shown === count) return Array.from({ length: count }, (_, i) => i)
  return Array.from({ length: shown }, (_, i) => Math.round((i * (count - 1)) / (shown - 1)))
}
