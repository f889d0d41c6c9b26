// The unified diff of a set of splices, as git writes it. Only `\n` ends a line here. Knows no operations and no files.
import { isUtf8 } from 'node:buffer'
import { diffArrays, formatPatch, FILE_HEADERS_ONLY, type StructuredPatchHunk } from 'diff'
import { lineIndexOf, type LineIndex } from './line-index.ts'
import type { Splice, Splices } from './splice.ts'

const CONTEXT = 3
const LF = 10
/** Lines of a block that are compared with each other to find those that stayed; larger blocks are shown whole. */
const REFINED = 400

export type Diff = { diff: string, diff_truncated: boolean } | { diff_unavailable: string }

/**
 * The diff of `original` and its result, for `path` (relative, `/` between folders); of a file that doesn't exist yet, from
 * /dev/null. Empty where nothing changes.
 * Applies with `git apply` and `patch -p1` unless cut. At most `max_lines` lines, headers included, then a last one that
 * says how many are left out. Unavailable where a line to be shown isn't UTF-8: JSON can't carry it.
 * Cost: the lines around the splices, and the line index up to the last of them.
 */
export function unifiedDiff (original: Buffer, splices: Splices, options: { path: string, exists: boolean, max_lines: number }): Diff {
  const hunks: StructuredPatchHunk[] = []
  let shown = 2
  let leftOut = 0
  for (const hunk of hunksOf(original, blocksOf(original, splices), lineIndexOf(splices, original))) {
    const room = options.max_lines - shown - 1
    if (room < 1) {
      leftOut += hunk.lines.length + 1
      continue
    }
    const lines = hunk.lines.slice(0, room)
    if (!lines.every(({ bytes }) => isUtf8(bytes))) {
      return { diff_unavailable: 'The changed lines, or those beside them, hold bytes that are not UTF-8, which JSON cannot carry.' }
    }
    hunks.push({ oldStart: hunk.oldStart, oldLines: hunk.oldLines, newStart: hunk.newStart, newLines: hunk.newLines, lines: lines.flatMap(lineText) })
    shown += lines.length + 1
    leftOut += hunk.lines.length - lines.length
  }
  if (hunks.length === 0 && leftOut === 0) return { diff: '', diff_truncated: false }
  const patch = formatPatch({ oldFileName: options.exists ? `a/${options.path}` : '/dev/null', newFileName: `b/${options.path}`, oldHeader: undefined, newHeader: undefined, hunks }, FILE_HEADERS_ONLY)
  const diff = withTabs(patch, options.path)
  if (leftOut === 0) return { diff, diff_truncated: false }
  return { diff: `${diff}… ${leftOut} more lines of this diff left out: raise max_diff_lines to see them\n`, diff_truncated: true }
}

/** As git does: after a name with a space in it, a tab, or `patch` takes the name to end there. */
function withTabs (patch: string, path: string): string {
  if (!path.includes(' ')) return patch
  const [old, now] = patch.split('\n', 2) as [string, string]
  const header = [old, now].map(line => line.endsWith(`/${path}`) ? `${line}\t` : line).join('\n')
  return header + patch.slice(old.length + now.length + 1)
}

/** Whole lines of the original, `start` to `end`, that give way to `lines`. */
interface Block { start: number, end: number, lines: Buffer[] }

/** The splices widened to whole lines, those that share a line joined, and lines that stayed taken out again. */
function * blocksOf (original: Buffer, { list }: Splices): Generator<Block> {
  for (let i = 0; i < list.length;) {
    const from = list[i]!.start === 0 ? 0 : original.lastIndexOf(LF, list[i]!.start - 1) + 1
    const parts: Buffer[] = []
    let at = from
    let end = from
    /** The last byte of the new text, and the end of the old line that `at` is on, as far as it was looked for. */
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
        // Many splices may be on one long line: its end is looked for once.
        if (lineEnd <= at) lineEnd = original.indexOf(LF, at) + 1 || original.length
        end = lineEnd
      }
    } while (i < list.length && (list[i]!.start < end || list[i]!.start === at))
    parts.push(original.subarray(at, end))
    yield * refined(original, { start: from, end, lines: linesOf(Buffer.concat(parts)) })
  }
}

function linesOf (bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const next = bytes.indexOf(LF, at)
    const end = next === -1 ? bytes.length : next + 1
    lines.push(bytes.subarray(at, end))
    at = end
  }
  return lines
}

/** A block without the lines that both sides share; several where there are such in the middle. */
function * refined (original: Buffer, block: Block): Generator<Block> {
  const old = linesOf(original.subarray(block.start, block.end))
  const { lines } = block
  let lead = 0
  while (lead < old.length && lead < lines.length && old[lead]!.equals(lines[lead]!)) lead++
  let trail = 0
  while (trail < old.length - lead && trail < lines.length - lead && old.at(-1 - trail)!.equals(lines.at(-1 - trail)!)) trail++
  const oldMiddle = old.slice(lead, old.length - trail)
  const newMiddle = lines.slice(lead, lines.length - trail)
  let at = block.start + sizeOf(old.slice(0, lead))
  const small = oldMiddle.length > 1 && newMiddle.length > 1 && oldMiddle.length + newMiddle.length <= REFINED
  const steps = small ? diffArrays(oldMiddle, newMiddle, { comparator: (a, b) => a.equals(b) }) : []
  if (!small && oldMiddle.length + newMiddle.length > 0) yield { start: at, end: at + sizeOf(oldMiddle), lines: newMiddle }
  let pending: Block | undefined
  for (const step of steps) {
    if (step.added || step.removed) {
      pending ??= { start: at, end: at, lines: [] }
      if (step.added) pending.lines.push(...step.value)
      else pending.end = at += sizeOf(step.value)
      continue
    }
    if (pending !== undefined) yield pending
    pending = undefined
    at += sizeOf(step.value)
  }
  if (pending !== undefined) yield pending
}

const sizeOf = (lines: readonly Buffer[]): number => lines.reduce((size, line) => size + line.length, 0)

interface HunkLine { sign: ' ' | '-' | '+', bytes: Buffer }
interface Hunk { oldStart: number, oldLines: number, newStart: number, newLines: number, lines: HunkLine[] }

/** Blocks with their context; those whose contexts meet share a hunk. */
function * hunksOf (original: Buffer, blocks: Iterable<Block>, index: LineIndex): Generator<Hunk> {
  let shift = 0
  let hunk: Hunk | undefined
  let after = 0
  for (const block of blocks) {
    if (hunk !== undefined) {
      const between = linesUpTo(original, after, block.start, 2 * CONTEXT + 1)
      if (between.length <= 2 * CONTEXT) addContext(hunk, between)
      else {
        addContext(hunk, between.slice(0, CONTEXT))
        yield hunk
        shift += hunk.newLines - hunk.oldLines
        hunk = undefined
      }
    }
    if (hunk === undefined) {
      const context = linesBefore(original, block.start, CONTEXT)
      const start = block.start - sizeOf(context)
      const line = 1 + index.feedsBefore(start)
      hunk = { oldStart: line, oldLines: 0, newStart: line + shift, newLines: 0, lines: [] }
      addContext(hunk, context)
    }
    const old = linesOf(original.subarray(block.start, block.end))
    hunk.lines.push(...old.map(bytes => ({ sign: '-' as const, bytes })), ...block.lines.map(bytes => ({ sign: '+' as const, bytes })))
    hunk.oldLines += old.length
    hunk.newLines += block.lines.length
    after = block.end
  }
  if (hunk === undefined) return
  addContext(hunk, linesUpTo(original, after, original.length, CONTEXT))
  yield hunk
}

function addContext (hunk: Hunk, lines: readonly Buffer[]): void {
  for (const bytes of lines) hunk.lines.push({ sign: ' ', bytes })
  hunk.oldLines += lines.length
  hunk.newLines += lines.length
}

/** At most `most` lines from `start`, none that begins at `end` or later. */
function linesUpTo (original: Buffer, start: number, end: number, most: number): Buffer[] {
  const lines: Buffer[] = []
  for (let at = start; at < end && lines.length < most;) {
    const next = original.indexOf(LF, at)
    const stop = next === -1 ? original.length : next + 1
    lines.push(original.subarray(at, stop))
    at = stop
  }
  return lines
}

/** At most `most` lines that end at `end`. */
function linesBefore (original: Buffer, end: number, most: number): Buffer[] {
  const lines: Buffer[] = []
  for (let at = end; at > 0 && lines.length < most;) {
    const start = at < 2 ? 0 : original.lastIndexOf(LF, at - 2) + 1
    lines.unshift(original.subarray(start, at))
    at = start
  }
  return lines
}

function lineText ({ sign, bytes }: HunkLine): string[] {
  const text = sign + bytes.toString()
  return text.endsWith('\n') ? [text.slice(0, -1)] : [text, '\\ No newline at end of file']
}
