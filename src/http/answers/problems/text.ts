// Why an edit of a text can't be made, what is there instead, and what to send. Does not know statuses.
import type { Problem } from '../../../../schemas/problem.ts'
import type {
  AlreadyApplied,
  Fix,
  NoMatch,
  OccurrenceOutOfRange,
  ResultTooLarge,
  SimilarContent,
  TextFailure,
  WrongCount
} from '../../../engine/failure.ts'
import { BY_TOOL, type CallSyntax, type NamedFile } from '../call-names.ts'
import { sentences, capital, counted, linesListed, listed, quote, span } from '../phrases.ts'
import type { Descriptions, FailedRequest } from './entry.ts'
import { ofEdit, position, failBecause, failToo, isCorrected, whyFails } from '../edits-of-request.ts'
import { notContained, whyMissed } from '../no-match-cause.ts'
import { toFixes, whyNotMerged } from '../suggested-fixes.ts'

export const TEXT_FAILURES: Descriptions<TextFailure> = {
  NO_MATCH: (failure, request) => ({
    detail: ofEdit(failure, noMatch(failure, request), { inOrder: true }),
    members: { ...position(failure), ...noMatchMembers(failure, request) }
  }),
  ALREADY_APPLIED: (failure, request) => ({
    detail: ofEdit(failure, alreadyApplied(failure, request), { inOrder: true }),
    members: {
      ...position(failure),
      search_text: failure.search_text,
      already_applied: true,
      suggested_fixes: toFixes(failure.fixes, request),
      file_preview: failure.file_preview
    }
  }),
  WRONG_COUNT: (failure, request) => ({
    detail: ofEdit(failure, wrongCount(failure, request), { inOrder: true }),
    members: {
      ...position(failure),
      ...matches(failure, request),
      expected_occurrences: failure.expected_occurrences,
      similar_content: failure.similar_content,
      suggestions_truncated: failure.suggestions_truncated
    }
  }),
  OCCURRENCE_OUT_OF_RANGE: (failure, request) => ({
    detail: ofEdit(failure, noSuchOccurrence(failure, request), { inOrder: true }),
    members: { ...position(failure), ...matches(failure, request) }
  }),
  RESULT_TOO_LARGE: (failure, request) => ({
    detail: ofEdit(failure, resultTooLarge(failure, request)),
    members: { ...position(failure), limit: failure.limit, actual: failure.actual }
  })
}

function noMatch(failure: NoMatch, { path, shown, naming }: FailedRequest): string {
  const { search_text, similar_content, fixes, file_preview, undone_by_edit, applied_lines } = failure
  const [old_text, new_text] = [naming.field('old_text'), naming.field('new_text')]
  const notFound = `${old_text} was not found in ${shown}: ${quote(search_text)}.`
  const [best] = similar_content
  if (undone_by_edit !== undefined) {
    const ready = fixes[0]?.edit === undefined ? '' : ' (suggested_fixes[0].edit has it)'
    return sentences(
      notFound,
      `It is in the original file, but edit ${undone_by_edit + 1} of this request changes it first.`,
      `Write ${old_text} to match the text after that edit${ready}, or merge the two edits.`,
      laterToo(failure, naming)
    )
  }
  if (file_preview.total_lines === 0) {
    return sentences(notFound, 'The file is empty.', howToFill(path, naming))
  }
  if (best !== undefined) {
    return sentences(
      notFound,
      mostSimilar(failure, best, naming),
      nextStep(failure, best, naming),
      laterToo(failure, naming),
      orSection(failure, naming),
      alsoApplied(failure, naming)
    )
  }
  if (applied_lines !== undefined) {
    return sentences(
      notFound,
      `${new_text} is there already (${span(applied_lines)}), so this edit seems to have been made.`,
      `If so, leave it out; if not, read the file and copy ${old_text} from it.`
    )
  }
  if (failure.cause.type === 'encoding') return sentences(notFound, `${capital(whyMissed(failure.cause, naming))}.`)
  return sentences(
    notFound,
    `Nothing in its ${counted(file_preview.total_lines, 'line')} is similar enough${notContained(failure)}.`,
    `Read the file and copy ${old_text} from ${naming.field('content', 'inspect')} exactly, ` +
      'or check that this is the right file.'
  )
}

/** How text is put into an empty file. */
function howToFill(path: string, naming: CallSyntax): string {
  if (naming.edit_lines !== undefined) {
    return `To put text into it, use ${naming.edit_lines} with start_line 1 and end_line 0.`
  }
  const call = naming.write(BY_TOOL.edit_lines, { path, start_line: 1, end_line: 0, new_text: '…' })
  return call === undefined ? 'Check that this is the right file.' : `To put text into it, send ${call} with that text.`
}

/** That new_text is there, so that the edit would put in once more what it adds. */
const alreadyApplied = ({ lines }: AlreadyApplied, { shown, naming }: FailedRequest): string =>
  sentences(
    `${naming.field('new_text')} is there already, around ${naming.field('old_text')} (${span(lines)} of ${shown}), ` +
      'so this edit seems to have been made.',
    'If so, leave it out.',
    naming.takes('occurrence')
      ? 'To put it in once more, send occurrence 1 too, or the file_hash as expected_hash.'
      : `To put it in once more, ${onceMore(naming)}.`
  )

/** How an edit is made once more without `occurrence`. */
export const onceMore = (naming: CallSyntax): string =>
  `send the lines that are there now as ${naming.field('old_text')}, ` +
  `and these with the addition once more as ${naming.field('new_text')}`

const alsoApplied = ({ applied_lines }: NoMatch, naming: CallSyntax): string =>
  applied_lines === undefined
    ? ''
    : `${naming.field('new_text')} is also in the file, at ${span(applied_lines)}: if this edit was made already, leave it out.`

const isOneLine = ({ line_number, end_line }: SimilarContent): boolean => line_number === end_line
const spanOf = ({ line_number, end_line }: SimilarContent): string => span([line_number, end_line])

function mostSimilar({ similar_content, cause }: NoMatch, best: SimilarContent, naming: CallSyntax): string {
  if (cause.type === 'near_duplicate') {
    return `${capital(whyMissed(cause, naming))}: ${listed(similar_content.map(spanOf), 'or')}.`
  }
  const likely = best.confidence === 'low' ? 'Perhaps' : 'Most likely'
  return sentences(
    `${likely} ${spanOf(best)} ${isOneLine(best) ? 'was' : 'were'} meant: ${whyMissed(cause, naming)}.`,
    `The file has ${quote(best.content, 160)} there.`
  )
}

function nextStep({ fixes, cause }: NoMatch, best: SimilarContent, naming: CallSyntax): string {
  const ready = fixes.flatMap((fix, i) => (fix.edit === undefined ? [] : [{ ...fix, name: `suggested_fixes[${i}]` }]))
  const [first, second] = ready
  const unclear = cause.type === 'near_duplicate'
  if (first === undefined) {
    const what = cause.type === 'encoding' ? 'a part of it that is UTF-8' : naming.field('old_text')
    return `Read ${unclear ? 'the lines you mean' : spanOf(best)} and copy ${what} from there exactly.`
  }
  const which =
    second === undefined && !unclear ? `${first.name}.edit` : `the edit for the place you mean (${eachPlace(ready)})`
  const action =
    first.conflict === undefined
      ? `send ${which}.`
      : `send ${which} with a ${naming.field('new_text')} of your own: ${whyNotMerged(first.conflict, naming)}.`
  return second !== undefined || unclear ? capital(action) : `If so, ${action}`
}

/** That later edits have to be corrected as well. */
function laterToo({ fixes }: NoMatch, naming: CallSyntax): string {
  const at = fixes.findIndex(({ later }) => later !== undefined)
  const later = fixes[at]?.later ?? []
  const corrected = later.filter(isCorrected)
  const whose = corrected.length === 1 ? 'its' : 'their'
  const own = corrected.flatMap(({ failure, fix: { conflict } }) => {
    if (conflict === undefined) return []
    const which = corrected.length === 1 ? '' : `edit ${failure.edit_index + 1} `
    return [`, ${which}with a ${naming.field('new_text')} of your own: ${whyNotMerged(conflict, naming)}`]
  })
  return sentences(
    corrected.length === 0
      ? ''
      : `${failToo(corrected)}; send what suggested_fixes[${at}].later_edits has in ${whose} place${own.join('')}.`,
    ...later
      .filter(one => !isCorrected(one))
      .map(one => `${failBecause([one], whyFails(one.failure, naming))} Correct it as well.`)
  )
}

/** That the symbol which old_text defines can be replaced whole. */
function orSection({ fixes }: NoMatch, { edit_section }: CallSyntax): string {
  const at = fixes.findIndex(({ section }) => section !== undefined)
  if (at === -1) return ''
  const { section, lines } = fixes[at]!
  const now = `${quote(section!.symbol)} is ${span(lines!)} now`
  return `${now}; ${edit_section} replaces it whole (suggested_fixes[${at}].call).`
}

const eachPlace = (fixes: (Fix & { name: string })[]): string =>
  fixes.flatMap(({ name, lines }) => (lines === undefined ? [] : [`${name} for ${span(lines)}`])).join(', ')

function noMatchMembers(failure: NoMatch, request: NamedFile): Partial<Problem> {
  const { search_text, similar_content, fixes, file_preview, missing_tokens, applied_lines, suggestions_truncated } =
    failure
  return {
    search_text,
    ...(applied_lines !== undefined && { already_applied: true }),
    similar_content,
    suggested_fixes: toFixes(fixes, request),
    missing_tokens,
    suggestions_truncated,
    file_preview
  }
}

export const addLines = (naming: CallSyntax): string =>
  `Add surrounding lines to ${naming.field('old_text')} until it matches one place`

function wrongCount(failure: WrongCount, { shown, naming }: FailedRequest): string {
  const {
    actual_occurrences: actual,
    expected_occurrences: expected,
    match_lines,
    more_matches,
    undone_by_edit
  } = failure
  const appears = sentences(
    `${naming.field('old_text')} appears ${counted(actual, 'time')} in ${shown},`,
    `at ${linesListed(match_lines, more_matches === undefined)},`,
    `but ${expected} ${expected === 1 ? 'was' : 'were'} expected.`
  )
  if (undone_by_edit !== undefined) {
    return sentences(
      appears,
      `The original file has that many; edit ${undone_by_edit + 1} of this request changes it first.`,
      `Write ${naming.field('old_text')} to match the text after that edit (suggested_fixes has such edits), ` +
        'or merge the two edits.'
    )
  }
  if (failure.overlapping) {
    const overlap = expected === 1 ? 'Some of the matches overlap' : 'Its matches overlap, so it is not unique either'
    return sentences(appears, `${overlap}. ${addLines(naming)}; suggested_fixes has such edits.`)
  }
  if (actual < expected) return sentences(appears, ...tooFew(failure, naming))
  if (!naming.takes('occurrence')) return sentences(appears, `${addLines(naming)}; suggested_fixes has such edits.`)
  return sentences(
    appears,
    `${addLines(naming)} (suggested_fixes has such edits), set occurrences to ${actual} to replace all of them,`,
    'or set occurrence to the number of the one you mean.'
  )
}

/** What resembles the text besides its matches, and how to replace these alone. */
function tooFew({ actual_occurrences: actual, similar_content = [] }: WrongCount, naming: CallSyntax): string[] {
  const [best] = similar_content
  const orCheck = 'or check whether the other places read differently.'
  const all = `Set occurrences to ${actual} to replace all of them, ${orCheck}`
  const one = 'Set occurrences to 1, or leave it out, to replace'
  if (best === undefined) return [actual === 1 ? `${one} it; ${orCheck}` : all]
  return [
    `${capital(spanOf(best))} ${isOneLine(best) ? 'is' : 'are'} nearly the same: ${quote(best.content, 160)};`,
    'to change that too, add an edit with this text.',
    actual === 1 ? `${one} the one that is exactly ${naming.field('old_text')}.` : all
  ]
}

function noSuchOccurrence(failure: OccurrenceOutOfRange, { shown, naming }: FailedRequest): string {
  const { occurrence, actual_occurrences: actual, match_lines, more_matches } = failure
  return sentences(
    `occurrence is ${occurrence}, but ${naming.field('old_text')} appears ${counted(actual, 'time')} in ${shown},`,
    `at ${linesListed(match_lines, more_matches === undefined)}.`,
    `Set occurrence to ${actual === 1 ? '1' : `a number from 1 to ${actual}`}, "first" or "last".`
  )
}

const resultTooLarge = ({ what, limit, actual }: ResultTooLarge, { shown, naming }: FailedRequest): string =>
  what === 'bytes'
    ? sentences(
        `${shown} would have ${counted(actual, 'byte')}; the limit is ${limit}.`,
        'Send less text; only the operator can raise the limit, with --max-file-size.'
      )
    : sentences(
        `${counted(actual, 'place')} would be replaced; the limit for one request is ${limit}.`,
        `Send an ${naming.field('old_text')} that matches fewer places.`
      )

/** The matches there are, as members of a problem. */
function matches(failure: WrongCount | OccurrenceOutOfRange, request: NamedFile): Partial<Problem> {
  const { search_text, actual_occurrences, match_locations, match_lines, more_matches, fixes } = failure
  return {
    search_text,
    actual_occurrences,
    match_locations,
    match_lines,
    more_matches,
    suggested_fixes: toFixes(fixes, request)
  }
}
