// Why old_text was not found: the region that was most likely meant, and the edit or the call that changes it.
import type { Problem } from '../../../../schemas/problem.ts'
import type { EditPosition, Fix, LaterEdit, NoMatch, SimilarContent } from '../../../engine/failure.ts'
import type { Cause } from '../../../engine/suggest/differences/classify.ts'
import {
  asCall,
  type Brief,
  eachPlace,
  type FailedCall,
  fixed,
  otherCall,
  pathOf,
  type ReadyFix,
  shortest,
  toRead,
  whatOfEdit,
  withEdits
} from '../brief/call.ts'
import { preview } from '../brief/layout.ts'
import { eachLikely } from '../brief/likely.ts'
import { BY_TOOL, type CallSyntax, type NamedFile } from '../call-names.ts'
import { failBecause, failToo, isCorrected, ofEdit, position, whyFails } from '../edits-of-request.ts'
import { likeliestFirst, notContained, placesNamed, whyMissed } from '../no-match-cause.ts'
import { capital, counted, quote, sentences, span } from '../phrases.ts'
import { toFixes, whyNotMerged } from '../suggested-fixes.ts'
import { type ProblemEntry, EXAMPLE_PREVIEW, type FailedRequest, type FailureOf } from './entry.ts'
import { HUNKS, isOfHunk } from './hunks.ts'

export const NO_MATCH: ProblemEntry<FailureOf<'NO_MATCH'>> = {
  kind: [422, 'Text not found', 'change_request'],
  about: 'read_file',
  detail: (failure, request) =>
    isOfHunk(failure)
      ? HUNKS.NO_MATCH.detail(failure, request)
      : {
          detail: ofEdit(failure, noMatch(failure, request), { inOrder: true }),
          members: { ...position(failure), ...noMatchMembers(failure, request) }
        },
  brief: (failure, call) => (isOfHunk(failure) ? HUNKS.NO_MATCH.brief(failure, call) : briefNoMatch(failure, call)),
  example: {
    code: 'NO_MATCH',
    edit_index: 0,
    total_edits: 3,
    search_text: 'const foo = 1;',
    similar_content: [
      {
        line_number: 45,
        end_line: 45,
        content: 'const  foo = 1;',
        similarity_score: 0.93,
        confidence: 'high',
        differences: [{ type: 'whitespace', expected: 'const foo', found: 'const  foo' }]
      }
    ],
    fixes: [
      { type: 'USE_EXACT_TEXT', lines: [45, 45], edit: { old_text: 'const  foo = 1;', new_text: 'const foo = 2;' } },
      { type: 'READ_FILE', lines: [35, 55] }
    ],
    file_preview: EXAMPLE_PREVIEW,
    cause: { type: 'spacing', expected: 'const foo', found: 'const  foo' }
  }
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

/** How to add text to an empty file. */
export function howToFill(path: string, naming: CallSyntax): string {
  if (naming.edit_lines !== undefined) {
    return `To put text into it, use ${naming.edit_lines} with start_line 1 and end_line 0.`
  }
  const call = naming.write(BY_TOOL.edit_lines, { path, start_line: 1, end_line: 0, new_text: '…' })
  return call === undefined ? 'Check that this is the right file.' : `To put text into it, send ${call} with that text.`
}

const alsoApplied = ({ applied_lines }: NoMatch, naming: CallSyntax): string =>
  applied_lines === undefined
    ? ''
    : `${naming.field('new_text')} is also in the file, at ${span(applied_lines)}: if this edit was made already, leave it out.`

export const isOneLine = ({ line_number, end_line }: SimilarContent): boolean => line_number === end_line

export const spanOf = ({ line_number, end_line }: SimilarContent): string => span([line_number, end_line])

function mostSimilar({ similar_content, cause }: NoMatch, best: SimilarContent, naming: CallSyntax): string {
  if (cause.type === 'near_duplicate') {
    return `${capital(whyMissed(cause, naming))}: ${placesNamed(similar_content, cause)}.`
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
  // A second edit of the same place is a shorter one.
  const isOne =
    !unclear && ready.slice(1).every(({ lines, conflict }) => conflict === undefined && isWithin(lines, first.lines))
  const which = !isOne
    ? `the edit for the place you mean (${placesListed(ready)})`
    : second === undefined
      ? `${first.name}.edit`
      : `${first.name}.edit or the shorter ${second.name}.edit`
  const action =
    first.conflict === undefined
      ? `send ${which}.`
      : `send ${which} with a ${naming.field('new_text')} of your own: ${whyNotMerged(first.conflict, naming)}.`
  if (unclear) return `${capital(action).slice(0, -1)}, or read around them first.`
  return isOne ? `If so, ${action}` : capital(action)
}

/** Whether lines are among others, as far as they are known. */
const isWithin = (lines: readonly number[] | undefined, others: readonly number[] | undefined): boolean =>
  lines === others ||
  (lines !== undefined && others !== undefined && lines[0]! >= others[0]! && lines[1]! <= others[1]!)

/** Says that later edits have to be corrected too. */
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

/** Says that the whole symbol that old_text defines can be replaced. */
function orSection({ fixes }: NoMatch, { edit_section }: CallSyntax): string {
  const at = fixes.findIndex(({ section }) => section !== undefined)
  if (at === -1) return ''
  const { section, lines } = fixes[at]!
  const now = `${quote(section!.symbol)} is ${span(lines!)} now`
  return `${now}; ${edit_section} replaces it whole (suggested_fixes[${at}].call).`
}

const placesListed = (fixes: (Fix & { name: string })[]): string =>
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

/** The longest region that is shown without an edit of it, in UTF-16 units. */
const REGION_LENGTH = 2000

/** What was probably meant, or that nothing is similar, with the calls that would edit it. */
function briefNoMatch(failure: NoMatch, call: FailedCall): Brief {
  const { similar_content, fixes, file_preview, cause, undone_by_edit, applied_lines } = failure
  const { naming } = call
  const [old_text, new_text] = [naming.field('old_text'), naming.field('new_text')]
  const notFound = `${old_text} was not found in ${call.shown}`
  const of = (what: string) => whatOfEdit(failure, `${notFound}${what}`)
  const [best] = similar_content
  const ready = withEdits(fixes)
  const [first] = ready
  if (undone_by_edit !== undefined) {
    return {
      what: of(`: edit ${undone_by_edit + 1} of this request changes it first`),
      next:
        first === undefined
          ? [`Write ${old_text} to match the text after that edit, or merge the two edits.`]
          : readyCall(ready, undefined, 'To edit what that edit leaves', failure, call)
    }
  }
  if (file_preview.total_lines === 0) {
    const edit = { start_line: 1, end_line: 0, new_text: newTextOf(failure, call) }
    const next = otherCall(call, 'edit_lines', { when: 'To put the text into it' }, { path: pathOf(call), ...edit })
    return { what: of(': the file is empty'), next: next.length > 0 ? next : ['Check that this is the right file.'] }
  }
  if (best === undefined && applied_lines !== undefined) {
    const there = `, but ${new_text} is there already (${span(applied_lines)})`
    return { what: of(`${there}: if this edit was made before, leave it out`), next: [], lines: preview(file_preview) }
  }
  if (best === undefined) return briefNothingSimilar(failure, call, of)
  const also =
    applied_lines === undefined
      ? []
      : [`${new_text} is in the file too (${span(applied_lines)}): if this edit was made before, leave it out.`]
  if (cause.type === 'near_duplicate') {
    const own = cause.expected === undefined || isEdited(best, ready) ? [] : region(best, failure, call)
    const places = likeliestFirst(similar_content).map(({ line_number: start_line, end_line }) => ({
      start_line,
      end_line
    }))
    const calls =
      own.length === 0
        ? eachLikely(places, ready, file_preview.total_lines, failure, call)
        : eachPlace(ready, failure, call)
    return {
      what: of(`; ${whyMissed(cause, naming)}: ${placesNamed(similar_content, cause)}`),
      next: [...also, ...own, ...calls]
    }
  }
  const likely = best.confidence === 'low' ? 'perhaps' : 'most likely'
  const were = best.line_number === best.end_line ? 'was' : 'were'
  const what = of(`; ${likely} ${spanOf(best)} ${were} meant: ${whyMissed(cause, naming)}`)
  const section = replacedWhole(failure, call)
  if (first === undefined) return { what, next: [...also, ...region(best, failure, call), ...section] }
  const ownEdit = readyCall(ready, cause, 'If so', failure, call)
  return { what, next: [...also, ...(ownEdit.length > 0 ? ownEdit : region(best, failure, call)), ...section] }
}

/**
 * The shortest call for the first place, below the later edits that fail too; `cause`: why the first edit fails. Empty
 * if there is no call.
 */
function readyCall(
  ready: readonly ReadyFix[],
  cause: Cause | undefined,
  when: string,
  failure: NoMatch,
  call: FailedCall
): string[] {
  const { naming } = call
  const { later = [] } = ready[0]!
  const shown = fixed({ ...shortest(ready, failure, call), later }, when, failure, call)
  if (shown.length === 0) return []
  const reasons = new Map<string, LaterEdit[]>()
  for (const one of later.filter(isCorrected)) {
    const why = whyFails(one.failure, naming)
    reasons.set(why, [...(reasons.get(why) ?? []), one])
  }
  const own = cause && whyMissed(cause, naming)
  return [
    ...[...reasons].map(([why, edits]) => failBecause(edits, why === own ? undefined : why)),
    ...later.filter(one => !isCorrected(one)).map(one => failBecause([one], whyFails(one.failure, naming))),
    ...shown
  ]
}

/** Whether one of the edits changes a region. */
const isEdited = ({ line_number, end_line }: SimilarContent, ready: readonly Pick<Fix, 'lines'>[]): boolean =>
  ready.some(({ lines }) => lines !== undefined && lines[0] >= line_number && lines[1] <= end_line)

/** A region too unlike old_text for an edit of it to be proposed: its text, or the call that reads it. */
function region(best: SimilarContent, failure: NoMatch, call: FailedCall): string[] {
  const { content: old_text, line_number: start_line, end_line, lossy } = best
  const when = failure.cause.type === 'near_duplicate' ? `For ${spanOf(best)}` : 'If so'
  if (lossy !== true && old_text.length <= REGION_LENGTH) {
    const whyOwn = failure.conflict === undefined ? '' : whyNotMerged(failure.conflict, call.naming)
    const edit = asCall({ old_text }, failure, call, { when, whyOwn })
    if (edit.length > 0) return edit
  }
  const part = lossy === true ? ', a part without U+FFFD' : ''
  const why = `${when}, read them and copy ${call.naming.field('old_text')} from there${part}`
  return toRead(call, why, { path: pathOf(call), start_line, end_line })
}

/** The call that replaces the whole symbol that old_text defines. */
const replacedWhole = ({ fixes }: NoMatch, call: FailedCall): string[] =>
  fixes.flatMap(({ section, lines }) =>
    section === undefined || lines === undefined
      ? []
      : otherCall(
          call,
          'edit_section',
          { when: `${quote(section.symbol)} is ${span(lines)} now; to replace all of it`, own: true },
          { path: pathOf(call), action: 'replace', ...section }
        )
  )

/** The new_text that was sent with the failed edit. */
function newTextOf({ edit_index }: EditPosition, { made }: FailedCall): unknown {
  const { edits, new_text } = made.arguments
  return Array.isArray(edits) ? (edits[edit_index] as { new_text?: unknown }).new_text : new_text
}

function briefNothingSimilar(failure: NoMatch, call: FailedCall, of: (what: string) => string): Brief {
  const { file_preview, cause } = failure
  const { total_lines, preview_end_line } = file_preview
  if (cause.type === 'encoding') {
    return { what: of(`: ${whyMissed(cause, call.naming)}`), next: [], lines: preview(file_preview) }
  }
  const what = of(`: nothing in its ${counted(total_lines, 'line')} is similar enough${notContained(failure)}`)
  if (preview_end_line === total_lines) return { what, next: [], lines: preview(file_preview) }
  return { what, next: toRead(call, 'Check the path, or read the file', { path: pathOf(call) }) }
}
