// Decorators and attributes that the replacement of a symbol omits: they belong to the symbol, and models often send a
// function without them.
import { decode } from '../text/encoding.ts'
import { LineTable, splitAtBreaks } from '../text/lines.ts'
import type { Item } from './outline.ts'

/** `@name`, `#[name]`, and `[Name]` on a line of its own, but not a computed name in JavaScript. */
const MARK = /^(?:@[\w.:]+|#\[[^\]]*\]?|\[[^\]]*\](?=\s*$))/

/** Lines that may stand above a decorator. */
const COMMENT = /^(?:\/\/|\/\*|\*|#(?!\[)|$)/

/**
 * The first decorator or attribute of `item`, if `new_text`, which replaces it, begins with none of that kind;
 * undefined if the item has none, or is deleted.
 */
export function droppedMark(original: Buffer, item: Item, new_text: string): string | undefined {
  if (!('name' in item) || item.kind === 'heading' || item.kind === 'rule') return undefined
  const mark = MARK.exec(decode(new LineTable(original).bytesOf(item.start_line)).text.trim())?.[0]
  const first = splitAtBreaks(new_text)
    .map(line => line.trim())
    .find(line => !COMMENT.test(line))
  return mark === undefined || first === undefined || first.startsWith(mark[0]!) ? undefined : mark
}
