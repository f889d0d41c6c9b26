// A change as data: which planner makes it, of what, and how it is told. What another thread can be given. Knows no files and no threads.
import { fail, ok, type Result } from '../result.ts'
import { explainStale } from './explain-stale.ts'
import { describe, type Description } from './describe.ts'
import { unifiedDiff, type Diff } from './diff.ts'
import type { LineEdit, LineFailure, Present, TextEdit, TextFailure, Unexplained } from './failure.ts'
import type { LineEndings } from './line-breaks.ts'
import { planNewContent } from './new-content.ts'
import type { Plan } from './plan.ts'
import { planLineEdits } from './replace-lines.ts'
import { planTextEdits } from './replace-text.ts'

/** One operation with what it is asked for; plain data. */
export type Change =
  | { operation: 'edit', edits: readonly TextEdit[], line_endings: LineEndings }
  | { operation: 'edit_lines', edits: readonly LineEdit[], line_endings: LineEndings }
  | { operation: 'create', content: string }

export interface Task {
  change: Change
  /** Bytes. */
  max_result_size: number
  context_lines: number
  dry_run: boolean
  /** Without it there is no diff. */
  max_diff_lines?: number
}

/** What is said of a plan before it is carried out. Plain data. */
export interface Described { plan: Pick<Plan, 'edits_applied' | 'left_alone' | 'cautions'>, changes: Description, diff: Diff | Record<string, never> }

/** The result, in views of the original and buffers of its own, and what is said of it. */
export interface Told { pieces: Buffer[], description: Described }

export type TaskFailure = TextFailure | LineFailure

/**
 * Plans a change of `original` (without NUL) and tells it. `path` and `exists` are for the diff. Failures: those of the planners;
 * with `explain_within`, UNEXPLAINED where telling what was meant by a text that isn't there may take longer (see `isExplained`).
 */
export function planTask (original: Buffer, task: Task, file: { path: string, exists: boolean }): Result<Told, TaskFailure>
export function planTask (original: Buffer, task: Task, file: { path: string, exists: boolean }, explain_within: number): Result<Told, TaskFailure | Unexplained>
export function planTask (original: Buffer, task: Task, file: { path: string, exists: boolean }, explain_within = Infinity): Result<Told, TaskFailure | Unexplained> {
  const planned = planChange(original, task, explain_within)
  if (!planned.ok) return fail(planned.failure)
  const { splices, pieces, edits_applied, left_alone, cautions } = planned.value
  const { context_lines, dry_run, max_diff_lines } = task
  return ok({
    pieces,
    description: {
      plan: { edits_applied, left_alone, cautions },
      changes: describe(original, planned.value, { context_lines, dry_run }),
      diff: max_diff_lines === undefined ? {} : unifiedDiff(original, splices, { ...file, max_lines: max_diff_lines })
    }
  })
}

/** What a change that was made for another state comes to in `original`; `explain_within` as in `planTask`. */
export function presentOf (original: Buffer, task: Task): Present
export function presentOf (original: Buffer, task: Task, explain_within: number): Present | Unexplained
export function presentOf (original: Buffer, task: Task, explain_within = Infinity): Present | Unexplained {
  const planned = planChange(original, task, explain_within)
  return planned.ok || planned.failure.code !== 'UNEXPLAINED' ? explainStale(original, planned as Result<Plan, TaskFailure>) : planned.failure
}

function planChange (original: Buffer, { change, max_result_size }: Task, explain_within: number): Result<Plan, TaskFailure | Unexplained> {
  switch (change.operation) {
    case 'edit': return planTextEdits(original, change.edits, { line_endings: change.line_endings, max_result_size, explain_within })
    case 'edit_lines': return planLineEdits(original, change.edits, { line_endings: change.line_endings, max_result_size, explain_within })
    case 'create': return planNewContent(original, change.content, { max_result_size })
  }
}
