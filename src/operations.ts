// The table of operations. Does not know statuses or the sentences of answers.
import type { ApplyPatchRequest } from '../schemas/apply-patch.ts'
import type { BatchedRequest } from '../schemas/batch.ts'
import type { BlameRequest } from '../schemas/blame.ts'
import type { ChangesRequest } from '../schemas/changes.ts'
import type { CreateRequest } from '../schemas/create.ts'
import type { DeleteRequest } from '../schemas/delete.ts'
import type { EditLinesRequest } from '../schemas/edit-lines.ts'
import type { EditSectionRequest } from '../schemas/edit-section.ts'
import type { EditRequest } from '../schemas/edit.ts'
import type { FindRequest } from '../schemas/find.ts'
import type { HistoryRequest } from '../schemas/history.ts'
import type { InspectRequest } from '../schemas/inspect.ts'
import type { MoveRequest } from '../schemas/move.ts'
import type { PendingRequest } from '../schemas/pending.ts'
import type { PreviewRequest } from '../schemas/preview.ts'
import type { RedoRequest } from '../schemas/redo.ts'
import type { ReplaceRequest } from '../schemas/replace.ts'
import type { ReviewRequest } from '../schemas/review.ts'
import type { UndoRequest } from '../schemas/undo.ts'
import { Workers } from './workers/workers.ts'
import { makeApplyPatch } from './operations/apply-patch.ts'
import { makeBatch } from './operations/batch.ts'
import { makeBlame } from './operations/blame.ts'
import { makeChanges } from './operations/changes.ts'
import { makeCreate } from './operations/create.ts'
import { makeDelete } from './operations/delete.ts'
import { makeEditLines } from './operations/edit-lines.ts'
import { makeEditSection } from './operations/edit-section.ts'
import { makeEdit } from './operations/edit.ts'
import { makeFind } from './operations/find.ts'
import { makeHistory } from './operations/history.ts'
import { makeInspect } from './operations/inspect.ts'
import { makeMove } from './operations/move.ts'
import type { Callable, Operation, OperationLimits } from './operations/operation.ts'
import { makePending } from './operations/pending.ts'
import { makePreview } from './operations/preview.ts'
import { makeRedo } from './operations/redo.ts'
import { makeReplace } from './operations/replace.ts'
import { makeReview } from './operations/review.ts'
import { makeUndo } from './operations/undo.ts'
import type { Workspace } from './workspace/api.ts'
import { Reads } from './workspace/reads.ts'

/** The operations with a route. */
export interface RoutedOperations {
  readonly edit: Operation<EditRequest>
  readonly edit_lines: Operation<EditLinesRequest>
  readonly edit_section: Operation<EditSectionRequest>
  readonly preview: Operation<PreviewRequest>
  readonly batch: Operation<BatchedRequest>
  readonly replace: Operation<ReplaceRequest>
  readonly create: Operation<CreateRequest>
  readonly delete: Operation<DeleteRequest>
  readonly move: Operation<MoveRequest>
  readonly inspect: Operation<InspectRequest>
  readonly find: Operation<FindRequest>
  readonly history: Operation<HistoryRequest>
  readonly undo: Operation<UndoRequest>
  readonly redo: Operation<RedoRequest>
  readonly review: Operation<ReviewRequest>
  readonly pending: Operation<PendingRequest>
  readonly blame: Operation<BlameRequest>
  readonly changes: Operation<ChangesRequest>
}

export interface Operations extends RoutedOperations {
  /** Has no route and isn't a tool: the adapters call it. */
  readonly apply_patch: Callable<ApplyPatchRequest>
}

/** The operations of a table that have a route, in its order. */
export const operationsIn = ({ apply_patch: _, ...table }: Operations): readonly Operation[] =>
  Object.values<Operation>(table)

/** The operations that are tools. */
export const toolsIn = (table: Operations): readonly Operation[] =>
  operationsIn(table).filter(({ route_only }) => route_only !== true)

/** The operations of a workspace. `reads`: what callers have read, which several tables may share. */
export function makeOperations(
  workspace: Workspace,
  limits: OperationLimits,
  { searcher, historyReader, planMaker, outliner, syntaxChecker } = new Workers(),
  reads = new Reads()
): Operations {
  const planning = { limits, planMaker, syntaxChecker, reads }
  const undoPlanning = { workspace, ...planning }
  const edit = makeEdit(workspace, planning, outliner)
  const edit_lines = makeEditLines(workspace, planning)
  const create = makeCreate(workspace, planning)
  const edit_section = makeEditSection(workspace, planning, outliner)
  const remove = makeDelete(workspace, planning)
  const move = makeMove(workspace, planning)
  const changing = { edit, edit_lines, edit_section, create, delete: remove, move }
  const { audit } = workspace
  const audited = <O extends Callable>(operation: O): O => (audit === null ? operation : { ...operation, audit })
  return {
    edit: audited(edit),
    edit_lines: audited(edit_lines),
    edit_section: audited(edit_section),
    preview: makePreview(changing, limits),
    batch: audited(makeBatch(workspace, changing, limits)),
    replace: audited(makeReplace(workspace, planning, { searcher, outliner })),
    create: audited(create),
    delete: audited(remove),
    move: audited(move),
    inspect: makeInspect(workspace, { searcher, outliner, reads }),
    find: makeFind(workspace, searcher, outliner),
    history: makeHistory(workspace, historyReader),
    undo: audited(makeUndo(undoPlanning)),
    redo: audited(makeRedo(undoPlanning)),
    review: audited(makeReview(workspace)),
    pending: makePending(workspace, historyReader),
    blame: makeBlame(workspace, historyReader),
    changes: makeChanges(workspace),
    apply_patch: audited(makeApplyPatch(workspace, planning))
  }
}
