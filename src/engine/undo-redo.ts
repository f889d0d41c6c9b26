// Undo and redo of changes of a text as a task: the splices that do it, and the report. Plain data that can be sent to
// another thread.
import { fail, ok, type Result } from '../result.ts'
import { changedSplices } from './edit/changed-splices.ts'
import { planOfSplices } from './edit/plan-of-splices.ts'
import type {
  FixedLines,
  FixedText,
  HistoryGone,
  NothingToUndo,
  ResultTooLarge,
  ToggleFailure,
  UndoConflict,
  UndoRefused
} from './failure.ts'
import type { RecordedChange, Selection } from './undo/change.ts'
import { TEXT_LENGTH } from './undo/conflicts.ts'
import { stateAfter, toggle, type TogglePlan } from './undo/toggle.ts'
import { planLineEdits } from './plan/replace-lines.ts'
import { planTextEdits } from './plan/replace-text.ts'
import { changedLines } from './report/changed-lines.ts'
import { describe } from './report/describe.ts'
import { placeLines } from './report/place-lines.ts'
import { unifiedDiff } from './report/diff.ts'
import { type Described, type Task, type TaskResult, taskResult } from './task.ts'

/**
 * The goal: make these changes `undone` or `applied`, or restore the text as it was right after a change.
 */
export type UndoGoal =
  { set: readonly Selection[]; to: 'undone' | 'applied'; on_conflict: 'refuse' | 'skip' } | { state_after: string }

export interface UndoTask extends Omit<Task, 'change'> {
  /** All known changes of the text, oldest first. */
  changes: readonly RecordedChange[]
  goal: UndoGoal
}

/**
 * `toggled`: the changes undone or redone; `skipped`: those left alone. `removes`: the text doesn't exist afterwards
 * (and may not exist now).
 */
export interface ToggledText extends TaskResult {
  toggled: readonly Selection[]
  skipped: readonly Selection[]
  removes?: true
}

/** A conflict with an edit that gives its lines the text of `would_restore`. */
export interface ConflictWithFix extends UndoConflict {
  restores?: FixedText | FixedLines
}

interface WithFixes {
  conflicts: readonly ConflictWithFix[]
}

export type UndoTaskFailure =
  | (Omit<UndoRefused, 'conflicts'> & WithFixes)
  | (Omit<NothingToUndo, 'conflicts'> & Partial<WithFixes>)
  | HistoryGone
  | ResultTooLarge

/** Plans the task for `present`, the text after all changes; `path` and `exists` are used in the diff. */
export function planUndo(
  present: Buffer,
  task: UndoTask,
  file: { path: string; exists: boolean }
): Result<ToggledText, UndoTaskFailure> {
  const made = splicesFor(present, task)
  if (!made.ok) return fail(withFixes(present, made.failure))
  const { splices, toggled, skipped, removes } = made.value
  const plan = planOfSplices(present, splices)
  const { lengthAfter } = plan.splices
  if (lengthAfter > task.max_result_size) {
    const position = { edit_index: 0, total_edits: 1 }
    return fail({
      code: 'RESULT_TOO_LARGE',
      what: 'bytes',
      ...position,
      limit: task.max_result_size,
      actual: lengthAfter
    })
  }
  const { context_lines, dry_run, max_diff_lines } = task
  // The splices follow lines as they were recorded; a replay relies on that to find them again.
  const changed = changedSplices(present, splices.list, true)
  const lines = placeLines(present, plan, changed)
  const shown = changedLines(lines)
  const { edits_applied, left_alone, newTextWarnings } = plan
  const description: Described = {
    plan: { edits_applied, left_alone, newTextWarnings },
    changes: describe(present, plan, { context_lines, dry_run }, lines),
    changed_lines: shown.lines,
    ...(shown.more_places > 0 && { more_places: shown.more_places }),
    diff:
      max_diff_lines === undefined
        ? {}
        : unifiedDiff(present, plan, { ...file, remains: removes !== true, max_lines: max_diff_lines })
  }
  return ok({
    ...taskResult(present, plan, changed, task, description),
    toggled,
    skipped,
    removes
  })
}

function splicesFor(present: Buffer, { changes, goal }: UndoTask): Result<TogglePlan, ToggleFailure> {
  if ('state_after' in goal) return stateAfter(present, changes, goal.state_after)
  const { set, to, on_conflict } = goal
  return toggle(present, changes, set, to, { skip: on_conflict === 'skip' })
}

/** How many conflicts get a proposed edit, and the largest text (in bytes) for which we compute one. */
const FIXED = 5
const FIXED_SIZE = 1 << 20

function withFixes(present: Buffer, failure: ToggleFailure): UndoTaskFailure {
  if (failure.code === 'HISTORY_GONE' || failure.conflicts === undefined) return failure as UndoTaskFailure
  const conflicts = failure.conflicts.map((conflict, i): ConflictWithFix => {
    const restores = i < FIXED && present.length <= FIXED_SIZE ? restoringEdit(present, conflict) : undefined
    return { ...conflict, restores }
  })
  return { ...failure, conflicts }
}

const endsLine = (text: string): boolean => /[\r\n]$/.test(text)

/**
 * An edit that replaces the lines in question by `would_restore`: by their text, or by line numbers if that text occurs
 * more than once. Undefined if an edit can't express it (bytes that aren't UTF-8, cut text, text of another file), or
 * if the conflict reaches beyond these lines, because their text may be elsewhere by now.
 */
function restoringEdit(present: Buffer, conflict: UndoConflict): FixedText | FixedLines | undefined {
  const { start_line, end_line, current_text, would_restore, is_part, lossy, replaced } = conflict
  if (replaced === true || is_part === true || lossy === true || current_text === would_restore) return undefined
  // A text of this length may have been cut.
  if (would_restore.length >= TEXT_LENGTH) return undefined
  // Lines around it that aren't in conflict belong to the text to restore.
  const isExchange = current_text !== '' && would_restore !== ''
  if (isExchange && endsLine(current_text) !== endsLine(would_restore)) return undefined
  const options = { line_endings: 'exact', max_result_size: Infinity } as const
  const byLines =
    current_text === ''
      ? { start_line, end_line: start_line - 1, new_text: would_restore }
      : { start_line, end_line, expected_text: current_text, new_text: would_restore }
  const lines = planLineEdits(present, [byLines], options)
  // A cut text doesn't match what is there.
  if (!lines.ok) return undefined
  const wanted = Buffer.concat(lines.value.pieces)
  const byText = { old_text: current_text, new_text: would_restore }
  const text = current_text === '' ? undefined : planTextEdits(present, [byText], { ...options, line_endings: 'adapt' })
  return text?.ok === true && Buffer.concat(text.value.pieces).equals(wanted) ? byText : byLines
}
