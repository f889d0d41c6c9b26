// What /undo and /redo have in common: all files are planned together, then changed together. Does not know how a
// request says which edits it means, or how one file is planned.
import { NamedChangesSchema } from '../../schemas/undo.ts'
import { editIdsOf } from '../engine/undo/change.ts'
import { fail, ok } from '../result.ts'
import type { BatchDone, BatchStep, ChangeOptions } from '../workspace/api.ts'
import { isOfAll, keyedByAll } from './file-operation.ts'
import type { CallResult, Failed, HistoryFailure } from './operation.ts'
import {
  changeFile,
  undoOptions,
  plannerOf,
  type FileUndone,
  type FileToUndo,
  type PlanFailure,
  type UndoReport,
  type UndoRun,
  type UndoCallOutcome,
  type UndoPlanning
} from './undo-file.ts'
import { outcomeOfAll, outcomeWithoutTexts } from './undo-outcome.ts'
import { isChangedMeanwhile } from '../workspace/failure.ts'

type UndoRefused = Extract<HistoryFailure, { code: 'UNDO_CONFLICT' }>

/** How many conflicts an answer lists. */
const MAX_CONFLICTS = 100
/** How often to plan files that others change in between. Chosen, not measured. */
const ATTEMPTS = 3
/** How often to read one file without its lock. If another agent edits it without a pause, most readings fail. */
const READINGS = 30
/** How many files to plan at once: each mostly waits for the history. Chosen, not measured. */
const AT_ONCE = 8
/** Failures that can occur under the locks only if something has changed since the files were planned. */
const OVERTAKEN: readonly string[] = ['UNDO_CONFLICT', 'NOTHING_TO_UNDO', 'FILE_NOT_FOUND', 'ALREADY_EXISTS']

/** The properties that both operations share. */
export const undoFacts = ({ workspace }: UndoPlanning) =>
  ({
    effect: 'changes',
    expects_hash: true,
    expects_none: false,
    items: { changes: NamedChangesSchema },
    // agent and session select edits; the caller's own come in headers.
    call_fields: ['idempotency_key'],
    keyed: keyedByAll(workspace, kept => (kept as UndoCallOutcome).outcome.results)
  }) as const

/** Changes all files or none. With several files, all conflicts are found before any lock is taken. */
export async function undoFiles(run: UndoRun, files: readonly FileToUndo[]): Promise<CallResult> {
  const { dry_run = false } = run.request
  const [first, ...others] = files
  // A single file is planned once, under its lock.
  if (first !== undefined && others.length === 0 && !dry_run) return undoOne(run, first, [])
  for (let attempt = 1; ; attempt++) {
    const planned = await planAll(run, files)
    if (!planned.ok) return planned
    if (dry_run) return ok(answerOf(run, planned.value.done, planned.value.left))
    const done = await undoPlanned(run, planned.value)
    if (done.ok || attempt === ATTEMPTS || !OVERTAKEN.includes(done.failure.code)) return done
  }
}

/** Plans a file without its lock; reads it again if it changed meanwhile. */
async function planFile(run: UndoRun, file: FileToUndo): ReturnType<typeof changeFile> {
  for (let reading = 1; ; reading++) {
    const planned = await changeFile(run, file, { dry_run: true })
    if (planned.ok || reading === READINGS || !isChangedMeanwhile(planned.failure)) return planned
  }
}

/** What was done in the files, or would be. `left`: edits in other files, left alone because of conflicts. */
const answerOf = (
  { verb, request }: UndoRun,
  done: readonly FileUndone[],
  left: readonly string[],
  batch_id?: string
): UndoCallOutcome => ({
  operation: verb,
  outcome: { ...outcomeOfAll(request, done, left), batch_id }
})

async function undoOne(run: UndoRun, file: FileToUndo, left: readonly string[]): Promise<CallResult> {
  const answer = (done: FileUndone): UndoCallOutcome => answerOf(run, [done], left)
  const outcome = (done: FileUndone, texts: boolean): UndoCallOutcome =>
    // It may name edits of other files, and this file's policy doesn't decide about their texts.
    texts && left.length === 0 ? answer(done) : outcomeWithoutTexts(answer(done))
  const done = await changeFile(run, file, { dry_run: false, outcome })
  return done.ok ? ok(answer(done.value)) : done
}

/** Plans the files once more, under their locks, and changes them. */
async function undoPlanned(run: UndoRun, { done, files, left }: PlannedFiles): Promise<CallResult> {
  const [first, ...others] = files
  if (first !== undefined && others.length === 0) return undoOne(run, first, left)
  const answer = ({ batch_id, steps }: BatchDone<UndoReport>): UndoCallOutcome => answerOf(run, steps, left, batch_id)
  const options: ChangeOptions<BatchDone<UndoReport>> = {
    dry_run: false,
    ...undoOptions(run),
    // It is kept with one file, and that file's policy doesn't decide about the texts of the others.
    outcome: all => outcomeWithoutTexts(answer(all))
  }
  const steps = files.map((file, i) => stepOf(run, file, done[i]!))
  const changed = await run.planning.workspace.batch<UndoReport, PlanFailure>(steps, options)
  if (changed.ok) return ok(answer(changed.value))
  const { at: _at, others: _others, untried: _untried, ...failed } = changed
  if (isOfAll(failed.failure)) return { ok: false, failure: failed.failure }
  return failed.failure.code === 'UNDO_CONFLICT' ? { ...failed, failure: ofOneFile(failed.failure) } : failed
}

/** The failure of one of several files: `together` is known only for that file, so it is dropped. */
const ofOneFile = ({ together: _, ...refused }: UndoRefused): UndoRefused => refused

function stepOf(run: UndoRun, file: FileToUndo, planned: FileUndone): BatchStep<UndoReport, PlanFailure> {
  const { path, expected_hash } = file
  const plan = plannerOf(run, file, false)
  // The file is created again, or stays removed.
  const isNotThere = planned.created !== undefined
  return isNotThere
    ? { operation: 'create', target: { path, overwrite: false, create_parents: true, name: 'known' }, plan }
    : { operation: 'edit', target: { path, expected_hash }, plan, apart: true }
}

/** The files with something to do, and the planned results; `left`: edits in other files, left because of conflicts. */
interface PlannedFiles {
  /** One for each of `files`. */
  done: FileUndone[]
  files: readonly FileToUndo[]
  left: readonly string[]
}

/**
 * Fails with the conflicts of all files together. If one half of a move is in conflict, the whole move is left alone.
 */
async function planAll(
  run: UndoRun,
  files: readonly FileToUndo[]
): Promise<{ ok: true; value: PlannedFiles } | Failed> {
  const done: FileUndone[] = []
  const toChange: FileToUndo[] = []
  const nothing: Failed[] = []
  const refused: { failed: Failed; failure: UndoRefused }[] = []
  const tried: Awaited<ReturnType<typeof planFile>>[] = []
  for (let i = 0; i < files.length; i += AT_ONCE) {
    tried.push(...(await Promise.all(files.slice(i, i + AT_ONCE).map(file => planFile(run, file)))))
  }
  for (const [i, planned] of tried.entries()) {
    if (planned.ok) {
      done.push(planned.value)
      toChange.push(files[i]!)
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
    const free = done.flatMap(({ description }) => description.toggles)
    const together = all.every(({ together }) => together !== undefined)
      ? [...free, ...all.flatMap(({ together = [] }) => together)]
      : undefined
    const failure: UndoRefused = {
      code: 'UNDO_CONFLICT',
      verb: run.verb,
      edit_ids: [...editIdsOf(free), ...all.flatMap(({ edit_ids }) => edit_ids)],
      conflicts: conflicts.slice(0, MAX_CONFLICTS),
      ...(more_conflicts > 0 && { more_conflicts }),
      together
    }
    return { ...first.failed, failure }
  }
  const [none] = nothing
  const apart = movesInConflict(files, [
    ...done.flatMap(({ description }) => description.skipped),
    ...nothing.flatMap(skippedOf)
  ])
  if (apart.size > 0) {
    const rest = files.flatMap(file => file.without?.(apart) ?? [])
    if (rest.length === 0) {
      return none ?? fail({ code: 'NOTHING_TO_UNDO', verb: run.verb, edit_ids: [...apart], reason: 'all_in_conflict' })
    }
    const planned = await planAll(run, rest)
    return planned.ok ? ok({ ...planned.value, left: [...planned.value.left, ...apart] }) : planned
  }
  if (done.length === 0 && none !== undefined) return none
  return ok({ done, files: toChange, left: nothing.flatMap(skippedOf) })
}

/** Both halves of each move that has a half among the edits left because of conflicts. */
const movesInConflict = (files: readonly FileToUndo[], left: readonly string[]): Set<string> =>
  new Set(files.flatMap(({ halves = [] }) => [...halves].filter(([id]) => left.includes(id)).flat()))

const skippedOf = ({ failure }: Failed): string[] =>
  failure.code === 'NOTHING_TO_UNDO' ? (failure.conflicts ?? []).map(({ edit_id }) => edit_id) : []
