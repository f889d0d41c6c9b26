// /batch: operations on many files, all or nothing. Each is prepared as if it were alone; the workspace makes them
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
import { type FileOperation, keyedByAll, type Prepared, withoutTexts, withPast } from './file-operation.ts'
import type {
  CallContext,
  CallResult,
  CallFailure,
  Operation,
  OperationLimits,
  Outcome,
  PartWithPath
} from './operation.ts'
import { failedPart, makeTogether, type Step } from './together.ts'

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
): Promise<CallResult> {
  const { caller, subject } = context
  const paths = new Set(requests.map(({ path }) => path)).size
  if (paths > MAX_BATCH_FILES) {
    return fail({ code: 'TOO_MANY_OPERATIONS', what: 'paths', limit: MAX_BATCH_FILES, actual: paths })
  }
  const partAt = (operation_index: number): PartWithPath => {
    const { operation, path } = requests[operation_index]!
    return { operation_index, operation, path }
  }
  const prepared = requests.map(({ operation, ...fields }): Prepared => {
    const request = { show_diff, ...fields, dry_run }
    // The fields have passed the schema of this operation.
    return operations[operation].prepare(request as never, { subject, caller })
  })
  return makeTogether(workspace, context, {
    operation: 'batch',
    dry_run,
    steps: prepared.map((change, i) => (change.ok ? change.value.step : failing(requests[i]!.path, change.failure))),
    // If one couldn't be prepared, the batch fails before this.
    resultsOf: done => done.map((step, i) => (prepared[i] as Extract<Prepared, { ok: true }>).value.answer(step)),
    withoutTexts,
    untriedOf: steps => steps.map(partAt),
    async withPart(failed, { at, earlier, behind }) {
      // If the hash differs and nothing was tried, no earlier step is the cause.
      const isUntried = failed.failure.code === 'STALE_FILE' && failed.failure.now === undefined
      const after = isUntried ? [] : earlier
      const change = prepared[at]!
      const known = change.ok ? await change.value.explained(failed) : await withPast(workspace, context, failed)
      return { ...known, part: failedPart(partAt, at, after, behind) }
    }
  })
}

/** Replaces a step that couldn't be prepared: it fails in its turn with that failure, so others are reported too. */
const failing = (path: string, failure: CallFailure): Step => ({
  operation: 'edit',
  target: { path },
  plan: () => fail(failure)
})
