// On which lines offsets are in what splices make of a text whose line index is known. Does not know edits.
//
// Cost: what the index costs, and the bytes of what is put in. The naive way, `lineNumbers` of the whole result, is the
// oracle in the tests.
import { LineIndex } from '../text/line-index.ts'
import { countBreaksIn, countLines } from '../text/lines.ts'
import type { Splices } from '../edit/splice.ts'
import type { Text } from '../text/text.ts'

/**
 * Bytes that are counted again for each question. Where replacements touch, what is put in may be as long as the text,
 * and asked for at every byte.
 */
const FEW = 512

/** As `lineNumbers`, of the text `after` that `splices` make of the one that `index` was made for. */
export function changedLineNumbers(
  after: Text,
  index: LineIndex,
  { list, lengthBefore }: Splices,
  offsets: readonly number[]
): { lines: number[]; total: number } {
  let splice = 0
  /** The stretch that is counted: of the original from `from`, or what a splice puts in; up to `end` in the result. */
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
  // Most are asked for in order; to sort takes 1 KB even then.
  const isSorted = offsets.every((offset, index) => index === 0 || offsets[index - 1]! <= offset)
  return isSorted ? order : order.sort((a, b) => offsets[a]! - offsets[b]!)
}
