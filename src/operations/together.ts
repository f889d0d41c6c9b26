// What operations on many files have in common: their steps are made together, all or none, with one answer. Does not
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
  /** The call's results, from the results of all steps: plain JSON, since they are kept under an idempotency key. */
  resultsOf: (done: readonly StepDone[]) => R[]
  /** A result without text of the file, for a history that must not keep it. */
  withoutTexts: (result: R) => R
  /**
   * Adds to the failure of step `at` the part that it belongs to. `earlier`: steps that had changed the same text;
   * `behind`: the step that is in its way.
   */
  withPart: (failed: Failed, step: { at: number; earlier: readonly number[]; behind?: number }) => Promise<Failed>
  /** The parts of steps that weren't tried because others failed. */
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

/** Makes steps together. A failure belongs to one step, or to all of them; nothing is added to the latter. */
export async function makeTogether<Name extends 'batch' | 'apply_patch', R>(
  workspace: Workspace,
  { caller, key, subject, audit, client }: CallContext,
  { operation, dry_run, steps, resultsOf, withoutTexts, withPart, untriedOf }: Together<Name, R>
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
    // It is kept with one file: removing the texts of another file wouldn't find it.
    outcome: (done, texts) => answer(done, texts && isOfOneFile(done))
  }
  const noted = steps.map((step, i) => noting(step, path => (planned[i] = path)))
  const done = await workspace.batch<Reported, CallFailure>(noted, options)
  if (done.ok) return ok(answer(done.value))
  const { others = [], untried = [], ...first } = done
  if (isOfAll(first.failure)) return fail(first.failure)
  const failureOf = ({ at, behind, ...failed }: FailedStep<CallFailure>): Promise<Failed> => {
    // If the step wasn't planned, no text is the cause.
    const path = planned[at]
    const earlier = path === undefined ? [] : planned.flatMap((other, i) => (i < at && other === path ? [i] : []))
    return withPart(failed, { at, earlier, behind })
  }
  const failures = [{ at: first.at, failed: await failureOf(first) }]
  const dependent: number[] = []
  for (const other of others) {
    // An earlier failure shows where the file was moved; correcting that step may fix this one too.
    if (failures.some(({ failed }) => isNowAt(failed, other))) dependent.push(other.at)
    else failures.push({ at: other.at, failed: await failureOf(other) })
  }
  const [{ failed }, ...more] = failures as [(typeof failures)[number], ...typeof failures]
  return {
    ...failed,
    others: more.map(({ failed }) => failed),
    untried: untriedOf(
      [...untried, ...dependent].sort((a, b) => a - b),
      failures.map(({ at }) => at)
    )
  }
}

/** Whether the missing file was moved to the path of the other step. */
const isNowAt = ({ failure }: Failed, { path, resolved_path = path }: FailedStep<CallFailure>): boolean =>
  'now_at' in failure && failure.now_at === resolved_path

/** Whether all steps concern one file, so that the kept answer does too. */
const isOfOneFile = ({ steps }: BatchDone<Reported>): boolean =>
  new Set(steps.map(({ path, resolved_path = path }) => resolved_path)).size === 1

/** The step, which passes its real path to `note` when it is planned. */
const noting = (step: Step, note: (path: string) => void): Step => ({
  ...step,
  plan(original, file) {
    note(file.resolved_path ?? file.path)
    return step.plan(original, file)
  }
})
