// Whether a place in a text is a whole word, as ripgrep's --word-regexp has it. Does not know how places are found.
import { isUtf8 } from 'node:buffer'
import { LF } from '../text/lines.ts'
import type { Text } from '../text/text.ts'

/** The characters of words: `\w` of UTS #18, which Rust's expressions have too. */
const WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u

/**
 * Whether bytes `start` to `end` (exclusive) have no character of a word directly before or after them. Beside a byte
 * that isn't UTF-8, ripgrep sees no end of a word. The place itself may begin and end with any character.
 */
export const isWholeWord = (text: Text, start: number, end: number): boolean =>
  (start === 0 || !isOfWord(characterIn(text, startOfLast(text, start), start))) &&
  (end === text.length || !isOfWord(characterIn(text, end, text.length)))

const isOfWord = (character: Buffer): boolean => !isUtf8(character) || WORD.test(character.toString())

/** Where the character before `end` begins, in the same line. */
function startOfLast(text: Text, end: number): number {
  const start = Math.max(0, text.characterStart(end - 1))
  return text.byteAt(start) === LF ? end - 1 : start
}

/** The character that begins at `start`, as far as it is before `end`. */
function characterIn(text: Text, start: number, end: number): Buffer {
  const lead = text.byteAt(start)
  const size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  return text.slice(start, Math.min(start + size, end))
}
