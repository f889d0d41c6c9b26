// The calls that a problem's text proposes: the failed call with other fields, or another call. Does not know what
// failed.
import type { LineRange } from '../../../engine/edit/request.ts'
import type { EditPosition, Fix, FixedLines, FixedText, LaterEdit } from '../../../engine/failure.ts'
import { BY_TOOL, type CallSyntax, pathShown, type ToolCall } from '../call-names.ts'
import { editsNotTried, editsNumbered, isCorrected } from '../edits-of-request.ts'
import { jsonShown } from '../invisible.ts'
import { capital, span } from '../phrases.ts'
import { whyNotMerged } from '../suggested-fixes.ts'

/**
 * How the correction of an operation is shown: as a whole call to send unchanged; as a call that needs more
 * corrections; or as a part of a call.
 */
export type ShownAs = 'whole' | 'incomplete' | 'part'

/** The call that failed, and its file. */
export interface FailedCall {
  made: ToolCall
  /**
   * If one of several operations failed: `made` has only its arguments; `all` has those of the whole call, with all
   * operations in its field `list`.
   */
  part?: { list: string; index: number; all: Readonly<Record<string, unknown>>; as: ShownAs }
  /** The path of the file, as shown, if the failure is of a file. */
  path: string | undefined
  /** The path, shortened for a sentence. */
  shown: string
  file_hash: string | undefined
  naming: CallSyntax
}

/** The content of a short answer. */
export interface Brief {
  /** What went wrong, as one sentence; its period is optional. */
  what: string
  /** Calls to send next, each below a line that says when to send it; other lines. */
  next: string[]
  lines?: string
}

/** The longest call that is shown, in UTF-16 units. */
const CALL_LENGTH = 6000
/** The most UTF-16 units of all calls in one answer. */
export const CALLS_LENGTH = 1200

/** The path as the caller sent it. */
export const pathOf = ({ made }: FailedCall): unknown => made.arguments.path

/** Whether a call only deletes or undoes what it names. For such a call we propose no similar name. */
export const takesAway = ({ made: { name, arguments: sent } }: FailedCall): boolean =>
  sent.action === 'delete' || name === BY_TOOL.delete || name === BY_TOOL.undo || name === BY_TOOL.redo

/** A call that reads; empty if the caller has none. */
export function inspect({ made, naming }: FailedCall, args: object): string[] {
  const line = naming.write(BY_TOOL.inspect, args, made)
  return line === undefined ? [] : [line]
}

/** A call that reads, below the words that say why; only the words if the caller has no such call. */
export function toRead(call: FailedCall, why: string, args: object): string[] {
  const lines = inspect(call, args)
  return [`${why}${lines.length === 0 ? '.' : ':'}`, ...lines]
}

/** The failed call with some fields changed; if it is long, only these fields. Empty if the caller has no such call. */
export function again(
  call: FailedCall,
  changed: { path?: string; to?: string; recursive?: true; expected_hash?: string } | TargetFields | LineRange,
  when = 'If so'
): string[] {
  const { naming } = call
  const whole = wholeCall(call, { ...call.made.arguments, ...changed })
  if (whole === undefined) return []
  if (isShown(call, whole, CALLS_LENGTH)) return [`${when}, send:`, whole]
  const fields = Object.entries(changed).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'expected_hash' && !naming.takes(name)) return []
    const shown = name === 'path' || name === 'to' ? pathShown(naming, String(value)) : value
    return [`${JSON.stringify(name)}: ${jsonShown(shown)}`]
  })
  const changes = fields.length === 0 ? ' again' : ` with ${fields.join(', ')}`
  return [`${when}, send the same call${changes}${inPart(call)}.`]
}

/**
 * The failed call with the current hash and the current line numbers of each edit; if it is long, only these. Empty if
 * the caller has no such call.
 */
export function againAt(call: FailedCall, lines: readonly LineRange[], expected_hash: string): string[] {
  const { edits } = call.made.arguments
  const when = 'If you still mean'
  if (!Array.isArray(edits)) {
    const changed = { expected_hash, ...lines[0]! }
    if (call.naming.takes('start_line')) return again(call, changed, `${when} it`)
    // The caller's call has no fields with these names, so they can't be shown alone.
    const whole = wholeCall(call, { ...call.made.arguments, ...changed })
    return whole === undefined ? [] : [`${when} it, send:`, whole]
  }
  const renumbered = edits.map((edit: object, i) => ({ ...edit, ...lines[i] }))
  const whole = wholeCall(call, { ...call.made.arguments, expected_hash, edits: renumbered })
  if (whole === undefined) return []
  if (isShown(call, whole, CALLS_LENGTH)) return [`${when} them, send:`, whole]
  const numbers = JSON.stringify(lines.map(({ start_line, end_line }) => ({ start_line, end_line })))
  return [
    `${when} them, send the same call with "expected_hash": "${expected_hash}", and its edits at ${numbers}${inPart(call)}.`
  ]
}

/** Fields that identify a target of /edit-section. */
interface TargetFields {
  heading?: string
  symbol?: string
  at_line?: number
}

/** The whole call, with these arguments in place of those that failed. */
function wholeCall({ made, naming, part }: FailedCall, args: object): string | undefined {
  if (part === undefined) return naming.write(made.name, args, made)
  // The failed operation is one of several.
  const { list, index, all } = part
  return naming.write(made.name, { ...all, [list]: (all[list] as readonly unknown[]).toSpliced(index, 1, args) }, made)
}

/** Whether the whole call is shown. If not, because it is long or more of it fails, the text says what to change. */
const isShown = ({ part }: FailedCall, whole: string, longest: number): boolean =>
  (part === undefined || part.as === 'whole') && whole.length <= longest

const inPart = ({ part }: FailedCall): string => (part === undefined ? '' : ` in ${part.list}[${part.index}]`)

/** Another operation in place of the failed one, below the words that say when; empty if the caller has none. */
export function otherCall(
  call: FailedCall,
  operation: 'edit_lines' | 'edit_section',
  { when, own }: { when: string; own?: true },
  args: object
): string[] {
  const { made, naming, part } = call
  const after = own === undefined ? '' : ` with a ${naming.field('new_text')} of your own`
  if (part === undefined) {
    const line = naming.write(BY_TOOL[operation], args, made)
    return line === undefined ? [] : [`${when}, send${own === undefined ? '' : ' this'}${after}:`, line]
  }
  const one = { operation, ...args }
  const whole = wholeCall(call, one)
  if (whole === undefined) return []
  const isWhole = isShown(call, whole, CALL_LENGTH)
  const what = isWhole ? ' this' : ` the same call with this${inPart(call)}`
  return [`${when}, send${what}${after}:`, isWhole ? whole : jsonShown(one)]
}

/** The fields of one edit; a fix replaces them all. */
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

/** The failed call's arguments, with this edit in place of the failed one and with the corrected later edits. */
function withEdit(
  { made }: FailedCall,
  edit: object,
  { edit_index }: EditPosition,
  later: readonly LaterEdit[] = []
): object {
  const { edits, ...others } = made.arguments
  if (!Array.isArray(edits)) return { ...withoutEdit(others), ...edit }
  const corrected = later
    .filter(isCorrected)
    .reduce((all, { failure, fix }) => all.with(failure.edit_index, fix.edit), edits.with(edit_index, edit))
  return { ...others, edits: corrected }
}

type AnyFix = Fix<FixedText> | Fix<FixedLines>

export type ReadyFix = AnyFix & { edit: FixedText | FixedLines }

const hasEdit = (fix: AnyFix): fix is ReadyFix => fix.edit !== undefined

/** The fixes that contain an edit to send. */
export const withEdits = (fixes: readonly AnyFix[]): ReadyFix[] => fixes.filter(hasEdit)

/**
 * A fix as a call, below the words that say when to send it and what the caller has to add. `longest`: of a call with
 * other edits or operations, in UTF-16 units.
 */
export const fixed = (
  { edit, conflict, later }: ReadyFix,
  when: string,
  failure: EditPosition,
  call: FailedCall,
  longest = CALL_LENGTH
): string[] =>
  asCall(edit, failure, call, {
    when,
    longest,
    whyOwn: conflict === undefined ? undefined : whyNotMerged(conflict, call.naming),
    later
  })

interface ShownCall {
  when: string
  whyOwn: string | undefined
  later?: readonly LaterEdit[] | undefined
  longest?: number
}

/**
 * An edit as a call. `whyOwn`: why the caller has to write new_text. If there are several edits and they are longer
 * together than `longest`, shows only this one and the corrected later ones. Empty if the caller has no such call.
 */
export function asCall(
  edit: object,
  failure: EditPosition,
  call: FailedCall,
  { when, whyOwn, later = [], longest = CALL_LENGTH }: ShownCall
): string[] {
  const isOne = failure.total_edits === 1
  const one = withEdit(call, edit, failure, later)
  const whole = wholeCall(call, one)
  if (whole === undefined) return []
  const isWhole = (isOne && call.part === undefined) || isShown(call, whole, longest)
  const corrected = later.filter(isCorrected)
  const these = corrected.length === 0 ? 'this' : 'these'
  const as = isOne ? '' : ` as ${editsNumbered([failure, ...corrected.map(({ failure }) => failure)])}`
  const what = isWhole
    ? ''
    : ` the same ${call.part === undefined ? 'edits' : 'call'} with ${these}${as}${inPart(call)}`
  const left = leftToCaller(whyOwn, later, call.naming)
  const words = `send${what}${left === '' ? '' : `${isWhole ? ' this' : ','} with ${left}`}:`
  const shown = isOne ? one : corrected.length === 0 ? edit : [edit, ...corrected.map(({ fix }) => fix.edit)]
  return [when === '' ? capital(words) : `${when}, ${words}`, isWhole ? whole : jsonShown(shown)]
}

/**
 * What the caller has to add: a new_text for the edit, because of `whyOwn`, or for a later edit; or a later edit's
 * correction.
 */
function leftToCaller(whyOwn: string | undefined, later: readonly LaterEdit[], naming: CallSyntax): string {
  const own = (why: string, of = '') => `a ${naming.field('new_text')} of your own${of}${why === '' ? '' : ` (${why})`}`
  if (whyOwn !== undefined) return own(whyOwn)
  const last = later.at(-1)
  if (last === undefined) return ''
  const edit = `edit ${last.failure.edit_index + 1}`
  if (last.fix === undefined) return `${edit} corrected too`
  const { conflict } = last.fix
  return conflict === undefined ? '' : own(whyNotMerged(conflict, naming), ` for ${edit}`)
}

/** A call for each place, as long as they are short together; the first one in any case. */
export function eachPlace(ready: readonly ReadyFix[], failure: EditPosition, call: FailedCall): string[] {
  const next: string[] = []
  const places = ready.map(({ lines }) => (lines === undefined ? '' : span(lines)))
  // Other edits or operations are not repeated for each place if that leaves no room for all places.
  const longest = ready.length > 1 ? CALLS_LENGTH / ready.length : undefined
  let length = 0
  for (const [i, fix] of ready.entries()) {
    const lines = fixed(fix, fix.lines === undefined ? '' : `For ${oneOf(places, i)}`, failure, call, longest)
    length += lines.join('\n').length
    if (length <= CALLS_LENGTH || fix === ready[0]) next.push(...lines)
  }
  return next
}

/** A place. Numbered if several are on the same lines, as with places in text that an earlier edit inserts. */
export function oneOf(places: readonly string[], at: number): string {
  const place = places[at]!
  const same = places.filter(other => other === place).length
  const number = places.slice(0, at + 1).filter(other => other === place).length
  return same === 1 ? place : `${place} (place ${number} of ${same})`
}

/** The shortest call among the fixes for the first place; skips those without a new_text if the first one has one. */
export function shortest(ready: readonly ReadyFix[], failure: EditPosition, call: FailedCall): ReadyFix {
  const [first] = ready as [ReadyFix, ...ReadyFix[]]
  const [from, to] = first.lines ?? [1, Infinity]
  const same = ready.filter(({ lines, conflict }) => {
    const inside = lines !== undefined && lines[0] >= from && lines[1] <= to
    return inside && (conflict === undefined || first.conflict !== undefined)
  })
  const lengthOf = ({ edit }: ReadyFix) => JSON.stringify(withEdit(call, edit, failure)).length
  return same.reduce((best, fix) => (lengthOf(fix) < lengthOf(best) ? fix : best), first)
}

/** Says which edit failed, if there are several, and which ones weren't tried. */
export function whatOfEdit(failure: EditPosition, what: string): string {
  const { edit_index, total_edits } = failure
  if (total_edits === 1) return what
  const untried = editsNotTried(failure)
  const which = `edit ${edit_index + 1} of ${total_edits} failed${untried === '' ? '' : ` (${untried})`}`
  return `No edit was made, because ${which}: ${what}`
}
