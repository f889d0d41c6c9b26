// Which later edits of a request would fail too after the failed one is corrected, and their corrections. Does not know
// sentences.
import type { Result } from '../../result.ts'
import type { TextEdit } from '../edit/request.ts'
import type { ClearFix, EditFix, LaterEdit, TakesLong, TextFailure } from '../failure.ts'
import { suggestWork } from '../suggest/suggest.ts'
import { FIX_LENGTH } from './explain.ts'

/** Most edits to name besides the one that failed. */
const MOST_LATER = 20
/** Most work (see `suggestWork`) to find what they meant: about 0.4 s, measured on 28 November 2026. */
const LATER_WORK = 10_000_000_000

/** Plans these edits; fails with TAKES_LONG if that takes more work than `work_within`. */
type Planner = (edits: readonly TextEdit[], work_within: number) => Result<unknown, TextFailure | TakesLong>

/**
 * Returns the failure. If its correction is clear about the place, adds the later edits that would still fail, with
 * their corrections if these are as clear: everything that the answers would say if the edits were corrected one by
 * one. Stops at the first edit without a correction that can be sent as it is, after 20 edits, or after LATER_WORK;
 * then it says from which edit on they weren't tried. All corrections together have at most 16,000 bytes of JSON.
 * TAKES_LONG if `work_within` is less than LATER_WORK and exceeded. `length`: bytes of the text.
 */
export function withLaterEdits(
  failure: TextFailure,
  edits: readonly TextEdit[],
  length: number,
  work_within: number,
  plan: Planner
): TextFailure | TakesLong {
  const untriedAfter = (index: number) => (index === edits.length - 1 ? {} : { untried_from: index + 1 })
  const fix = clearFix(failure)
  if (failure.code !== 'NO_MATCH' || !isWhole(fix)) return { ...failure, ...untriedAfter(failure.edit_index) }
  const workOf = (index: number) => suggestWork(length, edits[index]!.old_text)
  const later: LaterEdit[] = []
  let corrected = edits.with(failure.edit_index, fix.edit)
  let last = failure.edit_index
  let left = Math.min(work_within, LATER_WORK) - workOf(last)
  let bytes = FIX_LENGTH
  let isDone = false
  while (later.length < MOST_LATER) {
    const planned = plan(corrected, left)
    isDone = planned.ok
    if (planned.ok) break
    if (planned.failure.code === 'TAKES_LONG') {
      if (work_within < LATER_WORK) return planned.failure
      break
    }
    const { edit_index } = planned.failure
    if (edit_index <= last) break
    const next = clearFix(planned.failure)
    if (next !== undefined) bytes -= Buffer.byteLength(JSON.stringify(next.edit))
    const fits = next !== undefined && bytes >= 0
    later.push({ failure: planned.failure, ...(fits && { fix: next }) })
    if (!fits || !isWhole(next)) break
    corrected = corrected.with(edit_index, next.edit)
    left -= workOf(edit_index)
    last = edit_index
  }
  const untried = isDone ? {} : untriedAfter(later.at(-1)?.failure.edit_index ?? failure.edit_index)
  if (later.length === 0) return { ...failure, ...untried }
  const at = failure.fixes.findIndex(one => one.edit !== undefined)
  return { ...failure, fixes: failure.fixes.with(at, { ...failure.fixes[at]!, later }), ...untried }
}

/** The correction of the one edit that was most likely meant: all of its lines, and the shortest edit. */
function clearFix(failure: TextFailure): ClearFix | undefined {
  if (failure.code !== 'NO_MATCH' || failure.applied_lines !== undefined) return undefined
  // An edit whose text an earlier one changed has a clear place, whatever else resembles it.
  if (failure.cause.type === 'near_duplicate' && failure.undone_by_edit === undefined) return undefined
  const [first, ...others] = failure.fixes.filter((fix): fix is EditFix => fix.edit !== undefined)
  if (first?.lines === undefined || !others.every(other => isSamePlace(first, other))) return undefined
  const lengthOf = ({ edit }: EditFix): number => edit.old_text.length + (edit.new_text?.length ?? 0)
  const { edit } = others.reduce((best, fix) => (lengthOf(fix) < lengthOf(best) ? fix : best), first)
  return { ...first, lines: first.lines, edit }
}

/** Whether a fix does to a file what `whole` does, with fewer of the same lines. */
const isSamePlace = (whole: EditFix, { lines, edit }: EditFix): boolean =>
  lines !== undefined && lines[0] >= whole.lines![0] && lines[1] <= whole.lines![1] && edit.new_text !== undefined

const isWhole = (fix: ClearFix | undefined): fix is ClearFix & { edit: TextEdit } => fix?.edit.new_text !== undefined
