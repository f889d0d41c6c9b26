// Plans /edit-section on a text: the targeted item, the edit of lines, and its effect on the rest of the outline. Does
// not know any parser.
import { fail, ok, type Result } from '../../result.ts'
import type { LineEdit } from '../edit/request.ts'
import type { AmbiguousTarget, LineFailure, OutlineEntry, Target, TargetNotFound } from '../failure.ts'
import type { Heading, Item, Lines, Outline } from '../outline/outline.ts'
import { Page } from '../outline/page.ts'
import { repeatedIn, type Repeated } from '../outline/repeated.ts'
import type { Refusal, SectionAction } from '../outline/section-edit.ts'
import { linesPutIn, withLinesAsSent } from '../outline/string-lines.ts'
import type { SyntaxFault } from '../outline/syntax-errors.ts'
import { findTarget, outlineEntryOf } from '../outline/target.ts'
import type { LineEndings } from '../text/eol.ts'
import { decode } from '../text/encoding.ts'
import { LineTable, splitAtBreaks } from '../text/lines.ts'
import { planLineEdits } from './replace-lines.ts'
import { planSectionEdit, strayItem } from './replace-section.ts'

/** The request as plain data; if an `include_…` flag is absent, the new text decides. */
export interface SectionRequest {
  target: Target
  at_line?: number
  action: SectionAction
  new_text: string
  include_heading?: boolean
  include_comment?: boolean
  line_endings: LineEndings
  max_result_size: number
}

/**
 * The target of /edit-section before the edit. `repeated`: what new_text began with, which was therefore replaced too;
 * `with_comment`: its doc comment was deleted too. `stray`: another item that the edit lost or created.
 */
export interface Section {
  entry: OutlineEntry
  repeated?: Repeated
  /** The first decorator or attribute of a symbol, if the replacement has none; without text in a private file. */
  dropped?: { mark?: string }
  with_comment?: true
  /** new_text begins with a heading and replaced the section's content; the section's own heading line remains. */
  emptied?: true
  /** A heading of new_text that its parent already had; its place in the result. */
  twice?: OutlineEntry
  /** Headings below the replaced section that new_text lacks. */
  gone?: OutlineEntry[]
  errors_before: number[]
  stray?: StrayEntry
}
export interface StrayEntry {
  reason: 'lost' | 'made'
  entry: OutlineEntry
}

/** `faults`: for code, the first syntax fault before and after the edit. */
export interface PlannedSection {
  edit: LineEdit
  section: Section
  faults?: { before: SyntaxFault | undefined; after: SyntaxFault | undefined }
}

/** The item can't take the edit, or the edit would change a document's outline around it. */
export type UnfitSection =
  { code: 'REFUSED'; reason: Refusal; entry: OutlineEntry } | { code: 'STRAY'; stray: StrayEntry }

export type SectionPlanFailure = TargetNotFound | AmbiguousTarget | LineFailure | UnfitSection

/**
 * Makes the outline of a text; `strings_in`: the lines of code for which it reports whether they begin inside a string.
 */
type OutlineMaker<F> = (text: Buffer, strings_in?: Lines) => Promise<Result<Outline, F>>

/**
 * How often a result is parsed at most: once indented, to find its strings, then with the lines of these as they were
 * sent. Indenting the end of a heredoc makes it seem to reach to the end of the file, so only the second pass shows its
 * real lines.
 */
const MOST_TRIES = 3
/** How many removed headings a warning names. Chosen. */
const MOST_GONE = 5

/**
 * The edit of lines for a request. Checks its effect on the rest of the outline before anything is written; in a
 * Markdown document the rest must stay as it is.
 */
export async function planSection<F>(
  original: Buffer,
  request: SectionRequest,
  outlineOf: OutlineMaker<F>
): Promise<Result<PlannedSection, F | SectionPlanFailure>> {
  const outline = await outlineOf(original)
  if (!outline.ok) return outline
  const before = outline.value
  const { target, at_line, action, new_text, line_endings, max_result_size } = request
  const found = findTarget(before, target, at_line)
  if (!found.ok) return found
  const entry = outlineEntryOf(found.value)
  const repeated = action === 'replace' ? repeatedIn(original, found.value, new_text) : undefined
  const dropped = action === 'replace' ? droppedMark(original, found.value, new_text) : undefined
  const {
    include_heading = repeated === 'heading' || repeated === 'fences',
    include_comment = repeated === 'comment' || action === 'delete'
  } = request
  /** `string_lines`: lines of the result that stay as they were sent. */
  const attempt = async (
    apart: boolean,
    string_lines: readonly number[] = [],
    tries = MOST_TRIES
  ): Promise<Result<PlannedSection, F | SectionPlanFailure>> => {
    const made = planSectionEdit(
      original,
      before,
      found.value,
      { action, new_text, include_heading, include_comment },
      { line_endings, apart }
    )
    if (!made.ok) return fail({ code: 'REFUSED', reason: made.failure, entry })
    const edit = withLinesAsSent(made.value, new_text, string_lines)
    const trial = planLineEdits(original, [edit], { line_endings, max_result_size, trial: true })
    if (!trial.ok) return trial
    const result = Buffer.concat(trial.value.pieces)
    const after = await outlineOf(result, linesPutIn(edit))
    if (!after.ok) return after
    if (after.value.type === 'code' && tries > 1) {
      const seen = after.value.string_lines!
      if (withLinesAsSent(made.value, new_text, seen).new_text !== edit.new_text) return attempt(apart, seen, tries - 1)
    }
    const stray = strayItem(before, after.value, edit, new LineTable(result).total - new LineTable(original).total)
    const emptied =
      action === 'replace' &&
      request.include_heading === undefined &&
      isEmptied(after.value, found.value, result, new_text)
    const { twice, gone } =
      before.type === 'document' && after.value.type === 'document'
        ? headingsChanged(before.items, after.value.items, edit, { target: found.value, action })
        : {}
    const section = {
      entry,
      ...(twice !== undefined && { twice: outlineEntryOf(twice) }),
      ...(gone !== undefined && { gone: gone.map(outlineEntryOf) }),
      ...(emptied && { emptied }),
      ...(repeated !== undefined && (include_heading || include_comment) && { repeated }),
      ...(dropped !== undefined && { dropped: { mark: dropped } }),
      ...(action === 'delete' &&
        include_comment &&
        entry.comment_start_line !== undefined && { with_comment: true as const }),
      errors_before: before.type === 'code' ? before.syntax_error_lines : [],
      ...(stray !== undefined && { stray: { reason: stray.reason, entry: outlineEntryOf(stray.item) } })
    }
    if (before.type === 'code' && after.value.type === 'code') {
      return ok({ edit, section, faults: { before: before.fault, after: after.value.fault } })
    }
    if (section.stray === undefined) return ok({ edit, section })
    // Two adjacent paragraphs merge, and so do a text and the underlined heading below it.
    return apart ? fail({ code: 'STRAY', stray: section.stray }) : attempt(true)
  }
  return attempt(false)
}

/**
 * The first heading of the inserted lines that has the text of another one under the same parent, if there are more of
 * them than before; and, if a replacement has fewer headings than the lines it replaces, those that it lacks.
 */
function headingsChanged(
  before: readonly Item[],
  after: readonly Item[],
  edit: LineEdit,
  { target, action }: { target: Item; action: SectionAction }
): { twice?: Heading; gone?: Heading[] } {
  const isHeading = (item: Item): item is Heading => item.kind === 'heading'
  const [were, are] = [before.filter(isHeading), after.filter(isHeading)]
  const keyOf = ({ parent, name }: Heading) => JSON.stringify([parent, name])
  const counts = (headings: readonly Heading[]) => {
    const found = new Map<string, number>()
    for (const heading of headings) found.set(keyOf(heading), (found.get(keyOf(heading)) ?? 0) + 1)
    return found
  }
  const within = (headings: readonly Heading[], { start_line, end_line }: Lines) =>
    headings.filter(heading => heading.start_line >= start_line && heading.start_line <= end_line)
  const { start_line, end_line } = linesPutIn(edit)
  // The empty string after a final break is not a line.
  const put = within(are, { start_line, end_line: /[\r\n]$/.test(edit.new_text) ? end_line - 1 : end_line })
  const [old, now] = [counts(were), counts(are)]
  const twice = put.find(heading => now.get(keyOf(heading))! > Math.max(1, old.get(keyOf(heading)) ?? 0))
  const isOwn = ({ start_line }: Heading) => start_line === target.start_line
  const replaced = action === 'replace' ? within(were, edit).filter(heading => !isOwn(heading)) : []
  const names = new Set(put.map(({ name }) => name))
  const isFewer = put.filter(heading => !isOwn(heading)).length < replaced.length
  const gone = isFewer ? replaced.filter(({ name }) => !names.has(name)) : []
  return { ...(twice !== undefined && { twice }), ...(gone.length > 0 && { gone: gone.slice(0, MOST_GONE) }) }
}

/** Whether a section is left empty because its content was replaced by a text that forms a section of its own. */
function isEmptied(after: Outline, { start_line }: Item, result: Buffer, new_text: string): boolean {
  const kept = after.items.find(item => item.kind === 'heading' && item.start_line === start_line)
  if (kept?.kind !== 'heading' || new_text.trim() === '') return false
  const page = new Page(result, { line_endings: 'exact', apart: false })
  return page.blanksBelow(kept.heading_line, kept.end_line, kept.prefix) === kept.end_line - kept.heading_line
}

/** `@name`, `#[name]`, and `[Name]` on a line of its own, but not a computed name in JavaScript. */
const MARK = /^(?:@[\w.:]+|#\[[^\]]*\]?|\[[^\]]*\](?=\s*$))/

/** Lines that may stand above a decorator. */
const COMMENT = /^(?:\/\/|\/\*|\*|#(?!\[)|$)/

/**
 * The first decorator or attribute of `item`, if `new_text`, which replaces it, begins with none of that kind;
 * undefined if the item has none, or is deleted. Models often send a function without them.
 */
export function droppedMark(original: Buffer, item: Item, new_text: string): string | undefined {
  if (!('name' in item) || item.kind === 'heading' || item.kind === 'rule') return undefined
  const mark = MARK.exec(decode(new LineTable(original).bytesOf(item.start_line)).text.trim())?.[0]
  const first = splitAtBreaks(new_text)
    .map(line => line.trim())
    .find(line => !COMMENT.test(line))
  return mark === undefined || first === undefined || first.startsWith(mark[0]!) ? undefined : mark
}
