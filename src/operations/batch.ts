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
import { MAX_FOLDER_FILES } from '../../schemas/delete.ts'
import { PreviewEdit } from '../../schemas/preview.ts'
import { fail } from '../result.ts'
import type { EarlierStep, Workspace } from '../workspace/api.ts'
import {
  type FileOperation,
  isOfAll,
  keyedByAll,
  type Prepared,
  type Step,
  withoutTexts,
  withPast
} from './file-operation.ts'
import type {
  CallContext,
  CallResult,
  CallFailure,
  ChangedOutcome,
  Failed,
  Operation,
  OperationLimits,
  Outcome,
  PartWithPath
} from './operation.ts'
import { filesOf, tooManyFiles } from './folder-change.ts'
import { withFolders } from './removal-steps.ts'
import { failedPart, makeTogether, type PreparedPart } from './together.ts'

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
      'Carries out operations (edit, edit_lines, edit_section, create, delete, move) on one file or many, in order: all or none. ' +
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
    emptinessOf: operations.edit.emptinessOf,
    call_fields: CALL_FIELDS,
    keyed: keyedByAll(workspace, kept => (kept as BatchOutcome).outcome.results.flatMap(filesOf)),
    call: (request, context = {}) => carryOutAll(workspace, operations, request, context)
  }
}

async function carryOutAll(
  workspace: Workspace,
  operations: Operations,
  { operations: requests, dry_run = false, show_diff }: BatchedRequest,
  context: CallContext
): Promise<CallResult> {
  const paths = new Set(requests.flatMap(({ path, to }) => (typeof to === 'string' ? [path, to] : [path]))).size
  if (paths > MAX_BATCH_FILES) {
    return fail({ code: 'TOO_MANY_OPERATIONS', what: 'paths', limit: MAX_BATCH_FILES, actual: paths })
  }
  const partAt = (operation_index: number): PartWithPath => {
    const { operation, path } = requests[operation_index]!
    return { operation_index, operation, path }
  }
  const prepared: Prepared[] = []
  const steps: Step[] = []
  const emptied = new Map<EarlierStep, readonly Buffer[]>()
  for (const { operation, ...fields } of requests) {
    const request = { show_diff, ...fields, dry_run }
    // The fields have passed the schema of this operation.
    const change = await operations[operation].prepare(request as never, context, steps)
    prepared.push(change)
    if (!change.ok) continue
    steps.push(...change.value.steps)
    const { by, folders } = change.value.emptied ?? {}
    if (by !== undefined) emptied.set(by, [...(emptied.get(by) ?? []), ...folders!])
  }
  // What is in the way of a removal was found on the disk, and is no failure of a step.
  const blocked = prepared.findIndex((change, i) => !change.ok && operations[requests[i]!.operation].deletes === true)
  if (blocked !== -1) {
    const failed = prepared[blocked] as Failed
    return isOfAll(failed.failure) ? fail(failed.failure) : { ...failed, part: failedPart(partAt, blocked) }
  }
  const files = prepared.reduce((sum, change) => sum + (change.ok ? (change.value.files ?? 0) : 0), 0)
  if (files > MAX_FOLDER_FILES) return fail(tooManyFiles(files))
  return makeTogether(workspace, context, {
    operation: 'batch',
    dry_run,
    parts: prepared.map((change, i) =>
      change.ok ? emptying(change.value, emptied) : failing(requests[i]!.path, change.failure)
    ),
    partAt,
    withoutTexts,
    async withPart(failed, { at, step, earlier, behind }) {
      // If the hash differs and nothing was tried, no earlier step is the cause.
      const isUntried = failed.failure.code === 'STALE_FILE' && failed.failure.now === undefined
      const after = isUntried ? [] : earlier
      const change = prepared[at]!
      const known = change.ok ? await change.value.explained(failed, step) : await withPast(workspace, context, failed)
      return { ...known, part: failedPart(partAt, at, after, behind) }
    }
  })
}

/** The change, whose steps also remove the folders that they empty. */
const emptying = (
  { steps, answer }: PreparedPart<ChangedOutcome>,
  emptied: ReadonlyMap<EarlierStep, readonly Buffer[]>
): PreparedPart<ChangedOutcome> => ({
  steps: steps.map(step =>
    step.operation === 'remove' ? { ...step, plan: withFolders(step.plan, emptied.get(step) ?? []) } : step
  ),
  answer
})

/** Replaces a change that couldn't be prepared: it fails in its turn with that failure, so others are reported too. */
const failing = (path: string, failure: CallFailure): PreparedPart<never> => ({
  steps: [{ operation: 'edit', target: { path }, plan: () => fail(failure) }],
  answer: () => null as never
})
