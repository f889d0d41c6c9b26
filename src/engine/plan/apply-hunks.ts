// The planner of patches: applies hunks, each located by its lines.
import { fail, ok, type Result } from '../../result.ts'
import type { LineEdit } from '../edit/request.ts'
import type { Plan } from '../edit/plan.ts'
import { explainMisfit } from '../explain/explain-hunk.ts'
import type { HunkFailure, ResultTooLarge, TakesLong } from '../failure.ts'
import { FileLines } from '../patch/file-lines.ts'
import { type Hunk, oldLines } from '../patch/hunk.ts'
import { type HunkPlace, placeHunks } from '../patch/place-hunks.ts'
import { type WorkWithin, fitsWorkBudget } from '../suggest/suggest.ts'
import { planLineEdits } from './replace-lines.ts'

/** Work (see `fitsWorkBudget`) per hunk. */
const CHANGE = 1000

interface HunkOptions {
  /** Bytes. */
  max_result_size: number
  /** The line break in a file that has none; default: `\n`. */
  line_break?: '\n' | '\r\n' | undefined
}

/**
 * Plans the hunks of a patch on a text without NUL, by the rule of place-hunks.ts. Replaces only lines that differ.
 * Line breaks are those of the place, else `line_break`; the file keeps or lacks its final break as before, except that
 * an empty last line keeps its break, and a file without lines ends with one afterwards. Fails with the first hunk that has no place, or
 * with a result over `max_result_size`; with `work_within`, with TAKES_LONG if many hunks are searched in many lines,
 * or if a miss takes long to explain.
 */
export function planHunks(
  original: Buffer,
  hunks: readonly Hunk[],
  options: HunkOptions
): Result<Plan, HunkFailure | ResultTooLarge>
export function planHunks(
  original: Buffer,
  hunks: readonly Hunk[],
  options: HunkOptions & WorkWithin
): Result<Plan, HunkFailure | ResultTooLarge | TakesLong>
export function planHunks(
  original: Buffer,
  hunks: readonly Hunk[],
  { max_result_size, line_break, work_within = Infinity }: HunkOptions & Partial<WorkWithin>
): Result<Plan, HunkFailure | ResultTooLarge | TakesLong> {
  if (hunks.length * CHANGE > work_within) return fail({ code: 'TAKES_LONG' })
  const file = new FileLines(original)
  // Each hunk of lines that the file has often costs a pass over all its lines.
  if (hunks.length * file.count > work_within) return fail({ code: 'TAKES_LONG' })
  const placed = placeHunks(file, hunks)
  if (!placed.ok) {
    const sought = oldLines(hunks[placed.failure.hunk_index]!).join('\n')
    if (!fitsWorkBudget(original.length, sought, work_within)) return fail({ code: 'TAKES_LONG' })
    return fail(explainMisfit(file, hunks, placed.failure))
  }
  const edits: LineEdit[] = []
  /** The hunk of each edit. */
  const owners: number[] = []
  for (const [index, hunk] of hunks.entries()) {
    for (const edit of editsOf(file, hunk, placed.value[index]!)) {
      edits.push(edit)
      owners.push(index)
    }
  }
  const planned = planLineEdits(original, edits, { line_endings: 'adapt', max_result_size, line_break })
  if (!planned.ok) return fail(tooLarge(planned.failure as ResultTooLarge, owners, hunks.length))
  const { placements, newTextWarnings, ...plan } = planned.value
  return ok({
    ...plan,
    placements: placements.map(placed => ({ ...placed, edit_index: owners[placed.edit_index]! })),
    newTextWarnings: newTextWarnings.map(warning => ({ ...warning, edit_index: owners[warning.edit_index]! }))
  })
}

/** Edits of lines that were already located can fail only by the size of the result. */
const tooLarge = (failure: ResultTooLarge, owners: readonly number[], total_edits: number): ResultTooLarge => ({
  ...failure,
  edit_index: owners[failure.edit_index]!,
  total_edits
})

/** The changes of a hunk: an edit for each run of lines between those it keeps. */
function* editsOf(file: FileLines, { lines }: Hunk, { first }: HunkPlace): Generator<LineEdit> {
  let at = first
  let removed: string[] = []
  let added: string[] = []
  const flush = function* (): Generator<LineEdit> {
    const edit = editOf(file, at - removed.length, removed, added)
    removed = []
    added = []
    if (edit !== undefined) yield edit
  }
  for (const { kind, text } of lines) {
    if (kind === 'add') added.push(text)
    else {
      if (kind === 'keep') {
        yield* flush()
        // There is no line after the end yet: adding text below it creates one.
        if (at === file.count) added.push(text)
        else at++
      } else {
        at++
        removed.push(text)
      }
    }
  }
  // Anything left after a kept line is the line after the end, which isn't created.
  if (lines.at(-1)?.kind !== 'keep') yield* flush()
}

/** The edit of lines from the 0-based line `at`; undefined if nothing differs. */
function editOf(
  file: FileLines,
  at: number,
  removed: readonly string[],
  added: readonly string[]
): LineEdit | undefined {
  let head = 0
  while (head < removed.length && head < added.length && removed[head] === added[head]) head++
  let tail = 0
  const most = Math.min(removed.length, added.length) - head
  while (tail < most && removed.at(-1 - tail) === added.at(-1 - tail)) tail++
  const put = added.slice(head, added.length - tail)
  const gone = removed.length - head - tail
  if (put.length === 0 && gone === 0) return undefined
  const start_line = at + head + 1
  return { start_line, end_line: start_line + gone - 1, new_text: textOf(file, put, at + head + gone) }
}

/**
 * Whole lines as text. At the end of a file without a final break, the last line gets none either, unless it is empty.
 */
function textOf(file: FileLines, lines: readonly string[], behind: number): string {
  const isOpen = behind === file.count && !file.isEnded && lines.at(-1) !== ''
  return lines.join('\n') + (isOpen || lines.length === 0 ? '' : '\n')
}
