// A change as data: which planner to use, its input, and how to report the result. Can be sent to another thread.
import { fail, ok, type Result } from '../result.ts'
import { explainChangedLines, explainStale } from './explain/explain-stale.ts'
import { changedLines, removedLines, type NumberedLine, type RemovedLines } from './report/changed-lines.ts'
import { describe, type Description } from './report/describe.ts'
import { unifiedDiff, type Diff } from './report/diff.ts'
import type { LineFailure, CurrentOutcome, HunkFailure, TextFailure, TakesLong, UnencodableText } from './failure.ts'
import { type RecordedSplice, UNKNOWN_CHANGE } from './undo/change.ts'
import { type EarlierState, type EarlierText, earlierText } from './undo/earlier-text.ts'
import { linesNow } from './undo/lines-now.ts'
import { type ChangesSince, changesSince, rebasedPlan, splicesInEarlier } from './undo/rebase.ts'
import { differing, recordedSplices } from './undo/refine.ts'
import { type ChangedSplices, changedSplices } from './edit/changed-splices.ts'
import { misplacedMarks } from './edit/new-text-warnings.ts'
import { numberedLines } from './edit/numbered-lines.ts'
import { LAST_LINE, type LineEdit, type TextEdit } from './edit/request.ts'
import { encodingMismatch } from './report/encoding-mismatch.ts'
import { joinedBreaks, type JoinedBreaks } from './report/joined-breaks.ts'
import { placeLines } from './report/place-lines.ts'
import { bomLength } from './text/encoding.ts'
import type { LineEndings } from './text/eol.ts'
import type { Hunk } from './patch/hunk.ts'
import { planHunks } from './plan/apply-hunks.ts'
import { planFileContent } from './plan/replace-file.ts'
import type { Plan } from './edit/plan.ts'
import { Splices } from './edit/splice.ts'
import { planLineEdits } from './plan/replace-lines.ts'
import { planTextEdits } from './plan/replace-text.ts'

/** One operation with its arguments; plain data. */
export type TaskChange =
  | { operation: 'edit'; edits: readonly TextEdit[]; line_endings: LineEndings; allow_repeat?: boolean }
  /** `by_name`: the lines are those of a section, found by its name. */
  | { operation: 'edit_lines'; edits: readonly LineEdit[]; line_endings: LineEndings; by_name?: true }
  | { operation: 'create'; content: string; line_endings?: LineEndings }
  /** `line_break`: that of a text without any. */
  | { operation: 'apply_hunks'; hunks: readonly Hunk[]; line_break?: '\n' | '\r\n' }
  /** Removes the text together with its file. */
  | { operation: 'delete' }

export interface Task {
  change: TaskChange
  /** Bytes. */
  max_result_size: number
  /** How many places may be replaced; if absent, as many as the engine allows. */
  max_replacements?: number
  context_lines: number
  dry_run: boolean
  /** If absent, there is no diff. */
  max_diff_lines?: number
  /** The caller named the state of the text by a hash. */
  of_known_state?: true
}

/** The total length of a change's texts, in UTF-16 units. */
export function textLength(change: TaskChange): number {
  switch (change.operation) {
    case 'edit':
      return change.edits.reduce((sum, { old_text, new_text }) => sum + old_text.length + new_text.length, 0)
    case 'edit_lines':
      return change.edits.reduce((sum, { new_text }) => sum + new_text.length, 0)
    case 'create':
      return change.content.length
    case 'apply_hunks':
      return change.hunks.reduce((sum, { lines }) => lines.reduce((all, { text }) => all + text.length, sum), 0)
    case 'delete':
      return 0
  }
}

/**
 * The encoding of the file. `written`: the first inserted character that isn't ASCII; the text was written in this
 * encoding, which is probably the file's. `replaced`: the whole file had this encoding and is UTF-8 now.
 */
export type EncodingNote = { encoding: string; written: string } | { encoding: string; replaced: true }

/** The report of a plan before it is applied. Plain data. */
export interface Described {
  plan: Pick<Plan, 'edits_applied' | 'left_alone' | 'newTextWarnings'>
  joined_breaks?: JoinedBreaks
  /** Set if the file isn't UTF-8. */
  encoded?: EncodingNote
  /** The file's byte-order mark was removed while text remains. */
  mark_dropped?: true
  changes: Description
  changed_lines: NumberedLine[]
  /** How many changed places have no line there; absent if none. */
  more_places?: number
  /** The content of removed lines that the caller identified only by number. */
  removed_lines?: RemovedLines
  diff: Diff | Record<string, never>
}

/** The result, as views of the original and new buffers, and its report. */
export interface TaskResult {
  pieces: Buffer[]
  /** The recorded form of the change; absent in a dry run. */
  splices?: readonly RecordedSplice[]
  /** The line of the original on which each splice begins. */
  splice_lines?: readonly number[]
  description: Described
}

type PlanFailure = TextFailure | LineFailure | HunkFailure
export type TaskFailure = PlanFailure | UnencodableText

/**
 * Plans a change of `original` (without NUL) and reports it. `path` and `exists` are used in the diff. Fails as the
 * planners do. With `work_within`, fails with TAKES_LONG if replacing many places, or finding what a missing text was
 * meant to be, may exceed that budget (see `fitsWorkBudget`).
 */
export function planTask(
  original: Buffer,
  task: Task,
  file: { path: string; exists: boolean }
): Result<TaskResult, TaskFailure>
export function planTask(
  original: Buffer,
  task: Task,
  file: { path: string; exists: boolean },
  work_within: number
): Result<TaskResult, TaskFailure | TakesLong>
export function planTask(
  original: Buffer,
  task: Task,
  file: { path: string; exists: boolean },
  work_within = Infinity
): Result<TaskResult, TaskFailure | TakesLong> {
  const planned = planChange(original, task, work_within)
  if (!planned.ok) return planned
  const plan = planned.value
  const isOfAll = task.change.operation === 'create' || task.change.operation === 'delete'
  const mismatch = isOfAll ? undefined : encodingMismatch(original, plan.splices)
  if (mismatch !== undefined) return fail(mismatch)
  const changed = changedSplices(original, plan.splices.list)
  return ok(taskResult(original, plan, changed, task, described(original, plan, changed, task, file)))
}

/** What it takes to apply a plan for `original`, and its report. */
export function taskResult(
  original: Buffer,
  { pieces, line_index }: Plan,
  { list }: ChangedSplices,
  { dry_run }: Pick<Task, 'dry_run'>,
  description: Described
): TaskResult {
  if (dry_run) return { pieces, description }
  const splices = recordedSplices(original, list)
  const splice_lines = splices.map(({ start }) => line_index.lineOf(start))
  return { pieces, splices, splice_lines, description }
}

/** Reports a plan. Assigns member by member: every edit runs this, and each spread takes a microsecond. */
function described(
  original: Buffer,
  plan: Plan,
  changed: ChangedSplices,
  { change, context_lines, dry_run, max_diff_lines, of_known_state }: Task,
  file: { path: string; exists: boolean }
): Described {
  const { splices, pieces, edits_applied, left_alone, newTextWarnings } = plan
  const isOfAll = change.operation === 'create' || change.operation === 'delete'
  const numbered = isOfAll ? [] : numberedLines(original, plan)
  const lines = placeLines(original, plan, changed)
  const shown = changedLines(lines)
  const description: Described = {
    plan: {
      edits_applied,
      left_alone,
      newTextWarnings: newTextWarnings.concat(numbered, misplacedMarks(plan.placements))
    },
    changes: describe(original, plan, { context_lines, dry_run }, lines),
    changed_lines: shown.lines,
    diff:
      max_diff_lines === undefined
        ? {}
        : unifiedDiff(
            original,
            { splices: new Splices(changed.list, original.length), line_index: plan.line_index },
            { ...file, remains: change.operation !== 'delete', max_lines: max_diff_lines }
          )
  }
  if (shown.more_places > 0) description.more_places = shown.more_places
  if (of_known_state !== true && removesUnseen(change)) {
    const removed = removedLines(lines)
    if (removed !== undefined) description.removed_lines = removed
  }
  const joined = joinedBreaks(original, splices, pieces)
  if (joined !== undefined) description.joined_breaks = joined
  if (dropsMark(original, splices, pieces) && !takesMarkOut(change)) description.mark_dropped = true
  return description
}

/**
 * Whether lines are removed without stating what they hold: by number, where they may be the wrong lines if the text
 * has shifted, or by a section's name. A section that gets another text is named by its caller, who writes it. Showing
 * their text in the answer costs 16 tokens of o200k_base on average (200 edits of one to eight lines of sources); a
 * diff costs 69, and asking for the hash or the text first costs 125 and another call (2026-11-29).
 */
const removesUnseen = (change: TaskChange): boolean =>
  change.operation === 'edit_lines' &&
  change.edits.some(
    ({ start_line, end_line, expected_text, new_text }) =>
      (end_line >= start_line || end_line === LAST_LINE) &&
      expected_text === undefined &&
      (change.by_name !== true || new_text === '')
  )

/**
 * Whether the text `original` begins with a byte-order mark and the result `pieces` with other text. A mark is rarely
 * visible, so a caller that replaces it together with the text after it may not know of it.
 */
function dropsMark(original: Buffer, { list }: Splices, pieces: readonly Buffer[]): boolean {
  if (bomLength(original) === 0 || list[0]?.start !== 0) return false
  const head: number[] = []
  for (const piece of pieces) {
    head.push(...piece.subarray(0, 3 - head.length))
    if (head.length === 3) break
  }
  return head.length > 0 && bomLength(Buffer.from(head)) === 0
}

/** Whether an edit targets only a byte-order mark, so its removal is intended. */
const takesMarkOut = (change: TaskChange): boolean =>
  change.operation === 'edit' && change.edits.some(({ old_text }) => old_text === '\ufeff')

/** A change made for another state of the text: `earlier`, as far as it is known. */
export interface StaleTask extends Task {
  earlier?: EarlierState
}

/** A change that is to be carried over from an earlier state; as its text alone if the changes since aren't known. */
export interface RebaseTask extends Task {
  earlier: EarlierState | { text: Buffer }
  /** How many of the changes since to list. */
  most_since: number
}

/** `earlier`: the result of the change in the earlier text. */
export type RebasedResult = TaskResult & { since: ChangesSince; earlier: Buffer }

/**
 * The change doesn't fit, because lines that it touches have changed, or it didn't fit the earlier text either. No
 * `since`: the earlier state isn't known after all.
 */
export interface NotRebased {
  code: 'NOT_REBASED'
  now: CurrentOutcome
  since?: ChangesSince
}

/**
 * Plans a change of `original` that was made for an earlier text: on that text, and then in the place where its lines
 * are now. A change that names a section is planned on `original`, and its lines must be as they were. The rest is as
 * for `planTask`.
 */
export function rebaseTask(
  original: Buffer,
  task: RebaseTask,
  file: { path: string; exists: boolean }
): Result<RebasedResult, NotRebased | UnencodableText>
export function rebaseTask(
  original: Buffer,
  task: RebaseTask,
  file: { path: string; exists: boolean },
  work_within: number
): Result<RebasedResult, NotRebased | UnencodableText | TakesLong>
export function rebaseTask(
  original: Buffer,
  { earlier: known, most_since: most, ...task }: RebaseTask,
  file: { path: string; exists: boolean },
  work_within = Infinity
): Result<RebasedResult, NotRebased | UnencodableText | TakesLong> {
  const state = 'text' in known ? stateOf(known.text, original) : known
  const earlier = earlierText(original, state)
  const planned = earlier && planBoth(original, earlier, task, work_within)
  if (planned?.ok === false && planned.failure.code === 'TAKES_LONG') return fail(planned.failure)
  if (earlier === undefined || planned?.ok !== true || planned.value.plan.splices.lengthAfter > task.max_result_size) {
    const now = replanOnCurrent(original, { ...task, earlier: state }, work_within)
    if ('code' in now) return fail(now)
    // A name finds the section, but doesn't say what is in it.
    if (now.fits && isByName(task.change) && earlier !== undefined) now.unchecked = 'changed_lines'
    const present = { splices: new Splices([], original.length), pieces: [original], most }
    const since = earlier && changesSince(earlier, state, present)
    return fail({ code: 'NOT_REBASED', now, since })
  }
  const { plan, pieces } = planned.value
  const mismatch = encodingMismatch(original, plan.splices)
  if (mismatch !== undefined) return fail(mismatch)
  const changed = changedSplices(original, plan.splices.list)
  const result = taskResult(original, plan, changed, task, described(original, plan, changed, task, file))
  return ok({ ...result, since: changesSince(earlier, state, { ...plan, most }), earlier: Buffer.concat(pieces) })
}

/** The state before one change that is known only by the texts before and after it. */
const stateOf = (before: Buffer, after: Buffer): EarlierState => ({
  changes: [{ ...UNKNOWN_CHANGE, splices: differing(before, after) }],
  at: -1
})

/** The plan for `original`, and the result that the change has in the earlier text. */
function planBoth(
  original: Buffer,
  earlier: EarlierText,
  task: Task,
  work_within: number
): Result<{ plan: Plan; pieces: Buffer[] }, TakesLong | { code: 'NOT_REBASED' }> {
  const was = Buffer.concat(earlier.text.pieces)
  const isNamed = isByName(task.change)
  const planned = planChange(isNamed ? original : was, task, work_within)
  if (!planned.ok) return planned.failure.code === 'TAKES_LONG' ? fail(planned.failure) : fail({ code: 'NOT_REBASED' })
  if (isNamed) {
    const splices = splicesInEarlier(planned.value, earlier, original)
    return splices === undefined
      ? fail({ code: 'NOT_REBASED' })
      : ok({ plan: planned.value, pieces: splices.apply(was) })
  }
  const plan = rebasedPlan(planned.value, earlier, original)
  return plan === undefined ? fail({ code: 'NOT_REBASED' }) : ok({ plan, pieces: planned.value.pieces })
}

/**
 * What a change made for another state would do to `original`; `work_within` as in `planTask`. Follows lines that are
 * known to have moved.
 */
export function replanOnCurrent(original: Buffer, task: StaleTask): CurrentOutcome
export function replanOnCurrent(original: Buffer, task: StaleTask, work_within: number): CurrentOutcome | TakesLong
export function replanOnCurrent(original: Buffer, task: StaleTask, work_within = Infinity): CurrentOutcome | TakesLong {
  const { change, earlier } = task
  const known = earlier && change.operation === 'edit_lines' ? replanLines(original, task, change, earlier) : undefined
  if (known !== undefined) return known
  // The hash allowed a repetition only in the state that it names.
  const now = change.operation === 'edit' ? { ...task, change: { ...change, allow_repeat: false } } : task
  const planned = planChange(original, now, work_within)
  if (!planned.ok && planned.failure.code === 'TAKES_LONG') return planned.failure
  const outcome = explainStale(original, planned as Result<Plan, PlanFailure>, uncheckedBy(change))
  return outcome.fits && isExact(change) ? { ...outcome, exact: true } : outcome
}

/**
 * Replans line edits by where their lines were in an earlier state. Undefined if that state gives no answer, or isn't
 * needed.
 */
function replanLines(
  original: Buffer,
  { max_result_size }: Task,
  change: Extract<TaskChange, { operation: 'edit_lines' }>,
  earlier: EarlierState
): CurrentOutcome | undefined {
  const { edits, line_endings, by_name } = change
  const lines = by_name === true ? undefined : linesNow(original, earlier, edits)
  if (lines === undefined) return undefined
  const changed = lines.filter(line => line.changed)
  if (changed.length > 0) return uncheckedBy(change) === 'lines' ? explainChangedLines(original, changed) : undefined
  const moved = lines.map(({ start_line, end_line }) => ({ start_line, end_line }))
  const renumbered = edits.map((edit, i) => ({ ...edit, ...moved[i] }))
  const planned = planLineEdits(original, renumbered, { line_endings, max_result_size })
  if (!planned.ok) return undefined
  const isMoved = moved.some(({ start_line }, i) => start_line !== edits[i]!.start_line)
  return { ...explainStale(original, planned), ...(isMoved && { moved }) }
}

/** Whether the change states the text that it replaces. */
const isExact = (change: TaskChange): boolean => uncheckedBy(change) === undefined && !isByName(change)

const isByName = (change: TaskChange): boolean => change.operation === 'edit_lines' && change.by_name === true

/** What the change replaces without stating its content; undefined if nothing. */
function uncheckedBy(change: TaskChange): 'lines' | 'occurrence' | 'file' | undefined {
  if (change.operation === 'create' || change.operation === 'delete') return 'file'
  if (change.operation === 'edit') {
    return change.edits.some(({ occurrence }) => typeof occurrence === 'number') ? 'occurrence' : undefined
  }
  if (change.operation !== 'edit_lines' || change.by_name === true) return undefined
  return change.edits.some(({ expected_text }) => expected_text === undefined) ? 'lines' : undefined
}

function planChange(
  original: Buffer,
  { change, max_result_size, max_replacements }: Task,
  work_within: number
): Result<Plan, PlanFailure | TakesLong> {
  switch (change.operation) {
    case 'edit':
      return planTextEdits(original, change.edits, {
        line_endings: change.line_endings,
        max_result_size,
        work_within,
        max_replacements,
        ...(change.allow_repeat === true && { allow_repeat: true })
      })
    case 'edit_lines':
      return planLineEdits(original, change.edits, { line_endings: change.line_endings, max_result_size, work_within })
    case 'create':
      return planFileContent(original, change.content, {
        max_result_size,
        line_endings: change.line_endings
      })
    case 'apply_hunks':
      return planHunks(original, change.hunks, { max_result_size, line_break: change.line_break, work_within })
    case 'delete':
      return planFileContent(original, '', { max_result_size })
  }
}
