// /preview: runs another operation in full, through the same call, but writes nothing.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { PreviewEdit, previewRequest, type PreviewRequest } from '../../schemas/preview.ts'
import { PreviewResultSchema } from '../../schemas/outcome.ts'
import type { Operation, OperationLimits } from './operation.ts'

export const makePreview = (
  operations: Readonly<Record<PreviewRequest['operation'], Operation>>,
  limits: OperationLimits
): Operation<PreviewRequest> => ({
  id: 'preview_edit',
  route: '/preview',
  summary: 'See what an edit would do, writing nothing',
  description: () =>
    'Computes one operation (edit, edit_lines, edit_section, create, delete or move, with its fields) and writes nothing. ' +
    'Returns the changes, diff, warnings and problems of the real call, and what each place would contain. ' +
    'Then send the same fields to the operation, with file_hash as expected_hash.',
  hints: { ...Object.assign({}, ...Object.values(operations).map(({ hints }) => hints)), new_text: 'Taken literally.' },
  only_by_name: true,
  effect: 'computes',
  request: previewRequest(limits.max_edits),
  outcome: PreviewResultSchema,
  codes: Object.values(operations).flatMap(({ codes }) => codes),
  expects_hash: true,
  expects_none: true,
  items: { edits: PreviewEdit },
  stands_for: operations,
  call_fields: CALL_FIELDS,
  emptinessOf: operations.edit.emptinessOf,
  call({ operation, ...fields }, { key, ...context } = {}) {
    // The fields have passed the schema of this operation.
    return operations[operation].call({ show_diff: true, ...fields, dry_run: true } as never, context)
  }
})
