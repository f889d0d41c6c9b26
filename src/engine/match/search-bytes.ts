// Finds all places of a byte string: fast in ordinary texts, linear in crafted ones.
import { searchLinear } from './linear-search.ts'
import type { Text } from '../text/text.ts'
import { variedWindow } from './probe-window.ts'

/**
 * Longest needle for which the built-in search is linear: it is Boyer and Moore's (A fast string searching algorithm,
 * 1977), uses only the last 250 bytes of a needle, and is quadratic for longer needles crafted against it.
 */
const PROBE = 128
/** Cost of a call for one hit, in bytes that the linear search could read instead. */
const CALL = 64
/** Bytes that hits may cost: a constant, plus some for each byte that the search has advanced. */
const SLACK = 640_000
const PER_BYTE = 4

/**
 * Calls `found` with each offset where `needle` (not empty) begins, including overlapping ones, in order. The built-in
 * search looks for the needle, or for its most varied 128 bytes, and we compare each hit. If there are so many hits
 * that this costs more than reading every byte, `searchLinear` takes over from there. So O(text + needle) for any
 * input; about one pass of `indexOf` for texts that weren't crafted against it.
 */
export function searchBytes(text: Text, needle: Buffer, found: (at: number) => void): void {
  if (needle.length > text.length) return
  const whole = needle.length <= PROBE
  const offset = whole ? 0 : variedWindow(needle, PROBE)
  const probe = whole ? needle : needle.subarray(offset, offset + PROBE)
  const price = whole ? CALL : CALL + needle.length
  let spent = 0
  for (let at = text.indexOf(probe, offset); at !== -1; at = text.indexOf(probe, at + 1)) {
    spent += price
    if (spent > SLACK + PER_BYTE * at) return searchLinear(text, needle, at - offset, found)
    if (whole || text.holds(needle, at - offset)) found(at - offset)
  }
}
