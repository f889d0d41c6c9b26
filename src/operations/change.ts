// What all operations have in common that change a file: a plan becomes a description, that of what was done an outcome.
import { describe, type Description } from '../engine/describe.ts'
import { explainStale } from '../engine/explain-stale.ts'
import type { LineFailure, TextFailure } from '../engine/failure.ts'
import { unifiedDiff, type Diff } from '../engine/diff.ts'
import type { Plan } from '../engine/plan.ts'
import { fail, ok, type Result } from '../result.ts'
import type { StaleFile } from '../workspace/failure.ts'
import type { Created, Edited, FileTarget, Planner } from '../workspace/workspace.ts'
import type { ChangeOutcome } from './operation.ts'

const CONTEXT_LINES = 3
const DIFF_LINES = 100

/** The fields that every one of them takes. */
export interface ChangeRequest { path: string, expected_hash?: string, dry_run?: boolean, show_diff?: boolean, max_diff_lines?: number, context_lines?: number }

/** What is said of a plan before it is carried out. */
export interface Described { plan: Pick<Plan, 'edits_applied' | 'left_alone' | 'cautions'>, changes: Description, diff: Diff | Record<string, never> }

export const targetOf = ({ path, expected_hash }: ChangeRequest): FileTarget => ({ path, ...expected_hash !== undefined && { expected_hash } })

/** The planner that describes what `plan` makes of the file. */
export const describing = <F extends TextFailure | LineFailure>(request: ChangeRequest, plan: (original: Buffer) => Result<Plan, F>): Planner<Described, F | StaleFile> => (original, { stale, ...file }) => {
  const planned = plan(original)
  if (stale !== undefined) return fail({ ...stale, now: explainStale(original, planned) })
  if (!planned.ok) return planned
  const { splices, pieces, edits_applied, left_alone, cautions } = planned.value
  return ok({
    pieces,
    description: {
      plan: { edits_applied, left_alone, cautions },
      changes: describe(original, planned.value, { context_lines: request.context_lines ?? CONTEXT_LINES, dry_run: request.dry_run ?? false }),
      diff: request.show_diff === true ? unifiedDiff(original, splices, { ...file, max_lines: request.max_diff_lines ?? DIFF_LINES }) : {}
    }
  })
}

/** What the answer says; `own` are the members of one operation. */
export function outcomeOf (request: ChangeRequest, done: Edited<Described> | Created<Described>, own: Partial<ChangeOutcome>): ChangeOutcome {
  const { path, resolved_path, changed, file_size, hash_before, file_hash, new_hash, write_strategy, warnings, description } = done
  const dry_run = request.dry_run ?? false
  return {
    path,
    ...resolved_path !== undefined && { resolved_path },
    changed,
    dry_run,
    ...own,
    ...description.changes,
    file_size,
    ...hash_before !== undefined && { hash_before },
    ...file_hash !== undefined && { file_hash },
    ...dry_run && { new_hash },
    ...write_strategy !== undefined && { write_strategy },
    ...description.diff,
    left_alone: description.plan.left_alone,
    cautions: changed ? description.plan.cautions : [],
    warnings
  }
}
