// The text of an edit whose old_text was not found: which region was most likely meant, and the call that edits it.
// Does not know other failures.
import type { EditPosition, Fix, LaterEdit, NoMatch, SimilarContent } from '../../../engine/failure.ts'
import type { Cause } from '../../../engine/suggest/differences/classify.ts'
import type { CallSyntax } from '../call-names.ts'
import { failBecause, isCorrected, whyFails } from '../edits-of-request.ts'
import {
  whatOfEdit,
  asCall,
  type Brief,
  eachPlace,
  type FailedCall,
  fixed,
  otherCall,
  pathOf,
  shortest,
  toRead,
  withEdits
} from './call.ts'
import { notContained, whyMissed } from '../no-match-cause.ts'
import { counted, listed, quote, span } from '../phrases.ts'
import { preview } from './layout.ts'

/** The longest region that is shown where no edit of it is proposed. */
const REGION_LENGTH = 2000
/** Lines above and below one of several places that are read. */
const AROUND = 5

/** What was meant, or that nothing is similar, with the calls that would edit it. */
export function noMatch(failure: NoMatch, call: FailedCall): Brief {
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
          : withLater(first, undefined, fixed(first, 'To edit what that edit leaves', failure, call), naming)
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
  if (best === undefined) return nothingSimilar(failure, call, of)
  const also =
    applied_lines === undefined
      ? []
      : [`${new_text} is in the file too (${span(applied_lines)}): if this edit was made before, leave it out.`]
  if (cause.type === 'near_duplicate') {
    const what = of(`; ${whyMissed(cause, naming)}: ${listed(similar_content.map(spanOf), 'or')}`)
    const own = cause.expected === undefined || isEdited(best, ready) ? [] : region(best, failure, call)
    if (first === undefined) {
      return { what, next: [...also, ...(own.length > 0 ? own : aroundOne(best, file_preview.total_lines, call))] }
    }
    const { next } = eachPlace(ready, failure, call, [...also, ...own])
    return {
      what,
      next:
        next.length > also.length + own.length ? next : [...next, ...aroundOne(best, file_preview.total_lines, call)]
    }
  }
  const likely = best.confidence === 'low' ? 'perhaps' : 'most likely'
  const were = best.line_number === best.end_line ? 'was' : 'were'
  const what = of(`; ${likely} ${spanOf(best)} ${were} meant: ${whyMissed(cause, naming)}`)
  const section = replacedWhole(failure, call)
  if (first === undefined) return { what, next: [...also, ...region(best, failure, call), ...section] }
  const own = shortest(ready, failure, call)
  const ownEdit = withLater(own, cause, fixed(own, 'If so', failure, call), naming)
  return { what, next: [...also, ...(ownEdit.length > 0 ? ownEdit : region(best, failure, call)), ...section] }
}

/** The call, below the later edits that fail too; `cause`: why the first one does. Nothing where there is no call. */
function withLater(
  { later = [] }: Pick<Fix, 'later'>,
  cause: Cause | undefined,
  call: string[],
  naming: CallSyntax
): string[] {
  if (call.length === 0) return []
  const reasons = new Map<string, LaterEdit[]>()
  for (const one of later.filter(isCorrected)) {
    const why = whyFails(one.failure, naming)
    reasons.set(why, [...(reasons.get(why) ?? []), one])
  }
  const own = cause && whyMissed(cause, naming)
  return [
    ...[...reasons].map(([why, edits]) => failBecause(edits, why === own ? undefined : why)),
    ...later.filter(one => !isCorrected(one)).map(one => failBecause([one], whyFails(one.failure, naming))),
    ...call
  ]
}

/** Whether one of the edits is of a region. */
const isEdited = ({ line_number, end_line }: SimilarContent, ready: readonly Pick<Fix, 'lines'>[]): boolean =>
  ready.some(({ lines }) => lines !== undefined && lines[0] >= line_number && lines[1] <= end_line)

/** A region that is too unlike old_text for an edit of it to be proposed: its text, or the call that reads it. */
function region(best: SimilarContent, failure: NoMatch, call: FailedCall): string[] {
  const { content: old_text, line_number: start_line, end_line, lossy } = best
  const when = failure.cause.type === 'near_duplicate' ? `For ${spanOf(best)}` : 'If so'
  if (lossy !== true && old_text.length <= REGION_LENGTH) {
    const edit = asCall({ old_text }, when, '', failure, call)
    if (edit.length > 0) return edit
  }
  const part = lossy === true ? ', a part without U+FFFD' : ''
  const why = `${when}, read them and copy ${call.naming.field('old_text')} from there${part}`
  return toRead(call, why, { path: pathOf(call), start_line, end_line })
}

/** The call that reads around the first of several places, none of which is told from the others by a short context. */
function aroundOne(place: SimilarContent, total: number, call: FailedCall): string[] {
  const start_line = Math.max(1, place.line_number - AROUND)
  const end_line = Math.min(total, place.end_line + AROUND)
  const old_text = call.naming.field('old_text')
  const why = `Read around the place you mean and make ${old_text} longer, until it fits only there; ${spanOf(place)}`
  return toRead(call, why, { path: pathOf(call), start_line, end_line })
}

/** The call that replaces the symbol that old_text defines. */
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

const spanOf = ({ line_number, end_line }: SimilarContent): string => span([line_number, end_line])

/** The new_text of the edit that failed, as it was sent. */
function newTextOf({ edit_index }: EditPosition, { made }: FailedCall): unknown {
  const { edits, new_text } = made.arguments
  return Array.isArray(edits) ? (edits[edit_index] as { new_text?: unknown }).new_text : new_text
}

function nothingSimilar(failure: NoMatch, call: FailedCall, of: (what: string) => string): Brief {
  const { file_preview, cause } = failure
  const { total_lines, preview_end_line } = file_preview
  if (cause.type === 'encoding') {
    return { what: of(`: ${whyMissed(cause, call.naming)}`), next: [], lines: preview(file_preview) }
  }
  const what = of(`: nothing in its ${counted(total_lines, 'line')} is similar enough${notContained(failure)}`)
  if (preview_end_line === total_lines) return { what, next: [], lines: preview(file_preview) }
  return { what, next: toRead(call, 'Check the path, or read the file', { path: pathOf(call) }) }
}
