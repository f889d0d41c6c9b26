// What is said of an edit that can't be made: why, what is there, what to send instead. Does not know statuses.
import type { Problem } from '../../../schemas/problem.ts'
import type {
  EditPosition,
  ExpectedTextMismatch,
  LineFailure,
  LineOutOfRange,
  NoMatch,
  SectionFailure,
  SimilarContent,
  TextFailure,
  WrongCount
} from '../../engine/failure.ts'
import type { StaleFile } from '../../workspace/failure.ts'
import { whyMissed } from './no-match-cause.ts'
import { readFile, readLines, readPreview, toFixes } from './suggested-fixes.ts'
import type { Asked } from './call-names.ts'
import { capital, counted, cut, linesListed, listed, quote, span } from './phrases.ts'
import { tellTarget } from './section-failure.ts'
import { NOTHING_WRITTEN, type ProblemParts } from './told.ts'

export function tellFailedEdit(failure: TextFailure | LineFailure | SectionFailure, asked: Asked): ProblemParts {
  const shown = cut(asked.path, 200)
  switch (failure.code) {
    case 'NO_MATCH':
      return {
        detail: inEdit(failure, noMatch(failure, shown, asked), true),
        members: { ...position(failure), ...noMatchMembers(failure, asked) }
      }
    case 'WRONG_COUNT':
      return {
        detail: inEdit(failure, wrongCount(failure, shown), true),
        members: {
          ...position(failure),
          ...matches(failure, asked),
          expected_occurrences: failure.expected_occurrences,
          ...(failure.similar_content && { similar_content: failure.similar_content }),
          ...(failure.suggestions_truncated && { suggestions_truncated: true })
        }
      }
    case 'OCCURRENCE_OUT_OF_RANGE':
      return {
        detail: inEdit(
          failure,
          `occurrence ${failure.occurrence} was asked for, but old_text appears ${counted(failure.actual_occurrences, 'time')} in ${shown}, at ${linesListed(failure.match_lines)}. Set occurrence to ${failure.actual_occurrences === 1 ? '1' : `a number from 1 to ${failure.actual_occurrences}`}, "first" or "last".`,
          true
        ),
        members: { ...position(failure), ...matches(failure, asked) }
      }
    case 'RESULT_TOO_LARGE':
      return {
        detail: inEdit(
          failure,
          failure.what === 'bytes'
            ? `${shown} would have ${counted(failure.actual, 'byte')}; the limit is ${failure.limit} (--max-file-size).`
            : `${counted(failure.actual, 'place')} would be replaced; the limit for one request is ${failure.limit}.`
        ),
        members: { ...position(failure), limit: failure.limit, actual: failure.actual }
      }
    case 'LINE_OUT_OF_RANGE':
      return outOfRange(failure, shown)
    case 'OVERLAPPING_EDITS': {
      const { other_edit_index, lines, other_lines } = failure
      return {
        detail: inEdit(
          failure,
          `it ${place(lines)} of ${shown} and edit ${other_edit_index + 1} ${place(other_lines)}, so they overlap. All line numbers refer to the file before the request. Merge the two edits, or correct their lines.`
        ),
        members: { ...position(failure), other_edit_index }
      }
    }
    case 'EXPECTED_TEXT_MISMATCH':
      return mismatch(failure, asked)
    case 'TARGET_NOT_FOUND':
    case 'AMBIGUOUS_TARGET':
    case 'UNSUPPORTED_TARGET':
      return tellTarget(failure, asked)
  }
}

/** The file has changed since: what the edit comes to in it now. */
export function tellStale({ expected_hash, now }: StaleFile, asked: Asked, file_hash?: string): ProblemParts {
  const first = `${cut(asked.path, 200)} has changed: its hash is ${file_hash === undefined ? '' : `${file_hash}, `}not ${expected_hash}.`
  const with_hash = `send it with expected_hash ${file_hash === undefined ? 'set to its file_hash' : `"${file_hash}"`}`
  const members = { ...(expected_hash !== undefined && { expected_hash }) }
  if (now === undefined) {
    return {
      detail: `${first} ${NOTHING_WRITTEN} Look at the file again, check that your edit still applies, and ${with_hash}.`,
      members: { ...members, suggested_fixes: [readFile(asked)] }
    }
  }
  if (now.fits) {
    const { places, total, file_preview } = now
    const shown = [
      ...new Set(places.map(lines => (lines[1] < lines[0] ? `before line ${lines[0]}` : `at ${span(lines)}`)))
    ]
    const where =
      total === 0
        ? ''
        : ` ${listed(shown)}${total > places.length ? ` and at ${counted(total - places.length, 'more place')}` : ''}`
    return {
      detail: `${first} ${NOTHING_WRITTEN} Your edit would still apply${where}; file_preview shows what is there now. If that is what you mean, ${with_hash}.`,
      members: { ...members, suggested_fixes: [readPreview(asked, file_preview)], file_preview }
    }
  }
  const { detail, members: more } = tellFailedEdit(now.failure, asked)
  return {
    detail: `${first} On the current file your edit fails too: ${detail} Then ${with_hash}.`,
    members: { ...more, ...members }
  }
}

const position = ({ edit_index, total_edits }: EditPosition) => ({ edit_index, total_edits })

/**
 * The sentences about one edit; of several, which one it was. `inOrder`: the edits before it were tried, and would be
 * made.
 */
function inEdit({ edit_index, total_edits }: EditPosition, sentences: string, inOrder = false): string {
  if (total_edits === 1) return `${sentences} ${NOTHING_WRITTEN}`
  const before =
    !inOrder || edit_index === 0 ? '' : edit_index === 1 ? '; edit 1 matches' : `; edits 1 to ${edit_index} match`
  return `Edit ${edit_index + 1} of ${total_edits} failed: ${sentences} Nothing was written: none of the ${total_edits} edits was made${before}.`
}

function noMatch(failure: NoMatch, shown: string, asked: Asked): string {
  const first = `old_text was not found in ${shown}: ${quote(failure.search_text)}.`
  const best = failure.similar_content[0]
  if (failure.undone_by_edit !== undefined) {
    const after = failure.fixes[0]?.edit === undefined ? '' : ' (suggested_fixes[0].edit has it)'
    return `${first} It is in the original file, but edit ${failure.undone_by_edit + 1} of this request changes it first. Write old_text as it reads after that edit${after}, or merge the two edits.`
  }
  if (failure.file_preview.total_lines === 0) {
    return `${first} The file is empty. To put text into it, send ${asked.naming.edit_lines} with start_line 1 and end_line 0.`
  }
  if (failure.already_applied && best === undefined) {
    return `${first} new_text is already there${failure.applied_line === undefined ? '' : ` (line ${failure.applied_line})`}, so this edit seems to have been made already. Look at the file; if so, leave this edit out.`
  }
  if (best === undefined) {
    return `${first} Nothing in its ${counted(failure.file_preview.total_lines, 'line')} is similar${absent(failure.missing_tokens)}. Read the file and copy old_text from content exactly, or check that this is the right file.`
  }
  const applied = failure.already_applied
    ? ` (new_text is also in the file${failure.applied_line === undefined ? '' : `, at line ${failure.applied_line}`}: if this edit was made already, leave it out.)`
    : ''
  return `${first} ${similar(failure, best)} ${nextStep(failure, best)}${applied}`
}

/** Names that say it: no such thing is in the file. */
const absent = (tokens: readonly string[] = []): string =>
  tokens.length === 0
    ? ''
    : `, and it does not contain ${listed(
        tokens.slice(0, 3).map(token => quote(token, 40)),
        'or'
      )}`

const spanOf = ({ line_number, end_line }: SimilarContent) => span([line_number, end_line])

function similar({ similar_content, cause }: NoMatch, best: SimilarContent): string {
  if (cause.type === 'near_duplicate') {
    return `${capital(whyMissed(cause))}: ${listed(similar_content.map(spanOf), 'or')}.`
  }
  const one = best.line_number === best.end_line
  return `${best.confidence === 'low' ? 'Perhaps' : 'Most likely'} ${spanOf(best)} ${one ? 'was' : 'were'} meant: ${whyMissed(cause)}. The file has ${quote(best.content, 160)} there.`
}

function nextStep({ fixes, cause }: NoMatch, best: SimilarContent): string {
  const ready = fixes.findIndex(({ edit }) => edit !== undefined)
  const fix = fixes[ready]
  if (fix === undefined) return `Read ${spanOf(best)} and copy old_text from there exactly.`
  const several = fixes.length > ready + 1 && fixes[ready + 1]!.edit !== undefined
  const which = several
    ? `the one of suggested_fixes whose edit is for the place you mean (${fixes.flatMap(({ edit, lines }, i) => (edit === undefined || lines === undefined ? [] : [`[${i}]: ${span(lines)}`])).join(', ')})`
    : `suggested_fixes[${ready}].edit`
  const start = several || cause.type === 'near_duplicate' ? '' : 'If so, '
  return fix.edit?.new_text === undefined
    ? capital(`${start}first update new_text to match what is there, then send it with the old_text of ${which}.`)
    : capital(`${start}send ${which}.`)
}

function noMatchMembers(failure: NoMatch, asked: Asked): Partial<Problem> {
  const { search_text, similar_content, fixes, file_preview, missing_tokens, already_applied, suggestions_truncated } =
    failure
  return {
    search_text: cut(search_text),
    ...(already_applied && { already_applied }),
    similar_content,
    suggested_fixes: toFixes(fixes, asked),
    ...(missing_tokens && { missing_tokens }),
    ...(suggestions_truncated && { suggestions_truncated }),
    file_preview
  }
}

function wrongCount(failure: WrongCount, shown: string): string {
  const { actual_occurrences: actual, expected_occurrences: expected, overlapping } = failure
  const first = `old_text appears ${counted(actual, 'time')} in ${shown}, at ${linesListed(failure.match_lines)}, but ${expected} ${expected === 1 ? 'was' : 'were'} expected.`
  if (failure.undone_by_edit !== undefined) {
    return `${first} The original file has that many; edit ${failure.undone_by_edit + 1} of this request changes it first. Write old_text for the text as it is after that edit (suggested_fixes has such edits), or merge the two edits.`
  }
  if (overlapping) {
    return `${first} ${expected === 1 ? 'Some of the matches overlap' : 'Its matches overlap, so it is not unique either'}. Add surrounding lines to old_text until it matches one place; suggested_fixes has such edits.`
  }
  const count = `set occurrences to ${actual} to replace all of them`
  const [best] = failure.similar_content ?? []
  const others =
    best === undefined
      ? ''
      : ` ${capital(spanOf(best))} ${best.line_number === best.end_line ? 'is' : 'are'} nearly the same: ${quote(best.content, 160)}; to change that too, add an edit with this text.`
  if (actual === 1) {
    return `${first}${others} Set occurrences to 1, or leave it out, to replace ${others === '' ? 'it; or check whether the other places read differently' : 'the one that is exactly old_text'}.`
  }
  if (actual < expected) {
    return `${first}${others} ${capital(count)}, or check whether the other places read differently.`
  }
  return `${first} Add surrounding lines to old_text until it matches one place (suggested_fixes has such edits), ${count}, or set occurrence to the number of the one you mean.`
}

function matches(
  failure: Pick<WrongCount, 'search_text' | 'actual_occurrences' | 'match_locations' | 'match_lines' | 'fixes'>,
  asked: Asked
): Partial<Problem> {
  const { search_text, actual_occurrences, match_locations, match_lines, fixes } = failure
  return {
    search_text: cut(search_text),
    actual_occurrences,
    match_locations,
    match_lines,
    suggested_fixes: toFixes(fixes, asked)
  }
}

function outOfRange(failure: LineOutOfRange, shown: string): ProblemParts {
  const { total_lines, start_line, end_line, start_column, total_columns, edit_index, total_edits } = failure
  const has = `${shown} has ${counted(total_lines, 'line')}`
  const before = end_line !== undefined && end_line < start_line
  if (edit_index === undefined || total_edits === undefined) {
    const members = { total_lines }
    if (start_column !== undefined) {
      return {
        detail: `There is no column ${start_column} in line ${start_line} of ${shown}, which has ${counted(total_columns ?? 0, 'column')}. Leave start_column out to read the line from its start.`,
        members
      }
    }
    return {
      detail: `${before ? `end_line ${end_line} comes before start_line ${start_line}` : `There is no line ${start_line}`}: ${has}. Ask for lines from 1 to ${Math.max(1, total_lines)}.`,
      members
    }
  }
  const append = `To append, send start_line ${total_lines + 1} and end_line ${total_lines}.`
  const why =
    start_line < 1
      ? `start_line is ${start_line}, but lines are counted from 1: ${has}. To insert at the top, send start_line 1 and end_line 0.`
      : before && end_line < start_line - 1
        ? `end_line ${end_line} comes before start_line ${start_line}. To insert before line ${start_line}, send end_line ${start_line - 1}; to replace lines, send the last of them as end_line. ${has}.`
        : `${shown} has no line ${start_line > total_lines ? start_line : end_line}: it has ${counted(total_lines, 'line')}. ${append}`
  return {
    detail: inEdit({ edit_index, total_edits }, why),
    members: { ...position({ edit_index, total_edits }), total_lines }
  }
}

/** What an edit of these lines does. */
const place = ([first, last]: readonly [number, number]) =>
  last < first ? `inserts before line ${first}` : `changes ${span([first, last])}`

function mismatch(failure: ExpectedTextMismatch, asked: Asked): ProblemParts {
  const {
    start_line,
    end_line,
    actual_text,
    lossy,
    found_at,
    cause,
    similar_content,
    fixes,
    file_preview,
    suggestions_truncated
  } = failure
  const there =
    end_line < start_line
      ? `expected_text must be empty, because the edit inserts before line ${start_line} and replaces no lines`
      : `expected_text does not match ${span([start_line, end_line])} of ${cut(asked.path, 200)}, which ${start_line === end_line ? 'has' : 'have'} ${quote(actual_text, 160)}`
  const differs = cause === undefined ? '' : `: ${whyMissed(cause, 'expected_text')}`
  const [fix] = fixes
  const send =
    fix === undefined
      ? 'copy their text as expected_text'
      : fix.edit?.new_text === undefined
        ? 'update new_text to match them and send it with suggested_fixes[0].edit'
        : 'send suggested_fixes[0].edit'
  const here = found_at?.[0] === start_line && found_at[1] === end_line
  const next = here
    ? `They are nearly the same${differs}. If you mean these lines, ${send}.`
    : found_at === undefined
      ? `No other lines clearly match it${similar_content.length > 0 ? ` (most similar: ${listed(similar_content.map(spanOf), 'or')})` : ''}. Look at the file again: the lines may have moved or changed.`
      : `expected_text is now at ${span(found_at)}${differs === '' ? '' : ', or nearly so'}${differs}. If you mean ${found_at[0] === found_at[1] ? 'that line' : 'those lines'}, ${send}.`
  return {
    detail: inEdit(failure, `${there}. ${next}`),
    members: {
      ...position(failure),
      actual_text,
      ...(lossy && { lossy }),
      similar_content,
      suggested_fixes: [
        ...toFixes(fixes, asked),
        found_at === undefined ? readPreview(asked, file_preview) : readLines(asked, found_at)
      ],
      ...(suggestions_truncated && { suggestions_truncated }),
      file_preview
    }
  }
}
