// Which edit of a request failed, what happened to the others, and why later ones fail too. Does not know what to send
// instead.
import type {
  EditPosition,
  LaterEdit,
  NoMatch,
  OccurrenceOutOfRange,
  TextFailure,
  WrongCount
} from '../../engine/failure.ts'
import type { CallSyntax } from './call-names.ts'
import { notContained, placesNamed, whyMissed } from './no-match-cause.ts'
import { capital, counted, linesListed, listed, NOTHING_WRITTEN, span } from './phrases.ts'

/** The members of a problem that say which edit failed. */
export const position = ({ edit_index, total_edits }: EditPosition): EditPosition => ({ edit_index, total_edits })

/**
 * Says why one edit failed, with its number if there are several, and that nothing was written. `inOrder`: edits are
 * tried one after the other, so those before the failed one match.
 */
export function ofEdit(failure: EditPosition, why: string, { inOrder = false } = {}): string {
  const { edit_index, total_edits } = failure
  if (total_edits === 1) return `${why} ${NOTHING_WRITTEN}`
  const none = `Nothing was written: none of the ${total_edits} edits was made`
  const before = inOrder ? earlierMatch(edit_index) : ''
  const untried = editsNotTried(failure)
  const behind = untried === '' ? '' : `; ${untried}`
  return `Edit ${edit_index + 1} of ${total_edits} failed: ${why} ${none}${before}${behind}.`
}

/** Says which later edits weren't tried, without a period; empty if there are none. */
export function editsNotTried({ untried_from: from, total_edits }: EditPosition): string {
  if (from === undefined) return ''
  return from === total_edits - 1
    ? `edit ${total_edits} was not tried`
    : `edits ${from + 1} to ${total_edits} were not tried`
}

function earlierMatch(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '; edit 1 matches' : `; edits 1 to ${count} match`
}

/** `edit 2`, `edits 2 and 3`. */
export const editsNumbered = (edits: readonly { edit_index: number }[]): string =>
  `${edits.length === 1 ? 'edit' : 'edits'} ${listed(edits.map(({ edit_index }) => `${edit_index + 1}`))}`

/** Whether there is something to send in its place. */
export const isCorrected = (later: LaterEdit): later is Required<LaterEdit> => later.fix !== undefined

/** `Edits 2 and 3 fail too`. */
export const failToo = (later: readonly LaterEdit[]): string =>
  `${capital(editsNumbered(later.map(({ failure }) => failure)))} ${later.length === 1 ? 'fails' : 'fail'} too`

/**
 * Says that these edits fail too, because of `why` or, without it, for the reason given before; and which lines they
 * were meant for.
 */
export function failBecause(later: readonly LaterEdit[], why: string | undefined): string {
  const places = later.flatMap(one => placeOf(one) ?? [])
  const [first] = places
  if (first === undefined) return `${failToo(later)}: ${why}.`
  const were = later.length === 1 && first.lines[0] === first.lines[1] ? 'was' : 'were'
  const meant = `${first.likely} ${listed(places.map(({ lines }) => span(lines)))} ${were} meant`
  return why === undefined
    ? `${failToo(later)}, for the same reason; ${meant}.`
    : `${failToo(later)}; ${meant}: ${why}.`
}

/** Why a later edit fails: part of a sentence about that edit. */
export function whyFails(failure: TextFailure, naming: CallSyntax): string {
  const [old_text, new_text] = [naming.field('old_text'), naming.field('new_text')]
  switch (failure.code) {
    case 'NO_MATCH':
      return whyNotFound(failure, naming)
    case 'ALREADY_APPLIED':
      return `its ${new_text} is there already, around its ${old_text} (${span(failure.lines)})`
    case 'WRONG_COUNT': {
      const { expected_occurrences: expected } = failure
      const were = expected === 1 ? 'must match one place' : `${expected} places were expected`
      return `${appears(failure, old_text)}, but ${were}${changedFirst(failure, ', since ')}`
    }
    case 'OCCURRENCE_OUT_OF_RANGE':
      return `its occurrence is ${failure.occurrence}, but ${appears(failure, old_text)}`
    case 'RESULT_TOO_LARGE':
      return failure.what === 'bytes'
        ? `the file would have ${counted(failure.actual, 'byte')} then; the limit is ${failure.limit}`
        : `${counted(failure.actual, 'place')} would be replaced then; the limit is ${failure.limit}`
  }
}

/** The lines that a later edit was meant for, if they are known, and whether `most likely` or `perhaps`. */
export function placeOf({ failure, fix }: LaterEdit): { lines: [number, number]; likely: string } | undefined {
  if (failure.code === 'NO_MATCH' && failure.undone_by_edit !== undefined) return undefined
  if (fix !== undefined) return { lines: fix.lines, likely: 'most likely' }
  if (failure.code !== 'NO_MATCH') return undefined
  const [best] = failure.similar_content
  if (best === undefined || failure.cause.type === 'near_duplicate') return undefined
  const likely = best.confidence === 'low' ? 'perhaps' : 'most likely'
  return { lines: [best.line_number, best.end_line], likely }
}

function whyNotFound(failure: NoMatch, naming: CallSyntax): string {
  const { cause, similar_content, undone_by_edit, applied_lines } = failure
  if (undone_by_edit !== undefined) return changedFirst(failure)
  const made = applied_lines && `its ${naming.field('new_text')} is there already (${span(applied_lines)})`
  const why = whyMissed(cause, naming)
  if (similar_content.length === 0) return made ?? `${why}${notContained(failure)}`
  const which = cause.type === 'near_duplicate' ? `: ${placesNamed(similar_content, cause)}` : ''
  return `${why}${which}${made === undefined ? '' : `; ${made}`}`
}

const changedFirst = ({ undone_by_edit }: NoMatch | WrongCount, before = ''): string =>
  undone_by_edit === undefined ? '' : `${before}edit ${undone_by_edit + 1} of this request changes it first`

/** `its old_text appears 3 times, at lines 3, 8 and 12`. */
const appears = (
  { actual_occurrences, match_lines, more_matches }: WrongCount | OccurrenceOutOfRange,
  old_text: string
): string =>
  `its ${old_text} appears ${counted(actual_occurrences, 'time')}, ` +
  `at ${linesListed(match_lines, more_matches === undefined)}`
