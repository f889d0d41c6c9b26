// /delete: removes a file, or a folder with all its files, which the history can bring back.
import { DeleteRequestSchema, type DeleteRequest } from '../../schemas/delete.ts'
import { DeleteResultSchema } from '../../schemas/outcome.ts'
import { ok } from '../result.ts'
import type { Workspace } from '../workspace/api.ts'
import { mayDelete } from './access.ts'
import { REMOVAL_CODES } from './codes.ts'
import { carryOut, type FileOperation, outcomeOfRemoved, type Planning, targetOf, withPast } from './file-operation.ts'
import { folderMeant, ofFolder, outcomeOfFolder, removalFacts } from './folder-change.ts'
import { CHANGE_HINTS } from './hints.ts'
import type { CallContext, CallResult, Failed } from './operation.ts'
import { foldersAbove, removalPlanner, removalStep } from './removal-steps.ts'

export function makeDelete(workspace: Workspace, planning: Planning): FileOperation<DeleteRequest> {
  const prepare: FileOperation<DeleteRequest>['prepare'] = async (request, context, after = []) => {
    const found = await folderMeant(workspace, request, context, {
      verb: 'delete',
      whole: request.recursive === true,
      after
    })
    if (!found.ok) return found
    const folder = found.value
    const removed = request.dry_run === true ? {} : { removed: true as const }
    const plan = removalPlanner(planning, request)
    if (folder === null) {
      return ok({
        operation: 'delete',
        steps: [removalStep(targetOf(request), plan, foldersAbove(request.path, context.clears_below))],
        answer: ([done]) => ({ operation: 'delete', outcome: { ...outcomeOfRemoved(request, done!), ...removed } }),
        explained: failed => withPast(workspace, context, failed)
      })
    }
    const { path, files, folders, blocked, leaves } = folder
    if (blocked !== null) return blocked
    const all = [...foldersAbove(path, context.clears_below), ...folders]
    return ok({
      operation: 'delete',
      files: files.length,
      ...(files.length === 0 && { emptied: { by: leaves!, folders } }),
      steps: files.map((path, i) => removalStep({ path }, plan, i === 0 ? all : [])),
      answer: done => ({
        operation: 'delete',
        outcome: {
          ...outcomeOfFolder(
            request,
            path,
            done.map(one => outcomeOfRemoved(request, one))
          ),
          ...removed
        }
      }),
      explained: ofFolder
    })
  }
  return {
    ...removalFacts(workspace),
    id: 'delete_file',
    route: '/delete',
    summary: 'Delete a file or a directory',
    description: ({ undo }) =>
      'Deletes a file, also a binary one; with recursive: true a directory and all its files, or none of them. ' +
      `${undo} brings a file back by path, a directory by batch_id.`,
    hints: { ...CHANGE_HINTS, recursive: 'true: path may be a directory.' },
    tool_fields: ['path', 'recursive', 'expected_hash', 'dry_run'],
    request: DeleteRequestSchema,
    outcome: DeleteResultSchema,
    codes: REMOVAL_CODES,
    prepare,
    async call(request, context = {}) {
      const prepared = await prepare(request, context)
      return isEmpty(prepared)
        ? removeEmpty(workspace, request, context, prepared)
        : carryOut(workspace, request, context, prepared)
    }
  }
}

const isEmpty = (prepared: { ok: true } | Failed): prepared is Failed =>
  !prepared.ok && prepared.failure.code === 'NOT_A_FILE' && prepared.failure.type === 'empty_folder'

/** Removes a folder without files: the history has no text to keep. */
async function removeEmpty(
  workspace: Workspace,
  { path, dry_run = false }: DeleteRequest,
  { subject }: CallContext,
  { path: folder = path }: Failed
): Promise<CallResult> {
  const removed = await workspace.removeFolder({ path }, { dry_run, ...mayDelete(subject) })
  if (!removed.ok) return removed
  const outcome = outcomeOfFolder({ dry_run }, folder, [])
  return ok({ operation: 'delete', outcome: dry_run ? outcome : { ...outcome, removed: true } })
}
