// Which stretch of a needle to look for first. Does not know the text that is searched.

/** Stretches that are compared: enough for a line, and the cost doesn't grow with the needle. */
const MOST = 64
/**
 * For each byte, the last stretch that it was seen in: they are numbered, and few enough for a byte. Made once: to
 * allocate it takes as long as the search in it.
 */
const SEEN = new Uint8Array(256)

/**
 * Where the stretch of `length` bytes begins that has the most different bytes, of 64 spread over `needle` at most; the
 * first of several. What varies is rare in texts of any kind: indentation, rules and runs of one letter are not.
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
