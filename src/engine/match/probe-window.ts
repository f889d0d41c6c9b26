// Selects the part of a needle to search for first.

/** Most parts to compare: enough for a line, and the cost doesn't grow with the needle. */
const MOST = 64
/**
 * For each byte, the number of the last part that it was seen in (few enough for a byte). Allocated once, because
 * allocation would take as long as the search that uses it.
 */
const SEEN = new Uint8Array(256)

/**
 * The start of the part of `length` bytes that has the most different bytes, among at most 64 spread over `needle`; the
 * first of several. Varied bytes are rare in texts of any kind, unlike indentation, rules and runs of one letter.
 * `length` is at most the needle's. O(length).
 */
export function variedWindow(needle: Buffer, length: number): number {
  const last = needle.length - length
  const step = Math.max(1, Math.floor(length / 4), Math.ceil(last / MOST))
  SEEN.fill(0)
  let best = 0
  let most = 0
  for (let start = 0, number = 1; start <= last; start += step, number++) {
    let different = 0
    for (let i = start; i < start + length; i++) {
      const byte = needle[i]!
      if (SEEN[byte] === number) continue
      SEEN[byte] = number
      different++
    }
    if (different <= most) continue
    best = start
    most = different
  }
  return best
}
