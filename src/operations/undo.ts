// /undo: edits are taken back, whoever made them, and nothing else is touched. Which edits: by a selector.
import { UndoRequestSchema, UndoResultSchema, type UndoRequest } from '../../schemas/undo.ts'
import { editIdsOf } from '../engine/history/change.ts'
import { standingOf } from '../engine/history/units.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Author, FileHistory, PastEdit } from '../workspace/api.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { onlyOwnOf, othersIn } from './access.ts'
import { TAKE_BACK_CODES } from './codes.ts'
import {
  chosenFrom,
  filesFor,
  meantBy,
  namedEdits,
  namedIn,
  selectorFault,
  wholeEdits,
  type Meant,
  type MeantFailure,
  type NamedSelection
} from './meant-edits.ts'
import type { CallContext, FixedFault, HistoryFailure, Operation, OperationFailure } from './operation.ts'
import { findEdits, isOrdinary, ownQuery, stands, type FoundEdits } from './past-edits.ts'
import { takeBackFacts, takeBackFiles } from './take-back.ts'
import type { Chosen, FileToTakeBack, TakingBack } from './take-back-file.ts'

export const makeUndo = (taking: TakingBack): Operation<UndoRequest> => ({
  ...takeBackFacts(taking),
  id: 'undo_edit',
  route: '/undo',
  summary: 'Take edits back',
  description: () => 'Takes back your last edit or these, unless later ones build on it.',
  hints: { path: 'Its last edit.' },
  // The definitions of all tools together are to stay small.
  tool_fields: ['edit_ids', 'path'],
  request: UndoRequestSchema,
  outcome: UndoResultSchema,
  codes: TAKE_BACK_CODES,
  async call(request, context = {}) {
    const path = request.path === undefined ? {} : { path: request.path }
    const fault = faultOf(request)
    if (fault !== null) return { ...fail({ code: 'INVALID_REQUEST', faults: [fault] }), ...path }
    const files = await filesOf(taking.workspace, request, context)
    if (!files.ok) return { ...files, ...path }
    return takeBackFiles(taking, 'undo', request, files.value, context)
  }
})

const SELECTORS = ['edit_id', 'edit_ids', 'changes', 'batch_id', 'session', 'agent', 'path'] as const

/** What is wrong with the choice of a selector. */
function faultOf(request: UndoRequest): { pointer: string; reason: FixedFault } | null {
  const fault = selectorFault(request, SELECTORS)
  if (fault !== null) return fault
  if (request.to !== undefined && request.path === undefined) return { pointer: '/to', reason: 'needs_path' }
  if (request.on_conflict !== undefined && request.to !== undefined) {
    return { pointer: '/on_conflict', reason: 'not_with_to' }
  }
  return null
}

/** The files that a request changes, each with how its edits are chosen. */
async function filesOf(
  workspace: Workspace,
  request: UndoRequest,
  context: CallContext
): Promise<Result<FileToTakeBack[], MeantFailure>> {
  const { path, to, on_conflict = 'refuse' } = request
  if (path !== undefined) {
    // Whether there is a history: without one, the file seems never to have been changed.
    const history = await workspace.history({ path, limit: 1 })
    if (!history.ok) return history
    const choose = (history: FileHistory) =>
      to === undefined ? lastEdit(history, on_conflict) : stateAfterEdit(history, to)
    return ok([{ path, recorded: false, choose }])
  }
  const found = await selected(workspace, request, context)
  if (!found.ok) return found
  return filesFor(found.value, request, set => ({ set, to: 'undone', on_conflict }))
}

/** The last edit that stands, of whoever. */
function lastEdit(
  { changes, records }: FileHistory,
  on_conflict: 'refuse' | 'skip'
): Result<Chosen, HistoryFailure | OperationFailure> {
  const standing = standingOf(changes)
  const last = records.findLast(record => isOrdinary(record) && standing.get(record.edit_id)?.state !== 'undone')
  if (last === undefined) return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: [], reason: 'none' })
  const set = [{ edit_id: last.edit_id }]
  return chosenFrom({ records }, set, { set, to: 'undone', on_conflict })
}

function stateAfterEdit({ records }: FileHistory, edit_id: string): Result<Chosen, HistoryFailure> {
  const edit_ids = [edit_id]
  if (records.every(record => record.edit_id !== edit_id)) {
    return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids, reason: 'not_of_file' })
  }
  return ok({ goal: { state_after: edit_id }, edit_ids })
}

/** The edits that the selectors other than a path mean. */
async function selected(
  workspace: Workspace,
  request: UndoRequest,
  context: CallContext
): Promise<Result<Meant[], MeantFailure>> {
  const { caller = {}, subject } = context
  const named = namedIn(request)
  if (named !== undefined) return byIds(workspace, named, subject)
  const { batch_id, session, agent } = request
  const [whose] = Object.entries({ batch_id, session, agent }).flatMap(([name, value]) =>
    value === undefined ? [] : [{ [name]: value }]
  )
  const found = await findEdits(
    workspace,
    whose === undefined ? ownQuery(caller) : { ...whose, ...(batch_id === undefined && onlyOwnOf(subject)) },
    // A batch of undos is named in the answer; what a batch has made again can be taken back.
    edit => (isOrdinary(edit.record) ? stands(edit) : batch_id !== undefined),
    whose === undefined ? 1 : Infinity
  )
  if (!found.ok) return found
  if (found.value.edits.length === 0) return fail(nothingOf(found.value, whose === undefined ? caller : undefined))
  const [{ record: last }] = found.value.edits as [PastEdit]
  // What the caller did last was the batch as a whole.
  if (whose === undefined && last.batch_id !== undefined) {
    return selected(workspace, { batch_id: last.batch_id }, context)
  }
  const others = othersIn(recordsOf(found.value.edits), subject)
  if (others !== null) return others
  return meantOf(found.value.edits, { ...(batch_id !== undefined && { batch_id }) })
}

const nothingOf = ({ oldest_kept_at }: FoundEdits, caller: Author | undefined): HistoryFailure => ({
  code: 'NOTHING_TO_UNDO',
  verb: 'undo',
  edit_ids: [],
  reason: caller === undefined ? 'none' : 'none_of_caller',
  ...(caller?.token !== undefined && { token: caller.token }),
  ...(caller?.agent !== undefined && { agent: caller.agent }),
  ...(oldest_kept_at !== undefined && { oldest_kept_at })
})

const recordsOf = (edits: readonly PastEdit[]) => edits.map(({ record }) => record)

async function byIds(
  workspace: Workspace,
  named: readonly NamedSelection[],
  subject: CallContext['subject']
): Promise<Result<Meant[], MeantFailure>> {
  const found = await namedEdits(workspace, 'undo', named)
  if (!found.ok) return found
  return othersIn(recordsOf(found.value), subject) ?? meantOf(found.value, { named })
}

/**
 * What these edits mean for an undo, or what is `named` of them; NOTHING_TO_UNDO where an undo is among them: all of
 * `batch_id`, or the first.
 */
function meantOf(
  edits: readonly PastEdit[],
  { batch_id, named }: { batch_id?: string; named?: readonly NamedSelection[] }
): Result<Meant[], MeantFailure> {
  const records = recordsOf(edits)
  const undos = records.filter(({ operation }) => operation === 'undo')
  const [first] = undos
  if (first === undefined) return named === undefined ? ok(wholeEdits(records)) : meantBy(records, named)
  const refused = batch_id === undefined ? [first] : undos
  const edit_ids = refused.map(({ edit_id }) => edit_id)
  const undoes = editIdsOf(refused.flatMap(({ toggles = [] }) => toggles))
  const whole = batch_id === undefined ? {} : { batch_id }
  return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', reason: 'is_undo', edit_ids, undoes, ...whole })
}
