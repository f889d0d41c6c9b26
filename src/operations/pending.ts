// /pending: the net effect of all changes of a file that nobody has kept yet, in hunks of lines.
import {
  DEFAULT_PENDING_CONTEXT,
  DEFAULT_PENDING_LINES,
  PendingRequestSchema,
  PendingResultSchema,
  type PendingRequest
} from '../../schemas/pending.ts'
import { fail, ok } from '../result.ts'
import type { HistoryReader } from '../workers/history-reader.ts'
import type { Workspace } from '../workspace/api.ts'
import { RECALL_CODES } from './codes.ts'
import { decodedPast } from './decoding.ts'
import { editsOfFile } from './edits-of-file.ts'
import { hashesOf } from './file-hash.ts'
import type { Operation, PendingOutcome } from './operation.ts'
import { textsGone } from './texts-gone.ts'

export const makePending = (workspace: Workspace, reader: HistoryReader): Operation<PendingRequest> => ({
  id: 'pending_changes',
  route: '/pending',
  summary: 'Show what nobody has kept of a file yet',
  description: () =>
    'Compares a file with what was kept of it: each hunk with its lines, the edits that made it, and the changes to ' +
    'keep or take back.',
  hints: {},
  route_only: true,
  effect: 'looks',
  request: PendingRequestSchema,
  outcome: PendingResultSchema,
  codes: RECALL_CODES,
  expects_hash: false,
  expects_none: false,
  items: {},
  async call({ path, context_lines = DEFAULT_PENDING_CONTEXT, max_lines = DEFAULT_PENDING_LINES }) {
    const done = await workspace.recall({ path }, async read => {
      const file = await decodedPast(read)
      const { path, resolved_path, file_hash, bytes, changes, verdicts } = file
      const found = await reader.pending(bytes, { changes, verdicts, context_lines, max_lines })
      if (!found.ok) return fail(textsGone(found.failure, { to: 'pending', edit_ids: [] }))
      const { hunks, unseen } = found.value
      const named = [...hunks.flatMap(hunk => hunk.changes), ...unseen].map(({ edit_id }) => edit_id)
      const outcome: PendingOutcome = {
        path,
        resolved_path,
        exists: file_hash !== undefined,
        ...hashesOf(file_hash),
        ...found.value,
        edits: editsOfFile(file, new Set(named))
      }
      return ok(outcome)
    })
    return done.ok ? ok({ operation: 'pending', outcome: done.value }) : done
  }
})
