// The texts of edits that can't be made, by code. Does not know why a request failed otherwise.
import type { ExpectedTextMismatch, OccurrenceOutOfRange, WrongCount } from '../../../engine/failure.ts'
import { type EditFailure, isOfHunk } from '../edit-failure.ts'
import { OTHERS_MOVED, UNSENDABLE } from '../problems/ranges.ts'
import { whyMissed } from '../no-match-cause.ts'
import { counted, linesListed, span } from '../phrases.ts'
import { addLines, onceMore } from '../problems/text.ts'
import {
  type Brief,
  type Briefs,
  CALLS_LENGTH,
  eachPlace,
  type FailedCall,
  fixed,
  pathOf,
  toRead,
  withEdits,
  whatOfEdit
} from './call.ts'
import { noMatch } from './no-match.ts'
import { ambiguousHunk, missedHunk } from './patch.ts'
import { excerptNumbered, preview } from './layout.ts'
import { ambiguousTarget, targetNotFound } from './target.ts'

/** The texts, by code; the others of `EditFailure` are answered with `detail`. */
export const EDIT_BRIEFS: Briefs<EditFailure> = {
  NO_MATCH: (failure, call) => (isOfHunk(failure) ? missedHunk(failure, call) : noMatch(failure, call)),
  ALREADY_APPLIED: (failure, call) => ({
    what: whatOfEdit(
      failure,
      `${call.naming.field('new_text')} is there already, around ${call.naming.field('old_text')} ` +
        `(${span(failure.lines)} of ${call.shown})`
    ),
    next: [
      'If this edit was made before, leave it out. To make it once more, ' +
        (call.naming.takes('occurrence')
          ? 'send occurrence 1 too, or the file_hash as expected_hash.'
          : `${onceMore(call.naming)}.`)
    ],
    lines: preview(failure.file_preview)
  }),
  WRONG_COUNT: (failure, call) => (isOfHunk(failure) ? ambiguousHunk(failure, call) : wrongCount(failure, call)),
  OCCURRENCE_OUT_OF_RANGE: (failure, call) => ({
    what: whatOfEdit(failure, `occurrence is ${failure.occurrence}, but ${appears(failure, call)}`),
    next: oneOfThem(failure, call)
  }),
  EXPECTED_TEXT_MISMATCH: expectedTextMismatch,
  TARGET_NOT_FOUND: targetNotFound,
  AMBIGUOUS_TARGET: ambiguousTarget
}

/** `old_text appears 2 times in app.js, at lines 5 and 7`. */
const appears = (
  { actual_occurrences, match_lines, more_matches }: WrongCount | OccurrenceOutOfRange,
  { shown, naming }: FailedCall
): string =>
  `${naming.field('old_text')} appears ${counted(actual_occurrences, 'time')} in ${shown}, ` +
  `at ${linesListed(match_lines, more_matches === undefined)}`

function wrongCount(failure: WrongCount, call: FailedCall): Brief {
  const { actual_occurrences: actual, expected_occurrences: expected, undone_by_edit, similar_content } = failure
  const were = expected === 1 ? 'must match one place' : `${expected} places were expected`
  const why = undone_by_edit === undefined ? '' : `, since edit ${undone_by_edit + 1} of this request changes it first`
  const what = whatOfEdit(failure, `${appears(failure, call)}, but ${were}${why}`)
  if (actual > expected || failure.overlapping) return { what, next: oneOfThem(failure, call) }
  const [best] = similar_content ?? []
  const [adjusted] = withEdits(failure.fixes)
  const others = best === undefined ? [] : [`Nearly the same, and not replaced by this:`]
  return {
    what,
    next: [...(adjusted === undefined ? [] : fixed(adjusted, 'To replace only these', failure, call)), ...others],
    lines: best && excerptNumbered(best.content, best.line_number, best.end_line)
  }
}

/** Calls that replace one of several matches: by what is around it or, where that gets long, by its number. */
function oneOfThem(failure: WrongCount | OccurrenceOutOfRange, call: FailedCall): string[] {
  const { fixes, actual_occurrences: actual } = failure
  const all = withEdits(fixes)
  const around = all.filter(({ type }) => type === 'ADD_CONTEXT')
  const byNumber = all.find(({ type }) => type === 'CHOOSE_OCCURRENCE')
  const adjust = all.find(({ type }) => type === 'ADJUST_COUNT')
  const shown = eachPlace(around, failure, call).next
  const isWhole = shown.length === 2 * around.length && shown.join('\n').length <= CALLS_LENGTH
  const number = `"occurrence": a number from 1 to ${actual}`
  const everywhere = adjust === undefined ? '' : ` To replace all ${actual}, send "occurrences": ${actual}.`
  if (shown.length === 0 && byNumber === undefined && adjust === undefined) return [`${addLines(call.naming)}.`]
  if (isWhole || byNumber === undefined) {
    const others = actual > around.length && byNumber !== undefined ? ` For one of the others, send ${number}.` : ''
    return [...shown, `${others}${everywhere}`.trim()]
  }
  // No call: its number would be that of the first one, for which nothing speaks.
  return [`To replace one of them, send ${number}, counted from the top.${everywhere}`]
}

function expectedTextMismatch(failure: ExpectedTextMismatch, call: FailedCall): Brief {
  const { start_line, end_line, found_at, cause, fixes, actual_text, file_preview } = failure
  if (end_line < start_line) {
    return { what: whatOfEdit(failure, `expected_text must be empty where lines are inserted`), next: [] }
  }
  const differ = `expected_text does not match ${span([start_line, end_line])} of ${call.shown}`
  if (found_at === undefined && cause?.type === 'encoding') {
    return { what: whatOfEdit(failure, `${differ}: ${UNSENDABLE}`), next: [] }
  }
  const [first] = withEdits(fixes)
  const why = cause === undefined ? '' : `: ${whyMissed(cause, call.naming, 'expected_text')}`
  if (found_at === undefined || first === undefined) {
    const where = found_at === undefined ? '' : `, but ${span(found_at)}${why}`
    return { what: whatOfEdit(failure, `${differ}${where}`), next: [], lines: preview(file_preview) }
  }
  const same = found_at[0] === start_line && found_at[1] === end_line
  const almost = cause === undefined ? 'it is' : 'nearly the same text is'
  const what = whatOfEdit(failure, same ? `${differ}${why}` : `${differ}; ${almost} now at ${span(found_at)}${why}`)
  // They would be made at the numbers that they have, without a look at what is there.
  const areUnchecked = !same && othersOf(failure, call).some(({ expected_text }) => expected_text === undefined)
  return {
    what,
    next: areUnchecked
      ? toRead(call, OTHERS_MOVED, { path: pathOf(call) })
      : fixed(first, `If you mean ${span(found_at)}`, failure, call),
    ...(!same && { lines: excerptNumbered(actual_text, start_line, end_line) })
  }
}

/** The other edits of the request. */
function othersOf({ edit_index }: ExpectedTextMismatch, { made }: FailedCall): { expected_text?: unknown }[] {
  const { edits } = made.arguments
  return Array.isArray(edits) ? (edits as object[]).toSpliced(edit_index, 1) : []
}
