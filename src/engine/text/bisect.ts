// Binary search over anything sorted.

/**
 * The first of `count` indexes (0-based) for which `holds` is true, or `count`; it must then be true for all later
 * ones. O(log count) calls.
 */
export function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
