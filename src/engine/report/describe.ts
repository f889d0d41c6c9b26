// What a plan changes, in lines: from the placements, never by comparing texts. Does not know files or HTTP.
import { firstIndex } from '../text/bisect.ts'
import type { Placed, PlaceOperation, LineSpan } from '../edit/piece-table.ts'
import { decodeRange, excerptOf } from '../text/encoding.ts'
import { breakBefore, lineAround, lineFrom, startOfLineAround } from '../text/lines.ts'
import type { Plan } from '../edit/plan.ts'
import type { Text } from '../text/text.ts'
import { placeLines } from './place-lines.ts'

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
 * change touches, at most `context_lines` on each side. `dry_run` adds each change's content, cut at 4 KiB. `lines`: of
 * this plan, for whoever needs them for more.
 */
export function describe(
  original: Buffer,
  plan: Plan,
  options: { context_lines: number; dry_run: boolean },
  lines = placeLines(original, plan)
): Description {
  const { after, spans, totalBefore, totalAfter, newLines } = lines
  const listed = plan.placements.slice(0, options.dry_run ? LISTED_DRY : LISTED)
  const blocks = options.context_lines > 0 ? blocksOf(spans) : []
  /** Where the first line of a change begins in the result, and the line after its last. */
  const edgesOf = ({ new_start, new_end }: Placed, span: LineSpan, index: number): ChangeEdges => ({
    from: () => lineStart(after, new_start, newLines[2 * index]!, span.new_start_line),
    to: () => lineStart(after, new_end, newLines[2 * index + 1]!, span.new_end_line + 1)
  })
  const changes = listed.map((placed, index): LineChange => {
    const { start_line, end_line, new_start_line, new_end_line } = spans[index]!
    const lines_removed = end_line - start_line + 1
    const lines_added = new_end_line - new_start_line + 1
    // Member by member: every edit comes here, and objects of varying shapes take a microsecond to be spread.
    const change: LineChange = {
      edit_index: placed.edit_index,
      operation: placed.operation,
      start_line,
      end_line,
      new_start_line,
      new_end_line,
      lines_removed,
      lines_added,
      net_change: lines_added - lines_removed
    }
    if (placed.inserted_by_edit !== undefined) change.inserted_by_edit = placed.inserted_by_edit
    if (index < LISTED) {
      const span = spans[index]!
      change.context = contextOf(after, edgesOf(placed, span, index), span, blocks, options.context_lines, totalAfter)
    }
    if (options.dry_run) Object.assign(change, contentOf(placed))
    return change
  })
  const totals = { total_lines_before: totalBefore, total_lines_after: totalAfter }
  return changes.length < plan.placements.length
    ? { changes, changes_truncated: true, ...totals }
    : { changes, ...totals }
}

/** The changed lines of the result as disjoint ranges in order: changes that share a line share a range. */
function blocksOf(spans: readonly LineSpan[]): [number, number][] {
  const sorted = spans.map(({ new_start_line, new_end_line }): [number, number] => [new_start_line, new_end_line])
  // The array of one is sorted, at a cost of 0.4 KB.
  if (sorted.length > 1) sorted.sort((a, b) => a[0] - b[0] || a[1] - b[1])
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
    if (end - start <= LINE_LENGTH) {
      const line = decodeRange(text, start, end)
      if (!line.includes('\ufffd')) return line
    }
    const shown = excerptOf(text.slice(start, end), LINE_LENGTH)
    lossy ||= shown.lossy === true
    return shown.text
  }
  for (let i = 0, at = above > 0 ? from() : 0; i < above; i++) {
    // Where nothing follows a change that ends the file, the line before it may have no break.
    const end = breakBefore(text, at)?.start ?? at
    at = startOfLineAround(text, end)
    before_lines.push(show(at, end))
  }
  before_lines.reverse()
  for (let i = 0, at = below > 0 ? to() : 0; i < below; i++) {
    const line = lineFrom(text, at)
    after_lines.push(show(line.start, line.end))
    at = line.next
  }
  return lossy ? { before_lines, after_lines, lossy } : { before_lines, after_lines }
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
