// What operations on many files have in common: their parts are made together, all or none, with one answer. Does not
// know what a request asks for.
import { MAX_OTHER_FAILURES } from '../../schemas/problem.ts'
import { fail, ok } from '../result.ts'
import type { BatchDone, FailedStep, Workspace } from '../workspace/api.ts'
import { isOfAll, makeSteps, type Step, type StepDone } from './file-operation.ts'
import type { CallContext, CallFailure, Failed, FailedPart, OutcomeOfMany, PartWithPath } from './operation.ts'
import type { Reported } from './syntax-guard.ts'

/** What a part of a request does: steps, none if earlier parts do it, and its result. */
export interface PreparedPart<R> {
  steps: readonly Step[]
  /** The result, from those of its steps: plain JSON, since it is kept under an idempotency key. */
  answer: (done: readonly StepDone[]) => R
}

/**
 * Which part failed, and in which of its steps. `earlier`: parts that had changed the same text; `behind`: the part that
 * is in its way.
 */
interface FailingPart {
  at: number
  step: number
  earlier: readonly number[]
  behind?: number
}

interface Together<Name, R, A> {
  operation: Name
  dry_run: boolean
  parts: readonly PreparedPart<R>[]
  /** Names a part. */
  partAt: (index: number) => PartWithPath
  /** A result without text of the file, for a history that must not keep it. */
  withoutTexts: (result: R) => R
  /**
   * Adds to the failure of a part which one it is.
   */
  withPart: (failed: Failed, part: FailingPart) => Promise<Failed>
  /** Further members of the outcome: plain JSON without texts of files. */
  about?: A
  /** How many further failed steps to report; default: as many as a problem lists. */
  other_failures?: number
}

/** The part `at`, which failed, as `partAt` names it; `after` and `behind` as in `FailedPart`. */
export function failedPart(
  partAt: (index: number) => PartWithPath,
  at: number,
  after: readonly number[] = [],
  behind?: number
): FailedPart {
  return { ...partAt(at), after, ...(behind !== undefined && { behind: partAt(behind) }) }
}

/** Makes parts together. A failure belongs to one part, or to all of them; nothing is added to the latter. */
export async function makeTogether<Name extends 'batch' | 'apply_patch' | 'replace', R, A extends object = object>(
  workspace: Workspace,
  context: CallContext,
  { operation, dry_run, parts, partAt, withoutTexts, withPart, about, ...given }: Together<Name, R, A>
): Promise<{ ok: true; value: { operation: Name; outcome: OutcomeOfMany<R> & A } } | Failed> {
  /** The part that each step belongs to. */
  const partOf = parts.flatMap(({ steps }, i) => steps.map(() => i))
  const starts = parts.map((_, i) => partOf.indexOf(i))
  const planned: string[] = []
  const answer = ({ batch_id, steps: done }: BatchDone<Reported>, texts: boolean) => {
    const results = parts.map(({ steps, answer }, i) => answer(done.slice(starts[i]!, starts[i]! + steps.length)))
    return {
      operation,
      outcome: { ...about!, dry_run, batch_id, results: texts ? results : results.map(withoutTexts) }
    }
  }
  const steps = parts.flatMap(({ steps }) => steps)
  const done = await makeSteps(workspace, context, {
    operation,
    dry_run,
    steps: steps.map((step, i) => noting(step, path => (planned[i] = path))),
    other_failures: given.other_failures ?? MAX_OTHER_FAILURES,
    answer
  })
  if (done.ok) return ok(answer(done.value, true))
  const { others = [], untried = [], ...first } = done
  if (isOfAll(first.failure)) return fail(first.failure)
  const failureOf = ({ at, behind, ...failed }: FailedStep<CallFailure>): Promise<Failed> => {
    // If the step wasn't planned, no text is the cause.
    const path = planned[at]
    const same = path === undefined ? [] : planned.flatMap((other, i) => (i < at && other === path ? [partOf[i]!] : []))
    const earlier = [...new Set(same)]
    const part = partOf[at]!
    const found = behind === undefined ? {} : { behind: partOf[behind]! }
    return withPart(failed, { at: part, step: at - starts[part]!, earlier, ...found })
  }
  const failures = [{ at: first.at, failed: await failureOf(first) }]
  const dependent: number[] = []
  for (const other of others) {
    // An earlier failure shows where the file was moved; correcting that step may fix this one too.
    if (failures.some(({ failed }) => isNowAt(failed, other))) dependent.push(other.at)
    else failures.push({ at: other.at, failed: await failureOf(other) })
  }
  const [{ failed }, ...more] = failures as [(typeof failures)[number], ...typeof failures]
  // A part may have many steps.
  const failing = new Set(failures.map(({ at }) => partOf[at]!))
  const left = new Set([...untried, ...dependent].map(at => partOf[at]!).filter(part => !failing.has(part)))
  return {
    ...failed,
    others: more.map(({ failed }) => failed),
    untried: [...left].sort((a, b) => a - b).map(partAt)
  }
}

/** Whether the missing file was moved to the path of the other step. */
const isNowAt = ({ failure }: Failed, { path, resolved_path = path }: FailedStep<CallFailure>): boolean =>
  'now_at' in failure && failure.now_at === resolved_path

/** The step, which passes its real path to `note` when it is planned. */
const noting = (step: Step, note: (path: string) => void): Step => ({
  ...step,
  plan(original, file) {
    note(file.resolved_path ?? file.path)
    return step.plan(original, file)
  }
})
