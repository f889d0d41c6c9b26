// What /undo and /redo have in common: the files are planned all together, then changed one after the other. Does not
// know how a request says which edits it means, or how one file is changed.
import { NamedChangesSchema } from '../../schemas/undo.ts'
import { ok } from '../result.ts'
import { keyedByAll } from './change.ts'
import type { CallContext, Called, Failed, HistoryFailure, TakeBackVerb } from './operation.ts'
import {
  changeFile,
  type FileDone,
  type FileTakenBack,
  type FileToTakeBack,
  type TakeBackRequest,
  type TakeBackRun,
  type TakenBackOutcome,
  type TakingBack
} from './take-back-file.ts'
import { outcomeOfAll, outcomeWithoutTexts } from './take-back-outcome.ts'

type UndoRefused = Extract<HistoryFailure, { code: 'UNDO_CONFLICT' }>

/** The conflicts that an answer lists. */
const MAX_CONFLICTS = 100

/** What both operations say of themselves. */
export const takeBackFacts = ({ workspace }: TakingBack) =>
  ({
    effect: 'changes',
    expects_hash: true,
    expects_none: false,
    items: { changes: NamedChangesSchema },
    // agent and session are of whose edits are meant; the caller's own come in headers.
    call_fields: ['idempotency_key'],
    keyed: keyedByAll(workspace, kept => (kept as TakenBackOutcome).outcome.results)
  }) as const

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
  const done: FileTakenBack[] = []
  const run = { taking, verb, request, context }
  // A single file is planned once, under its lock.
  const planned = dry_run || files.length > 1 ? await planAll(run, files) : ok({ done: [], files, left: [] })
  if (!planned.ok) return planned
  const { left } = planned.value
  const answer = (all: readonly FileTakenBack[]): TakenBackOutcome => ({
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
          outcome: (last: FileTakenBack, texts: boolean) =>
            texts && done.length === 0 ? answer([last]) : outcomeWithoutTexts(answer([...done, last]))
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

/** The files that there is something to do in, as they would be; `left`: edits of others, which were in conflict. */
interface PlannedFiles {
  done: FileTakenBack[]
  files: readonly FileToTakeBack[]
  left: readonly string[]
}

/** Fails with the conflicts of all files together. */
async function planAll(
  run: TakeBackRun,
  files: readonly FileToTakeBack[]
): Promise<{ ok: true; value: PlannedFiles } | Failed> {
  const done: FileTakenBack[] = []
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

/** Brings files back to what they were before this request; says which could not be. */
async function changeBack(run: TakeBackRun, done: readonly FileTakenBack[]): Promise<NonNullable<Failed['written']>> {
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
