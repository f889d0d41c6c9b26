// Finds all places of a byte string, or of a row of numbers, in linear time for any input.
import { CR, LF } from '../text/lines.ts'
import type { Text } from '../text/text.ts'

/**
 * Calls `found` with each offset at or after `from` where `needle` (not empty) begins, including overlapping ones, in
 * order. Reads every byte of the text once: O(text + needle), about twenty times as slow as `indexOf` at its best.
 * (Knuth, Morris, Pratt: Fast pattern matching in strings, 1977.)
 */
export function searchLinear(text: Text, needle: Buffer, from: number, found: (at: number) => void): void {
  const border = borders(needle)
  let matched = 0
  let at = from
  for (const part of text.parts(from, text.length)) {
    for (let i = 0; i < part.length; i++, at++) {
      const byte = part[i]!
      while (matched > 0 && needle[matched] !== byte) matched = border[matched - 1]!
      if (needle[matched] !== byte) continue
      if (++matched < needle.length) continue
      found(at - needle.length + 1)
      matched = border[matched - 1]!
    }
  }
}

/**
 * Like `searchLinear`, but a break of any kind counts as one equal letter: calls `found` with start and end of each
 * place. `needle` must have `\n` breaks; a `\r\n` of the text is never split. O(text + needle).
 */
export function searchLinearAnyBreak(text: Text, needle: Buffer, found: (start: number, end: number) => void): void {
  const border = borders(needle)
  /** Where each of the last letters began, as a ring as long as the needle. */
  const begins = new Float64Array(needle.length)
  let letters = 0
  let matched = 0
  let at = 0
  let afterCr = false
  for (const part of text.parts(0, text.length)) {
    for (let i = 0; i < part.length; i++, at++) {
      const raw = part[i]!
      const pairs = afterCr && raw === LF
      afterCr = raw === CR && (i + 1 < part.length ? part[i + 1] : text.byteAt(at + 1)) === LF
      if (afterCr) continue
      const byte = raw === CR ? LF : raw
      begins[letters++ % needle.length] = pairs ? at - 1 : at
      while (matched > 0 && needle[matched] !== byte) matched = border[matched - 1]!
      if (needle[matched] !== byte) continue
      if (++matched < needle.length) continue
      // The oldest letter in the ring.
      found(begins[letters % needle.length]!, at + 1)
      matched = border[matched - 1]!
    }
  }
}

/**
 * Where `needle` (not empty) occurs in a row of numbers, at or after `from`; overlapping too, in order. O(letters +
 * needle).
 */
export function* placesOfNumbers(
  letters: Int32Array,
  needle: readonly number[],
  from: number
): Generator<number, undefined> {
  const border = borders(needle)
  let matched = 0
  for (let i = from; i < letters.length; i++) {
    while (matched > 0 && needle[matched] !== letters[i]) matched = border[matched - 1]!
    if (needle[matched] !== letters[i]) continue
    if (++matched < needle.length) continue
    yield i - needle.length + 1
    matched = border[matched - 1]!
  }
  return undefined
}

/** For each prefix, the length of the longest shorter prefix that it also ends with. */
function borders(needle: ArrayLike<number>): Int32Array {
  const border = new Int32Array(needle.length)
  for (let i = 1, length = 0; i < needle.length; i++) {
    while (length > 0 && needle[i] !== needle[length]) length = border[length - 1]!
    if (needle[i] === needle[length]) length++
    border[i] = length
  }
  return border
}
