// /edit-lines: whole lines are replaced, inserted, deleted or appended by their numbers.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { editLinesRequest, LineEdit as LineEditSchema, type EditLinesRequest } from '../../schemas/edit-lines.ts'
import { EditLinesResultSchema } from '../../schemas/outcome.ts'
import type { LineEdit } from '../engine/edit/request.ts'
import { ok } from '../result.ts'
import type { Edited, Workspace } from '../workspace/workspace.ts'
import { changeOptions, keyedBy, outcomeOf, type Planning, plannerFor, targetOf } from './change.ts'
import { EDITS_CODES } from './codes.ts'
import { editsOf } from './edits.ts'
import { CHANGE_HINTS } from './hints.ts'
import type { Operation, Outcome } from './operation.ts'
import type { Reported } from './syntax-guard.ts'
import { withTakenBack } from './taken-back.ts'

export const makeEditLines = (workspace: Workspace, planning: Planning): Operation<EditLinesRequest> => ({
  id: 'edit_lines',
  route: '/edit-lines',
  summary: 'Change whole lines by their numbers',
  description: ({ edit }) =>
    'Replaces, inserts, deletes or appends whole lines. ' +
    "Use it when you have just read the line numbers, and send that answer's file_hash as expected_hash; " +
    `otherwise ${edit} is safer. ` +
    'All line numbers refer to the file before the request. ' +
    'message says where the lines are afterwards; check changes.',
  hints: {
    ...CHANGE_HINTS,
    start_line: 'Counted from 1. total_lines + 1 appends.',
    end_line: 'Inclusive. start_line - 1 inserts before start_line.',
    new_text: 'Whole lines, without line numbers; "" deletes.',
    expected_text: 'What these lines hold now; if it differs, nothing is written.',
    edits: 'Several edits, which must not overlap, instead of start_line here.'
  },
  effect: 'changes',
  request: editLinesRequest(planning.limits.max_edits),
  outcome: EditLinesResultSchema,
  codes: [...EDITS_CODES, 'LINE_OUT_OF_RANGE', 'OVERLAPPING_EDITS', 'EXPECTED_TEXT_MISMATCH'],
  expects_hash: true,
  expects_none: false,
  items: { edits: LineEditSchema },
  call_fields: CALL_FIELDS,
  keyed: keyedBy(workspace),
  async call(request, context = {}) {
    const edits = editsOf<LineEdit>(request, LineEditSchema)
    if (!edits.ok) return { ...edits, path: request.path }
    const planner = plannerFor(planning, request, {
      operation: 'edit_lines',
      edits: edits.value,
      line_endings: request.line_endings ?? 'adapt'
    })
    const answer = (done: Edited<Reported>): Outcome => ({
      operation: 'edit_lines',
      outcome: outcomeOf(request, done, {})
    })
    const edited = await workspace.edit(
      targetOf(request),
      changeOptions(request, 'edit_lines', context, answer),
      planner
    )
    return edited.ok ? ok(answer(edited.value)) : withTakenBack(workspace, context.caller, edited)
  }
})
