// The steps that remove a file, or move it: its removal, and the creation of one with the same bytes and attributes at
// the new path. Does not know requests or folders.
import { posix } from 'node:path'
import { binaryEncodingOf } from '../engine/text/encoding.ts'
import { fail, ok } from '../result.ts'
import type { CreateTarget, FileTarget, Planned, Planner } from '../workspace/api.ts'
import { decoding } from './decoding.ts'
import { outcomeOf, plannerFor, type ChangeRequest, type Planning, type Step, type StepDone } from './file-operation.ts'
import type { CallFailure, ChangeOutcome } from './operation.ts'
import type { Reported } from './syntax-guard.ts'

type FilePlanner = Planner<Reported, CallFailure>

/** What is reported of a file without lines. */
const NO_LINES: Reported = {
  plan: { edits_applied: [], left_alone: [], newTextWarnings: [] },
  changes: { changes: [], total_lines_before: 0, total_lines_after: 0 },
  changed_lines: [],
  diff: {}
}

/** Makes a planner of texts work for binary files too, and keep each of their bytes. */
const orBinary =
  (planner: FilePlanner): FilePlanner =>
  (original, file) => {
    // Whether it is still to go can't be told from its text.
    if (file.stale !== undefined) return fail(file.stale)
    return binaryEncodingOf(original) === null
      ? planner(original, file)
      : ok({ pieces: [original], description: NO_LINES })
  }

/** Makes a planner of texts refuse binary files, which the step of a move would take. */
export const ofText =
  (planner: FilePlanner): FilePlanner =>
  (original, file) => {
    const encoding = binaryEncodingOf(original)
    return encoding === null
      ? planner(original, file)
      : fail({ code: 'BINARY_FILE', encoding, file_size: original.length })
  }

/** Plans the removal of a file, with what of its text goes. */
export const removalPlanner = (planning: Planning, request: ChangeRequest): FilePlanner =>
  // A file that is removed needs no syntax check.
  orBinary(decoding(plannerFor(planning, { ...request, syntax: 'ignore' }, { operation: 'delete' }), planning.limits))

/** Plans to leave a file as it is. */
export const unchangedPlanner = (planning: Planning, request: ChangeRequest): FilePlanner =>
  orBinary(decoding(plannerFor(planning, request, { operation: 'apply_hunks', hunks: [] }), planning.limits))

/** The step that removes a file, and then those of `folders` that are empty, given each before those inside it. */
export const removalStep = (target: FileTarget, plan: FilePlanner, folders: readonly Buffer[] = []): Step => ({
  operation: 'remove',
  target,
  plan: folders.length === 0 ? plan : withFolders(plan, folders)
})

/** The folders between `root` and a path, the outermost first; none without a root. Both are relative to the workspace. */
export function foldersAbove(path: string, root: string | undefined): Buffer[] {
  const folder = posix.dirname(posix.normalize(path))
  return root === undefined || !folder.startsWith(`${root}/`)
    ? []
    : [...foldersAbove(folder, root), Buffer.from(folder)]
}

/** Makes the plan of a removal remove these folders too. */
export const withFolders =
  (plan: FilePlanner, folders: readonly Buffer[]): FilePlanner =>
  async (original, file) => {
    const planned = await plan(original, file)
    if (!planned.ok) return planned
    const { made_folders = [] } = planned.value
    return ok({ ...planned.value, made_folders: [...made_folders, ...folders] })
  }

/**
 * The two steps of a move. The file at the new path has what `plan` makes of the old one, and its attributes. `folders`
 * as in `removalStep`.
 */
export function moveSteps(from: FileTarget, to: CreateTarget, plan: FilePlanner, folders?: readonly Buffer[]): Step[] {
  let moved: Planned<Reported> | undefined
  const removal: FilePlanner = async (original, file) => {
    const planned = await plan(original, file)
    if (!planned.ok) return planned
    const { pieces, description, encodings: { after } = {} } = planned.value
    moved = { pieces, description, encodings: after && { after }, attributes: file.attributes }
    return planned
  }
  return [
    removalStep(from, removal, folders),
    // Planned after the removal, which sets `moved`.
    { operation: 'create', target: to, plan: () => ok(moved!), moves: true }
  ]
}

/** What the answer says about a moved file, from its two steps. */
export function outcomeOfMoved(
  request: Pick<ChangeRequest, 'dry_run'>,
  [old, made]: readonly StepDone[]
): ChangeOutcome & { moved_from: string } {
  const { hash_before, path: moved_from } = old!
  return { ...outcomeOf(request, { ...made!, hash_before }), moved_from }
}
