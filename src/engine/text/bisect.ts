// Binary search over anything sorted. Does not know anything else.

/**
 * The first of `count` indexes (0-based) for which `holds`, or `count`; once it holds it has to hold for all behind.
 * O(log count) calls.
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
