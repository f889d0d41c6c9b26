// Whether a change takes away the byte-order mark of a file. Does not know operations.
import type { Splices } from '../edit/splice.ts'
import { bomLength } from '../text/encoding.ts'

/**
 * Whether the text `original` begins with a byte-order mark and the result `pieces` with other text: a mark is seldom
 * seen, so that who replaces the text behind it together with it may not know of it.
 */
export function dropsMark(original: Buffer, { list }: Splices, pieces: readonly Buffer[]): boolean {
  if (bomLength(original) === 0 || list[0]?.start !== 0) return false
  const head: number[] = []
  for (const piece of pieces) {
    head.push(...piece.subarray(0, 3 - head.length))
    if (head.length === 3) break
  }
  return head.length > 0 && bomLength(Buffer.from(head)) === 0
}
