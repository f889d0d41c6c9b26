// Which edits of a request fail too once the one that failed is corrected, and what corrects them. Does not know
// sentences.
import type { Result } from '../../result.ts'
import type { TextEdit } from '../edit/request.ts'
import type { EditFix, Fix, LaterEdit, NoMatch, TakesLong, TextFailure } from '../failure.ts'
import { suggestWork } from '../suggest/suggest.ts'
import { FIX_LENGTH } from './explain.ts'

/** Edits that are corrected besides the one that failed. */
const MOST_LATER = 20
/** Work (see `suggestWork`) of looking for what they were meant for: some 0.4 s, measured on 28 November 2026. */
const LATER_WORK = 10_000_000_000

/** Plans these edits; with `work_within` it says that this takes longer. */
type Planner = (edits: readonly TextEdit[], work_within: number) => Result<unknown, TextFailure | TakesLong>

/**
 * The same failure; its correction, where there is one and no doubt about the place, names what else has to be
 * corrected, as far as that is as clear: all that answers would say if one edit after the other were corrected. The
 * first edit without such a correction ends the search, and so do 20 edits, 16,000 bytes of JSON, and LATER_WORK.
 * TAKES_LONG where `work_within` is less, and exceeded. `length`: bytes of the text.
 */
export function withLaterEdits(
  failure: TextFailure,
  edits: readonly TextEdit[],
  length: number,
  work_within: number,
  plan: Planner
): TextFailure | TakesLong {
  if (failure.code !== 'NO_MATCH' || failure.edit_index === edits.length - 1) return failure
  const fix = correctionOf(failure)
  if (fix === undefined) return failure
  const workOf = (index: number) => suggestWork(length, edits[index]!.old_text)
  const later: LaterEdit[] = []
  let corrected = edits.with(failure.edit_index, fix.edit)
  let last = failure.edit_index
  let left = Math.min(work_within, LATER_WORK) - workOf(last)
  let bytes = FIX_LENGTH
  while (later.length < MOST_LATER) {
    const planned = plan(corrected, left)
    if (planned.ok) break
    if (planned.failure.code === 'TAKES_LONG') {
      if (work_within < LATER_WORK) return planned.failure
      break
    }
    if (planned.failure.code !== 'NO_MATCH') break
    const { edit_index, cause, undone_by_edit } = planned.failure
    const next = correctionOf(planned.failure)
    if (next === undefined || edit_index <= last) break
    bytes -= Buffer.byteLength(JSON.stringify(next.edit))
    if (bytes < 0) break
    const { edit, lines } = next
    later.push({ edit_index, edit, lines, cause, ...(undone_by_edit !== undefined && { undone_by_edit }) })
    corrected = corrected.with(edit_index, edit)
    left -= workOf(edit_index)
    last = edit_index
  }
  if (later.length === 0) return failure
  return { ...failure, fixes: failure.fixes.map(one => (one === fix ? { ...fix, later } : one)) }
}

type Correction = EditFix<TextEdit> & { lines: [number, number] }

/** The one edit that was most likely meant, whole. */
function correctionOf({ cause, applied_lines, fixes }: NoMatch): Correction | undefined {
  if (cause.type === 'near_duplicate' || applied_lines !== undefined) return undefined
  const [first, ...others] = fixes.filter(({ edit }) => edit !== undefined)
  return first !== undefined && others.length === 0 && isWhole(first) ? first : undefined
}

const isWhole = (fix: Fix): fix is Correction => fix.edit?.new_text !== undefined && fix.lines !== undefined
