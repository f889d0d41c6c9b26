// Why a hunk of a patch can't be applied, what the file has instead, and what to send. In a short text the diff to send
// comes last, unchanged.
import type { SuggestedFix } from '../../../../schemas/problem.ts'
import type {
  DiffFix,
  HunkAmbiguous,
  HunkFailure,
  HunkNotFound,
  HunkPosition,
  NoMatch,
  WrongCount
} from '../../../engine/failure.ts'
import type { CauseType } from '../../../engine/suggest/differences/classify.ts'
import { CUT_MARK } from '../../../engine/text/encoding.ts'
import type { Brief, FailedCall, ShownAs } from '../brief/call.ts'
import { hashLine, preview } from '../brief/layout.ts'
import type { CallSyntax, NamedFile } from '../call-names.ts'
import { position } from '../edits-of-request.ts'
import { placesNamed, whyMissed } from '../no-match-cause.ts'
import { capital, counted, linesListed, listed, NOTHING_WRITTEN, quote, sentences, span } from '../phrases.ts'
import { readFile, readPreview } from '../suggested-fixes.ts'
import type { ProblemEntry, FailedRequest } from './entry.ts'

/** Whether a hunk of a patch failed, rather than an edit. */
export const isOfHunk = <F extends NoMatch | WrongCount | HunkFailure>(failure: F): failure is F & HunkFailure =>
  'diff_line' in failure

type HunkEntry<F extends HunkFailure> = Required<Pick<ProblemEntry<F>, 'detail' | 'brief'>>

/** The texts for a hunk without a place, and for one with several. The codes' own entries are for edits of texts. */
export const HUNKS: { NO_MATCH: HunkEntry<HunkNotFound>; WRONG_COUNT: HunkEntry<HunkAmbiguous> } = {
  NO_MATCH: {
    detail: (failure, request) => ({
      detail: detailOf(failure, hunkNotFound(failure, request)),
      members: {
        ...position(failure),
        search_text: failure.search_text,
        ...(failure.applied_lines !== undefined && { already_applied: true as const }),
        similar_content: failure.similar_content,
        suggested_fixes: fixesOf(failure, request),
        suggestions_truncated: failure.suggestions_truncated,
        file_preview: failure.file_preview
      }
    }),
    brief: briefMissed
  },
  WRONG_COUNT: {
    detail: (failure, request) => ({
      detail: detailOf(failure, hunkAmbiguous(failure, request.shown)),
      members: {
        ...position(failure),
        search_text: failure.search_text,
        expected_occurrences: failure.expected_occurrences,
        actual_occurrences: failure.actual_occurrences,
        match_locations: failure.match_locations,
        match_lines: failure.match_lines,
        more_matches: failure.more_matches,
        suggested_fixes: fixesOf(failure, request)
      }
    }),
    brief: briefAmbiguous
  }
}

/** `hunk 2 of 3 (line 14 of the diff)`. */
const hunkNamed = ({ edit_index, total_edits, diff_line }: HunkPosition): string =>
  `hunk ${edit_index + 1}${total_edits === 1 ? '' : ` of ${total_edits}`} (line ${diff_line} of the diff)`

/** `what` went wrong, which other hunks fail, and what to send. */
function detailOf(failure: HunkFailure, what: string): string {
  const { total_edits: total } = failure
  const none = total === 1 ? NOTHING_WRITTEN : `Nothing was written: none of the ${total} hunks was applied.`
  return sentences(what, alsoUnplaced(failure), ...whatNext(failure), none)
}

/** `Hunks 2 and 4 (lines 9 and 20 of the diff) do not fit either.` */
function alsoUnplaced({ also_unplaced: others = [] }: HunkFailure): string {
  if (others.length === 0) return ''
  const [s, verb] = others.length === 1 ? ['', 'does'] : ['s', 'do']
  const numbers = listed(others.map(({ edit_index }) => edit_index + 1))
  const lines = listed(others.map(({ diff_line }) => diff_line))
  return `Hunk${s} ${numbers} (line${s} ${lines} of the diff) ${verb} not fit either.`
}

/** The file's shown name, and the reader's names for calls. */
type ShownTo = Pick<FailedRequest, 'shown' | 'naming'>

/** `: "old lines"`; empty for a reader who has just sent them and is shown the file's lines. */
const quoted = (text: string, isQuoted: boolean): string => (isQuoted ? `: ${quote(text)}` : '')

/** Why a hunk was not found, as far as it is known. `isQuoted`: quotes its old lines and what the file has instead. */
function hunkNotFound(failure: HunkNotFound, { shown, naming }: ShownTo, isQuoted = true): string {
  const { what, search_text, below, applied_lines, file_preview } = failure
  const where = `${shown}${below === undefined ? '' : ` below line ${below}`}`
  const name = hunkNamed(failure)
  switch (what) {
    case 'anchor':
      return sentences(
        `The anchor ${quote(search_text)} of ${name} is not a line of ${where}, so the hunk can't be placed.`,
        mostSimilar(failure, naming, isQuoted)
      )
    case 'lines':
      if (file_preview.total_lines === 0) {
        return `${shown} is empty, so it does not have the old lines of ${name}; send only lines with "+" in front.`
      }
      return sentences(
        `The old lines of ${name} were not found in ${where}${quoted(search_text, isQuoted)}.`,
        applied_lines !== undefined && failure.similar_content.length === 0
          ? `Its new lines are there already (${span(applied_lines)}), so it seems to have been applied. ` +
              'If so, leave it out; if not, read the file and copy its lines.'
          : mostSimilar(failure, naming, isQuoted)
      )
    case 'place':
      return sentences(
        `${capital(name)} only adds lines, and neither an anchor (@@ and a line of the file) nor an old line`,
        'says where they go.'
      )
    case 'order':
      return `${capital(name)} stands above the hunk before it; hunks must be in the order of the file.`
    case 'end':
      return sentences(
        `The old lines of ${name} are not the last lines of ${shown},`,
        `as *** End of File says${quoted(search_text, isQuoted)}.`
      )
  }
}

function mostSimilar({ similar_content, cause, what }: HunkNotFound, naming: CallSyntax, isQuoted: boolean): string {
  const [best] = similar_content
  if (best === undefined) return 'Nothing in it is similar enough.'
  if (cause?.type === 'near_duplicate') {
    return `${capital(whyMissed(cause, naming))}: ${placesNamed(similar_content, cause)}.`
  }
  const lines: [number, number] = [best.line_number, best.end_line]
  const why = cause === undefined ? '' : `: ${whyNotThere(cause, what, naming)}`
  return sentences(
    `${best.confidence === 'low' ? 'Perhaps' : 'Most likely'} ${span(lines)} ${lines[0] === lines[1] ? 'was' : 'were'}`,
    `meant${why}.`,
    isQuoted ? `The file has ${quote(best.content, 160)} there.` : ''
  )
}

/** Causes that affect all lines of a hunk: something was added around them. */
const AROUND: readonly CauseType[] = ['line_numbers', 'markdown_fence', 'diff_hunk', 'edit_markers']

function whyNotThere(
  cause: NonNullable<HunkNotFound['cause']>,
  what: HunkNotFound['what'],
  naming: CallSyntax
): string {
  return AROUND.includes(cause.type)
    ? 'the diff has line numbers, a fence or markers on its lines that are not in the file'
    : whyMissed(cause, naming, what === 'anchor' ? 'the anchor' : 'the diff')
}

/** Says that a hunk fits several places. `isQuoted`: quotes its old lines. */
function hunkAmbiguous(failure: HunkAmbiguous, shown: string, isQuoted = true): string {
  const { what, search_text, below, actual_occurrences, match_lines, more_matches, behind_end } = failure
  const name = hunkNamed(failure)
  const where = `${shown}${below === undefined ? '' : ` below line ${below}`}`
  const at = linesListed(match_lines, more_matches === undefined)
  const orBehind = behind_end === undefined ? '' : ' and behind the last line'
  const appear = `${counted(actual_occurrences, 'time')} in ${where}, at ${at}${orBehind}`
  return what === 'anchor'
    ? `The anchor ${quote(search_text)} of ${name} appears ${appear}; it must fit one line.`
    : `The old lines of ${name} appear ${appear}; they must fit one place${quoted(search_text, isQuoted)}.`
}

/** What to send. */
function whatNext(failure: HunkFailure): string[] {
  const { diffs } = failure
  const [first, second] = diffs
  if (first === undefined) return readInstead(failure)
  if (second === undefined) {
    return [
      `If so, send suggested_fixes[0].diff as it is: the whole diff, ${correctedIn(first)}.`.replace(/^If so, s/, 'S')
    ]
  }
  const each = diffs.map((fix, i) => `suggested_fixes[${i}].diff for ${placeOf(fix, failure)}`)
  return [`Send the whole corrected diff for the place that you mean as it is: ${listed(each, 'or')}.`]
}

/** What to do if no diff can be sent; empty if the failure already says it. */
function readInstead(failure: HunkFailure): string[] {
  if (failure.code === 'NO_MATCH' && (failure.applied_lines !== undefined || failure.file_preview.total_lines === 0)) {
    return []
  }
  const tooLong = failure.too_long === true ? 'The corrected diff is too long to be shown.' : ''
  return [sentences(tooLong, 'Read the file, and copy the lines around the change from it exactly.')]
}

/**
 * The place that a diff changes, with the number of its hunk if that is another one. Additions may go after the last
 * line.
 */
function placeOf({ lines, hunk_index }: DiffFix, failure: HunkFailure): string {
  const last = failure.code === 'NO_MATCH' ? failure.file_preview.total_lines : (failure.behind_end ?? Infinity) - 1
  const isBehind = lines[0] > last
  const place = isBehind ? 'the end of the file' : span(lines)
  return hunk_index === undefined ? place : `hunk ${hunk_index + 1} at ${place}`
}

const correctedIn = ({ corrected }: DiffFix): string =>
  `with hunk${corrected.length === 1 ? '' : 's'} ${listed(corrected.map(index => index + 1))} corrected`

function fixesOf(failure: HunkFailure, request: NamedFile): SuggestedFix[] {
  const fixes = failure.diffs.map((fix): SuggestedFix => ({
    type: fix.type,
    suggestion: `If you mean ${placeOf(fix, failure)}, send this diff of the whole file, ${correctedIn(fix)}.`,
    diff: fix.diff
  }))
  if (fixes.length > 0) return fixes
  return [failure.code === 'NO_MATCH' ? readPreview(request, failure.file_preview) : readFile(request)]
}

function briefMissed(failure: HunkNotFound, call: FailedCall): Brief {
  const what = ofHunk(failure, sentences(hunkNotFound(failure, call, false), alsoUnplaced(failure)))
  const { diffs, file_preview, similar_content } = failure
  if (diffs.length > 0) return { what, next: toSend(failure, call) }
  if (file_preview.total_lines === 0) return { what, next: readInstead(failure) }
  return {
    what,
    next: showsPlace(failure)
      ? ['Send all of it again, with the lines copied from the file exactly:']
      : readInstead(failure),
    lines: preview(file_preview, similar_content[0])
  }
}

function briefAmbiguous(failure: HunkAmbiguous, call: FailedCall): Brief {
  return {
    what: ofHunk(failure, sentences(hunkAmbiguous(failure, call.shown, false), alsoUnplaced(failure))),
    next: failure.diffs.length > 0 ? toSend(failure, call) : readInstead(failure)
  }
}

const ofHunk = ({ total_edits }: HunkPosition, what: string): string =>
  total_edits === 1 ? what : `No hunk was applied. ${what}`

/** Whether the shown lines are the ones to copy: the whole file, or everything that was most likely meant. */
function showsPlace(failure: HunkNotFound): boolean {
  const {
    what,
    similar_content: [best],
    cause,
    applied_lines,
    also_unplaced,
    file_preview
  } = failure
  if (applied_lines !== undefined || !['lines', 'anchor'].includes(what)) return false
  const { preview_start_line, preview_end_line, total_lines, content } = file_preview
  const isWhole = preview_start_line === 1 && preview_end_line === total_lines && !CUT_MARK.test(content)
  if (isWhole) return true
  if (also_unplaced !== undefined) return false
  if (best === undefined || best.confidence === 'low' || cause?.type === 'near_duplicate') return false
  return best.lossy !== true && !CUT_MARK.test(best.content)
}

/** The hash, then the corrected diffs. Nothing may follow them. */
function toSend(failure: HunkFailure, { file_hash, naming, part }: FailedCall): string[] {
  const { diffs } = failure
  const shown = shownDiffs(diffs).map(fix => [
    `${whenToSend(fix, diffs.length === 1 ? undefined : placeOf(fix, failure), part?.as)}:`,
    fix.diff.replace(/\n$/, '')
  ])
  return [hashLine(file_hash, naming), ...shown.flat()]
}

/** The most UTF-16 units of all diffs in one answer; the first diff is always shown. */
const DIFFS_LENGTH = 4000

/** The diffs that an answer shows. */
export function shownDiffs<F extends { diff: string }>(diffs: readonly F[]): F[] {
  let length = 0
  return diffs.filter(({ diff }, i) => (length += diff.length) <= DIFFS_LENGTH || i === 0)
}

/** When to send a diff. `place`: set if there are diffs for several places. */
function whenToSend(fix: DiffFix, place: string | undefined, as: ShownAs = 'whole'): string {
  const diff = fix.corrected.length === 1 ? 'corrected diff' : 'diff'
  const all = fix.corrected.length === 1 ? '' : `, ${correctedIn(fix)}`
  switch (as) {
    case 'whole':
      return place === undefined ? `Send this ${diff} as it is${all}` : `For ${place}, send this ${diff}${all}`
    case 'incomplete':
      return `${place === undefined ? 'W' : `For ${place}, w`}hen the rest is corrected as well, send this${all}`
    case 'part':
      return `The ${diff} of this file${place === undefined ? '' : `, for ${place}`}${all}`
  }
}
