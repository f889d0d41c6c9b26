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
import { fail, ok } from '../result.ts'
import type { BatchDone, BatchStep, ChangeOptions, Workspace } from '../workspace/api.ts'
import { type FileOperation, isOfAll, keyedByAll, type PreparedChange, withoutTexts } from './change.ts'
import type {
  CallContext,
  Called,
  CallFailure,
  Failed,
  FailedPart,
  Operation,
  OperationLimits,
  Outcome
} from './operation.ts'
import type { Reported } from './syntax-guard.ts'

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
    codes: [...Object.values(operations).flatMap(({ codes }) => codes), 'TOO_MANY_OPERATIONS'],
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
  { caller, key }: CallContext
): Promise<Called> {
  const paths = new Set(requests.map(({ path }) => path)).size
  if (paths > MAX_BATCH_FILES) {
    return fail({ code: 'TOO_MANY_OPERATIONS', what: 'paths', limit: MAX_BATCH_FILES, actual: paths })
  }
  const inPart = (operation_index: number, after: number[] = []): FailedPart => ({
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
  const planned: string[] = []
  const steps = prepared.map(({ step }, i) => noting(step, path => (planned[i] = path)))
  const answer = ({ batch_id, steps: done }: BatchDone<Reported>, texts = true): BatchOutcome => {
    const results = done.map((step, i) => prepared[i]!.answer(step))
    return {
      operation: 'batch',
      outcome: {
        dry_run,
        ...(batch_id !== undefined && { batch_id }),
        results: texts ? results : results.map(withoutTexts)
      }
    }
  }
  const options: ChangeOptions<BatchDone<Reported>> = {
    dry_run,
    origin: { operation: 'batch', ...caller, ...(key !== undefined && { key }) },
    // It is kept with one file: what removes the texts of another doesn't find it.
    outcome: (done, texts) => answer(done, texts && isOfOneFile(done))
  }
  const done = await workspace.batch<Reported, CallFailure>(steps, options)
  if (done.ok) return ok(answer(done.value))
  const { at, ...failed } = done
  if (isOfAll(failed.failure)) return fail(failed.failure)
  // Where it wasn't planned, no text is the reason; nor is it where the hash is another.
  const path = failed.failure.code === 'STALE_FILE' ? undefined : planned[at]
  const after = path === undefined ? [] : planned.flatMap((other, i) => (i < at && other === path ? [i] : []))
  const told: Failed = await prepared[at]!.told(failed)
  return { ...told, part: inPart(at, after) }
}

/** Whether all steps are of one file, so that what is kept of their answer is of that alone. */
export const isOfOneFile = ({ steps }: BatchDone<Reported>): boolean =>
  new Set(steps.map(({ path, resolved_path = path }) => resolved_path)).size === 1

/** The same step, which says of which real path it is when it is planned. */
export const noting = (
  step: BatchStep<Reported, CallFailure>,
  note: (path: string) => void
): BatchStep<Reported, CallFailure> => ({
  ...step,
  plan(original, file) {
    note(file.resolved_path ?? file.path)
    return step.plan(original, file)
  }
})
