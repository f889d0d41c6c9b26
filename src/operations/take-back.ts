// What /undo and /redo have in common: the files are planned all together, then changed one after the other, each by an
// ordinary edit. Does not know how a request says which edits it means.
import type { ResultTooLarge } from '../engine/failure.ts'
import type { ConflictWithFix, TakeBackGoal, TakeBackTaskFailure } from '../engine/take-back.ts'
import { isRecordedId, type Selection } from '../engine/history/change.ts'
import type { Described } from '../engine/task.ts'
import { fail, ok, type Result } from '../result.ts'
import type { ChangeOptions, FileHistory } from '../workspace/api.ts'
import type { StaleFile } from '../workspace/failure.ts'
import type { Created, Edited, Planner, Workspace } from '../workspace/workspace.ts'
import { CONTEXT_LINES, DIFF_LINES, fileWithoutTexts, outcomeOf, type Planning } from './change.ts'
import type {
  CallContext,
  Called,
  ConflictAt,
  Failed,
  HistoryFailure,
  OperationFailure,
  TakeBackOutcome,
  TakeBackVerb,
  TakenBackFile
} from './operation.ts'

/** The fields that both take. */
export interface TakeBackRequest {
  expected_hash?: string
  dry_run?: boolean
  show_diff?: boolean
  max_diff_lines?: number
  context_lines?: number
  note?: string
}

/** What is to become of a file, and the edits that this is about. */
export interface Chosen {
  goal: TakeBackGoal
  edit_ids: readonly string[]
}

type ChooseFailure = HistoryFailure | OperationFailure

/** A file to change. `recorded`: the path is the real one of a record, so that no link may stand there now. */
export interface FileToTakeBack {
  path: string
  recorded: boolean
  /** Judged under the file's lock. */
  choose(history: FileHistory): Result<Chosen, ChooseFailure>
}

/** What is said of one file. */
type Report = Described & {
  toggles: readonly Selection[]
  toggled: string[]
  skipped: readonly string[]
  removes?: true
}

type Done = Edited<Report> | Created<Report>
type FileDone = { ok: true; value: Done } | Failed

type UndoRefused = Extract<HistoryFailure, { code: 'UNDO_CONFLICT' }>

/** The conflicts that an answer lists. */
const MAX_CONFLICTS = 100

/** The files that one request may change. */
export const MAX_FILES = 100

/** What is needed beside the request. */
export interface TakingBack extends Planning {
  workspace: Workspace
}

/**
 * Plans all files, and refuses if one of them can't be changed; then changes them. Where that fails on the way, the files
 * that were changed are changed back, and the failure says which could not be.
 */
export async function takeBackFiles(
  taking: TakingBack,
  verb: TakeBackVerb,
  request: TakeBackRequest,
  files: readonly FileToTakeBack[],
  context: CallContext
): Promise<Called> {
  const { dry_run = false } = request
  const done: Done[] = []
  const run = { taking, verb, request, context }
  // A single file is planned once, under its lock.
  const planned = dry_run || files.length > 1 ? await planAll(run, files) : ok({ done: [], files, left: [] })
  if (!planned.ok) return planned
  const { left } = planned.value
  const answer = (all: readonly Done[]): TakenBackOutcome => ({
    operation: verb,
    outcome: outcomeOfAll(request, all, left)
  })
  if (dry_run) return ok(answer(planned.value.done))
  for (const file of planned.value.files) {
    // The answer of all is kept with the last change: before it, the request isn't carried out.
    const isLast = file === planned.value.files.at(-1)
    let written: FileDone | undefined
    let changedBack: NonNullable<Failed['written']> = { restored: [], stays: [] }
    try {
      written = await changeFile(run, file, {
        dry_run: false,
        ...(isLast && {
          // It is kept with one file, whose policy says nothing of the others' texts.
          outcome: (last: Done, texts: boolean) =>
            texts && done.length === 0 ? answer([last]) : withoutTexts(answer([...done, last]))
        })
      })
    } finally {
      // Also where it throws.
      if (written?.ok !== true) changedBack = await changeBack(run, done)
    }
    if (!written.ok) return done.length === 0 ? written : { ...written, written: changedBack }
    done.push(written.value)
  }
  return ok(answer(done))
}

type TakenBackOutcome = { operation: TakeBackVerb; outcome: TakeBackOutcome }

const withoutTexts = ({ operation, outcome }: TakenBackOutcome): TakenBackOutcome => {
  const results = outcome.results.map((file): TakenBackFile => {
    const { edit_ids, created, removed, ...others } = file
    return {
      ...fileWithoutTexts(others),
      edit_ids,
      ...(created === true && { created }),
      ...(removed === true && { removed })
    }
  })
  return { operation, outcome: { ...outcome, results } }
}

interface Run {
  taking: TakingBack
  verb: TakeBackVerb
  request: TakeBackRequest
  context: CallContext
}

/** The files that there is something to do in, as they would be; `left`: edits of others, which were in conflict. */
interface PlannedFiles {
  done: Done[]
  files: readonly FileToTakeBack[]
  left: readonly string[]
}

/** Fails with the conflicts of all files together. */
async function planAll(
  run: Run,
  files: readonly FileToTakeBack[]
): Promise<{ ok: true; value: PlannedFiles } | Failed> {
  const done: Done[] = []
  const toChange: FileToTakeBack[] = []
  const nothing: Failed[] = []
  const refused: { failed: Failed; failure: UndoRefused }[] = []
  for (const file of files) {
    const planned = await changeFile(run, file, { dry_run: true })
    if (planned.ok) {
      done.push(planned.value)
      toChange.push(file)
    } else if (planned.failure.code === 'UNDO_CONFLICT') refused.push({ failed: planned, failure: planned.failure })
    else if (planned.failure.code === 'NOTHING_TO_UNDO') nothing.push(planned)
    else return planned
  }
  const [first] = refused
  if (first !== undefined) {
    const all = refused.map(({ failure }) => failure)
    const conflicts = all.flatMap(({ conflicts }) => conflicts)
    const more = all.reduce((sum, { more_conflicts = 0 }) => sum + more_conflicts, 0)
    const more_conflicts = more + Math.max(0, conflicts.length - MAX_CONFLICTS)
    const failure: UndoRefused = {
      code: 'UNDO_CONFLICT',
      verb: run.verb,
      edit_ids: all.flatMap(({ edit_ids }) => edit_ids),
      conflicts: conflicts.slice(0, MAX_CONFLICTS),
      ...(more_conflicts > 0 && { more_conflicts })
    }
    return { ...first.failed, failure }
  }
  const [none] = nothing
  if (done.length === 0 && none !== undefined) return none
  return ok({ done, files: toChange, left: nothing.flatMap(skippedOf) })
}

const skippedOf = ({ failure }: Failed): string[] =>
  failure.code === 'NOTHING_TO_UNDO' ? (failure.conflicts ?? []).map(({ edit_id }) => edit_id) : []

interface Mode {
  dry_run: boolean
  outcome?: (done: Done, texts: boolean) => TakenBackOutcome
}

async function changeFile(run: Run, file: FileToTakeBack, { dry_run, outcome }: Mode): Promise<FileDone> {
  const { taking, verb, request, context } = run
  const { key, caller } = context
  const { note, expected_hash } = request
  const options: ChangeOptions<Done> = {
    dry_run,
    origin: {
      operation: verb,
      ...caller,
      ...(note !== undefined && { reason: note }),
      ...(outcome !== undefined && key !== undefined && { key })
    },
    ...(outcome !== undefined && { outcome })
  }
  const target = { path: file.path, ...(expected_hash !== undefined && { expected_hash }) }
  const planner = plannerOf(run, file, dry_run)
  const edited = await taking.workspace.edit(target, options, planner)
  if (edited.ok || edited.failure.code !== 'FILE_NOT_FOUND' || !file.recorded) return edited
  if (verb === 'undo') return removedMeanwhile(taking.workspace, file, edited)
  // What is made again may be the file itself.
  const made = await taking.workspace.create({ ...target, overwrite: false, create_parents: true }, options, planner)
  return made.ok || made.failure.code !== 'ALREADY_EXISTS' ? made : taking.workspace.edit(target, options, planner)
}

type PlanFailure = ChooseFailure | ResultTooLarge | StaleFile

const plannerOf =
  ({ taking, verb, request }: Run, file: FileToTakeBack, dry_run: boolean): Planner<Report, PlanFailure> =>
  async (original, { stale, ...found }) => {
    if (stale !== undefined) return fail(stale)
    const { resolved_path, path, exists } = found
    if (file.recorded && resolved_path !== undefined) {
      return fail({ code: 'NOT_A_FILE', type: 'link_now', leads_to: resolved_path })
    }
    const history = await found.history()
    const chosen = file.choose(history)
    if (!chosen.ok) return chosen
    const { goal, edit_ids } = chosen.value
    const task = {
      changes: history.changes,
      goal,
      max_result_size: taking.limits.max_file_size,
      context_lines: request.context_lines ?? CONTEXT_LINES,
      dry_run,
      ...(request.show_diff === true && { max_diff_lines: request.max_diff_lines ?? DIFF_LINES })
    }
    const planned = await taking.planMaker.takeBack(original, task, { path, exists })
    if (!planned.ok) return fail(inFile(planned.failure, { verb, edit_ids, path, goal }))
    const { toggled, skipped, removes, description, ...plan } = planned.value
    return ok({
      ...plan,
      toggles: toggled,
      ...(removes === true && { removes, pieces: [], ...madeFolders(history) }),
      description: {
        ...description,
        toggles: toggled,
        toggled: idsOf(toggled),
        skipped: idsOf(skipped),
        ...(removes === true && { removes })
      }
    })
  }

export const idsOf = (set: readonly { edit_id: string }[]): string[] => [...new Set(set.map(({ edit_id }) => edit_id))]

/** The folders that were made for the file when it was made last. */
function madeFolders({ records }: FileHistory): { made_folders?: readonly Buffer[] } {
  const made_folders = records.findLast(({ hash_before }) => hash_before === null)?.made_folders
  return made_folders === undefined ? {} : { made_folders }
}

/** A failure of the plan as one of the operation. */
function inFile(
  failure: TakeBackTaskFailure,
  { verb, edit_ids, path, goal }: { verb: TakeBackVerb; edit_ids: readonly string[]; path: string; goal: TakeBackGoal }
): HistoryFailure | ResultTooLarge {
  switch (failure.code) {
    case 'RESULT_TOO_LARGE':
      return failure
    case 'HISTORY_GONE': {
      const { reason, edit_id } = failure
      const ids = isRecordedId(edit_id) ? [edit_id] : edit_ids
      return { code: 'HISTORY_GONE', reason: reason === 'not_kept' ? 'no_texts' : reason, edit_ids: ids }
    }
    case 'UNDO_CONFLICT':
      return { ...failure, verb, edit_ids, conflicts: failure.conflicts.map(conflict => conflictAt(path, conflict)) }
    case 'NOTHING_TO_UNDO': {
      const { conflicts = [], ...nothing } = failure
      if (conflicts.length === 0) {
        return { ...nothing, verb, edit_ids, reason: 'state_after' in goal ? 'same_state' : 'done_already' }
      }
      const at = conflicts.map(conflict => conflictAt(path, conflict))
      return { ...nothing, verb, edit_ids, reason: 'all_in_conflict', conflicts: at }
    }
  }
}

function conflictAt(path: string, { by, ...conflict }: ConflictWithFix): ConflictAt {
  return { path, ...conflict, ...(isRecordedId(by) && { by }) }
}

/** The file of a record is gone: what removed it stands in the way. */
async function removedMeanwhile(workspace: Workspace, file: FileToTakeBack, failed: Failed): Promise<Failed> {
  const last = await workspace.history({ path: file.path, limit: 1 })
  if (!last.ok) return { ...failed, failure: last.failure }
  // Its texts don't matter any more.
  const chosen = file.choose({ changes: [], records: [] })
  const edit_ids = chosen.ok ? chosen.value.edit_ids : []
  const newest = last.value.edits[0]?.record
  const by = newest?.hash_after === null ? newest.edit_id : undefined
  const conflicts = edit_ids.map((edit_id): ConflictAt => ({
    path: file.path,
    edit_id,
    change_index: 0,
    kind: 'removed',
    start_line: 1,
    end_line: 0,
    current_text: '',
    would_restore: '',
    ...(by !== undefined && { by })
  }))
  return { ...failed, failure: { code: 'UNDO_CONFLICT', verb: 'undo', edit_ids, conflicts } }
}

/** Brings files back to what they were before this request; says which could not be. */
async function changeBack(run: Run, done: readonly Done[]): Promise<NonNullable<Failed['written']>> {
  const verb = run.verb === 'undo' ? 'redo' : 'undo'
  const to = verb === 'undo' ? 'undone' : 'standing'
  const restored: string[] = []
  const stays: { path: string; edit_id?: string }[] = []
  const { key: _, ...context } = run.context
  for (const { path, edit_id, description } of done.toReversed()) {
    const set = description.toggles
    const file: FileToTakeBack = {
      path,
      recorded: true,
      choose: () => ok({ goal: { set, to, on_conflict: 'refuse' }, edit_ids: description.toggled })
    }
    const back = await changeFile(
      { ...run, verb, context, request: { note: 'another file of the same request could not be changed' } },
      file,
      { dry_run: false }
    )
    if (back.ok) restored.push(path)
    else stays.push({ path, ...(edit_id !== undefined && { edit_id }) })
  }
  return { restored, stays }
}

function outcomeOfAll(request: TakeBackRequest, all: readonly Done[], left: readonly string[]): TakeBackOutcome {
  const results = all.map(done => outcomeOfFile(request, done))
  const { file_hash } = results.length === 1 ? results[0]! : {}
  const ids = (of: (done: Done) => readonly string[]) => [...new Set(all.flatMap(of))]
  return {
    dry_run: request.dry_run ?? false,
    results,
    toggled: ids(({ description }) => description.toggled),
    skipped: [...new Set([...ids(({ description }) => description.skipped), ...left])],
    ...(file_hash !== undefined && { file_hash })
  }
}

function outcomeOfFile(request: TakeBackRequest, done: Done): TakenBackFile {
  const { removes, toggled } = done.description
  const { created: _, ...outcome } = outcomeOf({ ...request, path: done.path }, done, {})
  if (removes !== true) {
    const isNew = 'created' in done && done.created
    return { ...outcome, ...(isNew && { created: true as const }), edit_ids: toggled }
  }
  const { new_hash: _hash, file_hash, ...gone } = outcome
  // Before it is removed, it is as it was.
  const now = gone.dry_run && file_hash !== undefined ? { file_hash } : {}
  return { ...gone, ...now, removed: true, edit_ids: toggled }
}
