// The calls that the text of a problem proposes: the one that failed with other fields, or another one. Does not know
// what failed.
import type { EditPosition, FilePreview, Fix, FixedLines, FixedText } from '../../../engine/failure.ts'
import { BY_TOOL, type ToolCall } from '../call-names.ts'
import { capital, span } from '../phrases.ts'
import { whyNotMerged } from '../suggested-fixes.ts'
import { callLine, linesOf, numbered } from './text.ts'

/** What failed: the call, and the file that it is about. */
export interface FailedCall {
  made: ToolCall
  /** Of several operations, the one that failed: `made` has its arguments alone, `all` those of the call. */
  part?: { index: number; all: Readonly<Record<string, unknown>> }
  /** The path, short enough for a sentence. */
  shown: string
  file_hash: string | undefined
}

/** What an answer says. */
export interface Brief {
  /** What went wrong: one sentence, whose period may be left out. */
  what: string
  /** Calls that may be sent next, each below the words that say when; other lines. */
  next: string[]
  lines?: string
}

/** The text of each failure, by code. */
export type Briefs<F extends { code: string }> = {
  /** Undefined where `detail` says it. */
  [C in F['code']]?: (failure: Extract<F, { code: C }>, call: FailedCall) => Brief | undefined
}

/** The longest call that is written out, in UTF-16 units. */
const CALL_LENGTH = 6000
/** All calls of one answer, likewise. */
export const CALLS_LENGTH = 1200

/** The path as it was sent. */
export const pathOf = ({ made }: FailedCall): unknown => made.arguments.path

/** A call that reads. */
export const inspect = ({ made }: FailedCall, args: object): string => callLine(made, BY_TOOL.inspect, args)

/** The same call with some fields changed; of a long one, only these. */
export function again(call: FailedCall, changed: object): string[] {
  const whole = wholeCall(call, { ...call.made.arguments, ...changed })
  if (whole.length <= CALLS_LENGTH) return ['If so, send:', whole]
  const fields = Object.entries(changed).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return [`If so, send the same call with ${fields.join(', ')}${inPart(call)}.`]
}

/** The whole call, with these arguments for what failed. */
function wholeCall({ part }: FailedCall, args: object): string {
  if (part === undefined) return JSON.stringify(args)
  // It failed because of one of them.
  const operations = part.all.operations as readonly unknown[]
  return JSON.stringify({ ...part.all, operations: operations.toSpliced(part.index, 1, args) })
}

const inPart = ({ part }: FailedCall): string => (part === undefined ? '' : ` in operations[${part.index}]`)

/** Another operation in place of the one that failed, below the words that say when. */
export function otherCall(
  call: FailedCall,
  operation: 'edit_lines' | 'edit_section',
  { when, own }: { when: string; own?: true },
  args: object
): string[] {
  const { made, part } = call
  const after = own === undefined ? '' : ' with a new_text of your own'
  if (part === undefined) {
    return [`${when}, send${own === undefined ? '' : ' this'}${after}:`, callLine(made, BY_TOOL[operation], args)]
  }
  const one = { operation, ...args }
  const whole = wholeCall(call, one)
  const isWhole = whole.length <= CALL_LENGTH
  const what = isWhole ? ' this' : ` the same call with this${inPart(call)}`
  return [`${when}, send${what}${after}:`, isWhole ? whole : JSON.stringify(one)]
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
function withEdit({ made }: FailedCall, edit: object, { edit_index }: EditPosition): object {
  const { edits, ...others } = made.arguments
  if (!Array.isArray(edits)) return { ...withoutEdit(others), ...edit }
  return { ...others, edits: edits.toSpliced(edit_index, 1, edit) }
}

type AnyFix = Fix<FixedText> | Fix<FixedLines>

type EditFix = AnyFix & { edit: FixedText | FixedLines }

const hasEdit = (fix: AnyFix): fix is EditFix => fix.edit !== undefined

/** The fixes that have an edit to send. */
export const withEdits = (fixes: readonly AnyFix[]): EditFix[] => fixes.filter(hasEdit)

/** A fix as a call, below the words that say when to send it and what it leaves to the caller. */
export const fixed = ({ edit, conflict }: EditFix, when: string, failure: EditPosition, call: FailedCall): string[] =>
  asCall(edit, when, conflict === undefined ? undefined : whyNotMerged(conflict), failure, call)

/** `whyOwn`: why new_text is left to the caller. Of several edits that are too long together only this one is shown. */
export function asCall(
  edit: object,
  when: string,
  whyOwn: string | undefined,
  failure: EditPosition,
  call: FailedCall
): string[] {
  const isOne = failure.total_edits === 1
  const one = withEdit(call, edit, failure)
  const whole = wholeCall(call, one)
  const isWhole = (isOne && call.part === undefined) || whole.length <= CALL_LENGTH
  const as = isOne ? '' : ` as edit ${failure.edit_index + 1}`
  const what = isWhole ? '' : ` the same ${call.part === undefined ? 'edits' : 'call'} with this${as}${inPart(call)}`
  const own = whyOwn === undefined ? '' : `${isWhole ? ' this' : ''} with a new_text of your own`
  const why = whyOwn === undefined || whyOwn === '' ? '' : ` (${whyOwn})`
  const words = `send${what}${own}${why}:`
  return [when === '' ? capital(words) : `${when}, ${words}`, isWhole ? whole : JSON.stringify(isOne ? one : edit)]
}

/** A call for each place, as far as they are short together; the first in any case. */
export function eachPlace(
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

/** Of the fixes of one place, the one that is the shortest call; one without a new_text only where all are. */
export function shortest(ready: readonly EditFix[], failure: EditPosition, call: FailedCall): EditFix {
  const [first] = ready as [EditFix, ...EditFix[]]
  const [from, to] = first.lines ?? [1, Infinity]
  const same = ready.filter(({ lines, conflict }) => {
    const inside = lines !== undefined && lines[0] >= from && lines[1] <= to
    return inside && (conflict === undefined || first.conflict !== undefined)
  })
  const lengthOf = ({ edit }: EditFix) => JSON.stringify(withEdit(call, edit, failure)).length
  return same.reduce((best, fix) => (lengthOf(fix) < lengthOf(best) ? fix : best), first)
}

/** The number of the edit, if there are several. */
export const ofEdit = ({ edit_index, total_edits }: EditPosition, what: string): string =>
  total_edits === 1 ? what : `No edit was made, because edit ${edit_index + 1} of ${total_edits} failed: ${what}`

/** The lines of a preview with their numbers. */
export const preview = ({ content, preview_start_line }: FilePreview): string =>
  numbered(linesOf(content, preview_start_line))
