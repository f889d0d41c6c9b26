// Detects text that would be inserted as UTF-8 into a file that isn't UTF-8 and has an unknown encoding.
import { isAscii } from 'node:buffer'
import type { UnencodableText } from '../failure.ts'
import { eightBitEncodingOf } from '../text/encoding.ts'
import type { Splice, Splices } from '../edit/splice.ts'

/**
 * The failure if non-ASCII text is inserted next to remaining bytes of `original` that aren't UTF-8; undefined if not,
 * or if most of them are UTF-8. Cost: the splices, and a pass over `original` if it isn't UTF-8.
 */
export function encodingMismatch(original: Buffer, { list }: Splices): UnencodableText | undefined {
  const insert = firstNotAscii(list)
  if (insert === undefined) return undefined
  const kept = [...list, { start: original.length }].map(({ start }, i) =>
    original.subarray(list[i - 1]?.end ?? 0, start)
  )
  if (eightBitEncodingOf(kept) === null) return undefined
  const at = insert.findIndex(byte => byte >= 0x80)
  const character = String.fromCodePoint(insert.toString('utf8', at, at + 4).codePointAt(0)!)
  return { code: 'UNENCODABLE_TEXT', encoding: 'unknown-8bit', character }
}

function firstNotAscii(list: readonly Splice[]): Buffer | undefined {
  let last: Buffer | undefined
  for (const { insert } of list) {
    // If many places get the same text, check it once.
    if (insert !== last && !isAscii(insert)) return insert
    last = insert
  }
  return undefined
}
