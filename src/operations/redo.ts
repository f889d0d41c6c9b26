// /redo: what an undo took back is made again.
import { RedoRequestSchema, type RedoRequest } from '../../schemas/redo.ts'
import { RedoResultSchema } from '../../schemas/undo.ts'
import { fail, type Result } from '../result.ts'
import type { Author } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { PastEdit, Workspace } from '../workspace/workspace.ts'
import { TAKE_BACK_CODES } from './codes.ts'
import {
  filesFor,
  meantBy,
  namedEdits,
  namedIn,
  selectorFault,
  type Meant,
  type MeantFailure,
  type NamedSelection
} from './meant-edits.ts'
import type { Operation } from './operation.ts'
import { findByIds, findEdits, ownQuery } from './past-edits.ts'
import { takeBackFacts, takeBackFiles } from './take-back.ts'
import type { TakingBack } from './take-back-file.ts'

export const makeRedo = (taking: TakingBack): Operation<RedoRequest> => ({
  ...takeBackFacts(taking),
  id: 'redo_edit',
  route: '/redo',
  summary: 'Make again what was undone',
  description: ({ undo }) =>
    `Makes again what ${undo} took back; nothing else is touched. ` +
    'Give the edit_id of the undo or of the edit; or nothing for your last undo.',
  hints: {},
  only_by_name: true,
  request: RedoRequestSchema,
  outcome: RedoResultSchema,
  codes: [...TAKE_BACK_CODES, 'ALREADY_EXISTS'],
  async call(request, context = {}) {
    const fault = selectorFault(request, ['edit_id', 'edit_ids', 'changes'])
    if (fault !== null) return fail({ code: 'INVALID_REQUEST', faults: [fault] })
    const named = namedIn(request)
    const meant =
      named === undefined
        ? await lastUndo(taking.workspace, context.caller ?? {})
        : await byIds(taking.workspace, named)
    if (!meant.ok) return meant
    const files = filesFor(meant.value, request, set => ({ set, to: 'standing', on_conflict: 'refuse' }))
    return files.ok ? takeBackFiles(taking, 'redo', request, files.value, context) : files
  }
})

async function byIds(workspace: Workspace, named: readonly NamedSelection[]): Promise<Result<Meant[], MeantFailure>> {
  const found = await namedEdits(
    workspace,
    'redo',
    named.map(({ edit_id }) => edit_id)
  )
  return found.ok
    ? meantBy(
        found.value.map(({ record }) => record),
        named
      )
    : found
}

/** What the last undo of the caller took back, of which something hasn't been made again. */
async function lastUndo(workspace: Workspace, caller: Author): Promise<Result<Meant[], MeantFailure>> {
  let failure: FileFailure | undefined
  const hasEffect = async ({ record, superseded }: PastEdit): Promise<boolean> => {
    if (record.operation !== 'undo' || superseded === true) return false
    const undone = await findByIds(
      workspace,
      (record.toggles ?? []).map(({ edit_id }) => edit_id)
    )
    if (!undone.ok) failure = undone.failure
    return undone.ok && undone.value.edits.some(({ undone_by }) => undone_by !== undefined)
  }
  const found = await findEdits(workspace, ownQuery(caller), hasEffect, 1)
  if (failure !== undefined) return fail(failure)
  if (!found.ok) return found
  const [last] = found.value.edits
  if (last !== undefined) return meantBy([last.record], [{ edit_id: last.record.edit_id }])
  const agent = caller.agent === undefined ? {} : { agent: caller.agent }
  return fail({ code: 'NOTHING_TO_UNDO', verb: 'redo', reason: 'none_of_caller', edit_ids: [], ...agent })
}
