// The unified diff of a set of splices, as git writes it. Only `\n` ends a line here.
import { isUtf8 } from 'node:buffer'
import type { StructuredPatchHunk } from 'diff'
import { diffArrays } from 'diff/lib/diff/array.js'
import { FILE_HEADERS_ONLY, formatPatch } from 'diff/lib/patch/create.js'
import { commonLead, commonTrail } from '../edit/common.ts'
import type { Plan } from '../edit/plan.ts'
import type { Splice, Splices } from '../edit/splice.ts'
import {
  countLfLines,
  lfLineEnd,
  lfLinesBefore,
  lfLinesFrom,
  lfLinesOf,
  lfLinesOfParts,
  lfLineStart
} from '../text/lf-lines.ts'
import { LF } from '../text/lines.ts'
import { Text } from '../text/text.ts'

const CONTEXT = 3
/** Bytes of the lines shown: nobody reads a diff with megabytes of lines, and some would not fit in a string. */
const SHOWN = 1 << 20
/** Lines of a block that are compared to find unchanged ones; larger blocks are shown whole. */
const REFINED = 400

export type Diff = { diff: string; diff_truncated: boolean } | { diff_unavailable: 'not_utf8' | 'too_long' }

/**
 * A stretch of a text, and the splices in it. `lineFeedsBefore`: the number of lines of the whole text before an
 * offset.
 */
export interface DiffPart {
  original: Buffer
  splices: Splices
  lineFeedsBefore(offset: number): number
}

/** `exists`, `remains`: whether the file exists before and after. `path`: relative, with `/` between folders. */
export interface DiffOptions {
  path: string
  exists: boolean
  remains?: boolean
  max_lines: number
}

/**
 * The diff of `original` and its result; empty if nothing changes. Applies with `git apply` and `patch -p1` unless cut.
 * At most `max_lines` lines, headers included, plus a last one that says how many are left out. Unavailable if a line
 * to show isn't UTF-8 (JSON can't carry it), or if those lines exceed 1 MiB. Cost: the lines around the splices, and
 * the line index up to the last line shown; omitted lines are counted, not built.
 */
export const unifiedDiff = (
  original: Buffer,
  { splices, line_index: index }: Pick<Plan, 'splices' | 'line_index'>,
  options: DiffOptions
): Diff => diffOfParts([{ original, splices, lineFeedsBefore: offset => index.lineFeedsBefore(offset) }], options)

/** The diff of a text if only these parts are known; parts are in order, and the lines between them are unchanged. */
export function diffOfParts(parts: readonly DiffPart[], options: DiffOptions): Diff {
  const hunks: StructuredPatchHunk[] = []
  let shown = 2
  let bytes = 0
  let leftOut = 0
  let shift = 0
  for (const { original, splices, lineFeedsBefore } of parts) {
    for (const hunk of hunksOf(original, blocksOf(original, splices))) {
      const { start, oldLines, newLines } = hunk
      const room = options.max_lines - shown - 1
      if (room < 1) leftOut += hunk.lines + 1
      else {
        const lines = linesIn(original, hunk, room)
        bytes += lines.reduce((sum, line) => sum + line.bytes.length, 0)
        if (bytes > SHOWN) return { diff_unavailable: 'too_long' }
        const whole = lines.map(({ sign, bytes }) => ({ sign, bytes: wholeOf(bytes) }))
        // A zero byte means UTF-16, which a record of bytes doesn't state.
        if (!whole.every(({ bytes }) => isUtf8(bytes) && !bytes.includes(0))) return { diff_unavailable: 'not_utf8' }
        const oldStart = 1 + lineFeedsBefore(start)
        hunks.push({ oldStart, oldLines, newStart: oldStart + shift, newLines, lines: whole.flatMap(lineText) })
        shown += lines.length + 1
        leftOut += hunk.lines - lines.length
      }
      shift += newLines - oldLines
    }
  }
  return patchOf(hunks, leftOut, options)
}

function patchOf(hunks: StructuredPatchHunk[], leftOut: number, { path, exists, remains = true }: DiffOptions): Diff {
  if (hunks.length === 0 && leftOut === 0) return { diff: '', diff_truncated: false }
  const patch = formatPatch(
    {
      oldFileName: exists ? `a/${path}` : '/dev/null',
      newFileName: remains ? `b/${path}` : '/dev/null',
      oldHeader: undefined,
      newHeader: undefined,
      hunks
    },
    FILE_HEADERS_ONLY
  )
  const diff = withTabs(patch, path)
  if (leftOut === 0) return { diff, diff_truncated: false }
  return {
    diff: `${diff}… ${leftOut} more lines of this diff left out: raise max_diff_lines to see them\n`,
    diff_truncated: true
  }
}

/** Adds a tab after a file name with a space, as git does; otherwise `patch` ends the name at the space. */
function withTabs(patch: string, path: string): string {
  if (!path.includes(' ')) return patch
  const [old, now] = patch.split('\n', 2) as [string, string]
  const header = [old, now].map(line => (line.endsWith(`/${path}`) ? `${line}\t` : line)).join('\n')
  return header + patch.slice(old.length + now.length + 1)
}

/** A line. One made of several pieces is copied only when it is shown, because it may have megabytes. */
type DiffLine = Buffer | Text

const wholeOf = (line: DiffLine): Buffer => (line instanceof Text ? line.slice(0, line.length) : line)

/** Whole lines of the original, `start` to `end`, `removed` of them, replaced by the `added` lines of `parts`. */
interface Block {
  start: number
  end: number
  removed: number
  added: number
  parts: Buffer[]
}

/** The splices widened to whole lines; those that share a line are joined, then unchanged lines are excluded again. */
function* blocksOf(original: Buffer, { list }: Splices): Generator<Block> {
  // Text appended after a last line without a break is on that line.
  const isOnLastLine = (start: number, end: number) => start === end && end > 0 && original[end - 1] !== LF
  for (let i = 0; i < list.length;) {
    const from = lfLineStart(original, list[i]!.start)
    const parts: Buffer[] = []
    let at = from
    let end = from
    /**
     * `last`: the last byte of the new text; `lineEnd`: the end of the old line that `at` is on, if already searched.
     */
    let last = LF
    let lineEnd = -1
    do {
      const splice: Splice = list[i]!
      parts.push(original.subarray(at, splice.start), splice.insert)
      last = splice.insert.at(-1) ?? (splice.start > at ? original[splice.start - 1]! : last)
      at = splice.end
      i++
      if (last === LF && (at === from || original[at - 1] === LF)) end = at
      else {
        // Many splices may be on one long line: search for its end once.
        if (lineEnd <= at) lineEnd = lfLineEnd(original, at)
        end = lineEnd
      }
    } while (i < list.length && (list[i]!.start < end || list[i]!.start === at || isOnLastLine(list[i]!.start, end)))
    parts.push(original.subarray(at, end))
    yield* refined(from, original.subarray(from, end), new Text(parts))
  }
}

/**
 * The block at `start` that turns the lines `old` into `now`, without the lines that both share; several blocks if
 * shared lines are in the middle. Splits into lines only if there are few: a range may have a hundred million.
 */
function* refined(start: number, old: Buffer, now: Text): Generator<Block> {
  const { lead, trail } = alikeLines(old, now)
  const [oldMiddle, parts] = [old.subarray(lead, old.length - trail), [...now.parts(lead, now.length - trail)]]
  if (oldMiddle.length === 0 && parts.length === 0) return
  let at = start + lead
  const [removed, added] = [countLfLines([oldMiddle]), countLfLines(parts)]
  const canBeCompared = removed > 1 && added > 1 && removed + added <= REFINED
  const [oldLines, newLines] = canBeCompared ? [lfLinesOf(oldMiddle), lfLinesOfParts(parts)] : [[], []]
  if (!shareLines(oldLines, newLines)) {
    yield { start: at, end: at + oldMiddle.length, removed, added, parts }
    return
  }
  let pending: Block | undefined
  for (const step of diffArrays<DiffLine>(oldLines, newLines, { comparator: isSame })) {
    if (step.added || step.removed) {
      pending ??= { start: at, end: at, removed: 0, added: 0, parts: [] }
      if (step.added) {
        pending.added += step.value.length
        pending.parts.push(...step.value.flatMap(line => (line instanceof Text ? line.pieces : line)))
      } else {
        pending.removed += step.value.length
        pending.end = at += sizeOf(step.value)
      }
      continue
    }
    if (pending !== undefined) yield pending
    pending = undefined
    at += sizeOf(step.value)
  }
  if (pending !== undefined) yield pending
}

/** How many bytes two texts have in common at the start, and in the rest at the end, in whole lines. */
function alikeLines(old: Buffer, now: Text): { lead: number; trail: number } {
  let lead = 0
  for (const piece of now.pieces) {
    const count = commonLead(piece, old.subarray(lead))
    lead += count
    if (count < piece.length) break
  }
  if (lead === old.length && lead === now.length) return { lead, trail: 0 }
  lead = lfLineStart(old, lead)
  const most = Math.min(old.length, now.length) - lead
  let trail = 0
  for (const piece of now.pieces.toReversed()) {
    const count = commonTrail(piece, old.subarray(0, old.length - trail), Math.min(piece.length, most - trail))
    trail += count
    if (count < piece.length) break
  }
  const isStart = (at: number, before: number | undefined) => at === lead || before === LF
  const [at, nowAt] = [old.length - trail, now.length - trail]
  if (!isStart(at, old[at - 1]) || !isStart(nowAt, now.byteAt(nowAt - 1))) trail = old.length - lfLineEnd(old, at)
  return { lead, trail }
}

/**
 * Whether a line is on both sides, so that a comparison can find unchanged lines. Linear in the bytes: comparing each
 * pair took a second for ten thousand blocks of 200 lines.
 */
function shareLines(old: readonly Buffer[], now: readonly DiffLine[]): boolean {
  const known = new Set(old.map(line => line.toString('latin1')))
  return now.some(line => known.has(wholeOf(line).toString('latin1')))
}

function isSame(old: DiffLine, now: DiffLine): boolean {
  if (old.length !== now.length) return false
  const whole = wholeOf(old)
  let at = 0
  return (now instanceof Text ? now.pieces : [now]).every(part => part.equals(whole.subarray(at, (at += part.length))))
}

const sizeOf = (lines: readonly DiffLine[]): number => lines.reduce((size, line) => size + line.length, 0)

/** Blocks with the context around and between them, from offset `start` to `end` of the original. */
interface Hunk {
  start: number
  end: number
  blocks: Block[]
  oldLines: number
  newLines: number
  lines: number
}

/** Blocks with their context; blocks whose contexts meet share a hunk. */
function* hunksOf(original: Buffer, blocks: Iterable<Block>): Generator<Hunk> {
  let hunk: Hunk | undefined
  for (const block of blocks) {
    if (hunk !== undefined) {
      const between = lfLinesFrom(original, hunk.end, block.start, 2 * CONTEXT + 1)
      if (between.count <= 2 * CONTEXT) addContext(hunk, between.count)
      else {
        yield endOf(original, hunk)
        hunk = undefined
      }
    }
    if (hunk === undefined) {
      const { count, at } = lfLinesBefore(original, block.start, CONTEXT)
      hunk = { start: at, end: at, blocks: [], oldLines: 0, newLines: 0, lines: 0 }
      addContext(hunk, count)
    }
    const { end, removed, added } = block
    hunk.blocks.push(block)
    hunk.oldLines += removed
    hunk.newLines += added
    hunk.lines += removed + added
    hunk.end = end
  }
  if (hunk !== undefined) yield endOf(original, hunk)
}

/** Ends a hunk with the lines after its last block. */
function endOf(original: Buffer, hunk: Hunk): Hunk {
  const { count, at } = lfLinesFrom(original, hunk.end, original.length, CONTEXT)
  addContext(hunk, count)
  hunk.end = at
  return hunk
}

function addContext(hunk: Hunk, count: number): void {
  hunk.oldLines += count
  hunk.newLines += count
  hunk.lines += count
}

interface HunkLine<L extends DiffLine = DiffLine> {
  sign: ' ' | '-' | '+'
  bytes: L
}

/** The first `most` lines of a hunk. */
function linesIn(original: Buffer, { start, end, blocks }: Hunk, most: number): HunkLine[] {
  const lines: HunkLine[] = []
  const add = (sign: HunkLine['sign'], linesOf: (most: number) => readonly DiffLine[]) => {
    for (const bytes of linesOf(most - lines.length)) lines.push({ sign, bytes })
  }
  let at = start
  for (const block of blocks) {
    if (lines.length === most) break
    add(' ', most => lfLinesOf(original.subarray(at, block.start), most))
    add('-', most => lfLinesOf(original.subarray(block.start, block.end), most))
    add('+', most => lfLinesOfParts(block.parts, most))
    at = block.end
  }
  add(' ', most => lfLinesOf(original.subarray(at, end), most))
  return lines
}

function lineText({ sign, bytes }: HunkLine<Buffer>): string[] {
  const text = sign + bytes.toString()
  return text.endsWith('\n') ? [text.slice(0, -1)] : [text, '\\ No newline at end of file']
}
