// Whether a change removes the byte-order mark of a file.
import type { Splices } from '../edit/splice.ts'
import { bomLength } from '../text/encoding.ts'

/**
 * Whether the text `original` begins with a byte-order mark and the result `pieces` with other text. A mark is rarely
 * visible, so a caller that replaces it together with the text after it may not know of it.
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
