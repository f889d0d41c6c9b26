// Undoes or redoes edits in one file, as an ordinary edit. Does not know other files, or how a request says which edits
// it means.
import type { ResultTooLarge, UnencodableText } from '../engine/failure.ts'
import type { ConflictWithFix, UndoGoal, UndoTaskFailure } from '../engine/undo-redo.ts'
import { editIdsOf, type Selection } from '../engine/undo/change.ts'
import type { Described } from '../engine/task.ts'
import { fail, ok, type Result } from '../result.ts'
import type {
  ChangeOptions,
  EditRecord,
  FileAttributes,
  FileChanged,
  FileHistory,
  Origin,
  Planner,
  Workspace
} from '../workspace/api.ts'
import type { StaleFile } from '../workspace/failure.ts'
import { mayDelete, othersAmong, refusalToDelete } from './access.ts'
import { CONTEXT_LINES, DIFF_LINES, type Planning } from './file-operation.ts'
import type {
  CallContext,
  ConflictAt,
  Failed,
  HistoryFailure,
  OperationFailure,
  UndoOutcome,
  UndoVerb
} from './operation.ts'
import { decoding, namingEncoding } from './decoding.ts'
import { findByIds, isOrdinary, isApplied } from './past-edits.ts'
import { withHowRemoved, withRemovals } from './removals.ts'
import { textsGone } from './texts-gone.ts'

/** The fields that both undo and redo take. */
export interface UndoFields {
  expected_hash?: string
  dry_run?: boolean
  show_diff?: boolean
  max_diff_lines?: number
  context_lines?: number
  note?: string
}

/** What is to be done in a file, and the edits that are concerned. */
export interface Chosen {
  goal: UndoGoal
  edit_ids: readonly string[]
}

type ChooseFailure = HistoryFailure | OperationFailure

/** A file to change. `recorded`: the path is the real path in a record, so no link may be there now. */
export interface FileToUndo {
  path: string
  recorded: boolean
  expected_hash?: string
  /** The edits that are half of a move, each with its other half. */
  halves?: ReadonlyMap<string, string>
  /** This file without these edits; null if nothing is left to do. */
  without?(edit_ids: ReadonlySet<string>): FileToUndo | null
  /** Chooses the edits under the file's lock. */
  choose(history: FileHistory): Result<Chosen, ChooseFailure>
}

/** What is reported about one file. */
export type UndoReport = Described & {
  toggles: readonly Selection[]
  toggled: string[]
  skipped: readonly string[]
  removes?: true
}

/** What was done, or would be, in one file. */
export type FileUndone = FileChanged<UndoReport>
type FileDone = { ok: true; value: FileUndone } | Failed

/** What is needed besides the request. */
export interface UndoPlanning extends Planning {
  workspace: Workspace
}

/** A request, and what is needed to run it. */
export interface UndoRun {
  planning: UndoPlanning
  verb: UndoVerb
  request: UndoFields
  context: CallContext
}

/** The answer once all files are done. */
export type UndoCallOutcome = { operation: UndoVerb; outcome: UndoOutcome }

/** `outcome`: the part of the answer that is kept under a key; with text of the file only if `texts`. */
interface Mode {
  dry_run: boolean
  outcome?: (done: FileUndone, texts: boolean) => UndoCallOutcome
}

/** Who makes the change, and why; which files it may delete, and who is informed. */
export function undoOptions({
  verb,
  request: { note },
  context: { caller, key, subject, audit, client }
}: UndoRun): Pick<ChangeOptions<never>, 'origin' | 'may_delete' | 'audit' | 'client'> {
  const origin: Origin = {
    operation: verb,
    ...caller,
    ...(note !== undefined && { reason: note }),
    key
  }
  return { origin, ...mayDelete(subject), audit, client }
}

/** Plans a file under its lock and, unless it is a dry run, changes it. */
export async function changeFile(run: UndoRun, file: FileToUndo, mode: Mode): Promise<FileDone> {
  const done = await tryFile(run, file, mode)
  return done.ok ? done : withRemovals(run.planning.workspace, done)
}

async function tryFile(run: UndoRun, file: FileToUndo, { dry_run, outcome }: Mode): Promise<FileDone> {
  const { planning, verb } = run
  const { expected_hash, recorded } = file
  const options: ChangeOptions<FileUndone> = {
    dry_run,
    ...undoOptions(run),
    outcome
  }
  const target = { path: file.path, expected_hash, recorded }
  const planner = plannerOf(run, file, dry_run)
  const edited = await planning.workspace.edit(target, options, planner)
  if (edited.ok || edited.failure.code !== 'FILE_NOT_FOUND') return edited
  const missing = verb === 'undo' ? await missingFile(planning.workspace, file, edited) : null
  if (missing !== null) return missing
  // The redone edit may be the creation of the file.
  const made = await planning.workspace.create(
    { ...target, overwrite: false, create_parents: true, name: 'known' },
    options,
    planner
  )
  return made.ok || made.failure.code !== 'ALREADY_EXISTS' ? made : planning.workspace.edit(target, options, planner)
}

export type PlanFailure = ChooseFailure | ResultTooLarge | StaleFile | UnencodableText

/** Plans what is done in a file, from its history. */
export const plannerOf = (
  { planning, verb, request, context: { subject } }: UndoRun,
  file: FileToUndo,
  dry_run: boolean
): Planner<UndoReport, PlanFailure> =>
  namingEncoding(
    decoding<UndoReport, Exclude<PlanFailure, UnencodableText>>(async (original, { stale, ...found }) => {
      if (stale !== undefined) return fail(stale)
      const { resolved_path, path, exists } = found
      if (file.recorded && resolved_path !== undefined) {
        return fail({ code: 'NOT_A_FILE', type: 'link_now', leads_to: resolved_path })
      }
      const history = await found.history()
      const chosen = file.choose(history)
      if (!chosen.ok) return chosen
      const { goal, edit_ids } = chosen.value
      const others = 'set' in goal ? othersAmong(goal.set, history.records, subject) : null
      if (others !== null) return others
      const task = {
        changes: history.changes,
        goal,
        max_result_size: found.max_result_size ?? planning.limits.max_file_size,
        context_lines: request.context_lines ?? CONTEXT_LINES,
        dry_run,
        ...(request.show_diff === true && { max_diff_lines: request.max_diff_lines ?? DIFF_LINES })
      }
      const planned = await planning.planMaker.undo(original, task, { path, exists })
      if (!planned.ok) {
        const failure = permitted(planned.failure, history, subject)
        return fail(inFile(failure, { verb, edit_ids, path, goal }))
      }
      const { toggled, skipped, removes, description, ...plan } = planned.value
      const isSplit = !dry_run && editIdsOf(skipped).some(id => file.halves?.has(id))
      if (isSplit) return fail({ code: 'NOTHING_TO_UNDO', verb, edit_ids, reason: 'all_in_conflict' })
      // Only now is it known which edits lie between two states.
      const refused = othersAmong(toggled, history.records, subject)
      if (refused !== null) return refused
      const undeletable = verb === 'redo' && removes === true && found.exists ? refusalToDelete(subject) : null
      if (undeletable !== null) return fail(undeletable)
      return ok({
        ...plan,
        toggles: toggled,
        ...(removes === true && { removes, pieces: [], ...(found.exists && madeFolders(history)) }),
        ...(!found.exists && removes !== true && removedAs(history, editIdsOf(toggled))),
        description: {
          ...description,
          toggles: toggled,
          toggled: editIdsOf(toggled),
          skipped: editIdsOf(skipped),
          removes
        }
      })
    }, restoring(planning.limits))
  )

/** Limits for restored content, which may begin with a byte order mark. */
const restoring = (limits: { max_file_size: number }) => ({ ...limits, restores: true })

/** The failure, without `together` if the caller may not undo those edits. */
function permitted(
  failure: UndoTaskFailure,
  { records }: FileHistory,
  subject: CallContext['subject']
): UndoTaskFailure {
  if (failure.code !== 'UNDO_CONFLICT' || failure.together === undefined) return failure
  const { together, ...others } = failure
  return othersAmong(together, records, subject) === null ? failure : others
}

/** The folders that were made when the file was last created. */
const madeFolders = ({ records }: FileHistory): { made_folders?: readonly Buffer[] } => ({
  made_folders: records.findLast(({ hash_before, hash_after }) => hash_before === null && hash_after !== null)
    ?.made_folders
})

/** The file's attributes when an undone removal removed it; if no removal is undone, when it was last removed. */
function removedAs({ records }: FileHistory, toggled: readonly string[]): { attributes?: FileAttributes } {
  const removals = records.filter(({ hash_before, hash_after }) => hash_before !== null && hash_after === null)
  const { attributes } = removals.findLast(({ edit_id }) => toggled.includes(edit_id)) ?? removals.at(-1) ?? {}
  return { attributes }
}

/** Turns a failure of the plan into one of the operation. */
function inFile(
  failure: UndoTaskFailure,
  { verb, edit_ids, path, goal }: { verb: UndoVerb; edit_ids: readonly string[]; path: string; goal: UndoGoal }
): HistoryFailure | ResultTooLarge {
  switch (failure.code) {
    case 'RESULT_TOO_LARGE':
      return failure
    case 'HISTORY_GONE': {
      const { edit_ids: gone, unrecorded } = failure
      const isState = 'state_after' in goal
      const areRequested = !isState && unrecorded === undefined && gone.every(id => edit_ids.includes(id))
      return textsGone(failure, areRequested ? undefined : { to: isState ? 'state_after' : verb, edit_ids })
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
  return { path, ...conflict, ...(by !== '' && { by }) }
}

/**
 * Why nothing can be undone in a missing file. Null: an applied removal may be among the edits, so recreate the file.
 */
async function missingFile(workspace: Workspace, file: FileToUndo, failed: Failed): Promise<Failed | null> {
  return file.recorded ? removedMeanwhile(workspace, file, failed) : removedAt(workspace, file, failed)
}

/** Reports an undo of the creation that removed the file. Null if an ordinary edit removed it: that edit is undone. */
async function removedAt(workspace: Workspace, { path }: FileToUndo, failed: Failed): Promise<Failed | null> {
  const newest = await newestOf(workspace, path)
  if (newest?.hash_after === null && (isOrdinary(newest) || wasNotThere(newest))) return null
  if (newest?.operation !== 'undo' || newest.hash_after !== null) return withHowRemoved(workspace, failed, 'no_undo')
  const edit_ids = [newest.edit_id]
  return { ...failed, failure: { code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids, reason: 'file_removed' } }
}

/** An undo or redo with no file before and after it: an earlier edit removed the file. */
const wasNotThere = ({ hash_before, hash_after }: EditRecord): boolean => hash_before === null && hash_after === null

async function newestOf(workspace: Workspace, path: string): Promise<EditRecord | undefined> {
  const last = await workspace.history({ path, limit: 1 })
  return last.ok ? last.value.edits[0]?.record : undefined
}

/**
 * The file of a record is gone: its removal conflicts with the edits, except with those that are already undone. Null
 * if the removal is to be undone too.
 */
async function removedMeanwhile(workspace: Workspace, file: FileToUndo, failed: Failed): Promise<Failed | null> {
  const { path } = file
  // Texts don't matter here.
  const chosen = file.choose({ changes: [], records: [] })
  const meant = chosen.ok ? chosen.value.edit_ids : []
  const found = await findByIds(workspace, meant)
  if (!found.ok) return { ...failed, failure: found.failure }
  if (found.value.edits.some(edit => edit.record.hash_after === null && isApplied(edit))) return null
  const undone = new Set(found.value.edits.flatMap(({ record, state }) => (state === 'undone' ? [record.edit_id] : [])))
  const edit_ids = meant.filter(id => !undone.has(id))
  if (edit_ids.length === 0) {
    return { ...failed, failure: { code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: meant, reason: 'done_already' } }
  }
  const newest = await newestOf(workspace, path)
  if (newest !== undefined && wasNotThere(newest)) return null
  const by = newest?.hash_after === null ? newest.edit_id : undefined
  const conflicts = edit_ids.map((edit_id): ConflictAt => ({
    path,
    edit_id,
    change_index: 0,
    kind: 'removed',
    start_line: 1,
    end_line: 0,
    current_text: '',
    would_restore: '',
    by
  }))
  return { ...failed, failure: { code: 'UNDO_CONFLICT', verb: 'undo', edit_ids, conflicts } }
}
