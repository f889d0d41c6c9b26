// The planner of /edit-lines: replaces, inserts, deletes and appends whole lines.
import { fail, ok, type Result } from '../../result.ts'
import { warningsOfNewText } from '../edit/new-text-warnings.ts'
import { PieceTable, type PlaceOperation, type Replacement } from '../edit/piece-table.ts'
import { explainMismatch } from '../explain/explain-lines.ts'
import type { LineFailure, ResultTooLarge, TakesLong } from '../failure.ts'
import { isRangeIn, LAST_LINE, type LineEdit } from '../edit/request.ts'
import { LineIndex } from '../text/line-index.ts'
import { breakBetween, BreakFinder, breakStyleOf, type LineEndings } from '../text/eol.ts'
import { breakAt, breakBefore, isLineEnd, isLineStart, lineStarts, markLength, splitAtBreaks } from '../text/lines.ts'
import type { Match } from '../match/locate.ts'
import type { Plan } from '../edit/plan.ts'
import { type WorkWithin, fitsWorkBudget } from '../suggest/suggest.ts'
import { Text } from '../text/text.ts'

interface LineOptions {
  line_endings: LineEndings
  /** Bytes. */
  max_result_size: number
  /** The line break in a text that has none; default: `\n`. */
  line_break?: '\n' | '\r\n' | undefined
  /** Only the result matters: skips warnings about new texts, which take a third of the time for long texts. */
  trial?: true
}

/**
 * An edit with its byte range: from the `start` of its first line to the `end` of its last one, break included, or only
 * the bytes `inside` its line; empty for an insertion.
 */
interface Range {
  readonly index: number
  readonly edit: LineEdit
  start: number
  end: number
  /**
   * The inserted text; non-empty text of whole lines ends with a break, which may be removed at the end of the file.
   */
  text: string
}

/**
 * Plans edits of whole lines, numbered as in the original. Adds a missing final break to `new_text` if a line follows.
 * At the end of the file: text without a final break leaves the last line terminated or not as it was; text with one
 * ends the file with it; deleting the last lines keeps the state as it was (except that an empty line keeps its break,
 * because it would vanish without). Fails with the first edit whose lines don't exist or whose `expected_text` doesn't
 * match, with two edits that overlap (an insertion before or after a replaced range doesn't), or with a result over
 * `max_result_size`; with `work_within`, with TAKES_LONG if a mismatch takes long to explain.
 */
export function planLineEdits(
  original: Buffer,
  edits: readonly LineEdit[],
  options: LineOptions
): Result<Plan, LineFailure>
export function planLineEdits(
  original: Buffer,
  edits: readonly LineEdit[],
  options: LineOptions & WorkWithin
): Result<Plan, LineFailure | TakesLong>
export function planLineEdits(
  original: Buffer,
  sent: readonly LineEdit[],
  { work_within = Infinity, ...options }: LineOptions & Partial<WorkWithin>
): Result<Plan, LineFailure | TakesLong> {
  const text = new Text([original])
  const edits = withLastLine(sent, text)
  const { offsets, total } = lineStarts(
    text,
    edits.flatMap(({ start_line, end_line }) => [start_line, end_line + 1])
  )
  const found = rangesOf(edits, { offsets, total_lines: total, sent })
  if (!found.ok) return found
  const ranges = found.value
  const lines = new LineIndex(original)
  const mismatch = mismatchIn({ original, text, lines }, ranges, options.line_endings, work_within)
  if (mismatch !== undefined) return fail(mismatch)
  const style = breakStyleOf(original, lines)
  const isCrlf = style.ending === 'none' && options.line_break === '\r\n'
  const breaks = new BreakFinder(text, isCrlf ? { ...style, ending: 'crlf' } : style)
  for (const range of ranges) write(range, text, breaks, options.line_endings)
  settleEnd(ranges, text, breaks)
  const replacements = replacementsOf(ranges, total)
  const tooLarge = excessOf(original.length, replacements, options.max_result_size)
  if (tooLarge !== undefined) return fail(tooLarge)
  const draft = new PieceTable(original)
  draft.replace(replacements)
  const splices = draft.splices()
  const placements = draft.placed().sort((a, b) => a.edit_index - b.edit_index)
  const newTextWarnings = options.trial
    ? []
    : edits.flatMap((edit, i) =>
        warningsOfNewText(edit.new_text, original.subarray(offsets[2 * i], offsets[2 * i + 1]), i)
      )
  return ok({
    splices,
    line_index: lines,
    pieces: splices.apply(original),
    placements,
    edits_applied: [],
    left_alone: [],
    newTextWarnings
  })
}

/**
 * The edits with the number of the last line in place of LAST_LINE; but an edit from a line after it to LAST_LINE stays,
 * since no lines are from there to the last one.
 */
function withLastLine(edits: readonly LineEdit[], text: Text): readonly LineEdit[] {
  if (!edits.some(({ start_line, end_line }) => start_line === LAST_LINE || end_line === LAST_LINE)) return edits
  const { total } = lineStarts(text, [])
  return edits.map(edit => {
    const start_line = edit.start_line === LAST_LINE ? total : edit.start_line
    const end_line = edit.end_line === LAST_LINE && start_line <= total ? total : edit.end_line
    return { ...edit, start_line, end_line }
  })
}

/**
 * The ranges in order, or the first edit whose lines don't exist, or two that overlap. `offsets`: where the first line
 * of each edit begins, and the line after its last one. `sent`: the edits with the numbers that a failure names.
 */
function rangesOf(
  edits: readonly LineEdit[],
  { offsets, total_lines, sent }: { offsets: readonly number[]; total_lines: number; sent: readonly LineEdit[] }
): Result<Range[], LineFailure> {
  const total_edits = edits.length
  const ranges: Range[] = []
  for (const [index, edit] of edits.entries()) {
    const { inside } = edit
    if (!isRangeIn(edit, total_lines)) {
      const { start_line, end_line } = sent[index]!
      return fail({ code: 'LINE_OUT_OF_RANGE', edit_index: index, total_edits, total_lines, start_line, end_line })
    }
    const [first, next] = [offsets[2 * index]!, offsets[2 * index + 1]!]
    ranges.push({
      index,
      edit,
      start: first + (inside?.start ?? 0),
      end: inside === undefined ? next : first + inside.end,
      text: edit.new_text
    })
  }
  // An insertion comes before the replacement of the same line; otherwise the sort keeps the order of the request.
  ranges.sort(
    (a, b) => a.edit.start_line - b.edit.start_line || Number(isInsertion(b.edit)) - Number(isInsertion(a.edit))
  )
  const overlap = ranges.findIndex(({ edit }, i) => i > 0 && edit.start_line <= reach(ranges, i))
  if (overlap === -1) return ok(ranges)
  const other = ranges.slice(0, overlap).find(({ edit }) => edit.end_line >= ranges[overlap]!.edit.start_line)!
  const [first, second] = [other, ranges[overlap]!].sort((a, b) => a.index - b.index)
  return fail({
    code: 'OVERLAPPING_EDITS',
    edit_index: second!.index,
    total_edits,
    other_edit_index: first!.index,
    lines: linesOf(second!.edit),
    other_lines: linesOf(first!.edit)
  })
}

/** The first edit, in the order of the request, whose `expected_text` isn't what its lines hold. */
function mismatchIn(
  { original, text, lines }: { original: Buffer; text: Text; lines: LineIndex },
  ranges: readonly Range[],
  lineEndings: LineEndings,
  work_within: number
): LineFailure | TakesLong | undefined {
  for (const { edit, index, start, end } of [...ranges].sort((a, b) => a.index - b.index)) {
    if (edit.expected_text === undefined || holds(text, { start, end }, edit.expected_text, lineEndings)) continue
    if (!fitsWorkBudget(text.length, edit.expected_text, work_within)) return { code: 'TAKES_LONG' }
    return explainMismatch(original, lines, edit, { start, end }, { edit_index: index, total_edits: ranges.length })
  }
  return undefined
}

/** The ranges as replacements, with the lines that each has in the original and in the result. */
function replacementsOf(ranges: readonly Range[], total: number): Replacement[] {
  let shift = 0
  return ranges.map(({ index, edit, start, end, text }) => {
    const { start_line, end_line } = edit
    const new_start_line = start_line + shift
    const new_end_line = new_start_line + countOf(edit) - 1
    shift += new_end_line - new_start_line - (end_line - start_line)
    return {
      edit_index: index,
      operation: operationOf(edit, total),
      start,
      end,
      insert: Buffer.from(text),
      span: { start_line, end_line, new_start_line, new_end_line }
    }
  })
}

/** The failure if the result has more than `limit` bytes; it names the edit that inserts the most. */
function excessOf(length: number, replacements: readonly Replacement[], limit: number): ResultTooLarge | undefined {
  const actual = replacements.reduce((sum, { start, end, insert }) => sum + insert.length - (end - start), length)
  if (actual <= limit) return undefined
  const { edit_index } = [...replacements].sort((a, b) => b.insert.length - a.insert.length)[0]!
  return { code: 'RESULT_TOO_LARGE', what: 'bytes', edit_index, total_edits: replacements.length, limit, actual }
}

const isInsertion = ({ start_line, end_line }: LineEdit): boolean => end_line < start_line

const linesOf = ({ start_line, end_line }: LineEdit): [number, number] => [start_line, end_line]

/** The last line replaced by the range before `index`. */
const reach = (ranges: readonly Range[], index: number): number => ranges[index - 1]!.edit.end_line

function operationOf(edit: LineEdit, total: number): PlaceOperation {
  if (isInsertion(edit)) return edit.start_line > total ? 'append' : 'insert'
  return edit.new_text === '' ? 'delete' : 'replace'
}

/** Whether lines match the caller's expectation, with or without the break of the last line. */
function holds(text: Text, { start, end }: Match, expected: string, lineEndings: LineEndings): boolean {
  let at = start
  for (const [i, line] of (lineEndings === 'exact' ? [expected] : splitAtBreaks(expected)).entries()) {
    if (i > 0) {
      if (at >= end || !isLineEnd(text, at)) return false
      at = breakAt(text, at).end
    }
    const bytes = Buffer.from(line)
    if (!text.holds(bytes, at)) return false
    at += bytes.length
  }
  return at === end || (at < end && at === breakBefore(text, end)?.start)
}

/** Ends whole-line text with a break, and gives all its breaks the form that the place requires. */
function write(range: Range, text: Text, breaks: BreakFinder, lineEndings: LineEndings): void {
  if (range.text === '') return
  const ends = range.edit.inside !== undefined || ENDS_LINE.test(range.text)
  if (lineEndings === 'exact') {
    range.text += ends ? '' : breakBetween(breaks.kindAt(range.start), -1, text.byteAt(range.end))
  } else range.text = breaks.adapt(ends ? range.text : `${range.text}\n`, range)
}

/** How many lines a new text has, including what remains of the line that it is inserted into. */
const countOf = ({ new_text, inside }: LineEdit): number =>
  splitAtBreaks(new_text).length - (inside === undefined && (new_text === '' || ENDS_LINE.test(new_text)) ? 1 : 0)

const ENDS_LINE = /[\r\n]$/
/** The break of the last line, unless that line is empty. */
const LAST_BREAK = /(?<=[^\r\n])(?:\r\n|\n|\r)$/

/** Applies the rules for the end of the file; ranges are sorted, and their texts end with breaks. */
function settleEnd(ranges: Range[], text: Text, breaks: BreakFinder): void {
  const terminated = text.length > markLength(text) && isLineStart(text, text.length)
  const tail = ranges.filter(({ end }) => end === text.length)
  if (terminated || tail.length === 0) return
  const last = tail.findLast(range => range.text !== '')
  if (last !== undefined) {
    // The last line has no break, so text after it must bring one.
    const first = tail.find(range => range.text !== '' || !isInsertion(range.edit))!
    if (isInsertion(first.edit) && text.length > markLength(text)) {
      first.text = breakBetween(breaks.kindAt(first.start), -1, first.text.charCodeAt(0)) + first.text
    }
    if (!ENDS_LINE.test(last.edit.new_text)) last.text = last.text.replace(LAST_BREAK, '')
    return
  }
  // If the last lines are deleted, the new last line loses its break too.
  let from = tail.findIndex(({ edit }) => !isInsertion(edit))
  if (from === -1) return
  from += ranges.length - tail.length
  while (from > 0 && ranges[from - 1]!.end === ranges[from]!.start && ranges[from - 1]!.text === '') from--
  const gone = ranges[from]!
  const before = ranges[from - 1]
  const replaced = before !== undefined && before.end === gone.start ? before : undefined
  if (replaced !== undefined) replaced.text = replaced.text.replace(LAST_BREAK, '')
  if (replaced === undefined || !isInsertion(replaced.edit)) gone.start = breakStart(text, gone.start)
  if (replaced !== undefined && !isInsertion(replaced.edit)) replaced.end = gone.start
}

/**
 * The start of the break that ends at `end`; `end` itself if the line before is empty, because that line would vanish
 * without its break.
 */
function breakStart(text: Text, end: number): number {
  const last = breakBefore(text, end)
  return last === undefined || isLineStart(text, last.start) ? end : last.start
}
