// Why an edit of lines can't be made, what is there instead, and what to send. Does not know statuses.
import type { Problem } from '../../../../schemas/problem.ts'
import type { ExpectedTextMismatch, LineFailure, LineOutOfRange, ResultTooLarge } from '../../../engine/failure.ts'
import type { CallSyntax } from '../call-names.ts'
import { sentences, capital, counted, listed, quote, span } from '../phrases.ts'
import type { Descriptions, FailedRequest } from './entry.ts'
import { ofEdit, position } from '../edits-of-request.ts'
import { whyMissed } from '../no-match-cause.ts'
import { readLines, readPreview, toFixes, whyNotMerged } from '../suggested-fixes.ts'

export const LINE_FAILURES: Descriptions<Exclude<LineFailure, ResultTooLarge>> = {
  LINE_OUT_OF_RANGE: (failure, { shown, naming }) => {
    const { edit_index, total_edits, total_lines } = failure
    if (edit_index === undefined || total_edits === undefined) {
      return { detail: noSuchLinesToRead(failure, shown, naming), members: { total_lines } }
    }
    const edit = { edit_index, total_edits }
    const why = naming.takes('start_line') ? noSuchLinesToEdit(failure, shown) : noLineToInsertAfter(failure, shown)
    return { detail: ofEdit(edit, why), members: { ...edit, total_lines } }
  },
  OVERLAPPING_EDITS: (failure, { shown }) => {
    const { other_edit_index, lines, other_lines } = failure
    const why = sentences(
      `it ${changes(lines)} of ${shown} and edit ${other_edit_index + 1} ${changes(other_lines)}, so they overlap.`,
      'All line numbers refer to the file before the request. Merge the two edits, or correct their lines.'
    )
    return { detail: ofEdit(failure, why), members: { ...position(failure), other_edit_index } }
  },
  EXPECTED_TEXT_MISMATCH: (failure, request) => ({
    detail: ofEdit(failure, sentences(whatDiffers(failure, request), whereExpected(failure, request))),
    members: mismatchMembers(failure, request)
  })
}

function noSuchLinesToRead(failure: LineOutOfRange, shown: string, naming: CallSyntax): string {
  const { total_lines, start_line, end_line, start_column, total_columns = 0 } = failure
  if (start_column !== undefined) {
    return sentences(
      `Line ${start_line} of ${shown} has no column ${start_column}: it has ${counted(total_columns, 'column')}.`,
      'Leave start_column out to read the line from its start.'
    )
  }
  const askFor = `Ask for ${total_lines > 1 ? `lines from 1 to ${total_lines}` : 'line 1'}.`
  if (end_line === undefined || end_line >= start_line) return sentences(noSuchLine(failure, shown), askFor)
  return sentences(
    naming.takes('start_line')
      ? `end_line ${end_line} comes before start_line ${start_line}.`
      : `Line ${end_line} comes before line ${start_line}.`,
    `${shown} has ${counted(total_lines, 'line')}.`,
    askFor
  )
}

function noSuchLinesToEdit(failure: LineOutOfRange, shown: string): string {
  const { total_lines, start_line, end_line } = failure
  const has = `${shown} has ${counted(total_lines, 'line')}.`
  if (start_line < 1) {
    return sentences(
      `start_line is ${start_line}, but lines are counted from 1: ${has}`,
      'To insert at the top, send start_line 1 and end_line 0.'
    )
  }
  if (end_line !== undefined && end_line < start_line - 1) {
    return sentences(
      `end_line ${end_line} comes before start_line ${start_line}.`,
      `To insert before line ${start_line}, send end_line ${start_line - 1};`,
      `to replace lines, send the last of them as end_line. ${has}`
    )
  }
  const append = `To append, send start_line ${total_lines + 1} and end_line ${total_lines}.`
  return sentences(noSuchLine(failure, shown), append)
}

/** To callers whose insertions name the line above. */
const noLineToInsertAfter = ({ total_lines, start_line }: LineOutOfRange, shown: string): string =>
  sentences(
    `${shown} has no line ${start_line - 1} to insert after: it has ${counted(total_lines, 'line')}.`,
    `Send a number from 0, which is the start of the file, to ${total_lines}.`
  )

const noSuchLine = ({ total_lines, start_line, end_line }: LineOutOfRange, shown: string): string =>
  `${shown} has no line ${start_line > total_lines ? start_line : end_line}: it has ${counted(total_lines, 'line')}.`

const changes = ([first, last]: readonly [number, number]): string =>
  last < first ? `inserts before line ${first}` : `changes ${span([first, last])}`

function whatDiffers({ start_line, end_line, actual_text }: ExpectedTextMismatch, { shown }: FailedRequest): string {
  if (end_line < start_line) {
    return `expected_text must be empty, because the edit inserts before line ${start_line} and replaces no lines.`
  }
  const have = start_line === end_line ? 'has' : 'have'
  return sentences(
    `expected_text does not match ${span([start_line, end_line])} of ${shown},`,
    `which ${have} ${quote(actual_text, 160)}.`
  )
}

/** Of lines that `expected_text` was copied from. */
export const UNSENDABLE =
  'there are bytes that are not UTF-8 (shown as U+FFFD), which expected_text cannot match; leave it out'

/** Where in the file the expected text is, if anywhere, and what to send if that is meant. */
function whereExpected(failure: ExpectedTextMismatch, { naming }: FailedRequest): string {
  const { start_line, end_line, found_at, cause, similar_content, fixes } = failure
  if (found_at === undefined && cause?.type === 'encoding') return capital(`${UNSENDABLE}.`)
  if (found_at === undefined) {
    const spans = similar_content.map(similar => span([similar.line_number, similar.end_line]))
    return sentences(
      `No other lines clearly match it${spans.length === 0 ? '' : ` (most similar: ${listed(spans, 'or')})`}.`,
      'Read the file again: the lines may have moved or changed.'
    )
  }
  const [fix] = fixes
  const send =
    fix === undefined
      ? `copy ${found_at[0] === found_at[1] ? 'its' : 'their'} text as expected_text`
      : fix.conflict === undefined
        ? 'send suggested_fixes[0].edit'
        : `send suggested_fixes[0].edit with a ${naming.field('new_text')} of your own: ${whyNotMerged(fix.conflict, naming)}`
  const differs = cause === undefined ? '' : `: ${whyMissed(cause, naming, 'expected_text')}`
  if (found_at[0] === start_line && found_at[1] === end_line) {
    return `They are nearly the same${differs}. If you mean these lines, ${send}.`
  }
  const what = cause === undefined ? 'expected_text' : 'Nearly the same text'
  return sentences(
    `${what} is now at ${span(found_at)}${differs}. If you mean ${span(found_at)}, ${send}.`,
    failure.total_edits === 1 ? '' : `${OTHERS_MOVED}.`
  )
}

/** Of edits of lines, one of which is for lines that are elsewhere now; without its period. */
export const OTHERS_MOVED = 'The lines of the other edits may have moved too: check their numbers first'

function mismatchMembers(failure: ExpectedTextMismatch, request: FailedRequest): Partial<Problem> {
  const { actual_text, lossy, similar_content, fixes, found_at, file_preview, suggestions_truncated } = failure
  const read = found_at === undefined ? readPreview(request, file_preview) : readLines(request, found_at)
  return {
    ...position(failure),
    actual_text,
    lossy,
    similar_content,
    suggested_fixes: [...toFixes(fixes, request), read],
    suggestions_truncated,
    file_preview
  }
}
