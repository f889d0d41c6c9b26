// The text of an undo or redo that later changes stand in the way of: the first of them, and the calls that go on. Does
// not know other failures.
import type { ConflictAt, HistoryFailure } from '../../../operations/operation.ts'
import { BY_TOOL } from '../call-names.ts'
import { bringingBack, inTheWay, restoringEdits, withLater } from '../problems/undo-conflict.ts'
import { type Brief, CALLS_LENGTH, type FailedCall, toRead } from './call.ts'

/** Calls that put back a text. */
const MOST_EDITS = 2

export function undoConflict(
  failure: Extract<HistoryFailure, { code: 'UNDO_CONFLICT' }>,
  call: FailedCall
): Brief | undefined {
  const { made, naming } = call
  const { verb, conflicts } = failure
  const isReplaced = conflicts.some(({ replaced }) => replaced)
  const back = isReplaced ? undefined : bringingBack(failure, naming)
  const bring = back && naming.write(BY_TOOL[back.verb], back.arguments, made)
  if (bring !== undefined) {
    return { what: inTheWay(failure, naming), next: ['To bring the file back first, send:', bring] }
  }
  const all = withLater(failure)
  // `detail` says what else can be done.
  if (isReplaced ? all === undefined : conflicts.some(({ kind }) => kind === 'removed')) return undefined
  const which = all?.later.length === 1 ? 'edit' : 'edits'
  const undo = all && naming.write(BY_TOOL.undo, all.selector, made)
  const next = undo === undefined ? [] : [`To take back the later ${which} too, send:`, undo]
  const texts = restoringEdits(conflicts).slice(0, MOST_EDITS)
  for (const { path, edit } of texts) {
    const restoring = naming.write('old_text' in edit ? BY_TOOL.edit : BY_TOOL.edit_lines, { path, ...edit }, made)
    if (restoring === undefined || restoring.length > CALLS_LENGTH) continue
    const what = verb === 'undo' ? 'put back only the text' : 'put in only the text'
    next.push(`To ${what}, over the later edit, send:`, restoring)
  }
  return { what: inTheWay(failure, naming), next: next.length > 0 ? next : lookAt(conflicts[0], call) }
}

/** Where no call puts anything back: the lines in question. */
function lookAt(conflict: ConflictAt | undefined, call: FailedCall): string[] {
  if (conflict === undefined) return []
  const { path, start_line, end_line } = conflict
  const lines = { path, start_line, end_line: Math.max(start_line, end_line) }
  return toRead(call, 'Read the lines in question, then edit them', lines)
}
