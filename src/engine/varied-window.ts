// Which stretch of a needle to look for first. Knows no text.

/** Stretches that are compared: enough for a line, and the cost doesn't grow with the needle. */
const MOST = 64

/**
 * Where the stretch of `length` bytes begins that has the most different bytes, of 64 spread over `needle` at most; the
 * first of several. What varies is rare in texts of any kind: indentation, rules and runs of one letter are not.
 * `length` is at most the needle's. O(length).
 */
export function variedWindow (needle: Buffer, length: number): number {
  const last = needle.length - length
  const step = Math.max(1, Math.floor(length / 4), Math.ceil(last / MOST))
  let best = 0
  let most = 0
  for (let start = 0; start <= last; start += step) {
    const different = differentBytes(needle, start, start + length)
    if (different <= most) continue
    best = start
    most = different
  }
  return best
}

function differentBytes (bytes: Buffer, from: number, to: number): number {
  const seen = new Uint8Array(256)
  let count = 0
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!
    if (seen[byte] === 1) continue
    seen[byte] = 1
    count++
  }
  return count
}
