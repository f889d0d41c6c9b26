// What a plan changes, in lines: computed from the placements, never by comparing texts.
import { firstIndex } from '../text/bisect.ts'
import type { ChangedSplice } from '../edit/changed-splices.ts'
import { fewIndexes } from '../edit/few-splices.ts'
import type { Placed, PlaceOperation, LineSpan } from '../edit/piece-table.ts'
import { decodeRange, excerptOf } from '../text/encoding.ts'
import { breakBefore, isInsideCrlf, lineAround, lineFrom, startOfLineAround } from '../text/lines.ts'
import type { Plan } from '../edit/plan.ts'
import { type PlacedBytes, placedBytes } from '../edit/splice.ts'
import type { Text } from '../text/text.ts'
import { linesOf, type PlaceLines, placeLines } from './place-lines.ts'

/** A change as it is on the wire. Lines are 1-based; `end` before `start` means no lines. */
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
  /** The recorded change that it is part of, numbered from 0 in the order of the file. */
  change_index: number
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

/** How many changes are listed, and how many in a dry run; changes after the first 20 have no context. */
const LISTED = 20
const LISTED_DRY = 1000
/** UTF-16 units shown of a context line, and of the content of a change. */
const LINE_LENGTH = 400
const CONTENT_LENGTH = 4096

/**
 * Describes a plan made for `original`: for each edit, in order, the changes that it took part in; none if it changed
 * nothing. A change's lines are those that a diff would show, limited to the edit's place. Context is lines of the
 * result that no change touches, at most `context_lines` on each side. `dry_run` adds each change's content, cut at 4
 * KiB. `lines`: those of this plan, for callers that also need them elsewhere.
 */
export function describe(
  original: Buffer,
  plan: Plan,
  { context_lines, dry_run }: { context_lines: number; dry_run: boolean },
  lines = placeLines(original, plan)
): Description {
  const { before, after, changed, spans, totalBefore, totalAfter } = lines
  const blocks = context_lines > 0 ? blocksOf(spans) : []
  const indexOf = fewIndexes(changed.list)
  const { listed, isCut } = listedOf(plan, lines, dry_run ? LISTED_DRY : LISTED)
  const changes = listed.map(({ placed, isAll, change, place, span, newLines }, index): LineChange => {
    const { start_line, end_line, new_start_line, new_end_line } = span
    const lines_removed = end_line - start_line + 1
    const lines_added = new_end_line - new_start_line + 1
    // Assigned member by member: every edit runs this, and spreading objects of varying shapes takes a microsecond.
    const shown: LineChange = {
      edit_index: placed.edit_index,
      operation: placed.operation,
      start_line,
      end_line,
      new_start_line,
      new_end_line,
      lines_removed,
      lines_added,
      net_change: lines_added - lines_removed,
      change_index: indexOf(change)
    }
    if (placed.inserted_by_edit !== undefined) shown.inserted_by_edit = placed.inserted_by_edit
    if (index < LISTED) {
      const edges: ChangeEdges = {
        from: () => lineStart(after, place.new_start, newLines[0], new_start_line),
        to: () => lineStart(after, place.new_end, newLines[1], new_end_line + 1)
      }
      shown.context = contextOf(after, edges, span, blocks, context_lines, totalAfter)
    }
    if (dry_run) Object.assign(shown, contentOf(isAll ? placed : linesAround(before, changed.list[change]!)))
    return shown
  })
  const totals = { total_lines_before: totalBefore, total_lines_after: totalAfter }
  return isCut ? { changes, changes_truncated: true, ...totals } : { changes, ...totals }
}

/** A change to list: its edit, and its index among all changes. */
interface ListedChange {
  placed: Placed
  change: number
  /** Whether the content shown is what the edit replaces there; otherwise the lines of the change. */
  isAll: boolean
  /** The place of the change. */
  place: PlacedBytes
  span: LineSpan
  /** The lines of the result on which the place begins and ends. */
  newLines: [number, number]
}

/** At most `most` changes in the order of the edits, and whether there are more. */
function listedOf(plan: Plan, lines: PlaceLines, most: number): { listed: ListedChange[]; isCut: boolean } {
  const listed: ListedChange[] = []
  const { placements } = plan
  const { before, after, places, spans, newLines, changed } = lines
  const splices = placedBytes(plan.splices.list)
  /** Lines of the edits' own places; computed once, if needed. */
  let own: Pick<PlaceLines, 'spans' | 'newLines'> | undefined
  for (const [i, placed] of placements.entries()) {
    const { index, isWhole } = spliceAround(placed, splices)
    const [from, to] = index < 0 ? [0, 0] : [changed.first[index]!, changed.first[index + 1]!]
    if (from === to) continue
    if (isWhole) {
      for (let change = from; change < to; change++) {
        if (listed.length === most) return { listed, isCut: true }
        const edges: [number, number] = [newLines[2 * change]!, newLines[2 * change + 1]!]
        const isAll = to - from === 1
        listed.push({ placed, isAll, change, place: places[change]!, span: spans[change]!, newLines: edges })
      }
      continue
    }
    // Other edits touch it or are inside it.
    own ??= ownLines(before, after, plan)
    const span = own.spans[i]!
    const edges: [number, number] = [own.newLines[2 * i]!, own.newLines[2 * i + 1]!]
    const isBefore = (a: LineSpan, b: LineSpan): boolean =>
      a.end_line < b.start_line && a.new_end_line < b.new_start_line
    const first = from + firstIndex(to - from, at => !isBefore(spans[from + at]!, span))
    for (let change = first; change < to && !isBefore(span, spans[change]!); change++) {
      const both = linesOfBoth(span, spans[change]!)
      if (both === undefined) continue
      if (listed.length === most) return { listed, isCut: true }
      listed.push({ placed, isAll: true, change, place: placed, span: both, newLines: edges })
    }
  }
  return { listed, isCut: false }
}

/** The lines of a plan's places: the requested ones, unless a CRLF was formed at one of them. */
function ownLines(before: Text, after: Text, plan: Plan): Pick<PlaceLines, 'spans' | 'newLines'> {
  const { placements } = plan
  const { spans, newLines } = linesOf(before, after, plan, placements)
  const isCounted = placements.some(
    ({ span, new_start, new_end }) =>
      span !== undefined && (isInsideCrlf(after, new_start) || isInsideCrlf(after, new_end))
  )
  return { spans: isCounted ? spans : spans.map((span, i) => placements[i]!.span ?? span), newLines }
}

/** The lines common to both; undefined if none. */
function linesOfBoth(a: LineSpan, b: LineSpan): LineSpan | undefined {
  const start_line = Math.max(a.start_line, b.start_line)
  const new_start_line = Math.max(a.new_start_line, b.new_start_line)
  const end_line = Math.max(start_line - 1, Math.min(a.end_line, b.end_line))
  const new_end_line = Math.max(new_start_line - 1, Math.min(a.new_end_line, b.new_end_line))
  return end_line < start_line && new_end_line < new_start_line
    ? undefined
    : { start_line, end_line, new_start_line, new_end_line }
}

/** The index of the plan's splice that contains a place, or -1; and whether the place is the whole splice. */
function spliceAround(
  { start, end, new_start, new_end }: PlacedBytes,
  splices: readonly PlacedBytes[]
): { index: number; isWhole: boolean } {
  const isBehind = (at: number): boolean => splices[at]!.start > start || splices[at]!.new_start > new_start
  const index = firstIndex(splices.length, isBehind) - 1
  const splice = splices[index]
  if (splice === undefined || end > splice.end) return { index: -1, isWhole: false }
  const isSame = start === splice.start && end === splice.end
  return { index, isWhole: isSame && new_start === splice.new_start && new_end === splice.new_end }
}

/** The changed lines of the result as disjoint, sorted ranges: changes that share a line share a range. */
function blocksOf(spans: readonly LineSpan[]): [number, number][] {
  const sorted = spans.map(({ new_start_line, new_end_line }): [number, number] => [new_start_line, new_end_line])
  // Sorting an array of one element costs 0.4 KB.
  if (sorted.length > 1) sorted.sort((a, b) => a[0] - b[0] || a[1] - b[1])
  const blocks: [number, number][] = []
  for (const [start, end] of sorted) {
    const last = blocks.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
    else blocks.push([start, end])
  }
  return blocks
}

/**
 * The offsets in the result between which a change's lines are. Functions, because finding them takes long if lines are
 * long.
 */
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
    // If nothing follows a change at the end of the file, the line before it may have no break.
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
 * The start of 1-based `line`, found from an offset on the nearby line `from`; the end of the text for lines after the
 * last.
 */
export function lineStart(text: Text, offset: number, from: number, line: number): number {
  let start = from < line ? lineAround(text, offset).next : startOfLineAround(text, offset)
  for (let number = from; number > line && number > 1; number--) start = startOfLineAround(text, start - 1)
  for (let number = from + 1; number < line; number++) start = lineFrom(text, start).next
  return start
}

/** What a change replaces, including the bytes around it that belong to the compared unit. */
function linesAround(before: Text, { start, end, insert, lead, trail }: ChangedSplice): Pick<Placed, 'old' | 'insert'> {
  const [head, tail] = [before.slice(start - lead, start), before.slice(end, end + trail)]
  return { old: before.slice(start - lead, end + trail), insert: Buffer.concat([head, insert, tail]) }
}

function contentOf({
  old,
  insert
}: Pick<Placed, 'old' | 'insert'>): Pick<LineChange, 'old_content' | 'new_content' | 'lossy'> {
  const was = excerptOf(old, CONTENT_LENGTH)
  const is = excerptOf(insert, CONTENT_LENGTH)
  return {
    old_content: was.text,
    new_content: is.text,
    ...((was.lossy || is.lossy) && { lossy: true as const })
  }
}
