// Why an edit of a text can't be made, what the file has instead, and what to send. Texts that were not found are in
// no-match.ts.
import type { Problem } from '../../../../schemas/problem.ts'
import type { AlreadyApplied, OccurrenceOutOfRange, WrongCount } from '../../../engine/failure.ts'
import { type Brief, CALLS_LENGTH, eachPlace, type FailedCall, fixed, whatOfEdit, withEdits } from '../brief/call.ts'
import { numberedMatches } from '../brief/found.ts'
import { excerptNumbered, preview } from '../brief/layout.ts'
import type { CallSyntax, NamedFile } from '../call-names.ts'
import { ofEdit, position } from '../edits-of-request.ts'
import { capital, counted, linesListed, quote, sentences, span } from '../phrases.ts'
import { toFixes } from '../suggested-fixes.ts'
import { type ProblemEntries, EXAMPLE_PREVIEW, type FailedRequest } from './entry.ts'
import { HUNKS, isOfHunk } from './hunks.ts'
import { isOneLine, NO_MATCH, spanOf } from './no-match.ts'
import { briefOfFiles, detailOfFiles } from './replacements.ts'

export const TEXT = {
  NO_MATCH,
  ALREADY_APPLIED: {
    kind: [422, 'Edit seems to be made already', 'change_request'],
    detail: (failure, request) => ({
      detail: ofEdit(failure, alreadyApplied(failure, request), { inOrder: true }),
      members: {
        ...position(failure),
        search_text: failure.search_text,
        already_applied: true,
        suggested_fixes: toFixes(failure.fixes, request),
        file_preview: failure.file_preview
      }
    }),
    brief: (failure, call) => ({
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
    example: {
      code: 'ALREADY_APPLIED',
      edit_index: 0,
      total_edits: 1,
      search_text: 'import os',
      lines: [3, 4],
      fixes: [{ type: 'ALREADY_APPLIED', lines: [3, 4] }],
      file_preview: EXAMPLE_PREVIEW
    }
  },
  WRONG_COUNT: {
    kind: [422, 'Unexpected number of matches', 'change_request'],
    about: 'read_file',
    detail: (failure, request) =>
      'in_files' in failure
        ? detailOfFiles(failure, request)
        : isOfHunk(failure)
          ? HUNKS.WRONG_COUNT.detail(failure, request)
          : {
              detail: ofEdit(failure, wrongCount(failure, request), { inOrder: true }),
              members: {
                ...position(failure),
                ...matches(failure, request),
                expected_occurrences: failure.expected_occurrences,
                similar_content: failure.similar_content,
                suggestions_truncated: failure.suggestions_truncated
              }
            },
    brief: (failure, call) =>
      'in_files' in failure
        ? briefOfFiles(failure, call)
        : isOfHunk(failure)
          ? HUNKS.WRONG_COUNT.brief(failure, call)
          : briefWrongCount(failure, call),
    example: {
      code: 'WRONG_COUNT',
      edit_index: 0,
      total_edits: 1,
      search_text: 'const foo = 1;',
      expected_occurrences: 1,
      actual_occurrences: 2,
      overlapping: false,
      match_locations: [exampleMatch(12), exampleMatch(40)],
      match_lines: [12, 40],
      fixes: [
        { type: 'ADD_CONTEXT', lines: [12, 12], edit: { old_text: 'one() {\nconst foo = 1;' } },
        { type: 'ADJUST_COUNT', edit: { old_text: 'const foo = 1;', new_text: 'const foo = 2;', occurrences: 2 } },
        { type: 'CHOOSE_OCCURRENCE', edit: { old_text: 'const foo = 1;', new_text: 'const foo = 2;', occurrence: 1 } }
      ]
    }
  },
  OCCURRENCE_OUT_OF_RANGE: {
    kind: [422, 'No such occurrence', 'change_request'],
    about: 'read_file',
    detail: (failure, request) => ({
      detail: ofEdit(failure, noSuchOccurrence(failure, request), { inOrder: true }),
      members: { ...position(failure), ...matches(failure, request) }
    }),
    brief: (failure, call) => ({
      what: whatOfEdit(failure, `occurrence is ${failure.occurrence}, but ${appears(failure, call)}`),
      next: oneOfThem(failure, call)
    }),
    example: {
      code: 'OCCURRENCE_OUT_OF_RANGE',
      edit_index: 0,
      total_edits: 1,
      search_text: 'const foo = 1;',
      occurrence: 3,
      actual_occurrences: 2,
      match_locations: [exampleMatch(12), exampleMatch(40)],
      match_lines: [12, 40],
      fixes: [
        { type: 'CHOOSE_OCCURRENCE', edit: { old_text: 'const foo = 1;', new_text: 'const foo = 2;', occurrence: 2 } }
      ]
    }
  }
} satisfies Partial<ProblemEntries>

/** A match for the examples. */
function exampleMatch(line_number: number) {
  return {
    line_number,
    column_start: 1,
    column_end: 15,
    line_content: 'const foo = 1;',
    context_before: ['{'],
    context_after: ['}']
  }
}

/** Says that new_text is already there, so the edit would insert its addition again. */
const alreadyApplied = ({ lines }: AlreadyApplied, { shown, naming }: FailedRequest): string =>
  sentences(
    `${naming.field('new_text')} is there already, around ${naming.field('old_text')} (${span(lines)} of ${shown}), ` +
      'so this edit seems to have been made.',
    'If so, leave it out.',
    naming.takes('occurrence')
      ? 'To put it in once more, send occurrence 1 too, or the file_hash as expected_hash.'
      : `To put it in once more, ${onceMore(naming)}.`
  )

/** How to repeat an edit without `occurrence`. */
const onceMore = (naming: CallSyntax): string =>
  `send the lines that are there now as ${naming.field('old_text')}, ` +
  `and these with the addition once more as ${naming.field('new_text')}`

/** `old_text appears 2 times in app.js, at lines 5 and 7`. */
const appears = (
  { actual_occurrences, match_lines, more_matches }: WrongCount | OccurrenceOutOfRange,
  { shown, naming }: Pick<FailedRequest, 'shown' | 'naming'>
): string =>
  `${naming.field('old_text')} appears ${counted(actual_occurrences, 'time')} in ${shown}, ` +
  `at ${linesListed(match_lines, more_matches === undefined)}`

function wrongCount(failure: WrongCount, request: FailedRequest): string {
  const { naming } = request
  const { actual_occurrences: actual, expected_occurrences: expected, undone_by_edit } = failure
  const wrong = `${appears(failure, request)}, but ${expected} ${expected === 1 ? 'was' : 'were'} expected.`
  if (undone_by_edit !== undefined) {
    return sentences(
      wrong,
      `The original file has that many; edit ${undone_by_edit + 1} of this request changes it first.`,
      `Write ${naming.field('old_text')} to match the text after that edit (suggested_fixes has such edits), ` +
        'or merge the two edits.'
    )
  }
  if (failure.overlapping) {
    const overlap = expected === 1 ? 'Some of the matches overlap' : 'Its matches overlap, so it is not unique either'
    return sentences(wrong, `${overlap}. ${addLines(naming)}; suggested_fixes has such edits.`)
  }
  if (actual < expected) return sentences(wrong, ...tooFew(failure, naming))
  if (!naming.takes('occurrence')) return sentences(wrong, `${addLines(naming)}; suggested_fixes has such edits.`)
  return sentences(
    wrong,
    `${addLines(naming)} (suggested_fixes has such edits), set occurrences to ${actual} to replace all of them,`,
    'or set occurrence to the number of the one you mean.'
  )
}

/** What else resembles the text besides its matches, and how to replace only the matches. */
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

function briefWrongCount(failure: WrongCount, call: FailedCall): Brief {
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

function noSuchOccurrence(failure: OccurrenceOutOfRange, request: FailedRequest): string {
  const { occurrence, actual_occurrences: actual } = failure
  return sentences(
    `occurrence is ${occurrence}, but ${appears(failure, request)}.`,
    `Set occurrence to ${actual === 1 ? '1' : `a number from 1 to ${actual}`}, "first" or "last".`
  )
}

const addLines = (naming: CallSyntax): string =>
  `Add surrounding lines to ${naming.field('old_text')} until it matches one place`

/** Calls that replace one of several matches: by its surroundings or, if that gets long, by its number. */
function oneOfThem(failure: WrongCount | OccurrenceOutOfRange, call: FailedCall): string[] {
  const { fixes, actual_occurrences: actual } = failure
  const all = withEdits(fixes)
  const around = all.filter(({ type }) => type === 'ADD_CONTEXT')
  const byNumber = all.find(({ type }) => type === 'CHOOSE_OCCURRENCE')
  const adjust = all.find(({ type }) => type === 'ADJUST_COUNT')
  const shown = eachPlace(around, failure, call)
  const isWhole = shown.length === 2 * around.length && shown.join('\n').length <= CALLS_LENGTH
  const number = `"occurrence": a number from 1 to ${actual}`
  const everywhere = adjust === undefined ? '' : ` To replace all ${actual}, send "occurrences": ${actual}.`
  if (shown.length === 0 && byNumber === undefined && adjust === undefined) {
    return [`${addLines(call.naming)}.`, ...matchesShown(failure)]
  }
  if (isWhole || byNumber === undefined) {
    const one = around.length === 0 ? 'To replace one of them' : 'For one of the others'
    const others = actual > around.length && byNumber !== undefined ? ` ${one}, send ${number}.` : ''
    return [...shown, `${others}${everywhere}`.trim(), ...(shown.length === 0 ? matchesShown(failure) : [])]
  }
  // No call: it would have the number of the first match, and nothing favors that one.
  return [`To replace one of them, send ${number}, counted from the top.${everywhere}`, ...matchesShown(failure)]
}

/** The first matches with the lines around them, as many as fit, and how many there are besides. */
function matchesShown({ match_locations, actual_occurrences: actual }: WrongCount | OccurrenceOutOfRange): string[] {
  const first = (count: number) => numberedMatches(match_locations.slice(0, count)).map(({ text }) => text)
  let count = match_locations.length
  while (count > 1 && first(count).join('\n').length > CALLS_LENGTH) count--
  return [...first(count), ...(count < actual ? [`${counted(actual - count, 'more place')} not shown.`] : [])]
}

/** The existing matches, as members of a problem. */
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
