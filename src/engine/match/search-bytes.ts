// All places of a byte string: fast where texts are ordinary, linear where they are not. Does not know lines or edits.
import { searchLinear } from './linear-search.ts'
import type { Text } from '../text/text.ts'
import { variedWindow } from './probe-window.ts'

/**
 * Bytes up to which the built-in search is linear by itself: it is Boyer and Moore's (A fast string searching
 * algorithm, 1977), made for the last 250 bytes of a needle, and quadratic for longer ones that are made for it.
 */
const PROBE = 128
/** What a call for one hit costs, in bytes that the linear search could look at instead. */
const CALL = 64
/** Bytes that may be spent on hits, and so many more for each byte that the search has gone on. */
const SLACK = 640_000
const PER_BYTE = 4

/**
 * Calls `found` with each offset where `needle` (not empty) begins, overlapping ones too, in order. The built-in search
 * looks for the needle, or for its most varied 128 bytes, and each hit is compared. Where hits are so many that this
 * costs more than to look at every byte, `searchLinear` takes over from there. So O(text + needle) whatever both hold;
 * about one pass of `indexOf` for texts that weren't crafted against it.
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
