// The facts about a failed edit: what is there, where, and which edits would work. Does not know sentences or status
// codes.
import { firstIndex } from '../text/bisect.ts'
import type { PieceTable } from '../edit/piece-table.ts'
import { decode, excerpt, excerptOf, ShownLine, utf16Length } from '../text/encoding.ts'
import type {
  AlreadyApplied,
  EditFix,
  EditPosition,
  Fix,
  FixedLines,
  FixedText,
  MatchLocation,
  OccurrenceOutOfRange,
  WrongCount
} from '../failure.ts'
import type { TextEdit } from '../edit/request.ts'
import type { LineIndex } from '../text/line-index.ts'
import { lineAround, lineFrom, markLength, splitAtBreaks, withBreaksOf, withLf } from '../text/lines.ts'
import { type Found, locate, type Match, type Needle } from '../match/locate.ts'
import { requiredCount } from '../edit/request.ts'
import { previewOf } from './preview.ts'
import { repeatedAt, type Searched } from './already-applied.ts'
import { similarContent } from './similar-content.ts'
import { suggest } from '../suggest/suggest.ts'
import { Text } from '../text/text.ts'
import { uniqueContext } from './unique-context.ts'

const MOST_LOCATIONS = 10
const MOST_LINES = 1000
/** Most lines with matches to list. */
const MOST_LISTED = 50
const MOST_CONTEXT_FIXES = 3
/** Most UTF-16 units to show of a line, and of each context line. */
const LINE_LENGTH = 300
const CONTEXT_LENGTH = 160
/** Most bytes of JSON for a ready-to-send edit: it is given whole or not at all. */
export const FIX_LENGTH = 16_000
/** A text of more bytes certainly exceeds that as JSON. */
export const FIX_BYTES = 3 * FIX_LENGTH
export const SEARCH_LENGTH = 500

/** A text that edits were applied to, and the index of lines of the original. */
interface Indexed {
  draft: PieceTable
  line_index: LineIndex
}

/** A failed edit and the text that it was tried on. */
export interface FailedEdit extends EditPosition, Searched, Indexed {
  edit: TextEdit
  needle: Needle
}

/** The edit would be applied a second time: its new_text is already there, around the only match. */
export function explainAlreadyApplied(failed: FailedEdit, place: Match): AlreadyApplied {
  const { draft, line_index, edit, edit_index, total_edits } = failed
  const lines = linesOf(failed, place)
  return {
    code: 'ALREADY_APPLIED',
    edit_index,
    total_edits,
    search_text: excerpt(edit.old_text, SEARCH_LENGTH),
    lines,
    resent: { old_text: edit.old_text, new_text: edit.new_text, lines },
    fixes: [{ type: 'ALREADY_APPLIED', lines }],
    file_preview: previewOf(draft.original, line_index, draft.originOf(place.start, place.end))
  }
}

/** The number of matches isn't the one that the edit requires. */
export function explainWrongCount(failed: FailedEdit & { found: Found }): WrongCount {
  const { edit, found, edit_index, total_edits } = failed
  const expected = requiredCount(edit)!
  const actual = expected === 1 ? found.all.count : found.matches.count
  // If one match is required, overlapping ones count too, so requiring the number found would fail as well.
  const overlapping = found.all.count > found.matches.count && (expected === 1 || actual === 1)
  const { old_text, new_text } = edit
  const undone = undoneCount(failed)
  const fixes = contextFixes(failed, undone.undone_by_edit === undefined ? undefined : ownMatches(failed))
  const choose: EditFix[] = [{ type: 'CHOOSE_OCCURRENCE', edit: { old_text, new_text, occurrence: 1 } }]
  const adjust: EditFix[] = overlapping
    ? []
    : [{ type: 'ADJUST_COUNT', edit: { old_text, new_text, occurrences: actual } }]
  fixes.push(...(expected === 1 ? [...choose, ...adjust] : [...adjust, ...choose]))
  if (expected > 1 && adjust.length > 0) fixes.unshift(fixes.splice(fixes.indexOf(adjust[0]!), 1)[0]!)
  return {
    code: 'WRONG_COUNT',
    edit_index,
    total_edits,
    search_text: excerpt(old_text, SEARCH_LENGTH),
    expected_occurrences: expected,
    actual_occurrences: actual,
    overlapping,
    ...locations(failed),
    ...undone,
    ...(actual < expected && otherPlaces(failed)),
    fixes: fixes.filter(isSmall)
  }
}

/** The one match that was in the original, if there is one; else the first ones. */
function ownMatches({ draft, found }: FailedEdit & { found: Found }): Match[] {
  const first = found.all.slice(0, MOST_LINES)
  const own = first.filter(({ start, end }) => draft.originOf(start, end).inserted_by_edit === undefined)
  return own.length === 1 ? own : first.slice(0, MOST_CONTEXT_FIXES)
}

/** The earlier edit that made the count wrong, if the count is right in the original. */
function undoneCount(failed: FailedEdit & { found: Found }): Pick<WrongCount, 'undone_by_edit'> {
  const { draft, edit, needle, found, line_endings, ending } = failed
  if (draft.placements.length === 0) return {}
  const original = new Text([draft.original])
  const { matches, all } = locate(original, needle, line_endings, ending)
  const required = requiredCount(edit)
  if ((required === 1 ? all.count : matches.count) !== required) return {}
  const added = found.all
    .slice(0, MOST_LINES)
    .map(({ start, end }) => draft.originOf(start, end).inserted_by_edit)
    .find(index => index !== undefined)
  const undone = added ?? undoneBy(failed, original)
  return undone === undefined ? {} : { undone_by_edit: undone }
}

/**
 * The earlier edit of the same request that changed a place where the text was originally: the first edit that changed
 * the first such place. O(placements × log of places).
 */
export function undoneBy({ draft, needle, line_endings, ending }: FailedEdit, original: Text): number | undefined {
  if (draft.placements.length === 0) return undefined
  const matches = locate(original, needle, line_endings, ending).matches.slice(0, MOST_LINES)
  let first = matches.length
  let undone: number | undefined
  for (const { start, end, edit_index } of draft.placements) {
    const index = firstIndex(matches.length, at => matches[at]!.end > start)
    if (index >= first || matches[index]!.start >= end) continue
    first = index
    undone = edit_index
  }
  return undone
}

/** Places that resemble the text, besides the matches. */
function otherPlaces(
  failed: FailedEdit & { found: Found }
): Pick<WrongCount, 'similar_content' | 'suggestions_truncated'> {
  const { draft, edit, found } = failed
  const text = draft.searchable()
  const masked = Buffer.from(text.slice(0, text.length))
  for (let i = 0; i < found.all.count; i++) {
    const { start, end } = found.all.at(i)
    masked.fill(0, start, end)
  }
  const suggestions = suggest(masked, edit.old_text)
  const similar_content = similarContent(text, suggestions, region => linesOf(failed, region))
  return {
    ...(similar_content.length > 0 && { similar_content }),
    ...(suggestions.truncated && { suggestions_truncated: true })
  }
}

/** `occurrence` asks for a match that doesn't exist. */
export function explainOutOfRange(failed: FailedEdit & { found: Found }): OccurrenceOutOfRange {
  const { edit, found, edit_index, total_edits } = failed
  const { old_text, new_text } = edit
  return {
    code: 'OCCURRENCE_OUT_OF_RANGE',
    edit_index,
    total_edits,
    search_text: excerpt(old_text, SEARCH_LENGTH),
    occurrence: edit.occurrence as number,
    actual_occurrences: found.matches.count,
    ...locations(failed),
    fixes: [
      ...contextFixes(failed),
      { type: 'CHOOSE_OCCURRENCE' as const, edit: { old_text, new_text, occurrence: 'last' as const } }
    ].filter(isSmall)
  }
}

/** Whether a fix can be sent back whole. */
export function isSmall({ edit }: EditFix<FixedText | FixedLines>): boolean {
  const units = Object.values(edit).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0
  )
  return units <= FIX_LENGTH && Buffer.byteLength(JSON.stringify(edit)) <= FIX_LENGTH
}

/** What a fix for one of several places needs; without `new_text`, the caller supplies its own. */
type AmbiguousMatches = Searched &
  Indexed & {
    found: Found
    edit: Pick<Partial<TextEdit>, 'new_text'>
  }

/** A text that is adapted when it is written, with the breaks that it will have, if these don't depend on the place. */
export const asInFile = (text: string, { line_endings, ending }: Pick<Searched, 'line_endings' | 'ending'>): string =>
  line_endings === 'adapt' && ending !== 'none' ? (withBreaksOf(ending, text) ?? text) : text

/**
 * For each of `matches` (by default the first ones), the edit with the least context that makes it unique; none for a
 * place where it was already applied.
 */
export function contextFixes(
  { draft, line_index, edit, found, line_endings, ending }: AmbiguousMatches,
  matches = found.all.slice(0, MOST_CONTEXT_FIXES)
): EditFix[] {
  const text = draft.searchable()
  // One kind of break in both texts of an edit: that of the file.
  const new_text = edit.new_text === undefined ? undefined : asInFile(edit.new_text, { line_endings, ending })
  const fixes: EditFix[] = []
  for (const match of matches) {
    const context = uniqueContext(text, match, found.all, line_endings === 'adapt')
    if (context === undefined || context.end - context.start > FIX_BYTES) continue
    const [before, within, after] = [
      text.slice(context.start, match.start),
      text.slice(match.start, match.end),
      text.slice(match.end, context.end)
    ].map(decode)
    if (before!.lossy || within!.lossy || after!.lossy) continue
    // A \r followed by a \n would become one break, so we write all breaks as \n, which means the same.
    const merges = /\r\0+\n/.test(`${before!.text}\0${new_text ?? within!.text}\0${after!.text}`)
    const joined = (...parts: string[]) =>
      merges && line_endings === 'adapt' ? parts.map(withLf).join('') : parts.join('')
    const old_text = joined(before!.text, within!.text, after!.text)
    const lines = linesOf({ draft, line_index }, match)
    if (new_text === undefined) {
      fixes.push({ type: 'ADD_CONTEXT', lines, edit: { old_text }, ...contextOf(before!.text, after!.text) })
      continue
    }
    const fixed = { old_text, new_text: joined(before!.text, new_text, after!.text) }
    if (repeatedAt({ draft, line_endings, ending }, fixed, context) !== undefined) continue
    fixes.push({ type: 'ADD_CONTEXT', lines, edit: fixed, ...contextOf(before!.text, after!.text) })
  }
  return fixes
}

/** The outermost lines of a context that consists of whole lines; a blank line identifies nothing. */
function contextOf(before: string, after: string): Pick<Fix, 'context'> {
  const [above, below] = [splitAtBreaks(before).slice(0, -1)[0]?.trim(), splitAtBreaks(after).slice(1).at(-1)?.trim()]
  const context = { ...(above && { above }), ...(below && { below }) }
  return above || below ? { context } : {}
}

function locations({
  draft,
  line_index,
  edit,
  found
}: FailedEdit & { found: Found }): Pick<WrongCount, 'match_locations' | 'match_lines' | 'more_matches'> {
  const text = draft.searchable()
  const shown = requiredCount(edit) === 1 ? found.all : found.matches
  const matches = shown.slice(0, MOST_LINES)
  const origins = matches.map(({ start, end }) => draft.originOf(start, end))
  const { lines } = line_index.lineNumbers(origins.map(origin => origin.start))
  const match_lines = [...new Set(lines)].slice(0, MOST_LISTED)
  const listed = lines.filter(line => match_lines.includes(line)).length
  return {
    match_lines,
    ...(shown.count > listed && { more_matches: shown.count - listed }),
    match_locations: matches.slice(0, MOST_LOCATIONS).map((match, index) => {
      const { inserted_by_edit } = origins[index]!
      return {
        line_number: lines[index]!,
        ...placeInLine(text, match),
        inserted_by_edit
      }
    })
  }
}

/** Where a match is in its line, and the lines around it. */
export function placeInLine(text: Text, match: Match): Omit<MatchLocation, 'line_number' | 'inserted_by_edit'> {
  const line = lineAround(text, match.start)
  const before = utf16Length(text.slice(line.start, match.start))
  const within = utf16Length(text.slice(match.start, Math.min(match.end, line.end)))
  const shown = new ShownLine(text.slice(line.start, line.end))
  const context_before: string[] = []
  for (let at = line.start; context_before.length < 2 && at > markLength(text);) {
    const previous = lineAround(text, at - 1)
    context_before.unshift(shortLine(text, previous))
    at = previous.start
  }
  const context_after: string[] = []
  for (
    let at = lineAround(text, Math.max(match.start, match.end - 1)).next;
    context_after.length < 2 && at < text.length;
  ) {
    const next = lineFrom(text, at)
    context_after.push(shortLine(text, next))
    at = next.next
  }
  return {
    column_start: before + 1,
    column_end: before + within + 1,
    line_content: shown.around(match.start - line.start, before, LINE_LENGTH),
    context_before,
    context_after,
    ...(shown.lossy && { lossy: true })
  }
}

const shortLine = (text: Text, { start, end }: { start: number; end: number }): string =>
  excerptOf(text.slice(start, end), CONTEXT_LENGTH).text

/** The first and last line, in the original, of a range of the current text. */
export function linesOf({ draft, line_index }: Indexed, { start, end }: Match): [number, number] {
  const origin = draft.originOf(start, end)
  const {
    lines: [first, last]
  } = line_index.lineNumbers([origin.start, Math.max(origin.start, origin.end - 1)])
  return [first!, last!]
}
