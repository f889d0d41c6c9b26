// Edits a source file by its symbols, as edits of lines.
import { fail, ok, type Result } from '../../result.ts'
import type { LineEdit } from '../edit/request.ts'
import type { Refusal, SectionEdit } from './section-edit.ts'
import { mostFrequentNumber, type Symbol } from './outline.ts'
import { indented, isOneLine, type Page, type Side } from './page.ts'

type Made = Result<LineEdit, Refusal>
const edit = (start_line: number, end_line: number, new_text: string): Made => ok({ start_line, end_line, new_text })

/** The first line that belongs to the item alone: that of its doc comment, if it has one. */
const topOf = ({ comment_start_line, start_line }: Symbol): number => comment_start_line ?? start_line

/** The edit of lines for an action on a symbol. */
export function symbolEdit(
  page: Page,
  items: readonly Symbol[],
  symbol: Symbol,
  { action, new_text, include_comment }: SectionEdit
): Made {
  if (action === 'append' || action === 'prepend') return bodyEdit(page, items, symbol, action, new_text)
  if (!symbol.alone) return fail('not_alone')
  const { start_line, end_line } = symbol
  const top = include_comment || action === 'insert_before' ? topOf(symbol) : start_line
  const [lowest, highest] = around(page, items, symbol)
  const above = page.blanksAbove(top, lowest)
  const below = page.blanksBelow(end_line, highest)
  const isFirst = top - above === lowest
  const isLast = end_line + below === highest
  const dress = (text: string) =>
    indented(symbol.comma === true ? withComma(text) : text, page.indentOf(start_line), page.step)
  const gap = gapBeside(page, items, symbol, isOneLine(new_text))
  const put = (line: number, above: Side | null, below: Side | null) =>
    ok(page.insertion(new_text, { line, above, below }, dress))
  const removed = () =>
    isLast
      ? edit(isFirst ? top : top - above, end_line, '')
      : edit(top, above > 0 || isFirst ? end_line + below : end_line, '')
  switch (action) {
    case 'delete':
      return removed()
    case 'replace': {
      const text = page.bare(new_text, dress)
      return text === '' ? removed() : edit(top, end_line, text)
    }
    case 'insert_before':
      return put(top, isFirst ? null : { blanks: above, gap }, { blanks: 0, gap })
    case 'insert_after':
      return put(end_line + 1, { blanks: 0, gap }, isLast ? null : { blanks: below, gap })
  }
}

/** A text that ends with a comma, unless it ends with a comment. */
const withComma = (text: string): string => (/(?:[,/]|\/\/.*)\s*$/.test(text) ? text : text.replace(/\s*$/, ',$&'))

/** The lines around the symbol: the body that contains it, or the file. */
function around(page: Page, items: readonly Symbol[], { within }: Symbol): [number, number] {
  const outer = items[within]
  if (outer === undefined) return [1, page.total]
  const { body, start_line, end_line } = outer
  return typeof body === 'object' && 'first_line' in body ? [body.first_line, body.last_line] : [start_line, end_line]
}

function bodyEdit(
  page: Page,
  items: readonly Symbol[],
  symbol: Symbol,
  action: 'append' | 'prepend',
  new_text: string
): Made {
  const { body, start_line } = symbol
  if (body === undefined) return fail('no_body')
  if (body === 'cramped') return fail('cramped')
  const members = items.filter(({ within }) => items[within] === symbol)
  const dress = (text: string) => indented(text, memberIndent(page, symbol, members), page.step)
  if ('column' in body) return ok(page.opened(body.line, body.column, new_text, dress))
  const { first_line, last_line } = body
  const trailing = page.blanksAbove(last_line + 1, first_line)
  const last = last_line - trailing
  const first = first_line + page.blanksBelow(first_line - 1, last)
  const isEmpty = last < first_line
  const isStatements = symbol.kind === 'function' || symbol.kind === 'method'
  const beside = members.at(action === 'append' ? -1 : 0)
  const small = isOneLine(new_text) && (beside === undefined || isSmall(beside))
  const side: Side | null = isEmpty
    ? null
    : { blanks: 0, gap: isStatements ? 0 : gapAmong(page, items, items.indexOf(symbol), small) }
  // If a body is empty, the new text, if any, replaces its blank lines.
  const bare = isEmpty ? page.bare(new_text, dress) : ''
  if (bare !== '') return edit(first_line, last_line, bare)
  const place =
    action === 'append' ? { line: last + 1, above: side, below: null } : { line: first, above: null, below: side }
  return ok(page.insertion(new_text, place, dress))

  /** The indentation of members; if there are none, that of the first line inside, or one step more than the symbol. */
  function memberIndent(page: Page, { body }: Symbol, members: readonly Symbol[]): string {
    if (members[0] !== undefined) return page.indentOf(members[0].start_line)
    const [from, to] = typeof body === 'object' && 'first_line' in body ? [body.first_line, body.last_line] : [1, 0]
    // A label such as `public:` is indented less.
    for (let line = from; line <= to; line++) {
      if (!page.isBlank(line) && !/^\s*\w+\s*:\s*$/.test(page.text(line))) return page.indentOf(line)
    }
    return page.indentOf(start_line) + page.step
  }
}

const gapBeside = (page: Page, items: readonly Symbol[], symbol: Symbol, isOne: boolean): number =>
  gapAmong(page, items, symbol.within, isOne && isSmall(symbol))

/**
 * The most frequent number of blank lines between two definitions in the same body; else in other bodies (or at the top
 * level, if the definitions are there); else anywhere, but at most one inside a definition, because Python has two
 * around classes and one around methods. `small`: between two one-line definitions.
 */
function gapAmong(page: Page, items: readonly Symbol[], within: number, small: boolean): number {
  const gaps = (chosen: readonly Symbol[]) => {
    const found: number[] = []
    const last = new Map<number, Symbol>()
    for (const item of chosen) {
      const before = last.get(item.within)
      last.set(item.within, item)
      if (before === undefined || small !== (isSmall(before) && isSmall(item))) continue
      const blanks = page.blanksAbove(topOf(item))
      if (topOf(item) - 1 - blanks === before.end_line) found.push(blanks)
    }
    return mostFrequentNumber(found)
  }
  const isInside = within !== -1
  const anywhere = gaps(items) ?? (small ? 0 : 1)
  return (
    gaps(items.filter(item => item.within === within)) ??
    gaps(items.filter(item => (item.within !== -1) === isInside)) ??
    (isInside ? Math.min(anywhere, 1) : anywhere)
  )
}

/** Whether a definition is one line without a body: one with a body is set apart even if it is a single line. */
const isSmall = ({ start_line, end_line, body }: Symbol): boolean => start_line === end_line && body === undefined
