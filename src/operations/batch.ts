// /batch: operations on many files, all or nothing. Each is prepared as if it stood alone; the workspace makes them
// together.
import {
  batchOperation,
  batchRequest,
  BatchResultSchema,
  MAX_BATCH_FILES,
  type BatchedRequest
} from '../../schemas/batch.ts'
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { PreviewEdit } from '../../schemas/preview.ts'
import { fail } from '../result.ts'
import type { Workspace } from '../workspace/api.ts'
import { type FileOperation, keyedByAll, type PreparedChange, withoutTexts } from './change.ts'
import type { CallContext, Called, FailedPart, Operation, OperationLimits, Outcome } from './operation.ts'
import { makeTogether } from './together.ts'

type BatchOutcome = Extract<Outcome, { operation: 'batch' }>
type Operations = Readonly<Record<BatchedRequest['operations'][number]['operation'], FileOperation>>

export function makeBatch(
  workspace: Workspace,
  operations: Operations,
  limits: OperationLimits
): Operation<BatchedRequest> {
  const operation = batchOperation(limits.max_edits)
  return {
    id: 'batch_edit',
    route: '/batch',
    summary: 'Change many files, all or nothing',
    description: () =>
      'Carries out operations (edit, edit_lines, edit_section, create) on one file or many, in order: all or none. ' +
      'Inspect first, and pass each file_hash on as expected_hash.',
    hints: { operations: 'Each: operation, path and the fields of that operation.' },
    only_by_name: true,
    effect: 'changes',
    request: batchRequest(operation),
    outcome: BatchResultSchema,
    codes: [...Object.values(operations).flatMap(({ codes }) => codes), 'TOO_MANY_OPERATIONS', 'BATCH_NOT_SUPPORTED'],
    expects_hash: false,
    expects_none: false,
    items: { operations: operation, edits: PreviewEdit },
    stands_for: operations,
    many_in: 'operations',
    call_fields: CALL_FIELDS,
    keyed: keyedByAll(workspace, kept => (kept as BatchOutcome).outcome.results.map(({ outcome }) => outcome)),
    call: (request, context = {}) => carryOutAll(workspace, operations, request, context)
  }
}

async function carryOutAll(
  workspace: Workspace,
  operations: Operations,
  { operations: requests, dry_run = false, show_diff }: BatchedRequest,
  context: CallContext
): Promise<Called> {
  const { caller } = context
  const paths = new Set(requests.map(({ path }) => path)).size
  if (paths > MAX_BATCH_FILES) {
    return fail({ code: 'TOO_MANY_OPERATIONS', what: 'paths', limit: MAX_BATCH_FILES, actual: paths })
  }
  const inPart = (operation_index: number, after: readonly number[] = []): FailedPart => ({
    operation_index,
    operation: requests[operation_index]!.operation,
    after
  })
  const prepared: PreparedChange[] = []
  for (const [i, { operation, ...fields }] of requests.entries()) {
    const asked = { ...(show_diff !== undefined && { show_diff }), ...fields, dry_run }
    // The fields have passed the schema of that operation.
    const change = operations[operation].prepare(asked as never, caller === undefined ? {} : { caller })
    if (!change.ok) return { ...change, part: inPart(i) }
    prepared.push(change.value)
  }
  return makeTogether(workspace, context, {
    operation: 'batch',
    dry_run,
    steps: prepared.map(({ step }) => step),
    resultsOf: done => done.map((step, i) => prepared[i]!.answer(step)),
    withoutTexts,
    async told(failed, at, earlier) {
      // Where the hash is another, no earlier step is the reason.
      const after = failed.failure.code === 'STALE_FILE' ? [] : earlier
      return { ...(await prepared[at]!.told(failed)), part: inPart(at, after) }
    }
  })
}
