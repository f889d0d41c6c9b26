// What operations on many files have in common: their steps are made together, all or none, and answered as one. Does not
// know what a request asks for.
import { MAX_OTHER_FAILURES } from '../../schemas/problem.ts'
import { fail, ok } from '../result.ts'
import type { BatchDone, BatchOptions, BatchStep, FileChanged, FailedStep, Workspace } from '../workspace/api.ts'
import { mayDelete } from './access.ts'
import { isOfAll } from './file-operation.ts'
import type { CallContext, CallFailure, Failed, FailedPart, OutcomeOfMany, PartWithPath } from './operation.ts'
import type { Reported } from './syntax-guard.ts'

export type Step = BatchStep<Reported, CallFailure>
export type StepDone = FileChanged<Reported>

interface Together<Name, R> {
  operation: Name
  dry_run: boolean
  steps: readonly Step[]
  /** What the call returns of what became of all steps: plain JSON, since it is kept under an idempotency key. */
  resultsOf: (done: readonly StepDone[]) => R[]
  /** A result without what the file holds, for a history that must not keep it. */
  withoutTexts: (result: R) => R
  /**
   * Adds to the failure of step `at` of which part it is. `earlier`: the steps that had changed the same text; `behind`: the
   * one that stands in its way.
   */
  told: (failed: Failed, step: { at: number; earlier: readonly number[]; behind?: number }) => Promise<Failed>
  /** Which parts steps are that weren't tried because of those that failed. */
  untriedOf: (steps: readonly number[], failed: readonly number[]) => PartWithPath[]
}

/** The part `at`, which failed, as `partAt` names it; `after` and `behind` as in `FailedPart`. */
export function failedPart(
  partAt: (index: number) => PartWithPath,
  at: number,
  after: readonly number[] = [],
  behind?: number
): FailedPart {
  const { path: _, ...part } = partAt(at)
  return { ...part, after, ...(behind !== undefined && { behind: partAt(behind) }) }
}

/** Makes steps together. A failure is that of one step, or of all together: then nothing is added to it. */
export async function makeTogether<Name extends 'batch' | 'apply_patch', R>(
  workspace: Workspace,
  { caller, key, subject, audit, client }: CallContext,
  { operation, dry_run, steps, resultsOf, withoutTexts, told, untriedOf }: Together<Name, R>
): Promise<{ ok: true; value: { operation: Name; outcome: OutcomeOfMany<R> } } | Failed> {
  const planned: string[] = []
  const answer = ({ batch_id, steps: done }: BatchDone<Reported>, texts = true) => {
    const results = resultsOf(done)
    return {
      operation,
      outcome: {
        dry_run,
        batch_id,
        results: texts ? results : results.map(withoutTexts)
      }
    }
  }
  const options: BatchOptions<BatchDone<Reported>> = {
    dry_run,
    other_failures: MAX_OTHER_FAILURES,
    origin: { operation, ...caller, key },
    audit,
    client,
    ...mayDelete(subject),
    // It is kept with one file: what removes the texts of another doesn't find it.
    outcome: (done, texts) => answer(done, texts && isOfOneFile(done))
  }
  const noted = steps.map((step, i) => noting(step, path => (planned[i] = path)))
  const done = await workspace.batch<Reported, CallFailure>(noted, options)
  if (done.ok) return ok(answer(done.value))
  const { others = [], untried = [], ...first } = done
  if (isOfAll(first.failure)) return fail(first.failure)
  const toldOf = ({ at, behind, ...failed }: FailedStep<CallFailure>): Promise<Failed> => {
    // Where it wasn't planned, no text is the reason.
    const path = planned[at]
    const earlier = path === undefined ? [] : planned.flatMap((other, i) => (i < at && other === path ? [i] : []))
    return told(failed, { at, earlier, behind })
  }
  const failures = [{ at: first.at, failed: await toldOf(first) }]
  const untold: number[] = []
  for (const other of others) {
    // Now that it is known where a file was moved, an earlier step is for that one.
    if (failures.some(({ failed }) => isNowAt(failed, other))) untold.push(other.at)
    else failures.push({ at: other.at, failed: await toldOf(other) })
  }
  const [{ failed }, ...more] = failures as [(typeof failures)[number], ...typeof failures]
  return {
    ...failed,
    others: more.map(({ failed }) => failed),
    untried: untriedOf(
      [...untried, ...untold].sort((a, b) => a - b),
      failures.map(({ at }) => at)
    )
  }
}

/** Whether the file that is missing was moved to the path of the other step. */
const isNowAt = ({ failure }: Failed, { path, resolved_path = path }: FailedStep<CallFailure>): boolean =>
  'now_at' in failure && failure.now_at === resolved_path

/** Whether all steps are of one file, so that what is kept of their answer is of that alone. */
const isOfOneFile = ({ steps }: BatchDone<Reported>): boolean =>
  new Set(steps.map(({ path, resolved_path = path }) => resolved_path)).size === 1

/** The same step, which says of which real path it is when it is planned. */
const noting = (step: Step, note: (path: string) => void): Step => ({
  ...step,
  plan(original, file) {
    note(file.resolved_path ?? file.path)
    return step.plan(original, file)
  }
})
