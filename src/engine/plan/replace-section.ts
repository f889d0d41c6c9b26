// The planner of /edit-section: turns an action on an outline item into an edit of whole lines. Does not know any
// parser.
import { ok, type Result } from '../../result.ts'
import type { LineEdit } from '../edit/request.ts'
import type { LineEndings } from '../text/eol.ts'
import { documentEdit } from '../outline/edit-document.ts'
import { symbolEdit } from '../outline/edit-symbol.ts'
import type { Item, Outline, Symbol } from '../outline/outline.ts'
import { Page } from '../outline/page.ts'
import type { Refusal, SectionEdit } from '../outline/section-edit.ts'
import { planLineEdits } from './replace-lines.ts'

interface SectionOptions {
  line_endings: LineEndings
  /** Adds a blank line even if the document has none around its blocks. */
  apart: boolean
}

/**
 * The edit of whole lines that performs an action on `item`, one of `outline`. The number of blank lines around
 * inserted text is the largest of: those in the text, those already there, and those the document usually has. A
 * replacement equal to the present content changes nothing.
 */
export function planSectionEdit(
  original: Buffer,
  outline: Outline,
  item: Item,
  edit: SectionEdit,
  options: SectionOptions
): Result<LineEdit, Refusal> {
  const page = new Page(original, options)
  const made =
    outline.type === 'code'
      ? symbolEdit(page, outline.items, item as Symbol, edit)
      : documentEdit(page, outline, item, edit)
  if (!made.ok) return made
  // Lines of a list or a quote may already have their prefix; adding it again would be wrong.
  const asSent = { ...made.value, new_text: edit.new_text }
  return edit.action === 'replace' && made.value.new_text !== edit.new_text && changesNothing(original, asSent, options)
    ? ok(asSent)
    : made
}

function changesNothing(original: Buffer, edit: LineEdit, { line_endings }: SectionOptions): boolean {
  const planned = planLineEdits(original, [edit], { line_endings, max_result_size: Infinity })
  return (
    planned.ok &&
    planned.value.splices.list.every(({ start, end, insert }) => insert.equals(original.subarray(start, end)))
  )
}

/**
 * The first item that an edit of lines changes although it is outside those lines: `lost`, or else `made`. `more`: how
 * many lines the result gains. Undefined if no item is affected.
 */
export function strayItem(
  before: Outline,
  after: Outline,
  { start_line, end_line }: LineEdit,
  more: number
): { reason: 'lost' | 'made'; item: Item } | undefined {
  const key = (item: Item, shift: number) =>
    JSON.stringify([
      item.kind,
      item.start_line > end_line ? item.start_line + shift : item.start_line,
      'name' in item && item.name,
      'level' in item && item.level,
      'language' in item && item.language
    ])
  const outside = (items: readonly Item[], last: number) =>
    items.filter(item => item.start_line < start_line || item.start_line > last)
  const were = outside(before.items, end_line)
  const are = outside(after.items, end_line + more)
  const wanted = new Set(were.map(item => key(item, more)))
  const present = new Set(are.map(item => key(item, 0)))
  const lost = were.find(item => !present.has(key(item, more)))
  if (lost !== undefined) return { reason: 'lost', item: lost }
  const made = are.find(item => !wanted.has(key(item, 0)))
  return made === undefined ? undefined : { reason: 'made', item: made }
}
