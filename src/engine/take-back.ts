// Taking changes of a text back, or making them again, as a task: the splices that do it, and what is said of them. It
// can be sent to another thread. Does not know files, threads, or whose changes they are.
import { fail, ok, type Result } from '../result.ts'
import { changedSplices } from './edit/changed-splices.ts'
import { planOfSplices } from './edit/plan-of-splices.ts'
import type {
  FixedLines,
  FixedText,
  HistoryGone,
  NothingToUndo,
  ResultTooLarge,
  TakeBackFailure,
  UndoConflict,
  UndoRefused
} from './failure.ts'
import type { RecordedChange, Selection } from './history/change.ts'
import { TEXT_LENGTH } from './history/conflicts.ts'
import { stateAfter, takeBack, type TakeBack } from './history/take-back.ts'
import { planLineEdits } from './plan/replace-lines.ts'
import { planTextEdits } from './plan/replace-text.ts'
import { changedLines } from './report/changed-lines.ts'
import { describe } from './report/describe.ts'
import { placeLines } from './report/place-lines.ts'
import { unifiedDiff } from './report/diff.ts'
import { type Described, type Task, type TaskResult, taskResult } from './task.ts'

/** What is to become of a text: these changes `undone` or `standing`, or all as it was right after a change. */
export type TakeBackGoal =
  { set: readonly Selection[]; to: 'undone' | 'standing'; on_conflict: 'refuse' | 'skip' } | { state_after: string }

export interface TakeBackTask extends Omit<Task, 'change'> {
  /** All that is known of the text's changes, oldest first. */
  changes: readonly RecordedChange[]
  goal: TakeBackGoal
}

/**
 * `toggled`: what was taken back or made again; `skipped`: what was left. `removes`: there is no text afterwards, and
 * maybe none now.
 */
export interface TextTakenBack extends TaskResult {
  toggled: readonly Selection[]
  skipped: readonly Selection[]
  removes?: true
}

/** A conflict, with an edit that gives its lines the text that they would have. */
export interface ConflictWithFix extends UndoConflict {
  restores?: FixedText | FixedLines
}

interface WithFixes {
  conflicts: readonly ConflictWithFix[]
}

export type TakeBackTaskFailure =
  | (Omit<UndoRefused, 'conflicts'> & WithFixes)
  | (Omit<NothingToUndo, 'conflicts'> & Partial<WithFixes>)
  | HistoryGone
  | ResultTooLarge

/** Plans it for `present`, the text that the changes end in; `path` and `exists` are for the diff. */
export function planTakeBack(
  present: Buffer,
  task: TakeBackTask,
  file: { path: string; exists: boolean }
): Result<TextTakenBack, TakeBackTaskFailure> {
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
  // They are of lines as they were recorded; that a replay finds them again depends on that.
  const changed = changedSplices(present, splices.list, true)
  const lines = placeLines(present, plan, changed)
  const { edits_applied, left_alone, newTextWarnings } = plan
  const description: Described = {
    plan: { edits_applied, left_alone, newTextWarnings },
    changes: describe(present, plan, { context_lines, dry_run }, lines),
    changed_lines: changedLines(lines),
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

function splicesFor(present: Buffer, { changes, goal }: TakeBackTask): Result<TakeBack, TakeBackFailure> {
  if ('state_after' in goal) return stateAfter(present, changes, goal.state_after)
  const { set, to, on_conflict } = goal
  return takeBack(present, changes, set, to, { skip: on_conflict === 'skip' })
}

/** Conflicts for which an edit is sought, and bytes of a text in which it is. */
const FIXED = 5
const FIXED_SIZE = 1 << 20

function withFixes(present: Buffer, failure: TakeBackFailure): TakeBackTaskFailure {
  if (failure.code === 'HISTORY_GONE' || failure.conflicts === undefined) return failure as TakeBackTaskFailure
  const conflicts = failure.conflicts.map((conflict, i): ConflictWithFix => {
    const restores = i < FIXED && present.length <= FIXED_SIZE ? restoringEdit(present, conflict) : undefined
    return { ...conflict, restores }
  })
  return { ...failure, conflicts }
}

const endsLine = (text: string): boolean => /[\r\n]$/.test(text)

/**
 * An edit that puts `would_restore` in the place of the lines in question: by their text, or where that is in the file
 * more than once, by their numbers. None where an edit can't say it, as of bytes that aren't UTF-8, text that is cut or
 * another file's text; or where what is in the way reaches beyond these lines: their text may stand elsewhere by now.
 */
function restoringEdit(present: Buffer, conflict: UndoConflict): FixedText | FixedLines | undefined {
  const { start_line, end_line, current_text, would_restore, is_part, lossy, replaced } = conflict
  if (replaced === true || is_part === true || lossy === true || current_text === would_restore) return undefined
  // What is as long as that may be cut.
  if (would_restore.length >= TEXT_LENGTH) return undefined
  // Lines around it, on which nothing is in conflict, belong to what would be put back.
  const isExchange = current_text !== '' && would_restore !== ''
  if (isExchange && endsLine(current_text) !== endsLine(would_restore)) return undefined
  const options = { line_endings: 'exact', max_result_size: Infinity } as const
  const byLines =
    current_text === ''
      ? { start_line, end_line: start_line - 1, new_text: would_restore }
      : { start_line, end_line, expected_text: current_text, new_text: would_restore }
  const lines = planLineEdits(present, [byLines], options)
  // A text that is cut isn't what is there.
  if (!lines.ok) return undefined
  const wanted = Buffer.concat(lines.value.pieces)
  const byText = { old_text: current_text, new_text: would_restore }
  const text = current_text === '' ? undefined : planTextEdits(present, [byText], { ...options, line_endings: 'adapt' })
  return text?.ok === true && Buffer.concat(text.value.pieces).equals(wanted) ? byText : byLines
}
