// /review: a person's verdict on changes: kept, or pending again. It is recorded and changes no file. A selector says
// which changes.
import { ReviewRequestSchema, ReviewResultSchema, type ReviewRequest } from '../../schemas/review.ts'
import { NamedChangesSchema } from '../../schemas/undo.ts'
import { reviewed, type ReviewedSelection } from '../engine/undo/baseline.ts'
import { fail, ok, type Result } from '../result.ts'
import type { FileReview, PastEdit, ReviewTarget } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'
import {
  allSwept,
  meantBy,
  missingChange,
  namedEdits,
  namedIn,
  selectorFault,
  selectorsIn,
  type MeantFailure,
  type NamedSelection
} from './meant-edits.ts'
import type { FieldFault, Operation, Outcome, ReviewOutcome } from './operation.ts'
import { findEdits } from './past-edits.ts'

export const makeReview = (workspace: Workspace): Operation<ReviewRequest> => ({
  id: 'review_edits',
  // Tools can't approve changes.
  route_only: true,
  route: '/review',
  summary: 'Keep changes, or mark them as pending',
  description: ({ undo }) =>
    'Keeps changes as they are, for a person who has looked at them, or marks them as pending again; no file is ' +
    `changed. To take changes back, use ${undo}.`,
  hints: {},
  effect: 'changes',
  needs: 'review',
  request: ReviewRequestSchema,
  outcome: ReviewResultSchema,
  codes: [
    'INVALID_PATH',
    'PATH_NOT_ALLOWED',
    'PROTECTED_PATH',
    'READ_ONLY',
    'TOO_MANY_EDITS',
    'NOTHING_TO_UNDO',
    'HISTORY_GONE'
  ],
  expects_hash: false,
  expects_none: false,
  items: { changes: NamedChangesSchema },
  // agent and session select edits; the caller's own come in headers.
  call_fields: ['idempotency_key'],
  keyed: (key, work) => workspace.keyed(key, work, kept => (kept as KeptReview).outcome.paths, 'read'),
  async call(request, { caller, key, audit } = {}) {
    const { path } = request
    const fault = faultOf(request)
    if (fault !== null) return { ...fail({ code: 'INVALID_REQUEST', faults: [fault] }), path }
    const meant = await selected(workspace, request)
    if (!meant.ok) return { ...meant, path }
    const verdict = request.verdict === 'keep' ? 'kept' : 'pending'
    const files = filesOf(verdict, meant.value)
    const changed = files.filter(({ of }) => of.length > 0)
    const edit_ids = changed.flatMap(({ of }) => of.map(({ edit_id }) => edit_id))
    const outcome: ReviewOutcome = {
      verdict,
      edit_ids: [...new Set(edit_ids)].sort().reverse(),
      paths: changed.map(({ path: real }) => real.toString())
    }
    const answer: KeptReview = { operation: 'review', outcome }
    // With a key, the answer is kept even if nothing had to be done.
    const written = changed.length === 0 && key !== undefined ? files.slice(0, 1) : changed
    if (written.length === 0) return ok(answer)
    const target: ReviewTarget = {
      ...caller,
      verdict,
      files: written,
      audit,
      ...(key !== undefined && { key, outcome: answer })
    }
    const given = await workspace.review(target)
    return given.ok ? ok(answer) : { ...given, path }
  }
})

type KeptReview = Extract<Outcome, { operation: 'review' }>

const SELECTORS = ['edit_id', 'edit_ids', 'changes', 'batch_id', 'session', 'agent', 'path', 'under'] as const

function faultOf(request: ReviewRequest): FieldFault | null {
  if (SELECTORS.every(name => request[name] === undefined)) {
    return { pointer: '', reason: 'no_selector', selectors: SELECTORS }
  }
  return selectorFault(request, SELECTORS)
}

/** An edit that is meant, or some of its changes. */
interface MeantEdit {
  edit: PastEdit
  selection: NamedSelection
}

async function selected(workspace: Workspace, request: ReviewRequest): Promise<Result<MeantEdit[], MeantFailure>> {
  const named = namedIn(request)
  return named === undefined ? allOf(workspace, request) : byIds(workspace, named)
}

/** All edits that another selector means and whose verdict may change; if there are none, one of the others. */
async function allOf(
  workspace: Workspace,
  { verdict, batch_id, session, agent, path, under }: ReviewRequest
): Promise<Result<MeantEdit[], FileFailure | MeantFailure>> {
  const [whose] = selectorsIn({ batch_id, session, agent, path, under }) as [ReturnType<typeof selectorsIn>[number]]
  const query = { [whose.selector]: whose.name }
  const isKeep = verdict === 'keep'
  const found = await findEdits(workspace, { ...query, ...(isKeep && { review: 'pending' as const }) }, isReviewable)
  if (!found.ok) return found
  const { edits } = found.value
  const known = edits.length > 0 || !isKeep ? found : await findEdits(workspace, { ...query }, isReviewable, 1)
  if (!known.ok) return known
  if (known.value.edits.length === 0) {
    const gone = await allSwept(workspace, query, whose, 'review')
    if (gone !== null) return gone
    const { oldest_kept_at } = known.value
    return fail({ code: 'NOTHING_TO_UNDO', verb: 'review', edit_ids: [], reason: 'none', oldest_kept_at })
  }
  return ok(known.value.edits.map(edit => ({ edit, selection: { edit_id: edit.record.edit_id } })))
}

/** Undos and redos aren't reviewed; the edits that they toggled are. */
const isReviewable = ({ record }: PastEdit): boolean => record.toggles === undefined

async function byIds(
  workspace: Workspace,
  named: readonly NamedSelection[]
): Promise<Result<MeantEdit[], MeantFailure>> {
  const edits = await namedEdits(workspace, 'review', named)
  if (!edits.ok) return edits
  const byId = new Map(edits.value.map(edit => [edit.record.edit_id, edit]))
  const selections = meantBy(
    edits.value.map(({ record }) => record),
    named
  )
  if (!selections.ok) return selections
  // The edits that undos and redos toggled.
  const others = selections.value.map(({ selection }) => selection).filter(({ edit_id }) => !byId.has(edit_id))
  const toggled = await namedEdits(workspace, 'review', others)
  if (!toggled.ok) return toggled
  for (const edit of toggled.value) byId.set(edit.record.edit_id, edit)
  const meant = selections.value.map(({ selection }) => ({ edit: byId.get(selection.edit_id)!, selection }))
  const faults = meant.flatMap(each => faultIn(each) ?? [])
  return faults.length > 0 ? fail({ code: 'INVALID_REQUEST', faults: faults.slice(0, 1) }) : ok(meant)
}

function faultIn({ edit: { units }, selection }: MeantEdit): FieldFault | null {
  const { change_indexes, at = '' } = selection
  if (change_indexes === undefined || units === undefined) return null
  if (units.count === Infinity) return { pointer: at, reason: 'changes_not_kept' }
  return missingChange(selection, units.count)
}

/** What the verdict changes in each file; empty for a file in which it changes nothing. */
function filesOf(verdict: ReviewTarget['verdict'], meant: readonly MeantEdit[]): FileReview[] {
  const files = new Map<string, FileReview & { of: ReviewedSelection[] }>()
  for (const { edit, selection } of meant) {
    const { path } = edit.record
    const key = path.toString('latin1')
    const file = files.get(key) ?? { path, of: [] }
    files.set(key, file)
    // It isn't known whether an uncertain edit is applied.
    if (edit.units !== undefined) file.of.push(...reviewed(verdict, selection, edit.units))
  }
  return [...files.values()]
}
