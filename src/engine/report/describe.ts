// What a plan changes, in lines: from the placements, never by comparing texts. Does not know files or HTTP.
import { firstIndex } from '../text/bisect.ts'
import type { Placed, PlaceOperation, LineSpan } from '../edit/piece-table.ts'
import { excerptOf } from '../text/encoding.ts'
import { isInsideCrlf, isLineEnd, isLineStart, lineAround, lineFrom, startOfLineAround } from '../text/lines.ts'
import { changedLineNumbers } from './line-numbers.ts'
import type { Plan } from '../edit/plan.ts'
import { Text } from '../text/text.ts'

/** A change as the wire has it. Lines are 1-based; `end` before `start` says that there are none. */
export interface LineChange {
  edit_index: number
  operation: PlaceOperation
  start_line: number
  end_line: number
  new_start_line: number
  new_end_line: number
  lines_removed: number
  lines_added: number
  net_change: number
  inserted_by_edit?: number
  context?: { before_lines: string[]; after_lines: string[]; lossy?: true }
  old_content?: string
  new_content?: string
  lossy?: true
}

export interface Description {
  changes: LineChange[]
  changes_truncated?: true
  total_lines_before: number
  total_lines_after: number
}

/** Changes that are listed, and in a dry run; those after the first 20 have no context. */
const LISTED = 20
const LISTED_DRY = 1000
/** UTF-16 units of a context line, and of the content of a change, that are shown. */
const LINE_LENGTH = 400
const CONTENT_LENGTH = 4096

/**
 * Describes a plan made for `original`. A change's lines are those that a diff would show: where its range or what
 * replaces it doesn't end at a line's end, the rest of that line belongs to it. Context is lines of the result that no
 * change touches, at most `context_lines` on each side. `dry_run` adds each change's content, cut at 4 KiB.
 */
export function describe(
  original: Buffer,
  plan: Plan,
  options: { context_lines: number; dry_run: boolean }
): Description {
  const before = new Text([original])
  const after = new Text(plan.pieces)
  const { spans, totalBefore, totalAfter, newLines } = spansOf(before, after, plan)
  const listed = plan.placements.slice(0, options.dry_run ? LISTED_DRY : LISTED)
  const blocks = options.context_lines > 0 ? blocksOf(spans) : []
  /** Where the first line of a change begins in the result, and the line after its last. */
  const edgesOf = ({ new_start, new_end }: Placed, span: LineSpan, index: number): ChangeEdges => ({
    from: () => lineStart(after, new_start, newLines[2 * index]!, span.new_start_line),
    to: () => lineStart(after, new_end, newLines[2 * index + 1]!, span.new_end_line + 1)
  })
  const changes = listed.map((placed, index): LineChange => {
    const span = spans[index]!
    const lines_removed = span.end_line - span.start_line + 1
    const lines_added = span.new_end_line - span.new_start_line + 1
    return {
      edit_index: placed.edit_index,
      operation: placed.operation,
      ...span,
      lines_removed,
      lines_added,
      net_change: lines_added - lines_removed,
      ...(placed.inserted_by_edit !== undefined && { inserted_by_edit: placed.inserted_by_edit }),
      ...(index < LISTED && {
        context: contextOf(after, edgesOf(placed, span, index), span, blocks, options.context_lines, totalAfter)
      }),
      ...(options.dry_run ? contentOf(placed) : {})
    }
  })
  return {
    changes,
    ...(changes.length < plan.placements.length && { changes_truncated: true }),
    total_lines_before: totalBefore,
    total_lines_after: totalAfter
  }
}

function spansOf(
  before: Text,
  after: Text,
  { placements, splices, line_index: index }: Plan
): { spans: LineSpan[]; totalBefore: number; totalAfter: number; newLines: number[] } {
  const old = index.lineNumbers(placements.flatMap(({ start, end }) => [start, end]))
  const now = changedLineNumbers(
    after,
    index,
    splices,
    placements.flatMap(({ new_start, new_end }) => [new_start, new_end])
  )
  const spans = placements.map((placed, index): LineSpan => {
    if (placed.span !== undefined) return placed.span
    const [start, end, newStart, newEnd] = [
      old.lines[2 * index]!,
      old.lines[2 * index + 1]!,
      now.lines[2 * index]!,
      now.lines[2 * index + 1]!
    ]
    const clean = endsClean(before, after, placed)
    const end_line = clean ? end - 1 : Math.min(end, old.total)
    const new_end_line = clean ? newEnd - 1 : Math.min(newEnd, now.total)
    // What begins after the text of a line leaves that line as it is, but for its break; where that is all, the break
    // has changed.
    const skipped = startsAfterLine(before, after, placed) && (start < end_line || newStart < new_end_line) ? 1 : 0
    return {
      // A change that parts a \r from its \n, or makes a pair of two, also changes the line before.
      start_line: joinsCrlf(before, after, placed) ? start - 1 : start + skipped,
      end_line,
      new_start_line: separatesCrlf(before, after, placed) ? newStart - 1 : newStart + skipped,
      new_end_line
    }
  })
  return { spans, totalBefore: old.total, totalAfter: now.total, newLines: now.lines }
}

/** Whether a change begins where the text of a line ends, and that line still ends there. */
function startsAfterLine(before: Text, after: Text, { start, new_start, end, new_end }: Placed): boolean {
  if (isLineStart(before, start) || isLineStart(after, new_start)) return false
  return isLineEnd(before, start) && isLineEnd(after, new_start) && isLineEnd(before, end) && isLineEnd(after, new_end)
}

/** Whether both what was replaced and what replaces it end where a line does. */
const endsClean = (before: Text, after: Text, { end, new_end }: Placed): boolean =>
  isLineStart(before, end) && isLineStart(after, new_end)

// At a text's first byte there is no line before: there the other half of the pair is of another edit.
const joinsCrlf = (before: Text, after: Text, { start, new_start }: Placed): boolean =>
  start > 0 && isLineStart(before, start) && isInsideCrlf(after, new_start)

const separatesCrlf = (before: Text, after: Text, { start, new_start }: Placed): boolean =>
  new_start > 0 && isLineStart(after, new_start) && isInsideCrlf(before, start)

/** The changed lines of the result as disjoint ranges in order: changes that share a line share a range. */
function blocksOf(spans: readonly LineSpan[]): [number, number][] {
  const sorted = spans
    .map(({ new_start_line, new_end_line }): [number, number] => [new_start_line, new_end_line])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const blocks: [number, number][] = []
  for (const [start, end] of sorted) {
    const last = blocks.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else blocks.push([start, end])
  }
  return blocks
}

/** Between which offsets of the result the lines of a change are. Functions: where lines are long, it takes long. */
interface ChangeEdges {
  from: () => number
  to: () => number
}

/** The lines around a change. */
function contextOf(
  text: Text,
  { from, to }: ChangeEdges,
  span: LineSpan,
  blocks: readonly [number, number][],
  most: number,
  total: number
): NonNullable<LineChange['context']> {
  const index = Math.max(0, firstIndex(blocks.length, at => blocks[at]![0] > span.new_start_line) - 1)
  const block = blocks[index]
  const above =
    block === undefined || block[0] !== span.new_start_line
      ? 0
      : Math.min(most, span.new_start_line - 1 - (blocks[index - 1]?.[1] ?? 0))
  const below =
    block === undefined || block[1] !== span.new_end_line
      ? 0
      : Math.min(most, (blocks[index + 1]?.[0] ?? total + 1) - 1 - span.new_end_line)
  const before_lines: string[] = []
  const after_lines: string[] = []
  let lossy = false
  const show = (start: number, end: number): string => {
    const shown = excerptOf(text.slice(start, end), LINE_LENGTH)
    lossy ||= shown.lossy === true
    return shown.text
  }
  for (let i = 0, at = above > 0 ? from() : 0; i < above; i++) {
    const line = lineAround(text, at - 1)
    before_lines.unshift(show(line.start, line.end))
    at = line.start
  }
  for (let i = 0, at = below > 0 ? to() : 0; i < below; i++) {
    const line = lineFrom(text, at)
    after_lines.push(show(line.start, line.end))
    at = line.next
  }
  return { before_lines, after_lines, ...(lossy ? { lossy: true } : {}) }
}

/**
 * Where 1-based `line` begins, from an offset on line `from` that is near it; the text's end for lines after the last.
 */
export function lineStart(text: Text, offset: number, from: number, line: number): number {
  let start = from < line ? lineAround(text, offset).next : startOfLineAround(text, offset)
  for (let number = from; number > line && number > 1; number--) start = startOfLineAround(text, start - 1)
  for (let number = from + 1; number < line; number++) start = lineFrom(text, start).next
  return start
}

function contentOf({ old, insert }: Placed): Pick<LineChange, 'old_content' | 'new_content' | 'lossy'> {
  const was = excerptOf(old, CONTENT_LENGTH)
  const is = excerptOf(insert, CONTENT_LENGTH)
  return {
    old_content: was.text,
    new_content: is.text,
    ...((was.lossy || is.lossy) && { lossy: true as const })
  }
}
