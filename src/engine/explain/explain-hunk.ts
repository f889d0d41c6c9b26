// The facts about a hunk that has no place in the file: what it lacks, what is there instead, diffs that would fit.
// Does not know sentences.
import { PieceTable } from '../edit/piece-table.ts'
import type { HunkAmbiguous, HunkFailure, HunkNotFound, HunkPosition } from '../failure.ts'
import type { FileLines } from '../patch/file-lines.ts'
import { type Hunk, newLines, oldLines } from '../patch/hunk.ts'
import { HunkFinder, type HunkMisfit } from '../patch/place-hunks.ts'
import type { Cause } from '../suggest/differences/classify.ts'
import { MARGIN, type Suggestions } from '../suggest/suggest.ts'
import { decode, excerpt } from '../text/encoding.ts'
import { breakStyleOf } from '../text/eol.ts'
import { LineIndex } from '../text/line-index.ts'
import { Text } from '../text/text.ts'
import { findApplied } from './already-applied.ts'
import { placeInLine, SEARCH_LENGTH } from './explain.ts'
import { previewOf } from './preview.ts'
import {
  correctedDiffs,
  indentOf,
  needsSimilar,
  type Similar,
  similarFor,
  soughtText,
  trimmedPlaces
} from './repair-hunk.ts'
import { similarContent } from './similar-content.ts'

const MOST_LOCATIONS = 10
const MOST_LISTED = 50
/** Misfits in the whole file that may not occur below the hunk before. */
const DEPENDENT: readonly HunkMisfit['reason'][] = ['lines_twice', 'above']
/** Most hunks to name besides the one that failed. */
const MOST_UNPLACED = 4

/** Why the first hunk without a place has none, and the diffs that would fit instead. */
export function explainMisfit(file: FileLines, hunks: readonly Hunk[], misfit: HunkMisfit): HunkFailure {
  const failure =
    misfit.reason === 'lines_twice' || misfit.reason === 'anchor_twice'
      ? ambiguous(file, hunks, misfit)
      : notFound(file, hunks, misfit)
  const also_unplaced = failure.diffs.length > 0 ? [] : unplacedBehind(file, hunks, misfit)
  return also_unplaced.length === 0 ? failure : { ...failure, also_unplaced }
}

const positionOf = (hunks: readonly Hunk[], { hunk_index }: Pick<HunkMisfit, 'hunk_index'>): HunkPosition => ({
  edit_index: hunk_index,
  total_edits: hunks.length,
  diff_line: hunks[hunk_index]!.patch_line
})

/** The hunks after the failed one that have no place either, each taken alone in the whole file. */
function unplacedBehind(file: FileLines, hunks: readonly Hunk[], { hunk_index }: HunkMisfit): HunkPosition[] {
  const finder = new HunkFinder(file, hunks)
  const unplaced: HunkPosition[] = []
  for (let index = hunk_index + 1; index < hunks.length && unplaced.length < MOST_UNPLACED; index++) {
    const alone = finder.place(hunks[index]!, index, 0)
    if (!alone.ok && !DEPENDENT.includes(alone.failure.reason)) unplaced.push(positionOf(hunks, { hunk_index: index }))
  }
  return unplaced
}

/** The 1-based line below which we searched for a text, unless in the whole file. */
function belowOf(misfit: HunkMisfit): { below?: number } {
  const from = 'from' in misfit ? misfit.from : 'below' in misfit ? misfit.below : 0
  return from === 0 ? {} : { below: from }
}

function ambiguous(
  file: FileLines,
  hunks: readonly Hunk[],
  misfit: HunkMisfit & { reason: 'lines_twice' | 'anchor_twice' }
): HunkAmbiguous {
  const text = new Text([file.bytes])
  const lines = misfit.lines.filter(line => line < file.count)
  const match_lines = lines.slice(0, MOST_LISTED).map(line => line + 1)
  return {
    code: 'WRONG_COUNT',
    ...positionOf(hunks, misfit),
    what: misfit.reason === 'lines_twice' ? 'lines' : 'anchor',
    search_text: excerpt(soughtText(hunks[misfit.hunk_index]!, misfit), SEARCH_LENGTH),
    ...belowOf(misfit),
    expected_occurrences: 1,
    actual_occurrences: misfit.lines.length,
    match_lines,
    ...(misfit.lines.length > lines.length && { behind_end: file.count + 1 }),
    match_locations: lines.slice(0, MOST_LOCATIONS).map(line => ({
      line_number: line + 1,
      ...placeInLine(text, { start: file.starts[line]!, end: file.ends[line]! })
    })),
    ...(lines.length > match_lines.length && { more_matches: lines.length - match_lines.length }),
    ...correctedDiffs(file, hunks, misfit, undefined)
  }
}

const WHAT = {
  no_anchor: 'anchor',
  no_lines: 'lines',
  not_at_end: 'end',
  no_place: 'place',
  above: 'order'
} as const

function notFound(
  file: FileLines,
  hunks: readonly Hunk[],
  misfit: HunkMisfit & { reason: keyof typeof WHAT }
): HunkNotFound {
  const hunk = hunks[misfit.hunk_index]!
  const index = new LineIndex(file.bytes)
  const similar = needsSimilar(misfit) ? similarFor(file, hunk, misfit) : undefined
  const applied = similar && misfit.reason === 'no_lines' ? appliedAt(file, hunk, similar) : undefined
  const linesOf = ({ start, end }: { start: number; end: number }): [number, number] =>
    index.lineNumbers([start, Math.max(start, end - 1)]).lines as [number, number]
  const applied_lines = applied && linesOf(applied.place)
  const shown = applied?.surely === true ? undefined : similar && inWhole(similar)
  const text = new Text([file.bytes])
  const end = { start: file.starts[file.count - 1]!, end: file.ends[file.count - 1]! }
  const place =
    applied?.surely === true
      ? applied.place
      : (shown?.candidates[0] ?? applied?.place ?? (misfit.reason === 'not_at_end' ? end : undefined))
  return {
    code: 'NO_MATCH',
    ...positionOf(hunks, misfit),
    what: WHAT[misfit.reason],
    search_text: excerpt(soughtText(hunk, misfit), SEARCH_LENGTH),
    ...belowOf(misfit),
    similar_content: shown === undefined ? [] : similarContent(text, shown, linesOf),
    ...causeOf(file, hunk, misfit, shown),
    ...(applied_lines !== undefined && {
      applied_lines,
      resent: { ...editOf(hunk), lines: applied_lines }
    }),
    ...(applied?.surely === true ? { diffs: [] } : correctedDiffs(file, hunks, misfit, similar)),
    file_preview: previewOf(file.bytes, index, place, place !== undefined && place === shown?.candidates[0]),
    ...(similar?.suggestions.truncated === true && { suggestions_truncated: true as const })
  }
}

/** Suggestions with offsets in the whole file. */
const inWhole = ({ suggestions, offset }: Similar): Suggestions => ({
  ...suggestions,
  candidates: suggestions.candidates.map(region => ({
    ...region,
    start: region.start + offset,
    end: region.end + offset
  }))
})

function causeOf(
  file: FileLines,
  hunk: Hunk,
  misfit: HunkMisfit,
  suggestions: Suggestions | undefined
): { cause?: Cause } {
  const [best, another] = suggestions?.candidates ?? []
  if (best === undefined) return {}
  if (suggestions!.margin < MARGIN && another !== undefined) return { cause: { type: 'near_duplicate' } }
  const blanks = misfit.reason === 'no_lines' ? otherBlanks(file, hunk, misfit.from) : undefined
  if (blanks !== undefined) return { cause: blanks }
  // The text is there as part of a line.
  return best.cause.type === 'line_endings' ? {} : { cause: best.cause }
}

/** The difference between the old lines and lines of the file that differ only in white space around them. */
function otherBlanks(file: FileLines, hunk: Hunk, from: number): Cause | undefined {
  const sought = oldLines(hunk)
  const [first] = trimmedPlaces(file, hunk, from)
  if (first === undefined) return undefined
  const at = sought.findIndex((text, i) => !file.line(first + i).equals(Buffer.from(text)))
  if (at === -1) return undefined
  const [expected, found] = [sought[at]!, decode(file.line(first + at)).text]
  const [own, there] = [indentOf(expected), indentOf(found)]
  return own === there
    ? { type: 'trailing_space', expected, found }
    : { type: 'indentation', expected: own, found: there }
}

/** A hunk as an edit of its old lines. */
const editOf = (hunk: Hunk): { old_text: string; new_text: string } => ({
  old_text: oldLines(hunk).join('\n'),
  new_text: newLines(hunk).join('\n')
})

/** Where the new lines of a hunk already are. */
function appliedAt(file: FileLines, hunk: Hunk, similar: Similar): ReturnType<typeof findApplied> {
  // Without added lines, the lines that it leaves were there before too, so they prove nothing.
  if (hunk.lines.every(({ kind }) => kind !== 'add')) return undefined
  const searched = {
    draft: new PieceTable(file.bytes),
    line_endings: 'adapt' as const,
    ending: breakStyleOf(file.bytes).ending
  }
  return findApplied(searched, editOf(hunk), searched.draft.text, inWhole(similar))
}
