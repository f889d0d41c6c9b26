// Edits a Markdown document by its sections and code blocks, as edits of lines.
import { fail, ok, type Result } from '../../result.ts'
import type { LineEdit } from '../edit/request.ts'
import { splitAtBreaks } from '../text/lines.ts'
import type { Refusal, SectionEdit } from './section-edit.ts'
import type { CodeBlock, Gaps, Heading, Item, Outline } from './outline.ts'
import { asIndentedCode, type Page, prefixed, type Side } from './page.ts'

type Document = Outline & { type: 'document' }
type Made = Result<LineEdit, Refusal>

const edit = (start_line: number, end_line: number, new_text: string): Made => ok({ start_line, end_line, new_text })

/** The edit of lines for an action on a section or a code block. */
export function documentEdit(page: Page, outline: Document, item: Item, request: SectionEdit): Made {
  return item.kind === 'heading'
    ? sectionEdit(page, outline, item, request)
    : blockEdit(page, outline, item as CodeBlock, request)
}

/**
 * The usual number of blank lines at a kind of place; if unknown, that of other kinds; one if no two blocks are
 * adjacent.
 */
const gapOf = (gaps: Gaps, place: keyof Gaps): number =>
  gaps[place] ?? gaps.before_heading ?? gaps.between ?? gaps.after_heading ?? 1

const startsWithHeading = (text: string): boolean =>
  /^\s*(?: {0,3}#{1,6}(?:[ \t]|$)|\S.*(?:\r\n|\n|\r) {0,3}(?:=+|-+)[ \t]*(?:[\r\n]|$))/.test(text)

function sectionEdit(
  page: Page,
  { items, gaps }: Document,
  heading: Heading,
  { action, new_text, include_heading }: SectionEdit
): Made {
  const { start_line, heading_line, end_line, prefix } = heading
  const trailing = Math.min(page.blanksAbove(end_line + 1, heading_line + 1, prefix), end_line - heading_line)
  const last = end_line - trailing
  const first = heading_line + 1 + page.blanksBelow(heading_line, last, prefix)
  const isEmpty = last === heading_line
  const isLast = end_line === page.total
  const dress = (text: string) => prefixed(text, prefix)
  const put = (line: number, above: Side | null, below: Side | null) =>
    ok(page.insertion(new_text, { line, above, below }, dress, prefix.trimEnd()))
  const opening = startsWithHeading(new_text) ? 'before_heading' : undefined
  // In a quote or a list, what follows isn't considered.
  const next = (blanks: number): Side | null =>
    isLast || prefix !== '' ? null : { blanks, gap: gapOf(gaps, 'before_heading') }
  const append = () =>
    put(last + 1, { blanks: 0, gap: gapOf(gaps, opening ?? (isEmpty ? 'after_heading' : 'between')) }, next(trailing))
  switch (action) {
    case 'delete':
      return deleted(page, start_line, end_line, isLast, gaps)
    case 'replace': {
      const text = page.bare(new_text, dress, prefix.trimEnd())
      if (include_heading) {
        return text === '' ? deleted(page, start_line, end_line, isLast, gaps) : edit(start_line, last, text)
      }
      if (isEmpty) return append()
      if (text !== '') return edit(first, last, text)
      return isLast
        ? edit(heading_line + 1, end_line, '')
        : edit(heading_line + 1, last, page.separator(heading_line + 1))
    }
    case 'append':
      return append()
    case 'prepend': {
      if (isEmpty) return append()
      const gap = gapOf(
        gaps,
        items.some(item => item.kind === 'heading' && item.start_line === first) ? 'before_heading' : 'between'
      )
      return put(
        first,
        { blanks: first - heading_line - 1, gap: gapOf(gaps, opening ?? 'after_heading') },
        { blanks: 0, gap }
      )
    }
    case 'insert_before': {
      const blanks = page.blanksAbove(start_line, 1, prefix)
      return put(start_line, sideAbove(items, gaps, start_line, blanks, opening), {
        blanks: 0,
        gap: gapOf(gaps, 'before_heading')
      })
    }
    case 'insert_after':
      return put(
        end_line + 1,
        { blanks: trailing, gap: gapOf(gaps, opening ?? (isEmpty ? 'after_heading' : 'between')) },
        next(0)
      )
  }
}

/** The text above a line, if there is any. */
function sideAbove(
  items: readonly Item[],
  gaps: Gaps,
  line: number,
  blanks: number,
  opening: keyof Gaps | undefined
): Side | null {
  if (line - 1 - blanks < 1) return null
  const followsHeading = items.some(item => item.kind === 'heading' && item.heading_line === line - 1 - blanks)
  return { blanks, gap: gapOf(gaps, opening ?? (followsHeading ? 'after_heading' : 'between')) }
}

/**
 * Deletes lines. Without its last section the file ends as it did: its blank lines go too, if there are as many as the
 * document usually has before a heading.
 */
function deleted(page: Page, start_line: number, end_line: number, isLast: boolean, gaps: Gaps): Made {
  const blanks = page.blanksAbove(start_line)
  if (isLast && blanks < start_line - 1 && blanks === gapOf(gaps, 'before_heading')) {
    return edit(start_line - blanks, end_line, '')
  }
  return edit(start_line, end_line, page.separator(start_line))
}

function blockEdit(
  page: Page,
  { items, gaps }: Document,
  block: CodeBlock,
  { action, new_text, include_heading }: SectionEdit
): Made {
  const { start_line, end_line, fence, prefix } = block
  if (fence?.closed === false && action === 'insert_after') return fail('unclosed')
  const isWhole = include_heading || action === 'insert_before' || action === 'insert_after'
  const dress = (text: string) =>
    fence === undefined && prefix === '' && !isWhole ? asIndentedCode(text) : prefixed(text, prefix)
  const [first, last] =
    fence === undefined ? [start_line, end_line] : [start_line + 1, fence.closed ? end_line - 1 : end_line]
  const inside = new_text === '' ? '' : dress(new_text)
  if (
    !isWhole &&
    action !== 'delete' &&
    fence !== undefined &&
    splitAtBreaks(inside).some(line => closes(line.slice(prefix.length), fence.markup))
  ) {
    return fail('closes_fence')
  }
  const above = page.blanksAbove(start_line, 1, prefix)
  const below = page.blanksBelow(end_line, page.total, prefix)
  const isLast = end_line + below === page.total
  const opening = startsWithHeading(new_text) ? 'before_heading' : undefined
  const put = (line: number, above: Side | null, below: Side | null) =>
    ok(page.insertion(new_text, { line, above, below }, dress, prefix.trimEnd()))
  switch (action) {
    case 'replace': {
      if (!include_heading) return edit(first, last, inside)
      const text = page.bare(new_text, dress, prefix.trimEnd())
      return text === '' ? removed() : edit(start_line, end_line, text)
    }
    case 'delete':
      return removed()
    case 'append':
      return edit(last + 1, last, inside)
    case 'prepend':
      return edit(first, first - 1, inside)
    case 'insert_before':
      return put(start_line, sideAbove(items, gaps, start_line, above, opening), {
        blanks: 0,
        gap: gapOf(gaps, 'between')
      })
    case 'insert_after': {
      const followed = items.some(item => item.kind === 'heading' && item.start_line === end_line + 1 + below)
        ? 'before_heading'
        : 'between'
      return put(
        end_line + 1,
        { blanks: 0, gap: gapOf(gaps, opening ?? 'between') },
        isLast ? null : { blanks: below, gap: gapOf(gaps, followed) }
      )
    }
  }

  /** Removes the blank lines of one side too: those of the other side are enough for what is left. */
  function removed(): Made {
    if (isLast) return above < start_line - 1 ? edit(start_line - above, end_line, '') : edit(start_line, end_line, '')
    return edit(
      start_line,
      above > 0 || start_line === 1 ? end_line + below : end_line,
      below + above === 0 ? page.separator(start_line) : ''
    )
  }
}

/** Whether a line would close a fence. */
function closes(line: string, markup: string): boolean {
  const text = line.trim()
  return /^ {0,3}\S/.test(line) && text.length >= markup.length && [...text].every(char => char === markup[0])
}
