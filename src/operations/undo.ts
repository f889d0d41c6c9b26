// /undo: undoes edits by any author, and touches nothing else. A selector says which edits.
import { UndoRequestSchema, UndoResultSchema, type UndoRequest } from '../../schemas/undo.ts'
import { editIdsOf } from '../engine/undo/change.ts'
import { undoStates } from '../engine/undo/units.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Author, EditRecord, FileHistory, PastEdit } from '../workspace/api.ts'
import type { Workspace } from '../workspace/api.ts'
import { onlyOwnOf, othersIn } from './access.ts'
import { UNDO_CODES } from './codes.ts'
import {
  allSwept,
  callerOf,
  chosenFrom,
  filesFor,
  meantBy,
  namedEdits,
  sweptEdit,
  namedIn,
  selectorFault,
  selectorsIn,
  wholeEdits,
  type Meant,
  type MeantFailure,
  type NamedSelection
} from './meant-edits.ts'
import type { CallContext, CallResult, FixedFault, HistoryFailure, Operation, OperationFailure } from './operation.ts'
import { withMoves } from './moves.ts'
import { findEdits, isOrdinary, ownQuery, isApplied, type FoundEdits } from './past-edits.ts'
import { sameResult, severalClients } from './several-clients.ts'
import { undoFacts, undoFiles } from './undo-files.ts'
import type { Chosen, UndoPlanning } from './undo-file.ts'

export const makeUndo = (planning: UndoPlanning): Operation<UndoRequest> => ({
  ...undoFacts(planning),
  id: 'undo_edit',
  route: '/undo',
  summary: 'Take edits back',
  description: () => 'Takes back your last edit or these, unless later ones build on it.',
  hints: { path: 'Its last edit.', batch_id: 'All of a batch.' },
  // Keep the definitions of all tools together small.
  tool_fields: ['edit_ids', 'batch_id', 'path'],
  request: UndoRequestSchema,
  outcome: UndoResultSchema,
  codes: UNDO_CODES,
  async call(request, context = {}) {
    const { path } = request
    const fault = faultOf(request)
    if (fault !== null) {
      return { ...fail({ code: 'INVALID_REQUEST', faults: [fault] }), path }
    }
    if (path !== undefined && namedIn(request) === undefined) return undoOfFile(planning, { ...request, path }, context)
    const found = await selected(planning.workspace, request, context)
    return found.ok ? undoMeant(planning, request, found.value, context) : { ...found, path }
  }
})

const SELECTORS = ['edit_id', 'edit_ids', 'changes', 'batch_id', 'session', 'agent', 'path'] as const

/** What is wrong with the selectors. A path beside ids names the file that the edits must be in. */
function faultOf(request: UndoRequest): { pointer: string; reason: FixedFault } | null {
  const { edit_id, edit_ids, to } = request
  const isBeside = to === undefined && (edit_id ?? edit_ids) !== undefined
  const fault = selectorFault({ ...request, ...(isBeside && { path: undefined }) }, SELECTORS)
  if (fault !== null) return fault
  if (request.to !== undefined && request.path === undefined) return { pointer: '/to', reason: 'needs_path' }
  if (request.on_conflict !== undefined && request.to !== undefined) {
    return { pointer: '/on_conflict', reason: 'not_with_to' }
  }
  return null
}

/** Undoes edits in all their files. `known`: records of some of them. */
async function undoMeant(
  planning: UndoPlanning,
  request: UndoRequest,
  { meant, known }: MeantEdits,
  context: CallContext
): Promise<CallResult> {
  const { on_conflict = 'refuse' } = request
  const whole = await withMoves(planning.workspace, 'undo', meant, known)
  if (!whole.ok) return whole
  const files = filesFor(whole.value, request, set => ({ set, to: 'undone', on_conflict }))
  return files.ok ? undoFiles({ planning, verb: 'undo', request, context }, files.value) : files
}

/** Undoes the last edit of a file, or all after `to`. The last edit is determined under the lock. */
async function undoOfFile(
  planning: UndoPlanning,
  request: UndoRequest & { path: string },
  context: CallContext
): Promise<CallResult> {
  const { path, to, expected_hash, on_conflict = 'refuse' } = request
  // Fails without a history; else the file would seem never to have been changed.
  const history = await planning.workspace.history({ path, limit: 1 })
  if (!history.ok) return { ...history, path }
  const swept = to === undefined ? null : await sweptEdit(planning.workspace, to, 'undo')
  if (swept !== null) return { ...swept, path }
  const last: { edit?: EditRecord; half?: EditRecord } = {}
  const choose = (history: FileHistory) => {
    if (to !== undefined) return stateAfterEdit(history, to)
    const edit = lastEdit(history)
    last.edit = edit
    if (edit?.moved !== undefined) last.half = edit
    return edit === undefined || edit.moved !== undefined ? nothingLeft : chosenLast(history, edit, on_conflict)
  }
  const file = { path, recorded: false, choose, expected_hash }
  const done = await undoFiles({ planning, verb: 'undo', request, context }, [file])
  const { half } = last
  if (half === undefined) {
    if (done.ok) return withRestOfBatch(planning.workspace, done, last.edit)
    if (done.failure !== nothingLeft.failure) return done
    const gone = await allSwept(planning.workspace, { path }, { selector: 'path', name: path }, 'undo')
    return gone === null ? done : { path, ...gone }
  }
  // A move concerns two files, and only one was locked.
  const moved = await undoMeant(planning, request, { meant: wholeEdits([half]), known: [half] }, context)
  return moved.ok ? withRestOfBatch(planning.workspace, moved, half) : { path, ...moved }
}

/** The answer of an undo of `edit`, with its batch if other edits of that still stand. */
async function withRestOfBatch(
  workspace: Workspace,
  done: Extract<CallResult, { ok: true }>,
  edit: EditRecord | undefined
): Promise<CallResult> {
  const { value } = done
  if (edit?.batch_id === undefined || value.operation !== 'undo') return done
  const { toggled } = value.outcome
  const isRest = (other: PastEdit) => isLeft(other) && !toggled.includes(other.record.edit_id)
  const rest = await findEdits(workspace, { batch_id: edit.batch_id }, isRest, 1)
  // The undo is done, whether or not the history can be read now.
  if (!rest.ok || rest.value.edits.length === 0) return done
  return ok({ ...value, outcome: { ...value.outcome, rest_of_batch: edit.batch_id } })
}

const nothingLeft = fail<HistoryFailure>({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: [], reason: 'none' })

/** The last applied edit, by any author. */
function lastEdit({ changes, records }: FileHistory): EditRecord | undefined {
  const states = undoStates(changes)
  return records.findLast(record => isOrdinary(record) && states.get(record.edit_id)?.state !== 'undone')
}

function chosenLast(
  { records }: FileHistory,
  { edit_id }: EditRecord,
  on_conflict: 'refuse' | 'skip'
): Result<Chosen, HistoryFailure | OperationFailure> {
  const set = [{ edit_id }]
  return chosenFrom({ records }, set, { set, to: 'undone', on_conflict })
}

function stateAfterEdit({ records }: FileHistory, edit_id: string): Result<Chosen, HistoryFailure> {
  const edit_ids = [edit_id]
  if (records.every(record => record.edit_id !== edit_id)) {
    return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids, reason: 'not_of_file' })
  }
  return ok({ goal: { state_after: edit_id }, edit_ids })
}

/** The edits that are meant, and their records. */
interface MeantEdits {
  meant: Meant[]
  known: readonly EditRecord[]
}

/** The edits that the selectors other than a path mean. */
async function selected(
  workspace: Workspace,
  request: UndoRequest,
  context: CallContext
): Promise<Result<MeantEdits, MeantFailure>> {
  const { caller = {}, subject } = context
  const named = namedIn(request)
  if (named !== undefined) return byIds(workspace, named, request.path, context)
  const { batch_id, session, agent } = request
  const [whose] = selectorsIn({ batch_id, session, agent })
  const query =
    whose === undefined
      ? ownQuery(caller)
      : { [whose.selector]: whose.name, ...(batch_id === undefined && onlyOwnOf(subject)) }
  const found = await findEdits(
    workspace,
    query,
    // For a batch, keep its undos, so that the answer can name them, and its redos, which can be undone.
    edit => isLeft(edit) || (batch_id !== undefined && !isOrdinary(edit.record)),
    whose === undefined ? 1 : Infinity
  )
  if (!found.ok) return found
  if (found.value.edits.length === 0) {
    const gone = await allSwept(workspace, query, whose ?? callerOf(caller), 'undo')
    return gone ?? fail(nothingOf(found.value, whose === undefined ? caller : undefined))
  }
  const [{ record: last }] = found.value.edits as [PastEdit]
  if (whose === undefined) {
    const several = await severalClients(workspace, context, 'undo', isLeft)
    if (several !== null) return several
    // The caller's last act was the batch as a whole.
    if (last.batch_id !== undefined) return selected(workspace, { batch_id: last.batch_id }, context)
  }
  const others = othersIn(recordsOf(found.value.edits), subject)
  if (others !== null) return others
  return meantOf(found.value.edits, { batch_id })
}

const nothingOf = ({ oldest_kept_at }: FoundEdits, caller: Author | undefined): HistoryFailure => ({
  code: 'NOTHING_TO_UNDO',
  verb: 'undo',
  edit_ids: [],
  reason: caller === undefined ? 'none' : 'none_of_caller',
  token: caller?.token,
  agent: caller?.agent,
  oldest_kept_at
})

const isLeft = (edit: PastEdit): boolean => isOrdinary(edit.record) && isApplied(edit)

const recordsOf = (edits: readonly PastEdit[]) => edits.map(({ record }) => record)

async function byIds(
  workspace: Workspace,
  sent: readonly NamedSelection[],
  path: string | undefined,
  context: CallContext
): Promise<Result<MeantEdits, MeantFailure>> {
  const named = await withIds(workspace, sent, path, context)
  if (!named.ok) return named
  const found = await namedEdits(workspace, 'undo', named.value)
  if (!found.ok) return found
  const strays = path === undefined ? ok([]) : await notOfFile(workspace, path, recordsOf(found.value))
  if (!strays.ok) return strays
  if (strays.value.length > 0) {
    return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', edit_ids: strays.value, reason: 'not_of_file' })
  }
  return othersIn(recordsOf(found.value), context.subject) ?? meantOf(found.value, { named: named.value })
}

/** The ids of these edits that aren't of the file at a path, or of it where it was before it was moved. */
async function notOfFile(
  workspace: Workspace,
  path: string,
  records: readonly EditRecord[]
): Promise<Result<string[], MeantFailure>> {
  const ids = new Set(editIdsOf(records))
  const found = await findEdits(workspace, { path }, ({ record }) => ids.has(record.edit_id))
  if (!found.ok) return found
  for (const { record } of found.value.edits) ids.delete(record.edit_id)
  return ok([...ids])
}

/** The digits of a hash, as answers give it, or all of it; no id is in lower case. */
const HASH = /^[0-9a-f]{16,64}$/

/**
 * The selections, with the id of the edit that ended in a text where its hash is given: the one that is applied. Reads
 * the whole history, or that of the file at `path`, once.
 */
async function withIds(
  workspace: Workspace,
  named: readonly NamedSelection[],
  path: string | undefined,
  context: CallContext
): Promise<Result<NamedSelection[], MeantFailure>> {
  const hashes = named.flatMap(({ edit_id }) => (HASH.test(edit_id) ? [edit_id] : []))
  if (hashes.length === 0) return ok([...named])
  const endsIn = ({ record }: PastEdit, hash: string) => record.hash_after?.startsWith(hash) === true
  const isNamed = (edit: PastEdit) => isOrdinary(edit.record) && hashes.some(hash => endsIn(edit, hash))
  const found = await findEdits(workspace, { path, ...onlyOwnOf(context.subject) }, isNamed)
  if (!found.ok) return found
  const all: NamedSelection[] = []
  for (const one of named) {
    const made = hashes.includes(one.edit_id) ? found.value.edits.filter(edit => endsIn(edit, one.edit_id)) : []
    const applied = made.filter(isApplied)
    if (applied.length > 1) return sameResult(workspace, applied, context)
    const [edit = made[0]] = applied
    all.push(edit === undefined ? one : { ...one, edit_id: edit.record.edit_id })
  }
  return ok(all)
}

/**
 * What these edits mean for an undo, or what is `named` of them; NOTHING_TO_UNDO where an undo is among them: all of
 * `batch_id`, or the first.
 */
function meantOf(
  edits: readonly PastEdit[],
  { batch_id, named }: { batch_id?: string; named?: readonly NamedSelection[] }
): Result<MeantEdits, MeantFailure> {
  const known = recordsOf(edits)
  const undos = known.filter(({ operation }) => operation === 'undo')
  const [first] = undos
  if (first === undefined) {
    const meant = named === undefined ? ok(wholeEdits(known)) : meantBy(known, named)
    return meant.ok ? ok({ meant: meant.value, known }) : meant
  }
  const refused = batch_id === undefined ? [first] : undos
  const edit_ids = refused.map(({ edit_id }) => edit_id)
  const undoes = editIdsOf(refused.flatMap(({ toggles = [] }) => toggles))
  return fail({ code: 'NOTHING_TO_UNDO', verb: 'undo', reason: 'is_undo', edit_ids, undoes, batch_id })
}
