// What operations on many files have in common: their steps are made together, all or none, and answered as one. Does not
// know what a request asks for.
import { fail, ok } from '../result.ts'
import type { BatchDone, BatchStep, BatchStepDone, ChangeOptions, Workspace } from '../workspace/api.ts'
import { mayDelete } from './access.ts'
import { isOfAll } from './change.ts'
import type { CallContext, CallFailure, Failed, OutcomeOfMany } from './operation.ts'
import type { Reported } from './syntax-guard.ts'

export type Step = BatchStep<Reported, CallFailure>
export type StepDone = BatchStepDone<Reported>

interface Together<Name, R> {
  operation: Name
  dry_run: boolean
  steps: readonly Step[]
  /** What the call returns of what became of all steps: plain JSON, since it is kept under an idempotency key. */
  resultsOf: (done: readonly StepDone[]) => R[]
  /** A result without what the file holds, for a history that must not keep it. */
  withoutTexts: (result: R) => R
  /** Adds to the failure of step `at` of which part it is. `earlier`: the steps that had changed the same text. */
  told: (failed: Failed, at: number, earlier: readonly number[]) => Promise<Failed>
}

/** Makes steps together. A failure is that of one step, or of all together: then nothing is added to it. */
export async function makeTogether<Name extends 'batch' | 'apply_patch', R>(
  workspace: Workspace,
  { caller, key, subject, audit, client }: CallContext,
  { operation, dry_run, steps, resultsOf, withoutTexts, told }: Together<Name, R>
): Promise<{ ok: true; value: { operation: Name; outcome: OutcomeOfMany<R> } } | Failed> {
  const planned: string[] = []
  const answer = ({ batch_id, steps: done }: BatchDone<Reported>, texts = true) => {
    const results = resultsOf(done)
    return {
      operation,
      outcome: {
        dry_run,
        ...(batch_id !== undefined && { batch_id }),
        results: texts ? results : results.map(withoutTexts)
      }
    }
  }
  const options: ChangeOptions<BatchDone<Reported>> = {
    dry_run,
    origin: { operation, ...caller, ...(key !== undefined && { key }) },
    audit,
    client,
    ...mayDelete(subject),
    // It is kept with one file: what removes the texts of another doesn't find it.
    outcome: (done, texts) => answer(done, texts && isOfOneFile(done))
  }
  const noted = steps.map((step, i) => noting(step, path => (planned[i] = path)))
  const done = await workspace.batch<Reported, CallFailure>(noted, options)
  if (done.ok) return ok(answer(done.value))
  const { at, ...failed } = done
  if (isOfAll(failed.failure)) return fail(failed.failure)
  // Where it wasn't planned, no text is the reason.
  const path = planned[at]
  const earlier = path === undefined ? [] : planned.flatMap((other, i) => (i < at && other === path ? [i] : []))
  return told(failed, at, earlier)
}

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
