// What all operations that change a file have in common: building the change for a request, making it, and describing
// the outcome.
import type { OutlineEntry } from '../engine/failure.ts'
import type { Section } from '../engine/plan/plan-section.ts'
import type { SyntaxCheck } from '../engine/syntax/new-fault.ts'
import type { Task, TaskChange } from '../engine/task.ts'
import type { PlanMaker } from '../workers/plan.ts'
import type { SyntaxChecker } from '../workers/syntax.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Reads } from '../workspace/reads.ts'
import type {
  Author,
  BatchDone,
  BatchOptions,
  BatchStep,
  EarlierStep,
  FailedSteps,
  FileChanged,
  FileTarget,
  Origin,
  PlannedFile,
  Planner,
  Workspace
} from '../workspace/api.ts'
import { mayDelete } from './access.ts'
import { hashesOf, shortHash } from './file-hash.ts'
import type {
  CallResult,
  CallContext,
  CallFailure,
  ChangedOutcome,
  ChangeOutcome,
  Failed,
  Operation,
  OperationLimits
} from './operation.ts'
import { decoding } from './decoding.ts'
import { withEarlierEdit, withUndoneEdit } from './after-miss.ts'
import { withHowRemoved } from './removals.ts'
import { rebased, staleNow } from './stale.ts'
import { guardSyntax, type PlanResult, type Reported, type SyntaxMode } from './syntax-guard.ts'

/** The default number of context lines. */
export const CONTEXT_LINES = 3
export const DIFF_LINES = 100

/** The fields that every changing request takes. */
export interface ChangeRequest {
  path: string
  expected_hash?: string
  dry_run?: boolean
  show_diff?: boolean
  max_diff_lines?: number
  context_lines?: number
  syntax?: SyntaxMode
  on_stale?: 'refuse' | 'rebase'
}

/** What these operations need besides the workspace. */
export interface Planning {
  limits: OperationLimits
  planMaker: PlanMaker
  syntaxChecker: SyntaxChecker
  reads: Reads
}

export const targetOf = ({ path, expected_hash, on_stale }: ChangeRequest): FileTarget => ({
  path,
  expected_hash,
  replans: on_stale === 'rebase'
})

/** Makes a request with an idempotency key run only once. */
export const keyedBy =
  (workspace: Workspace): Workspace['keyed'] =>
  (key, work) =>
    workspace.keyed(key, work)

/**
 * Makes a request with an idempotency key run only once; every file that the kept answer names must still be allowed.
 */
export const keyedByAll =
  (
    workspace: Workspace,
    filesIn: (kept: unknown) => readonly { path: string; resolved_path?: string }[]
  ): Workspace['keyed'] =>
  (key, work) =>
    workspace.keyed(key, work, kept => filesIn(kept).map(({ path, resolved_path = path }) => resolved_path))

/** The steps that make one change, and what each did. */
export type Step = BatchStep<Reported, CallFailure>
export type StepDone = FileChanged<Reported>

/**
 * Makes steps together, all or none. `answer` returns the call's result as plain JSON, so that it can be kept under the
 * request's idempotency key and returned again; without texts of files unless `texts`.
 */
export function makeSteps(
  workspace: Workspace,
  { caller, key, subject, audit, client }: CallContext,
  {
    operation,
    steps,
    answer,
    ...options
  }: Pick<BatchOptions<never>, 'dry_run' | 'other_failures'> &
    Pick<Origin, 'operation'> & {
      steps: readonly Step[]
      answer: (done: BatchDone<Reported>, texts: boolean) => unknown
    }
): Promise<{ ok: true; value: BatchDone<Reported> } | FailedSteps<CallFailure>> {
  return workspace.batch<Reported, CallFailure>(steps, {
    ...options,
    origin: { operation, ...caller, key },
    audit,
    client,
    ...mayDelete(subject),
    // It is kept with one file: removing the texts of another file wouldn't find it.
    outcome: (done, texts) => answer(done, texts && isOfOneFile(done))
  })
}

/** Whether all steps concern one file, so that the kept answer does too. */
const isOfOneFile = ({ steps }: BatchDone<Reported>): boolean =>
  new Set(steps.map(({ path, resolved_path = path }) => resolved_path)).size === 1

/** A change that is ready to be made, alone or as a part of a batch. */
interface PreparedChange {
  operation: Origin['operation']
  /** At least one, unless `emptied`. */
  steps: readonly Step[]
  /** Folders to remove once `by`, a step of an earlier change, has removed the last file in them. */
  emptied?: { by: EarlierStep; folders: readonly Buffer[] }
  /** How many files of a folder it changes. */
  files?: number
  /** Returns the call's result as plain JSON, from the results of the steps. */
  answer: (done: readonly StepDone[]) => ChangedOutcome
  /** Adds to a failure of a step, by its index, what was found out on the way. */
  explained: (failed: Failed, step: number) => Failed | Promise<Failed>
}

export type Prepared = { ok: true; value: PreparedChange } | Failed

/** Whether a failure concerns all files that are changed together, not only the one that met it. */
export const isOfAll = (failure: CallFailure): boolean =>
  failure.code === 'NOT_READY' ||
  failure.code === 'READ_ONLY' ||
  (failure.code === 'FILE_TOO_LARGE' && failure.together === true)

/** An operation that changes one file, or removes or moves all files of a folder. */
export interface FileOperation<Request = never> extends Operation<Request> {
  /** Prepares the change of a request, which has passed the schema, to be made after these steps. */
  prepare(request: Request, context: CallContext, after?: readonly Step[]): Prepared | Promise<Prepared>
}

/**
 * Adds to a failed change what the history knows about its file. After a miss: the caller's edit that someone else
 * undid, or the edit that already made the requested change. If there is no file: how it was removed.
 */
export async function withPast(
  workspace: Workspace,
  { caller, subject }: Pick<CallContext, 'caller' | 'subject'>,
  failed: Failed
): Promise<Failed> {
  const known = await withEarlierEdit(workspace, await withUndoneEdit(workspace, caller, failed))
  return withHowRemoved(workspace, known, { subject })
}

/** Prepares edits of an existing file. */
export function preparedEdit<F extends CallFailure>(
  operation: Origin['operation'],
  request: ChangeRequest,
  context: CallContext,
  made: {
    workspace: Workspace
    planning: Planning
    planner: Planner<Reported, F>
    answer: (done: StepDone) => ChangedOutcome
  }
): Prepared {
  const { workspace, planning, planner, answer } = made
  const { limits, reads } = planning
  const step = { operation: 'edit', target: targetOf(request), plan: decoding(planner, limits) } as const
  return ok({
    operation,
    steps: [step],
    answer: ([done]) => {
      noteChange(reads, context, done!)
      return answer(done!)
    },
    explained: failed => withPast(workspace, context, failed)
  })
}

/** Notes that a caller knows what it has made of a file. */
export function noteChange(
  reads: Reads,
  { caller = {} }: Pick<CallContext, 'caller'>,
  { path, resolved_path = path, hash_before: before, file_hash: after }: StepDone
): void {
  if (after !== undefined) reads.changed(caller, resolved_path, { before, after })
}

/** Makes the change of one request. */
export async function carryOut(
  workspace: Workspace,
  { dry_run = false }: Pick<ChangeRequest, 'dry_run'>,
  context: CallContext,
  preparing: Prepared | Promise<Prepared>
): Promise<CallResult> {
  const prepared = await preparing
  if (!prepared.ok) return prepared
  const { operation, steps, answer, explained } = prepared.value
  const kept = (done: readonly StepDone[], texts: boolean): ChangedOutcome =>
    texts ? answer(done) : withoutTexts(answer(done))
  const [step] = steps
  if (step === undefined || steps.length > 1 || step.operation === 'remove') {
    const done = await makeSteps(workspace, context, {
      operation,
      dry_run,
      steps,
      answer: ({ steps, batch_id }, texts) => inBatch(kept(steps, texts), batch_id)
    })
    if (done.ok) return ok(inBatch(answer(done.value.steps), done.value.batch_id))
    const { at, behind: _behind, others: _others, untried: _untried, ...failed } = done
    return isOfAll(failed.failure) ? fail(failed.failure) : explained(failed, at)
  }
  const { caller, key, audit, client } = context
  const options = {
    dry_run,
    origin: { operation, ...caller, key },
    audit,
    client,
    outcome: (done: StepDone, texts: boolean) => kept([done], texts)
  }
  const done =
    step.operation === 'create'
      ? await workspace.create<Reported, CallFailure>(step.target, options, step.plan)
      : await workspace.edit<Reported, CallFailure>(step.target, options, step.plan)
  return done.ok ? ok(answer([done.value])) : explained(done, 0)
}

const inBatch = (made: ChangedOutcome, batch_id: string | undefined): ChangedOutcome => ({
  ...made,
  outcome: { ...made.outcome, batch_id }
})

/** The answer without text of the file, for a history that must not keep it. */
export const withoutTexts = (answer: ChangedOutcome): ChangedOutcome => ({
  ...answer,
  ...(answer.operation === 'edit_section' && { section: sectionWithoutTexts(answer.section) }),
  outcome: fileWithoutTexts(answer.outcome)
})

/** Without names of headings and symbols, since they are text of the file. */
function sectionWithoutTexts({ entry, stray, dropped, twice, gone, ...others }: Section): Section {
  return {
    ...others,
    dropped: dropped && {},
    twice: twice && entryWithoutTexts(twice),
    gone: gone?.map(entryWithoutTexts),
    entry: entryWithoutTexts(entry),
    stray: stray && { ...stray, entry: entryWithoutTexts(stray.entry) }
  }
}

const entryWithoutTexts = ({
  name: _name,
  parent: _parent,
  language: _language,
  ...entry
}: OutlineEntry): OutlineEntry => entry

/** What was done to one file, without text of the file. */
export function fileWithoutTexts(outcome: Omit<ChangeOutcome, 'created'>) {
  const {
    diff: _diff,
    diff_truncated: _truncated,
    more_places: _more,
    removed_lines: _removed,
    syntax: _syntax,
    encoded: _encoded,
    ...others
  } = outcome
  const changes = others.changes.map(
    ({ context: _context, old_content: _old, new_content: _new, lossy: _lossy, ...change }) => change
  )
  return { ...others, changes, changed_lines: [], newTextWarnings: [] }
}

/**
 * The planner that makes the change of a request and describes it. It checks what the change does to the file's syntax,
 * unless the request turns that off or `known` has the check already. With `on_stale: rebase`, an edit of lines that are
 * named by number alone needs a version: the one that `caller` has read last.
 */
export function plannerFor(
  { limits, planMaker, syntaxChecker, reads }: Planning,
  request: ChangeRequest,
  change: TaskChange,
  { known, caller = {} }: { known?: SyntaxCheck | undefined; caller?: Author | undefined } = {}
): Planner<Reported, CallFailure> {
  const common = {
    change,
    context_lines: request.context_lines ?? CONTEXT_LINES,
    dry_run: request.dry_run ?? false,
    ...(request.show_diff === true && { max_diff_lines: request.max_diff_lines ?? DIFF_LINES }),
    ...(request.expected_hash !== undefined && { of_known_state: true as const })
  }
  const { syntax: mode = 'ignore', on_stale, dry_run, expected_hash } = request
  const needsVersion =
    on_stale === 'rebase' && dry_run !== true && expected_hash === undefined && isByNumberAlone(change)
  const planOf = (
    original: Buffer,
    file: PlannedFile,
    task: Task
  ): PlanResult<CallFailure> | Promise<PlanResult<CallFailure>> => {
    const { stale, path, resolved_path = path, exists, file_hash } = file
    const edit = { ...file, original, task }
    if (stale !== undefined) {
      return on_stale === 'rebase' ? rebased({ planMaker, reads }, edit, stale) : staleNow(planMaker, edit, stale)
    }
    if (needsVersion && file_hash !== undefined && reads.lastOf(caller, resolved_path) !== file_hash) {
      return versionNeeded(planMaker, { original, task }, () => reads.saw(caller, resolved_path, file_hash))
    }
    return planMaker.plan(original, task, { path, exists })
  }
  return (original, file) => {
    const { path, resolved_path = path, exists, max_result_size = limits.max_file_size } = file
    const planned = planOf(original, file, { ...common, max_result_size })
    if (mode === 'ignore') return planned
    return guardSyntax(syntaxChecker, { mode, path: resolved_path, is_new: !exists, known }, original, planned)
  }
}

/** Whether an edit of lines doesn't say what one of them holds. The start of a file is always there. */
const isByNumberAlone = (change: TaskChange): boolean =>
  change.operation === 'edit_lines' &&
  change.by_name !== true &&
  change.edits.some(({ expected_text, end_line }) => expected_text === undefined && end_line !== 0)

/**
 * The failure of an edit that names lines by number alone, with what they hold now. If it would fail anyway, that
 * failure, which shows its caller the file: `shown` is called.
 */
async function versionNeeded(
  planMaker: PlanMaker,
  { original, task }: { original: Buffer; task: Task },
  shown: () => void
): Promise<Result<never, CallFailure>> {
  const now = await planMaker.replan(original, task)
  if (!now.fits) shown()
  return fail(now.fits ? { code: 'PRECONDITION_REQUIRED', now } : now.failure)
}

/** What the answer says; `own`: the members of this operation. Undefined members are absent in JSON. */
export function outcomeOf(
  request: Pick<ChangeRequest, 'dry_run'>,
  done: FileChanged<Reported>,
  own: Partial<ChangeOutcome> = {}
): ChangeOutcome {
  const { path, resolved_path, changed, file_size, hash_before, edit_id, write_strategy, warnings, description } = done
  const { changed_lines, more_places, removed_lines, joined_breaks, encoded, mark_dropped, syntax, plan, rebased } =
    description
  const { dry_run = false } = request
  const file = {
    file_size,
    hash_before: hash_before && shortHash(hash_before),
    ...hashesOf(done.file_hash),
    new_hash: dry_run && done.new_hash !== undefined ? shortHash(done.new_hash) : undefined,
    edit_id,
    write_strategy
  }
  const texts = {
    more_places,
    removed_lines,
    joined_breaks,
    encoded: changed ? encoded : undefined,
    mark_dropped,
    syntax
  }
  return {
    path,
    changed,
    dry_run,
    changed_lines,
    left_alone: plan.left_alone,
    newTextWarnings: changed ? plan.newTextWarnings : [],
    warnings,
    // V8 may define a member that follows one of these through a call, which costs 0.4 us.
    resolved_path,
    rebased,
    ...own,
    ...description.changes,
    ...file,
    ...description.diff,
    ...texts
  }
}

/** What the answer says about a removed file: it has no hash, but after a dry run the file is still there. */
export function outcomeOfRemoved(request: Pick<ChangeRequest, 'dry_run'>, done: FileChanged<Reported>): ChangeOutcome {
  const { new_hash: _, file_hash: _short, sha256, ...outcome } = outcomeOf(request, done)
  return { ...outcome, ...(outcome.dry_run && hashesOf(sha256)) }
}
