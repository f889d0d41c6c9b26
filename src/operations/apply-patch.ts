// /apply-patch: creates, updates by hunks, moves and deletes files, all or nothing. Turns each file into steps of a
// batch, and the results into an answer. Does not know patch formats; the workspace makes the steps together.
import {
  ApplyPatchRequestSchema,
  ApplyPatchResultSchema,
  PatchCreateSchema,
  PatchDeleteSchema,
  PatchFileSchema,
  PatchUpdateSchema,
  type ApplyPatchRequest,
  type PatchFile
} from '../../schemas/apply-patch.ts'
import { MAX_BATCH_FILES } from '../../schemas/batch.ts'
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import type { TaskChange } from '../engine/task.ts'
import { patchBreak, type PatchFault } from '../engine/patch/fault.ts'
import { parseDiff, parseNewFile } from '../engine/patch/v4a.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Workspace } from '../workspace/api.ts'
import { refusalToDelete } from './access.ts'
import {
  fileWithoutTexts,
  keyedByAll,
  outcomeOf,
  outcomeOfRemoved,
  type ChangeRequest,
  type Planning,
  plannerFor,
  withPast
} from './file-operation.ts'
import { decoding } from './decoding.ts'
import { CHANGE_CODES } from './codes.ts'
import type {
  Callable,
  CallContext,
  CallResult,
  CallFailure,
  FieldFault,
  Outcome,
  PartWithPath,
  PatchedFile,
  Readable
} from './operation.ts'
import { moveSteps, ofText, outcomeOfMoved, removalPlanner, removalStep, unchangedPlanner } from './removal-steps.ts'
import { failedPart, makeTogether, type PreparedPart } from './together.ts'

type Patched = Extract<Outcome, { operation: 'apply_patch' }>
type Faulty = { ok: false; failure: { code: 'INVALID_REQUEST'; faults: FieldFault[] } }

/** What is to be done to one file. */
type PreparedFile = PreparedPart<PatchedFile>

export function makeApplyPatch(workspace: Workspace, planning: Planning): Callable<ApplyPatchRequest> {
  const kind = (request: Readable['request']): Readable => ({
    id: 'apply_patch',
    effect: 'changes',
    request,
    items: {},
    expects_hash: false,
    expects_none: false
  })
  return {
    ...kind(ApplyPatchRequestSchema),
    outcome: ApplyPatchResultSchema,
    codes: [
      ...CHANGE_CODES,
      'ALREADY_EXISTS',
      'NO_MATCH',
      'WRONG_COUNT',
      'TOO_MANY_OPERATIONS',
      'DELETE_NOT_ALLOWED',
      'BATCH_NOT_SUPPORTED'
    ],
    items: { files: PatchFileSchema },
    stands_for: {
      create: kind(PatchCreateSchema),
      update: kind(PatchUpdateSchema),
      delete: kind(PatchDeleteSchema)
    },
    many_in: 'files',
    call_fields: CALL_FIELDS,
    keyed: keyedByAll(workspace, kept => (kept as Patched).outcome.results.flatMap(filesOf)),
    call: (request, context = {}) => applyPatch(workspace, planning, request, context)
  }
}

/** The files that an answer names. */
const filesOf = ({ outcome, moved_from }: PatchedFile): { path: string; resolved_path?: string }[] =>
  moved_from === undefined ? [outcome] : [outcome, { path: moved_from }]

async function applyPatch(
  workspace: Workspace,
  planning: Planning,
  { files, ...common }: ApplyPatchRequest,
  context: CallContext
): Promise<CallResult> {
  const { dry_run = false } = common
  const paths = new Set(files.flatMap(file => ('move_to' in file ? [file.path, file.move_to] : [file.path]))).size
  if (paths > MAX_BATCH_FILES) {
    return fail({ code: 'TOO_MANY_OPERATIONS', what: 'paths', limit: MAX_BATCH_FILES, actual: paths })
  }
  const partAt = (index: number): PartWithPath => {
    const { operation, path } = files[index]!
    return { operation_index: index, list: 'files', operation, path }
  }
  // With one file, its failure is that of the whole patch.
  const inPart = (...[index, after, behind]: [index: number, after?: readonly number[], behind?: number]) =>
    files.length === 1 ? {} : { part: failedPart(partAt, index, after, behind) }
  const undeletable = refusalToDelete(context.subject)
  const removal = undeletable === null ? -1 : files.findIndex(file => file.operation === 'delete' || 'move_to' in file)
  if (undeletable !== null && removal !== -1) {
    return { ...fail(undeletable), path: files[removal]!.path, ...inPart(removal) }
  }
  const prepared: PreparedFile[] = []
  for (const [i, file] of files.entries()) {
    const one = prepare(planning, file, { ...common, path: file.path })
    if (!one.ok) return { ...inFile(one, files.length === 1), path: file.path, ...inPart(i) }
    prepared.push(one.value)
  }
  return makeTogether(workspace, context, {
    operation: 'apply_patch',
    dry_run,
    parts: prepared,
    partAt,
    withoutTexts,
    withPart: async (failed, { at, earlier, behind }) => {
      const { failure } = failed
      const known =
        failure.code === 'FILE_NOT_FOUND' && failure.onto_itself === true
          ? { ...inFile(ONTO_ITSELF, files.length === 1), path: files[at]!.path }
          : await withPast(workspace, context, failed)
      return { ...known, ...inPart(at, earlier, behind) }
    }
  })
}

/** The steps of one file. Fails if its fields don't go together, or its diff can't be read. */
function prepare(planning: Planning, file: PatchFile, request: ChangeRequest): Result<PreparedFile, CallFailure> {
  switch (file.operation) {
    case 'create':
      return prepareCreation(planning, file, request)
    case 'update':
      return prepareUpdate(planning, file, request)
    case 'delete':
      return ok(deletion(planning, request))
  }
}

/** A failure in the only file names the file's fields as fields of the patch. */
function inFile<F extends CallFailure>(failed: { ok: false; failure: F }, isOnly: boolean): { ok: false; failure: F } {
  const { failure } = failed
  if (!isOnly || failure.code !== 'INVALID_REQUEST' || !('faults' in failure)) return failed
  return fail({ ...failure, faults: failure.faults.map(fault => ({ ...fault, pointer: `/files/0${fault.pointer}` })) })
}

const faulty = (fault: FieldFault): Faulty => fail({ code: 'INVALID_REQUEST', faults: [fault] })
/** The new path is the file's own, under this spelling or another. */
const ONTO_ITSELF = faulty({ pointer: '/move_to', reason: 'same_path' })
const noDiff = (fault: PatchFault, first_line = 1): Faulty =>
  faulty({
    pointer: '/diff',
    reason: 'unreadable_patch',
    fault: { ...fault, line: fault.line + first_line - 1 }
  })

function prepareCreation(
  planning: Planning,
  { content, diff, first_line }: Extract<PatchFile, { operation: 'create' }>,
  request: ChangeRequest
): Result<PreparedFile, CallFailure> {
  if (content !== undefined && diff !== undefined) {
    return faulty({ pointer: '/diff', reason: 'not_beside', other: 'content' })
  }
  if (content === undefined && diff === undefined) return faulty({ pointer: '/content', reason: 'missing' })
  const parsed = diff === undefined ? ok(content ?? '') : parseNewFile(diff)
  if (!parsed.ok) return noDiff(parsed.failure, first_line)
  const plan = plannerFor(planning, request, { operation: 'create', content: parsed.value })
  return ok({
    steps: [{ operation: 'create', target: newFile(request.path), plan }],
    answer: ([done]) => ({ operation: 'create', outcome: outcomeOf(request, done!, { created: true }) })
  })
}

function prepareUpdate(
  planning: Planning,
  { diff, move_to, first_line = 1 }: Extract<PatchFile, { operation: 'update' }>,
  request: ChangeRequest
): Result<PreparedFile, CallFailure> {
  if (diff === undefined && move_to === undefined) return faulty({ pointer: '/diff', reason: 'missing' })
  if (move_to === request.path) return ONTO_ITSELF
  const hunks = diff === undefined ? ok([]) : parseDiff(diff)
  if (!hunks.ok) return noDiff(hunks.failure, first_line)
  const change: TaskChange = {
    operation: 'apply_hunks',
    hunks: hunks.value.map(hunk => ({ ...hunk, patch_line: hunk.patch_line + first_line - 1 })),
    ...(diff !== undefined && { line_break: patchBreak(diff) })
  }
  const plan = decoding(plannerFor(planning, request, change), planning.limits)
  if (move_to !== undefined) {
    return ok({
      steps: moveSteps(
        { path: request.path },
        newFile(move_to),
        diff === undefined ? unchangedPlanner(planning, request) : ofText(plan)
      ),
      answer(done) {
        const { moved_from, ...outcome } = outcomeOfMoved(request, done)
        return { operation: 'move', outcome, moved_from }
      }
    })
  }
  return ok({
    steps: [{ operation: 'edit', target: { path: request.path }, plan }],
    answer: ([done]) => ({ operation: 'update', outcome: outcomeOf(request, done!) })
  })
}

const newFile = (path: string) => ({ path, overwrite: false, create_parents: true })

function deletion(planning: Planning, request: ChangeRequest): PreparedFile {
  return {
    steps: [removalStep({ path: request.path }, removalPlanner(planning, request))],
    answer: ([done]) => ({ operation: 'delete', outcome: outcomeOfRemoved(request, done!) })
  }
}

const withoutTexts = ({ outcome, ...file }: PatchedFile): PatchedFile => ({
  ...file,
  outcome: fileWithoutTexts(outcome)
})
