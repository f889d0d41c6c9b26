// The planner of /edit: replaces exact text, in one or several successive edits.
import { fail, ok, type Result } from '../../result.ts'
import { type NewTextWarning, warningsOfNewText } from '../edit/new-text-warnings.ts'
import { PieceTable, type Replacement } from '../edit/piece-table.ts'
import { repeatedAt } from '../explain/already-applied.ts'
import { explainAlreadyApplied, explainOutOfRange, explainWrongCount, type FailedEdit } from '../explain/explain.ts'
import { explainNoMatch } from '../explain/explain-no-match.ts'
import { withLaterEdits } from '../explain/later-edits.ts'
import type { ResultTooLarge, TextFailure, TakesLong } from '../failure.ts'
import type { TextEdit } from '../edit/request.ts'
import { LineIndex } from '../text/line-index.ts'
import { BreakFinder, type BreakStyle, breakStyleOf, type LineEndings } from '../text/eol.ts'
import { ANY_BREAK, withBreaksOf } from '../text/lines.ts'
import type { Text } from '../text/text.ts'
import { type Found, locate, type Match, Needle, type Places, soughtBytes } from '../match/locate.ts'
import type { EditApplied, LeftAlone, Plan } from '../edit/plan.ts'
import { requiredCount } from '../edit/request.ts'
import { OccurrenceIndex } from '../match/occurrence-index.ts'
import { type WorkWithin, fitsWorkBudget } from '../suggest/suggest.ts'

/** How many places one request may replace: each one takes memory. */
export const MAX_REPLACEMENTS = 1_000_000

/** Work (see `suggestWork`) per replaced place. */
const PLACE = 1000

export interface TextOptions {
  line_endings: LineEndings
  /** Bytes. Checked after each edit, before the text is built. */
  max_result_size: number
  /** A million, unless memory is too small for that. */
  max_replacements?: number
  /** Repeat an edit that seems to have been made already: the caller knows the state of the file. */
  allow_repeat?: boolean
}

/**
 * Plans edits on a text without NUL. Each edit applies to the result of the earlier ones and counts its matches there;
 * matches are counted left to right without overlaps, but if exactly one is required, overlapping ones count too.
 * `edits` must be valid: `old_text` isn't empty; `replace_all: true` and `occurrence` aren't both given. Fails with the
 * first edit that can't be made: no match, already made, wrong count, no such occurrence, a result over
 * `max_result_size`, or more replaced places than `max_replacements`; its correction includes those of later failing
 * edits. With `work_within`, fails with TAKES_LONG if many places are replaced, or a miss takes long to explain.
 */
export function planTextEdits(
  original: Buffer,
  edits: readonly TextEdit[],
  options: TextOptions
): Result<Plan, TextFailure>
export function planTextEdits(
  original: Buffer,
  edits: readonly TextEdit[],
  options: TextOptions & WorkWithin
): Result<Plan, TextFailure | TakesLong>
export function planTextEdits(
  original: Buffer,
  edits: readonly TextEdit[],
  options: TextOptions & Partial<WorkWithin>
): Result<Plan, TextFailure | TakesLong> {
  const { work_within = Infinity } = options
  const planned = planInTurn(original, edits, work_within, options)
  if (planned.ok || planned.failure.code === 'TAKES_LONG') return planned
  return fail(
    withLaterEdits(planned.failure, edits, original.length, work_within, (corrected, within) =>
      planInTurn(original, corrected, within, options)
    )
  )
}

/** Plans as `planTextEdits` does, without corrections of later edits. */
function planInTurn(
  original: Buffer,
  edits: readonly TextEdit[],
  work_within: number,
  { line_endings, max_result_size, max_replacements = MAX_REPLACEMENTS, allow_repeat = false }: TextOptions
): Result<Plan, TextFailure | TakesLong> {
  const draft = new PieceTable(original)
  const lines = new LineIndex(original)
  const style = breakStyleOf(original, lines)
  const applied: EditApplied[] = []
  const leftAlone: Others[] = []
  const newTextWarnings: NewTextWarning[] = []
  const needles = edits.map(({ old_text, whole_word }) => new Needle(old_text, whole_word))
  const occurrences = new OccurrenceIndex(needles.map(needle => soughtBytes(needle, line_endings, style.ending)))
  for (let edit_index = 0; edit_index < edits.length; edit_index++) {
    const edit = edits[edit_index]!
    const needle = needles[edit_index]!
    const seen = occurrences.find(edit_index, draft.text)
    const text = seen === undefined ? draft.searchable() : draft.text
    const found = locate(text, needle, line_endings, style.ending, seen)
    // Assigned member by member: a spread takes a microsecond.
    const failed: FailedEdit = {
      draft,
      line_index: lines,
      edit,
      needle,
      line_endings,
      ending: style.ending,
      edit_index,
      total_edits: edits.length
    }
    const missing = found.all.count < (requiredCount(edit) ?? 1)
    if (missing && !fitsWorkBudget(text.length, edit.old_text, work_within)) return fail({ code: 'TAKES_LONG' })
    if (found.all.count === 0) return fail(explainNoMatch(failed))
    const chosen = choose(edit, found)
    if (!chosen.ok) {
      return fail(
        chosen.failure === 'count' ? explainWrongCount({ ...failed, found }) : explainOutOfRange({ ...failed, found })
      )
    }
    const repeated = allow_repeat || found.all.count !== 1 ? undefined : repeatedAt(failed, edit, found.all.at(0))
    if (repeated !== undefined) return fail(explainAlreadyApplied(failed, repeated))
    const [from, to] = chosen.value
    const total = draft.placements.length + to - from
    if (total > max_replacements) {
      return fail(tooLarge({ what: 'replacements', limit: max_replacements, actual: total }, failed))
    }
    if (total * PLACE > work_within) return fail({ code: 'TAKES_LONG' })
    const insertFor = inserter(edit, line_endings, text, style)
    const operation = edit.new_text === '' ? 'delete' : 'replace'
    const replacements = found.matches.slice(from, to).map((match): Replacement => ({
      edit_index,
      operation,
      start: match.start,
      end: match.end,
      insert: insertFor(match)
    }))
    const size = sizeAfter(text.length, replacements)
    if (size > max_result_size) {
      return fail(tooLarge({ what: 'bytes', limit: max_result_size, actual: size }, failed))
    }
    applied.push({
      edit_index,
      occurrences_found: found.matches.count,
      occurrences_replaced: to - from,
      matched_with: found.exact ? 'exact' : 'line_endings'
    })
    if (to - from < found.matches.count) {
      leftAlone.push({ edit_index, count: found.matches.count - 1, starts: othersOf(draft, found.matches, from) })
    }
    for (const warning of warningsOfNewText(edit.new_text, needle.bytes, edit_index)) newTextWarnings.push(warning)
    draft.replace(replacements)
    occurrences.changed(edit_index, draft.text, replacements)
    // A text without line breaks gets `\n`; in any other text, adapted insertions keep its line ending.
    if (style.ending === 'none' && edit.new_text.search(ANY_BREAK) !== -1) style.ending = 'lf'
  }
  const splices = draft.splices()
  return ok({
    splices,
    line_index: lines,
    pieces: splices.apply(original),
    placements: draft.placed(),
    edits_applied: applied,
    left_alone: inLines(lines, leftAlone),
    newTextWarnings
  })
}

const tooLarge = (
  excess: Pick<ResultTooLarge, 'what' | 'limit' | 'actual'>,
  { edit_index, total_edits }: FailedEdit
): ResultTooLarge => ({ code: 'RESULT_TOO_LARGE', ...excess, edit_index, total_edits })

/** The matches to replace, as an index range, or what is wrong with their number. */
function choose(edit: TextEdit, { matches, all }: Found): Result<[number, number], 'count' | 'occurrence'> {
  const required = requiredCount(edit)
  if (required !== undefined && required !== (required === 1 ? all.count : matches.count)) return fail('count')
  switch (edit.occurrence) {
    case undefined:
    case 'all':
      return ok([0, matches.count])
    case 'first':
      return ok([0, 1])
    case 'last':
      return ok([matches.count - 1, matches.count])
    default:
      return edit.occurrence > matches.count ? fail('occurrence') : ok([edit.occurrence - 1, edit.occurrence])
  }
}

function sizeAfter(length: number, replacements: readonly Replacement[]): number {
  return replacements.reduce((size, { start, end, insert }) => size + insert.length - (end - start), length)
}

/** Matches that were left alone; `starts`: the starts of the first 20 in the original. */
interface Others extends Omit<LeftAlone, 'lines'> {
  starts: number[]
}

/** The starts, in the original, of the first 20 matches other than the chosen one. */
function othersOf(draft: PieceTable, matches: Places, chosen: number): number[] {
  const others = matches
    .slice(0, 21)
    .filter((_, index) => index !== chosen)
    .slice(0, 20)
  return others.map(({ start, end }) => draft.originOf(start, end).start)
}

/** Converts the starts of all edits to lines. */
function inLines(index: LineIndex, all: readonly Others[]): LeftAlone[] {
  if (all.length === 0) return []
  const { lines } = index.lineNumbers(all.flatMap(({ starts }) => starts))
  let at = 0
  return all.map(({ edit_index, count, starts }) => {
    at += starts.length
    return { edit_index, count, lines: lines.slice(at - starts.length, at) }
  })
}

/**
 * Returns a function that gives the replacement bytes of a match; call it for matches from left to right. Builds each
 * text once.
 */
function inserter(
  { new_text }: TextEdit,
  lineEndings: LineEndings,
  searched: Text,
  style: BreakStyle
): (match: Match) => Buffer {
  const everywhere = lineEndings === 'exact' ? new_text : withBreaksOf(style.ending, new_text)
  if (everywhere !== undefined) {
    const bytes = Buffer.from(everywhere)
    return () => bytes
  }
  const breaks = new BreakFinder(searched, style)
  const made = new Map<string, Buffer>()
  return match => {
    const text = breaks.adapt(new_text, match)
    let bytes = made.get(text)
    if (bytes === undefined) made.set(text, (bytes = Buffer.from(text)))
    return bytes
  }
}
