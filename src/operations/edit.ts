// /edit: replaces exact text.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { editRequest, TextEdit as TextEditSchema, type EditRequest } from '../../schemas/edit.ts'
import { EditResultSchema } from '../../schemas/outcome.ts'
import type { TextEdit } from '../engine/edit/request.ts'
import type { NoMatch } from '../engine/failure.ts'
import { fail, type Result } from '../result.ts'
import type { Outliner } from '../workers/outline.ts'
import type { FileChanged, Planner, Workspace } from '../workspace/api.ts'
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
import type { ChangedOutcome, OperationFailure } from './operation.ts'
import { outlined } from './outlining.ts'
import type { Reported } from './syntax-guard.ts'

export const makeEdit = (workspace: Workspace, planning: Planning, outliner: Outliner): FileOperation<EditRequest> => {
  const prepare: FileOperation<EditRequest>['prepare'] = (request, context) => {
    const edits = textEdits(request)
    if (!edits.ok) return { ...edits, path: request.path }
    const planner = plannerFor(planning, request, {
      operation: 'edit',
      edits: edits.value,
      line_endings: request.line_endings ?? 'adapt',
      allow_repeat: request.expected_hash !== undefined
    })
    const answer = (done: FileChanged<Reported>): ChangedOutcome => {
      const { edits_applied } = done.description.plan
      const total_replacements = edits_applied.reduce((sum, { occurrences_replaced }) => sum + occurrences_replaced, 0)
      return { operation: 'edit', outcome: outcomeOf(request, done, { total_replacements, edits_applied }) }
    }
    return preparedEdit('edit', request, context, {
      workspace,
      planning,
      planner: withSectionFix(outliner, planner),
      answer
    })
  }
  return {
    id: 'edit_file',
    route: '/edit',
    summary: 'Replace exact text in a file',
    description: () =>
      'Replaces exact text, one or many edits, all or nothing: the default way to edit. ' +
      'Inspect first, copy old_text from there and pass the file_hash on as expected_hash. ' +
      'If old_text matches several places, add context rather than a count. ' +
      'Check changes in the answer; when in doubt, inspect again.',
    hints: {
      ...CHANGE_HINTS,
      old_text: 'Copied from the file: every space and line break counts. Must match one place.',
      new_text: 'Taken literally; "" deletes.',
      occurrences: 'How many matches you expect; all are replaced.',
      occurrence: 'Which one of several matches.',
      edits: 'Several edits, each on the result of those before it, instead of old_text here.'
    },
    tool_fields: fieldsBut(editRequest(planning.limits.max_edits), 'on_stale'),
    effect: 'changes',
    request: editRequest(planning.limits.max_edits),
    outcome: EditResultSchema,
    codes: [...EDITS_CODES, 'EMPTY_OLD_TEXT', 'NO_MATCH', 'ALREADY_APPLIED', 'WRONG_COUNT', 'OCCURRENCE_OUT_OF_RANGE'],
    expects_hash: true,
    expects_none: false,
    items: { edits: TextEditSchema },
    call_fields: CALL_FIELDS,
    keyed: keyedBy(workspace),
    prepare,
    emptinessOf: async path => {
      const looked = await workspace.look(
        { path },
        { file: () => ({ push: () => {}, finish: () => null }), directory: { limit: 1 } }
      )
      if (!looked.ok) return looked.failure.code === 'FILE_NOT_FOUND' ? 'no_file' : undefined
      return looked.value.type === 'file' && looked.value.file_size === 0 ? 'empty_file' : undefined
    },
    call: (request, context = {}) => carryOut(workspace, request, context, prepare(request, context))
  }
}

function textEdits(request: EditRequest): Result<TextEdit[], OperationFailure> {
  const edits = editsOf<TextEdit>(request, TextEditSchema)
  if (!edits.ok) return edits
  const faults = edits.value.flatMap((edit, i) =>
    edit.replace_all === true && edit.occurrence !== undefined
      ? [
          {
            pointer: `${request.edits === undefined ? '' : `/edits/${i}`}/occurrence`,
            reason: 'replace_all_too' as const
          }
        ]
      : []
  )
  return faults.length > 0 ? fail({ code: 'INVALID_REQUEST', faults }) : edits
}

/**
 * The planner, which adds to NO_MATCH the symbol that old_text, a whole block, was meant for. It adds none if there is
 * a fix with a `new_text`, if the parser has no slot free, or if the bytes have moved to a thread (large files, long
 * searches).
 */
const withSectionFix =
  <T, F extends { code: string }>(outliner: Outliner, planner: Planner<T, F>): Planner<T, F> =>
  async (original, file) => {
    const planned = await planner(original, file)
    if (planned.ok || !isNoMatch(planned.failure)) return planned
    const { failure } = planned
    const isReady = failure.fixes.some(({ edit }) => edit?.new_text !== undefined)
    if (failure.block === undefined || isReady || outliner.full || original.length === 0) return planned
    const { block: lines } = failure
    const path = file.resolved_path ?? file.path
    const section = await outlined(path, original, 'code', language => outliner.symbolOn(original, language, lines))
    if (!section.ok || section.value === null) return planned
    const fix = { type: 'USE_SECTION' as const, lines, section: section.value }
    return fail({ ...failure, fixes: failure.fixes.toSpliced(-1, 0, fix) })
  }

const isNoMatch = <F extends { code: string }>(failure: F): failure is F & NoMatch => failure.code === 'NO_MATCH'
