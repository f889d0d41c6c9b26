// Why an edit of lines can't be made, what the file has instead, and what to send.
import type { Problem } from '../../../../schemas/problem.ts'
import type { ExpectedTextMismatch, LineOutOfRange } from '../../../engine/failure.ts'
import { type Brief, type FailedCall, fixed, pathOf, toRead, whatOfEdit, withEdits } from '../brief/call.ts'
import { excerptNumbered, preview } from '../brief/layout.ts'
import { LAST_LINE } from '../../../engine/edit/request.ts'
import type { CallSyntax } from '../call-names.ts'
import { ofEdit, position } from '../edits-of-request.ts'
import { whyMissed } from '../no-match-cause.ts'
import { capital, counted, listed, quote, sentences, span } from '../phrases.ts'
import { readLines, readPreview, toFixes, whyNotMerged } from '../suggested-fixes.ts'
import { type ProblemEntries, EXAMPLE_PREVIEW, type FailedRequest } from './entry.ts'

export const RANGES = {
  LINE_OUT_OF_RANGE: {
    kind: [422, 'No such line', 'change_request'],
    about: 'read_file',
    detail: (failure, { shown, naming }) => {
      const { edit_index, total_edits, total_lines } = failure
      if (edit_index === undefined || total_edits === undefined) {
        return { detail: noSuchLinesToRead(failure, shown, naming), members: { total_lines } }
      }
      const edit = { edit_index, total_edits }
      const why = naming.takes('start_line') ? noSuchLinesToEdit(failure, shown) : noLineToInsertAfter(failure, shown)
      return { detail: ofEdit(edit, why), members: { ...edit, total_lines } }
    },
    example: { code: 'LINE_OUT_OF_RANGE', total_lines: 90, start_line: 95 }
  },
  OVERLAPPING_EDITS: {
    kind: [422, 'Edits overlap', 'change_request'],
    about: 'read_file',
    detail: (failure, { shown }) => {
      const { other_edit_index, lines, other_lines } = failure
      const why = sentences(
        `it ${changes(lines)} of ${shown} and edit ${other_edit_index + 1} ${changes(other_lines)}, so they overlap.`,
        'All line numbers refer to the file before the request. Merge the two edits, or correct their lines.'
      )
      return { detail: ofEdit(failure, why), members: { ...position(failure), other_edit_index } }
    },
    example: {
      code: 'OVERLAPPING_EDITS',
      edit_index: 1,
      total_edits: 2,
      other_edit_index: 0,
      lines: [44, 46],
      other_lines: [40, 45]
    }
  },
  EXPECTED_TEXT_MISMATCH: {
    kind: [422, 'Lines do not match expected_text', 'after_read'],
    about: 'read_file',
    detail: (failure, request) => ({
      detail: ofEdit(failure, sentences(whatDiffers(failure, request), whereExpected(failure, request))),
      members: mismatchMembers(failure, request)
    }),
    brief: briefMismatch,
    example: {
      code: 'EXPECTED_TEXT_MISMATCH',
      edit_index: 0,
      total_edits: 1,
      start_line: 45,
      end_line: 45,
      actual_text: 'const  foo = 1;\n',
      similar_content: [],
      found_at: [47, 47],
      fixes: [
        {
          type: 'USE_EXACT_TEXT',
          lines: [47, 47],
          edit: { start_line: 47, end_line: 47, expected_text: 'const bar = 2;', new_text: 'const bar = 3;' }
        }
      ],
      file_preview: EXAMPLE_PREVIEW
    }
  }
} satisfies Partial<ProblemEntries>

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
  const { total_lines, start_line: sent, end_line } = failure
  const start_line = sent === LAST_LINE ? total_lines : sent
  const has = `${shown} has ${counted(total_lines, 'line')}.`
  if (start_line < 1) {
    return sentences(
      `start_line is ${sent}, but lines are counted from 1: ${has}`,
      'To insert at the top, send start_line 1 and end_line 0.'
    )
  }
  if (end_line !== undefined && end_line !== LAST_LINE && end_line < start_line - 1) {
    return sentences(
      `end_line ${end_line} comes before start_line ${start_line}.`,
      `To insert before line ${start_line}, send end_line ${start_line - 1};`,
      `to replace lines, send the last of them as end_line. ${has}`
    )
  }
  const append = `To append, send start_line ${total_lines + 1} and end_line ${total_lines}.`
  return sentences(noSuchLine(failure, shown), append)
}

/** For callers whose insertions name the line above. */
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

/** For lines that `expected_text` was copied from. */
const UNSENDABLE =
  'there are bytes that are not UTF-8 (shown as U+FFFD), which expected_text cannot match; leave it out'

/** Where the expected text is in the file, if anywhere, and what to send if that is meant. */
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

/** For one of several edits whose lines have moved; has no period. */
const OTHERS_MOVED = 'The lines of the other edits may have moved too: check their numbers first'

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

function briefMismatch(failure: ExpectedTextMismatch, call: FailedCall): Brief {
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
  // The other edits would be made at their old numbers, without checking what is there.
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
