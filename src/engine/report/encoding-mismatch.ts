// Text that is put, as UTF-8, into a file that isn't: programs that read the file show it wrong. Does not know
// operations.
import { isAscii } from 'node:buffer'
import { eightBitEncodingOf, type EightBitEncoding } from '../text/encoding.ts'
import type { Splice, Splices } from '../edit/splice.ts'

/** What the rest of the file seems to be, and the first character that was put in and isn't ASCII. */
export interface EncodingMismatch {
  encoding: EightBitEncoding
  character: string
}

/**
 * Whether text that isn't ASCII is put beside bytes of `original` that aren't UTF-8 and that stay; undefined where not,
 * or where most of them are UTF-8. Cost: the splices, and a pass over `original` if it isn't UTF-8.
 */
export function encodingMismatch(original: Buffer, { list }: Splices): EncodingMismatch | undefined {
  const insert = firstNotAscii(list)
  if (insert === undefined) return undefined
  const kept = [...list, { start: original.length }].map(({ start }, i) =>
    original.subarray(list[i - 1]?.end ?? 0, start)
  )
  const encoding = eightBitEncodingOf(kept)
  if (encoding === null) return undefined
  const at = insert.findIndex(byte => byte >= 0x80)
  return { encoding, character: String.fromCodePoint(insert.toString('utf8', at, at + 4).codePointAt(0)!) }
}

function firstNotAscii(list: readonly Splice[]): Buffer | undefined {
  let last: Buffer | undefined
  for (const { insert } of list) {
    // Where many places get the same, it is looked at once.
    if (insert !== last && !isAscii(insert)) return insert
    last = insert
  }
  return undefined
}
