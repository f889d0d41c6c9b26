// Extends a region that was found without the Markdown fence of old_text if the file has a fence there too.
import type { Haystack } from '../haystack.ts'
import type { OldText } from '../readings.ts'

/** Bytes before and after a region in which to look for a fence line. */
const REACH = 200
const OPENING = /(?:^|[\r\n])([ \t]*```[^\r\n`]*(?:\r\n?|\n)[ \t]*)$/
const CLOSING = /^(?:\r\n?|\n)?[ \t]*```[ \t]*(?=[\r\n]|$)/

/** The region with the fence around it, for `sent`, old_text with its fence; unchanged if the file has none. */
export function withOwnFence<R extends { start: number; end: number; old: OldText }>(
  haystack: Haystack,
  region: R,
  sent: OldText
): R {
  if (region.old.reading !== 'fence') return region
  const { start, end } = region
  const opening = OPENING.exec(haystack.text(Math.max(0, start - REACH), start))?.[1]
  const closing = CLOSING.exec(haystack.text(end, end + REACH))?.[0]
  if (opening === undefined || closing === undefined) return region
  const size = (text: string): number => Buffer.byteLength(text, haystack.encoding)
  return { ...region, start: start - size(opening), end: end + size(closing), old: sent }
}
