// /changes: lists what changed after a cursor, or waits for it. Also how a change is described, here and to listeners.
import {
  ChangesRequestSchema,
  ChangesResultSchema,
  DEFAULT_CHANGES,
  type ChangesRequest,
  type ChangeTold
} from '../../schemas/changes.ts'
import { editIdsOf } from '../engine/undo/change.ts'
import { decode } from '../engine/text/encoding.ts'
import { fail, ok } from '../result.ts'
import type { ChangeEvent } from '../workspace/api.ts'
import type { CursorFailure, FileFailure } from '../workspace/failure.ts'
import { shortHash } from './file-hash.ts'
import type { Workspace } from '../workspace/api.ts'
import { PATH_HINT } from './hints.ts'
import type { CallFailure, Operation } from './operation.ts'

export const makeChanges = (workspace: Workspace): Operation<ChangesRequest> => ({
  id: 'wait_for_changes',
  // A model that waits can do nothing else.
  route_only: true,
  route: '/changes',
  summary: 'Tell what was changed, as soon as something is',
  description: ({ history }) =>
    'Tells which files were changed after a cursor, by anyone, and waits for a change if there was none. ' +
    `${history} lists earlier edits, GET /events streams the same.`,
  hints: { path: PATH_HINT },
  effect: 'looks',
  request: ChangesRequestSchema,
  outcome: ChangesResultSchema,
  codes: ['INVALID_PATH', 'PATH_NOT_ALLOWED', 'PROTECTED_PATH', 'HISTORY_GONE', 'CURSOR_GONE'],
  expects_hash: false,
  expects_none: false,
  items: {},
  async call({ limit = DEFAULT_CHANGES, wait_ms = 0, ...query }, { client } = {}) {
    const page = await workspace.changes({ ...query, limit, wait_ms, client })
    if (!page.ok) return { ...fail(failureOf(page.failure)), path: query.path }
    const { events, next_after } = page.value
    const changes = events.map(changeOf)
    return ok({
      operation: 'changes',
      outcome: { changes, next_after, timed_out: wait_ms > 0 && changes.length === 0 }
    })
  }
})

const failureOf = (failure: FileFailure | CursorFailure): CallFailure =>
  failure.code === 'INVALID_CURSOR'
    ? { code: 'INVALID_REQUEST', faults: [{ pointer: '/after', reason: 'no_cursor' }] }
    : failure

/** A change as callers see it; never with text of the file. */
export function changeOf({ facts, settled }: ChangeEvent): ChangeTold {
  const { text: path, lossy } = decode(facts.path)
  const { at, token, agent, session, reason, batch_id, hash_after, toggles, review } = facts
  const where = {
    at: new Date(at).toISOString(),
    path,
    lossy,
    token,
    agent,
    session
  }
  if (facts.operation === 'review') {
    const { verdict, of } = review!
    return { type: 'review', ...where, verdict, edit_ids: editIdsOf(of) }
  }
  return {
    type: 'edit',
    edit_id: facts.edit_id,
    operation: facts.operation,
    ...where,
    reason,
    batch_id,
    ...(hash_after !== null && { file_hash: shortHash(hash_after) }),
    lines_added: facts.lines_added,
    lines_removed: facts.lines_removed,
    state: settled === 'done' ? 'applied' : 'uncertain',
    undoes: toggles && editIdsOf(toggles)
  }
}
