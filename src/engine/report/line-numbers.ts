// The lines of offsets in the result of splices, from the line index of the text before them.
//
// Cost: that of the index, and the bytes inserted. The naive way, `lineNumbers` of the whole result, is the oracle in
// the tests.
import { LineIndex } from '../text/line-index.ts'
import { countBreaksIn, countLines } from '../text/lines.ts'
import type { Splices } from '../edit/splice.ts'
import type { Text } from '../text/text.ts'

/**
 * Bytes that we may count again for each question. If replacements touch, the inserted text may be as long as the text,
 * and be asked about at every byte.
 */
const FEW = 512

/** Line numbers as from `lineNumbers`, for the text `after` that `splices` make from the text of `index`. */
export function changedLineNumbers(
  after: Text,
  index: LineIndex,
  { list, lengthBefore }: Splices,
  offsets: readonly number[]
): { lines: number[]; total: number } {
  let splice = 0
  /** The stretch being counted: of the original from `from`, or a splice's insertion; up to `end` in the result. */
  let from = 0
  let breaksBeforeFrom = 0
  let insert: Buffer | undefined
  let inserted: LineIndex | undefined
  let start = 0
  let end = list[0]?.start ?? lengthBefore
  /** Breaks before the stretch. */
  let breaks = 0
  const within = (offset: number): number => {
    if (offset === start) return 0
    const next = after.byteAt(offset)
    if (insert === undefined) return index.breaksBefore(from + offset - start, next) - breaksBeforeFrom
    if (insert.length <= FEW) return countBreaksIn(insert, 0, offset - start, next)
    inserted ??= new LineIndex(insert)
    return inserted.breaksBefore(offset - start, next)
  }
  const upTo = (offset: number): number => {
    while (offset > end) {
      breaks += within(end)
      start = end
      if (insert === undefined) {
        insert = list[splice]!.insert
        inserted = undefined
        end += insert.length
      } else {
        insert = undefined
        from = list[splice++]!.end
        breaksBeforeFrom = index.breaksBefore(from)
        end += (list[splice]?.start ?? lengthBefore) - from
      }
    }
    return breaks + within(offset)
  }
  const lines = new Array<number>(offsets.length)
  for (const i of inOrder(offsets)) lines[i] = upTo(offsets[i]!) + 1
  return { lines, total: countLines(after, upTo(after.length)) }
}

function inOrder(offsets: readonly number[]): number[] {
  const order = offsets.map((_, index) => index)
  // Most offsets come in order; sorting them anyway takes 1 KB.
  const isSorted = offsets.every((offset, index) => index === 0 || offsets[index - 1]! <= offset)
  return isSorted ? order : order.sort((a, b) => offsets[a]! - offsets[b]!)
}
