// A change as data: which planner makes it, of what, and how it is told. What another thread can be given. Knows no files and no threads.
import { fail, ok, type Result } from '../result.ts'
import { explainStale } from './explain-stale.ts'
import { describe, type Description } from './describe.ts'
import { unifiedDiff, type Diff } from './diff.ts'
import type { LineEdit, LineFailure, Present, TextEdit, TextFailure, TakesLong } from './failure.ts'
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
 * with `work_within`, TAKES_LONG where to replace many places, or to tell what was meant by a text that isn't there, may take longer (see `isExplained`).
 */
export function planTask (original: Buffer, task: Task, file: { path: string, exists: boolean }): Result<Told, TaskFailure>
export function planTask (original: Buffer, task: Task, file: { path: string, exists: boolean }, work_within: number): Result<Told, TaskFailure | TakesLong>
export function planTask (original: Buffer, task: Task, file: { path: string, exists: boolean }, work_within = Infinity): Result<Told, TaskFailure | TakesLong> {
  const planned = planChange(original, task, work_within)
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

/** What a change that was made for another state comes to in `original`; `work_within` as in `planTask`. */
export function presentOf (original: Buffer, task: Task): Present
export function presentOf (original: Buffer, task: Task, work_within: number): Present | TakesLong
export function presentOf (original: Buffer, task: Task, work_within = Infinity): Present | TakesLong {
  const planned = planChange(original, task, work_within)
  return planned.ok || planned.failure.code !== 'TAKES_LONG' ? explainStale(original, planned as Result<Plan, TaskFailure>) : planned.failure
}

function planChange (original: Buffer, { change, max_result_size }: Task, work_within: number): Result<Plan, TaskFailure | TakesLong> {
  switch (change.operation) {
    case 'edit': return planTextEdits(original, change.edits, { line_endings: change.line_endings, max_result_size, work_within })
    case 'edit_lines': return planLineEdits(original, change.edits, { line_endings: change.line_endings, max_result_size, work_within })
    case 'create': return planNewContent(original, change.content, { max_result_size })
  }
}
