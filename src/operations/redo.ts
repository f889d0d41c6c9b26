// /redo: applies again what an undo undid.
import { RedoRequestSchema, type RedoRequest } from '../../schemas/redo.ts'
import { RedoResultSchema } from '../../schemas/undo.ts'
import { fail, ok, type Result } from '../result.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { PastEdit, Workspace } from '../workspace/api.ts'
import { othersIn } from './access.ts'
import { UNDO_CODES } from './codes.ts'
import {
  allSwept,
  callerOf,
  filesFor,
  meantBy,
  namedEdits,
  namedIn,
  selectorFault,
  wholeEdits,
  type Meant,
  type MeantFailure
} from './meant-edits.ts'
import { withMoves } from './moves.ts'
import type { CallContext, Operation } from './operation.ts'
import { findByIds, findEdits, ownQuery } from './past-edits.ts'
import { severalClients } from './several-clients.ts'
import { undoFacts, undoFiles } from './undo-files.ts'
import type { UndoPlanning } from './undo-file.ts'

export const makeRedo = (planning: UndoPlanning): Operation<RedoRequest> => ({
  ...undoFacts(planning),
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
  codes: [...UNDO_CODES, 'ALREADY_EXISTS'],
  async call(request, context = {}) {
    const fault = selectorFault(request, SELECTORS)
    if (fault !== null) return fail({ code: 'INVALID_REQUEST', faults: [fault] })
    const meant = await selected(planning.workspace, request, context)
    if (!meant.ok) return meant
    const whole = await withMoves(planning.workspace, 'redo', meant.value, [])
    if (!whole.ok) return whole
    const files = filesFor(whole.value, request, set => ({ set, to: 'applied', on_conflict: 'refuse' }))
    return files.ok ? undoFiles({ planning, verb: 'redo', request, context }, files.value) : files
  }
})

const SELECTORS = ['edit_id', 'edit_ids', 'changes', 'batch_id'] as const

async function selected(
  workspace: Workspace,
  request: RedoRequest,
  context: CallContext
): Promise<Result<Meant[], MeantFailure>> {
  const { subject } = context
  if (request.batch_id !== undefined) return byBatch(workspace, request.batch_id, subject)
  const named = namedIn(request)
  if (named === undefined) return lastUndo(workspace, context)
  const found = await namedEdits(workspace, 'redo', named)
  if (!found.ok) return found
  const records = found.value.map(({ record }) => record)
  return othersIn(records, subject) ?? meantBy(records, named)
}

/** All edits of a batch or, if it is a batch of undos, all that it undid. */
async function byBatch(
  workspace: Workspace,
  batch_id: string,
  subject: CallContext['subject']
): Promise<Result<Meant[], MeantFailure>> {
  const found = await findEdits(workspace, { batch_id })
  if (!found.ok) return found
  const { edits, oldest_kept_at } = found.value
  const records = edits.map(({ record }) => record)
  if (edits.length > 0) return othersIn(records, subject) ?? ok(wholeEdits(records))
  const gone = await allSwept(workspace, { batch_id }, { selector: 'batch_id', name: batch_id }, 'redo')
  if (gone !== null) return gone
  return fail({ code: 'NOTHING_TO_UNDO', verb: 'redo', reason: 'none', edit_ids: [], oldest_kept_at })
}

/** What the caller's last undo with something left to redo has undone, in all its files. */
async function lastUndo(workspace: Workspace, context: CallContext): Promise<Result<Meant[], MeantFailure>> {
  const { caller = {}, subject } = context
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
  const several = found.ok ? await severalClients(workspace, context, 'redo', hasEffect) : null
  if (failure !== undefined) return fail(failure)
  if (!found.ok) return found
  if (several !== null) return several
  const [last] = found.value.edits
  if (last?.record.batch_id !== undefined) return byBatch(workspace, last.record.batch_id, subject)
  if (last !== undefined) return ok(wholeEdits([last.record]))
  const { token, agent } = caller
  const gone = await allSwept(workspace, ownQuery(caller), callerOf(caller), 'redo')
  if (gone !== null) return gone
  return fail({ code: 'NOTHING_TO_UNDO', verb: 'redo', reason: 'none_of_caller', edit_ids: [], token, agent })
}
