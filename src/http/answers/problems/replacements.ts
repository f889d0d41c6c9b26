// Why no text is replaced in any of many files, and what to send. Does not know single files.
import type { SuggestedFix } from '../../../../schemas/problem.ts'
import type { FoundOtherwise, LeftOut, WrongCountInFiles } from '../../../operations/operation.ts'
import type { Brief, FailedCall } from '../brief/call.ts'
import { filesListed } from '../brief/replaced.ts'
import type { CallSyntax } from '../call-names.ts'
import { changedTo } from '../find-outcome.ts'
import { NOTHING_CHANGED } from '../part.ts'
import { counted, cut, listed, NOTHING_WRITTEN, quote, sentences } from '../phrases.ts'
import type { FailedRequest, FailureOf, ProblemEntries, ProblemParts } from './entry.ts'

/** The most places of all files that a problem lists as `match_locations`. */
const MAX_LOCATIONS = 10
/** The most paths that a sentence names. */
const NAMED = 5

export const REPLACEMENTS = {
  NOTHING_TO_REPLACE: {
    kind: [422, 'Nothing to replace', 'change_request'],
    about: 'request',
    detail: (failure, { naming }) => ({
      detail: sentences(...nothingToReplace(failure, naming), NOTHING_WRITTEN),
      members: {
        search_text: cut(failure.search_text),
        ...(failure.reason === 'none'
          ? { searched_files: failure.searched_files }
          : { files: failure.in_files.map(onWire) })
      }
    }),
    brief: (failure, { naming }) => {
      const [what, ...next] = nothingToReplace(failure, naming)
      return {
        what: what!,
        next: [sentences(...next)],
        ...(failure.reason === 'repeated' && { lines: filesListed(failure.in_files, naming) })
      }
    },
    example: {
      code: 'NOTHING_TO_REPLACE',
      reason: 'none',
      search_text: 'loadConfg',
      searched_files: 212,
      otherwise: []
    }
  },
  SEARCH_INCOMPLETE: {
    kind: [422, 'Not all files were searched', 'change_request'],
    about: 'request',
    detail: ({ reason, searched_files }) => ({
      detail: sentences(
        reason === 'time'
          ? `Searching took ten seconds and was stopped after ${counted(searched_files, 'file')},`
          : `There is too much to read for one request: searching was stopped after ${counted(searched_files, 'file')},`,
        'so not all places of old_text are known.',
        NOTHING_WRITTEN,
        'Send a narrower path, include or exclude, in several requests.'
      ),
      members: { searched_files }
    }),
    example: { code: 'SEARCH_INCOMPLETE', reason: 'time', searched_files: 180_000 }
  }
} satisfies Partial<ProblemEntries>

function nothingToReplace(failure: FailureOf<'NOTHING_TO_REPLACE'>, naming: CallSyntax): string[] {
  const text = quote(failure.search_text)
  if (failure.reason === 'repeated') {
    const places = counted(
      failure.in_files.reduce((sum, { occurrences }) => sum + occurrences, 0),
      'place'
    )
    return [
      `${text} is in ${places}, and each has new_text around it already, so this seems to be made.`,
      'To make it once more, send old_text with the text beside it.'
    ]
  }
  const { searched_files, otherwise, new_text_in: made } = failure
  return [
    searched_files === 1
      ? `${text} is not in the file that was searched.`
      : `${text} is in none of the ${searched_files} files that were searched.`,
    ...(made === undefined ? [] : [`new_text is in ${placesIn(made)}, so this seems to be made already.`]),
    ...otherwise.map(other => whatElse(other, naming))
  ]
}

/** What a search with other fields finds. */
function whatElse(other: FoundOtherwise, { find }: CallSyntax): string {
  const places = placesIn(other)
  if (other.change.ignore_case !== true) return `${changedTo(other.change)} it is in ${places}.`
  const see = find === undefined ? '' : ` (${find} with ignore_case shows them)`
  return `With other upper and lower case it is in ${places}${see}.`
}

const placesIn = ({ total_matches, total_files, stopped }: Omit<FoundOtherwise, 'change'>): string =>
  `${stopped ? 'at least ' : ''}${counted(total_matches, 'place')} in ${counted(total_files, 'file')}`

/** A file with places as a problem lists it. */
const onWire = ({ matches, ...file }: WrongCountInFiles['in_files'][number]) => ({ ...file, matches: [...matches] })

const wrongCount = ({ search_text, in_files, actual_occurrences, expected_occurrences }: WrongCountInFiles): string =>
  `${quote(search_text)} is in ${counted(actual_occurrences, 'place')} in ${counted(in_files.length, 'file')}, ` +
  `but ${expected_occurrences} ${expected_occurrences === 1 ? 'was' : 'were'} expected`

/** The entry's `detail` for a wrong number of places in many files. */
export const detailOfFiles = (failure: WrongCountInFiles, { naming }: FailedRequest): ProblemParts => {
  const { in_files, search_text, expected_occurrences, actual_occurrences, again } = failure
  const locations = in_files.flatMap(({ path, matches }) =>
    matches.map(match => ({ path, context_before: [], context_after: [], ...match }))
  )
  return {
    detail: sentences(
      `${wrongCount(failure)}.`,
      NOTHING_WRITTEN,
      `If you mean all of these, send the same request with occurrences ${actual_occurrences};`,
      'else a longer old_text, or a narrower path, include or exclude. files has the first places of each file.'
    ),
    members: {
      edit_index: 0,
      total_edits: 1,
      search_text: cut(search_text),
      expected_occurrences,
      actual_occurrences,
      match_locations: locations.slice(0, MAX_LOCATIONS),
      match_lines: [],
      files: in_files.map(onWire),
      suggested_fixes: callOf(again, naming).map(call => ({
        type: 'ADJUST_COUNT',
        suggestion: `To replace all of these places, set occurrences to ${actual_occurrences}.`,
        example: `"occurrences": ${actual_occurrences}`,
        call
      }))
    }
  }
}

/** The entry's `brief` for a wrong number of places in many files. */
export const briefOfFiles = (failure: WrongCountInFiles, { naming }: FailedCall): Brief => ({
  what: wrongCount(failure),
  next: [
    `If you mean all of these, send the same call with "occurrences": ${failure.actual_occurrences}; ` +
      'else a longer old_text, or a narrower path, include or exclude.'
  ],
  lines: filesListed(failure.in_files, naming)
})

/** The request as a call; none if the caller has no such call. */
const callOf = (again: LeftOut['again'], { replace }: CallSyntax): NonNullable<SuggestedFix['call']>[] =>
  replace === undefined ? [] : [{ name: replace, arguments: again }]

/** Says which files can't be changed besides the one that failed, and how to leave them out. */
export function leaveOutNote({ paths, again }: LeftOut): string {
  const others = paths.slice(1)
  const named = [...others.slice(0, NAMED), ...(others.length > NAMED ? [`${others.length - NAMED} more`] : [])]
  const [it, exclude] = [others.length === 0 ? 'it' : 'them', JSON.stringify(again.exclude)]
  return sentences(
    NOTHING_CHANGED,
    others.length === 0 ? '' : `Nor can ${listed(named.map(path => cut(path, 200)))} be changed.`,
    `To leave ${it} out, send the same request with exclude ${exclude} and ` +
      (again.occurrences === undefined
        ? 'without occurrences, to see the places.'
        : `occurrences ${again.occurrences}.`)
  )
}

/** The request without the files that can't be changed, as a fix. */
export const leaveOutFixes = ({ paths, again }: LeftOut, naming: CallSyntax): SuggestedFix[] =>
  callOf(again, naming).map(call => ({
    type: 'LEAVE_OUT_FILES',
    suggestion: `Leave out ${counted(paths.length, 'file')} that can't be changed, and change the others.`,
    call
  }))
