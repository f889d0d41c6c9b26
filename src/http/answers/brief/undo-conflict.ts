// The text of an undo or redo that later changes stand in the way of: the first of them, and the calls that go on. Does
// not know other failures.
import type { HistoryFailure } from '../../../operations/operation.ts'
import { BY_TOOL } from '../call-names.ts'
import { inTheWay, laterOf, restoringEdits } from '../take-back-failure.ts'
import { type Brief, CALLS_LENGTH, type FailedCall } from './call.ts'
import { callLine } from './text.ts'

/** Calls that put back a text. */
const MOST_EDITS = 2

export function undoConflict(
  failure: Extract<HistoryFailure, { code: 'UNDO_CONFLICT' }>,
  { made }: FailedCall
): Brief | undefined {
  const { verb, edit_ids, conflicts } = failure
  // `detail` says how to bring it back.
  if (conflicts.some(({ kind }) => kind === 'removed')) return undefined
  const later = laterOf(conflicts)
  const too = callLine(made, BY_TOOL.undo, { edit_ids: [...new Set([...edit_ids, ...later])] })
  const which = later.length === 1 ? 'edit' : 'edits'
  const next = verb === 'undo' && later.length > 0 ? [`To take back the later ${which} too, send:`, too] : []
  const texts = restoringEdits(conflicts).slice(0, MOST_EDITS)
  for (const { path, edit } of texts) {
    const call = callLine(made, 'old_text' in edit ? BY_TOOL.edit : BY_TOOL.edit_lines, { path, ...edit })
    if (call.length > CALLS_LENGTH) continue
    const what = verb === 'undo' ? 'put back only the text' : 'put in only the text'
    next.push(`To ${what}, over the later edit, send:`, call)
  }
  return { what: inTheWay(failure), next }
}
