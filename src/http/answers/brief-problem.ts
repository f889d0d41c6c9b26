// A problem as the text that a model is given: what is the matter, the call to send next, the lines of the file that
// the call doesn't hold, the hash, and nothing else. Does not know statuses.
import type { Problem } from '../../../schemas/problem.ts'
import type {
  AmbiguousTarget,
  EditPosition,
  ExpectedTextMismatch,
  FilePreview,
  Fix,
  FixedLines,
  FixedText,
  NoMatch,
  OccurrenceOutOfRange,
  SimilarContent,
  TargetNotFound,
  WrongCount
} from '../../engine/failure.ts'
import type { Failure } from '../failure.ts'
import type { StaleFile } from '../../workspace/failure.ts'
import { below, callLine, hashLine, linesOf, numbered, outlineLines } from './brief-text.ts'
import { BY_TOOL, type ToolCall } from './call-names.ts'
import type { EditFailure } from './edit-failure.ts'
import { whyMissed } from './no-match-cause.ts'
import { capital, counted, cut, linesListed, listed, quote, span } from './phrases.ts'
import { entryNamed, targetNamed } from './section-failure.ts'
import { whyNotMerged } from './suggested-fixes.ts'

/** What failed: the call, and the file that it is about. */
interface FailedCall {
  made: ToolCall
  /** The path, short enough for a sentence. */
  shown: string
  file_hash: string | undefined
}

/** What an answer says. */
interface Brief {
  /** What is the matter: one sentence, whose period may be left out. */
  what: string
  /** Calls that may be sent next, each below the words that say when; other lines. */
  next: string[]
  lines?: string
}

type Briefs<F extends { code: string }> = {
  /** Undefined where `detail` says it. */
  [C in F['code']]?: (failure: Extract<F, { code: C }>, call: FailedCall) => Brief | undefined
}

/** The longest call that is written out, in UTF-16 units; all calls of one answer. */
const CALL_LENGTH = 6000
const CALLS_LENGTH = 1200
/** The longest region that is shown where no edit of it is proposed. */
const REGION_LENGTH = 2000
/** Items of an outline that are shown. */
const MOST_ITEMS = 30

/**
 * The text of a problem; `body` is its JSON, `made` the call, without which no other can be proposed. A code that has no
 * text of its own is answered with `detail`.
 */
export function briefProblem(failure: Failure, body: Problem, made: ToolCall | undefined): string {
  const { code, detail, path, file_hash } = body
  const brief =
    made === undefined ? undefined : briefOf(BRIEFS, failure, { made, shown: cut(path ?? 'the file', 200), file_hash })
  if (brief === undefined) return withHash(withCode(detail, code, path), file_hash)
  const { what, next, lines } = brief
  return withHash(below(`${what}${/[.?]$/.test(what) ? '' : '.'} [${code}]`, ...next, lines), file_hash)
}

/** A text with the hash, if that isn't in it. */
const withHash = (text: string, file_hash = ''): string =>
  text.includes(file_hash) ? text : below(text, hashLine(file_hash))

function briefOf<F extends { code: string }>(table: Briefs<F>, failure: F, call: FailedCall): Brief | undefined {
  const made = table[failure.code as F['code']] as ((failure: F, call: FailedCall) => Brief | undefined) | undefined
  return made?.(failure, call)
}

/** `detail` with the code after its first sentence. */
function withCode(detail: string, code: string, path = ''): string {
  // A path may hold what looks like the end of a sentence.
  const masked = path === '' ? detail : detail.replaceAll(path, '-'.repeat(path.length))
  const end = /[.?](?= [A-Z])/.exec(masked.replace(/"(?:[^"\\]|\\.)*"/g, quoted => '-'.repeat(quoted.length)))
  const at = end === null ? detail.length : end.index + 1
  return `${detail.slice(0, at)} [${code}]${detail.slice(at)}`
}

const EDIT_BRIEFS: Briefs<EditFailure> = {
  NO_MATCH: noMatch,
  ALREADY_APPLIED: (failure, call) => ({
    what: ofEdit(failure, `new_text is there already, around old_text (${span(failure.lines)} of ${call.shown})`),
    next: [
      'If this edit was made before, leave it out. To make it once more, send occurrence 1 too, ' +
        'or the file_hash as expected_hash.'
    ],
    lines: preview(failure.file_preview)
  }),
  WRONG_COUNT: wrongCount,
  OCCURRENCE_OUT_OF_RANGE: (failure, call) => ({
    what: ofEdit(failure, `occurrence is ${failure.occurrence}, but ${appears(failure, call)}`),
    next: oneOfThem(failure, call)
  }),
  EXPECTED_TEXT_MISMATCH: expectedTextMismatch,
  TARGET_NOT_FOUND: targetNotFound,
  AMBIGUOUS_TARGET: ambiguousTarget
}

const BRIEFS: Briefs<Failure> = {
  ...EDIT_BRIEFS,
  STALE_FILE: staleFile,
  FILE_NOT_FOUND: ({ did_you_mean = [], missing }, call) => {
    const [first] = did_you_mean
    if (missing !== undefined) return undefined
    const what = `${call.shown} was not found`
    return first === undefined
      ? { what, next: ['This lists what is there:', inspect(call, { path: '.' })] }
      : { what: `${what}; did you mean ${listed(did_you_mean, 'or')}?`, next: again(call, { path: first }) }
  },
  PATH_NOT_ALLOWED: ({ reason, did_you_mean: [first, ...others] = [] }, call) =>
    reason === 'outside' && first !== undefined
      ? {
          what: `${call.shown} is outside the workspace; did you mean ${listed([first, ...others], 'or')}?`,
          next: again(call, { path: first })
        }
      : undefined,
  PRECONDITION_REQUIRED: (_failure, call) => ({
    what: 'This server requires expected_hash with every edit: send the file_hash that this call answers',
    next: [inspect(call, { path: pathOf(call) })]
  })
}

/** The number of the edit, if there are several. */
const ofEdit = ({ edit_index, total_edits }: EditPosition, what: string): string =>
  total_edits === 1 ? what : `No edit was made, because edit ${edit_index + 1} of ${total_edits} failed: ${what}`

const inspect = ({ made }: FailedCall, args: object): string => callLine(made, BY_TOOL.inspect, args)

/** The same call with some fields changed; of a long one, only these. */
function again({ made }: FailedCall, changed: object): string[] {
  const args = { ...made.arguments, ...changed }
  const whole = JSON.stringify(args)
  if (whole.length <= CALLS_LENGTH) return ['If so, send:', whole]
  const fields = Object.entries(changed).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return [`If so, send the same call with ${fields.join(', ')}.`]
}

/** Fields of one edit, which a fix replaces all together. */
const EDIT_FIELDS = [
  'old_text',
  'new_text',
  'occurrences',
  'replace_all',
  'occurrence',
  'start_line',
  'end_line',
  'expected_text'
]

const withoutEdit = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !EDIT_FIELDS.includes(name)))

/** The same call with this edit in place of the one that failed. */
function withEdit({ made }: FailedCall, edit: object, { edit_index }: EditPosition): string {
  const { edits, ...others } = made.arguments
  if (!Array.isArray(edits)) return JSON.stringify({ ...withoutEdit(others), ...edit })
  return JSON.stringify({ ...others, edits: edits.toSpliced(edit_index, 1, edit) })
}

type AnyFix = Fix<FixedText> | Fix<FixedLines>
type EditFix = AnyFix & { edit: FixedText | FixedLines }
const hasEdit = (fix: AnyFix): fix is EditFix => fix.edit !== undefined
const withEdits = (fixes: readonly AnyFix[]): EditFix[] => fixes.filter(hasEdit)

/** A fix as a call, below the words that say when to send it and what it leaves to the caller. */
const fixed = ({ edit, conflict }: EditFix, when: string, failure: EditPosition, call: FailedCall): string[] =>
  asCall(edit, when, conflict === undefined ? undefined : whyNotMerged(conflict), failure, call)

/** `whyOwn`: why new_text is left to the caller. Of several edits that are too long together only this one is shown. */
function asCall(
  edit: object,
  when: string,
  whyOwn: string | undefined,
  failure: EditPosition,
  call: FailedCall
): string[] {
  const whole = withEdit(call, edit, failure)
  const isWhole = failure.total_edits === 1 || whole.length <= CALL_LENGTH
  const what = isWhole ? '' : ` the same edits with this as edit ${failure.edit_index + 1}`
  const own = whyOwn === undefined ? '' : `${isWhole ? ' this' : ''} with a new_text of your own`
  const why = whyOwn === undefined || whyOwn === '' ? '' : ` (${whyOwn})`
  const words = `send${what}${own}${why}:`
  return [when === '' ? capital(words) : `${when}, ${words}`, isWhole ? whole : JSON.stringify(edit)]
}

function noMatch(failure: NoMatch, call: FailedCall): Brief {
  const { similar_content, fixes, file_preview, cause, undone_by_edit, applied_lines } = failure
  const notFound = `old_text was not found in ${call.shown}`
  const of = (what: string) => ofEdit(failure, `${notFound}${what}`)
  const [best] = similar_content
  const ready = withEdits(fixes)
  const [first] = ready
  if (undone_by_edit !== undefined) {
    return {
      what: of(`: edit ${undone_by_edit + 1} of this request changes it first`),
      next: first === undefined ? [] : fixed(first, 'To edit what that edit leaves', failure, call)
    }
  }
  if (file_preview.total_lines === 0) {
    const edit = { start_line: 1, end_line: 0, new_text: newTextOf(failure, call) }
    return {
      what: of(': the file is empty'),
      next: ['To put the text into it, send:', callLine(call.made, BY_TOOL.edit_lines, { path: pathOf(call), ...edit })]
    }
  }
  if (best === undefined && applied_lines !== undefined) {
    const there = `, but new_text is there already (${span(applied_lines)})`
    return { what: of(`${there}: if this edit was made before, leave it out`), next: [], lines: preview(file_preview) }
  }
  if (best === undefined) return nothingSimilar(failure, call, of)
  const also =
    applied_lines === undefined
      ? []
      : [`new_text is in the file too (${span(applied_lines)}): if this edit was made before, leave it out.`]
  if (cause.type === 'near_duplicate') {
    const spans = listed(similar_content.map(spanOf), 'or')
    return { what: of(`; ${whyMissed(cause)}: ${spans}`), ...eachPlace(ready, failure, call, also) }
  }
  const likely = best.confidence === 'low' ? 'perhaps' : 'most likely'
  const were = best.line_number === best.end_line ? 'was' : 'were'
  const what = of(`; ${likely} ${spanOf(best)} ${were} meant: ${whyMissed(cause)}`)
  const section = replacedWhole(failure, call)
  if (first === undefined) return { what, next: [...also, ...region(best, failure, call), ...section] }
  return { what, next: [...also, ...fixed(shortest(ready, failure, call), 'If so', failure, call), ...section] }
}

/** A region that is too unlike old_text for an edit of it to be proposed: its text, or the call that reads it. */
function region(best: SimilarContent, failure: EditPosition, call: FailedCall): string[] {
  const { content: old_text, line_number: start_line, end_line, lossy } = best
  if (lossy !== true && old_text.length <= REGION_LENGTH) return asCall({ old_text }, 'If so', '', failure, call)
  const part = lossy === true ? ', a part without U+FFFD' : ''
  return [
    `If so, read them and copy old_text from there${part}:`,
    inspect(call, { path: pathOf(call), start_line, end_line })
  ]
}

/** The call that replaces the symbol that old_text defines. */
const replacedWhole = ({ fixes }: NoMatch, call: FailedCall): string[] =>
  fixes.flatMap(({ section, lines }) =>
    section === undefined || lines === undefined
      ? []
      : [
          `${quote(section.symbol)} is ${span(lines)} now; to replace all of it, send this with a new_text of your own:`,
          callLine(call.made, BY_TOOL.edit_section, { path: pathOf(call), action: 'replace', ...section })
        ]
  )

const pathOf = ({ made }: FailedCall): unknown => made.arguments.path

/** Of the fixes of one place, the one that is the shortest call; one without a new_text only where all are. */
function shortest(ready: readonly EditFix[], failure: EditPosition, call: FailedCall): EditFix {
  const [first] = ready as [EditFix, ...EditFix[]]
  const [from, to] = first.lines ?? [1, Infinity]
  const same = ready.filter(({ lines, conflict }) => {
    const inside = lines !== undefined && lines[0] >= from && lines[1] <= to
    return inside && (conflict === undefined || first.conflict !== undefined)
  })
  const lengthOf = ({ edit }: EditFix) => withEdit(call, edit, failure).length
  return same.reduce((best, fix) => (lengthOf(fix) < lengthOf(best) ? fix : best), first)
}

const spanOf = ({ line_number, end_line }: SimilarContent): string => span([line_number, end_line])

/** The new_text of the edit that failed, as it was sent. */
function newTextOf({ edit_index }: EditPosition, { made }: FailedCall): unknown {
  const { edits, new_text } = made.arguments
  return Array.isArray(edits) ? (edits[edit_index] as { new_text?: unknown }).new_text : new_text
}

function nothingSimilar(failure: NoMatch, call: FailedCall, of: (what: string) => string): Brief {
  const { file_preview, missing_tokens = [] } = failure
  const { total_lines, preview_end_line } = file_preview
  const names = missing_tokens.slice(0, 3).map(token => quote(token, 40))
  const without = names.length === 0 ? '' : `, and it does not contain ${listed(names, 'or')}`
  const what = of(`: nothing in its ${counted(total_lines, 'line')} is similar${without}`)
  if (preview_end_line === total_lines) return { what, next: [], lines: preview(file_preview) }
  return { what, next: ['Check the path, or read the file:', inspect(call, { path: pathOf(call) })] }
}

/** A call for each place, as far as they are short together; the first in any case. */
function eachPlace(
  ready: readonly EditFix[],
  failure: EditPosition,
  call: FailedCall,
  before: string[] = []
): Pick<Brief, 'next'> {
  const next = [...before]
  let length = 0
  for (const fix of ready) {
    const lines = fixed(fix, fix.lines === undefined ? '' : `For ${span(fix.lines)}`, failure, call)
    length += lines.join('\n').length
    if (length <= CALLS_LENGTH || fix === ready[0]) next.push(...lines)
  }
  return { next }
}

const preview = ({ content, preview_start_line }: FilePreview): string => numbered(linesOf(content, preview_start_line))

/** `old_text appears 2 times in app.js, at lines 5 and 7`. */
const appears = (
  { actual_occurrences, match_lines, more_matches }: WrongCount | OccurrenceOutOfRange,
  { shown }: FailedCall
): string =>
  `old_text appears ${counted(actual_occurrences, 'time')} in ${shown}, at ${linesListed(match_lines, more_matches === undefined)}`

function wrongCount(failure: WrongCount, call: FailedCall): Brief {
  const { actual_occurrences: actual, expected_occurrences: expected, undone_by_edit, similar_content } = failure
  const were = expected === 1 ? 'must match one place' : `${expected} places were expected`
  const why = undone_by_edit === undefined ? '' : `, since edit ${undone_by_edit + 1} of this request changes it first`
  const what = ofEdit(failure, `${appears(failure, call)}, but ${were}${why}`)
  if (actual > expected || failure.overlapping) return { what, next: oneOfThem(failure, call) }
  const [best] = similar_content ?? []
  const [adjusted] = withEdits(failure.fixes)
  const others = best === undefined ? [] : [`Nearly the same, and not replaced by this:`]
  return {
    what,
    next: [...(adjusted === undefined ? [] : fixed(adjusted, 'To replace only these', failure, call)), ...others],
    ...(best !== undefined && { lines: numbered(linesOf(best.content, best.line_number)) })
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
  if (isWhole || byNumber === undefined) {
    const others = actual > around.length && byNumber !== undefined ? ` For one of the others, send ${number}.` : ''
    return [...shown, `${others}${everywhere}`.trim()]
  }
  return [...fixed(byNumber, `To replace one of them (${number})`, failure, call), everywhere.trim()]
}

function expectedTextMismatch(failure: ExpectedTextMismatch, call: FailedCall): Brief {
  const { start_line, end_line, found_at, cause, fixes, actual_text, file_preview } = failure
  if (end_line < start_line) {
    return { what: ofEdit(failure, `expected_text must be empty where lines are inserted`), next: [] }
  }
  const differ = `expected_text does not match ${span([start_line, end_line])} of ${call.shown}`
  const [first] = withEdits(fixes)
  const why = cause === undefined ? '' : `: ${whyMissed(cause, 'expected_text')}`
  if (found_at === undefined || first === undefined) {
    const where = found_at === undefined ? '' : `, but ${span(found_at)}${why}`
    return { what: ofEdit(failure, `${differ}${where}`), next: [], lines: preview(file_preview) }
  }
  const same = found_at[0] === start_line && found_at[1] === end_line
  const almost = cause === undefined ? 'it is' : 'nearly the same text is'
  const what = ofEdit(failure, same ? `${differ}${why}` : `${differ}; ${almost} now at ${span(found_at)}${why}`)
  return {
    what,
    next: fixed(first, `If you mean ${span(found_at)}`, failure, call),
    ...(!same && { lines: numbered(linesOf(actual_text, start_line)) })
  }
}

function targetNotFound(failure: TargetNotFound, call: FailedCall): Brief | undefined {
  const { target, at_line, elsewhere, nearest, outline, total } = failure
  const what = `The ${targetNamed(target)} was not found`
  const [near] = nearest
  if (elsewhere.length > 0) {
    return {
      what: `${what} at line ${at_line} in ${call.shown}; it is elsewhere`,
      next: again(call, { at_line: elsewhere[0]!.start_line }),
      lines: elsewhere.length > 1 ? outlineLines(elsewhere) : ''
    }
  }
  if (near !== undefined && target.code_block === undefined) {
    const names = listed(
      nearest.map(name => quote(name)),
      'or'
    )
    return {
      what: `${what} in ${call.shown}; did you mean ${names}?`,
      next: again(call, target.heading === undefined ? { symbol: near } : { heading: near })
    }
  }
  if (total === 0) return undefined
  return { what: `${what} in ${call.shown}`, next: ['It has:'], lines: itemsOf(outline, total) }
}

/** The first items of an outline, and how many more there are. */
const itemsOf = (outline: TargetNotFound['outline'], total: number): string => {
  const first = outline.slice(0, MOST_ITEMS)
  return below(outlineLines(first), total > first.length ? `and ${total - first.length} more` : '')
}

function ambiguousTarget({ target, targets, fitting }: AmbiguousTarget, call: FailedCall): Brief {
  const [first] = targets
  const what = `The ${targetNamed(target)} matches ${fitting} places in ${call.shown}`
  if (first === undefined) return { what, next: [] }
  const entry = `${entryNamed(first)} at ${span([first.start_line, first.end_line])}`
  return {
    what: `${what}; at_line says which`,
    next: [`Do you mean ${entry}?`, ...again(call, { at_line: first.start_line })],
    lines: outlineLines(targets.slice(0, MOST_ITEMS))
  }
}

function staleFile({ reason, expected_hash, now }: StaleFile, call: FailedCall): Brief | undefined {
  const { file_hash, shown } = call
  const whole = [inspect(call, { path: pathOf(call) })]
  if (reason === 'changed_meanwhile') {
    return { what: `${shown} was changed by another program during the edit; nothing was written`, next: whole }
  }
  const changed = `${shown} has changed since its hash was ${expected_hash}`
  if (now === undefined || file_hash === undefined) {
    return { what: `${changed}; nothing was written`, next: ['Read it again, then decide:', ...whole] }
  }
  const arguments_ = { ...call.made.arguments, expected_hash: file_hash }
  const renewed: FailedCall = { ...call, made: { ...call.made, arguments: arguments_ } }
  if (!now.fits) {
    const inner = briefOf(EDIT_BRIEFS, now.failure, renewed)
    if (inner === undefined) return undefined
    return { ...inner, what: `${changed}, and the edit does not fit it: ${inner.what}` }
  }
  const { places, total, file_preview } = now
  const where = total === 0 ? '' : ` at ${places.length === 1 ? span(places[0]!) : counted(total, 'place')}`
  return {
    what: `${changed}; nothing was written, but your edit still fits${where}`,
    next: again(renewed, { expected_hash: file_hash }).map(line => line.replace(/^If so/, 'If that is what you mean')),
    lines: preview(file_preview)
  }
}
