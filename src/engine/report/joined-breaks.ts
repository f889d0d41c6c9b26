// CRLF breaks formed from a `\r` and a `\n` that were two breaks before: two lines become one, which no caller asked
// for.
import { CR, LF, lineNumbers } from '../text/lines.ts'
import type { Splices } from '../edit/splice.ts'
import { Text } from '../text/text.ts'

/** How many, and the 1-based lines of the result that the first 20 end. */
export interface JoinedBreaks {
  count: number
  lines: number[]
}

const LISTED = 20

/**
 * The breaks of the result `pieces` formed from a `\r` and a `\n` that were separate breaks, in `original` or in the
 * inserted text; undefined if none. No two splices may touch, as in a draft. Cost: the splices, and one pass over the
 * result if there are any.
 */
export function joinedBreaks(original: Buffer, { list }: Splices, pieces: readonly Buffer[]): JoinedBreaks | undefined {
  const offsets: number[] = []
  let count = 0
  let shift = 0
  const add = (offset: number): void => {
    count++
    if (offsets.length < LISTED) offsets.push(offset)
  }
  for (const { start, end, insert } of list) {
    const loneBefore = original[start - 1] === CR && original[start] !== LF
    const loneAfter = original[end] === LF && original[end - 1] !== CR
    if (insert.length === 0 ? loneBefore && loneAfter : loneBefore && insert[0] === LF) add(start + shift)
    shift += insert.length - (end - start)
    if (loneAfter && insert.at(-1) === CR) add(end + shift)
  }
  return count === 0 ? undefined : { count, lines: lineNumbers(new Text(pieces), offsets).lines }
}
