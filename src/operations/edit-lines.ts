// /edit-lines: replaces, inserts, deletes or appends whole lines by their numbers.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { editLinesRequest, LineEdit as LineEditSchema, type EditLinesRequest } from '../../schemas/edit-lines.ts'
import { EditLinesResultSchema } from '../../schemas/outcome.ts'
import type { LineEdit } from '../engine/edit/request.ts'
import type { FileChanged, Workspace } from '../workspace/api.ts'
import {
  carryOut,
  type FileOperation,
  keyedBy,
  outcomeOf,
  type Planning,
  plannerFor,
  preparedEdit
} from './file-operation.ts'
import { EDITS_CODES } from './codes.ts'
import { editsOf } from './edits.ts'
import { CHANGE_HINTS, fieldsBut } from './hints.ts'
import type { ChangedOutcome } from './operation.ts'
import type { Reported } from './syntax-guard.ts'

export const makeEditLines = (workspace: Workspace, planning: Planning): FileOperation<EditLinesRequest> => {
  const prepare: FileOperation<EditLinesRequest>['prepare'] = (request, context) => {
    const edits = editsOf<LineEdit>(request, LineEditSchema)
    if (!edits.ok) return { ...edits, path: request.path }
    const { line_endings = 'adapt' } = request
    const change = { operation: 'edit_lines', edits: edits.value, line_endings } as const
    const planner = plannerFor(planning, request, change, context)
    const answer = (done: FileChanged<Reported>): ChangedOutcome => ({
      operation: 'edit_lines',
      outcome: outcomeOf(request, done)
    })
    return preparedEdit('edit_lines', request, context, { workspace, planning, planner, answer })
  }
  return {
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
    tool_fields: fieldsBut(editLinesRequest(planning.limits.max_edits), 'on_stale'),
    effect: 'changes',
    request: editLinesRequest(planning.limits.max_edits),
    outcome: EditLinesResultSchema,
    codes: [...EDITS_CODES, 'LINE_OUT_OF_RANGE', 'OVERLAPPING_EDITS', 'EXPECTED_TEXT_MISMATCH'],
    expects_hash: true,
    expects_none: false,
    items: { edits: LineEditSchema },
    call_fields: CALL_FIELDS,
    keyed: keyedBy(workspace),
    prepare,
    call: (request, context = {}) => carryOut(workspace, request, context, prepare(request, context))
  }
}
