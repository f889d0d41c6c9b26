// /blame: who wrote the lines of a file, now or as it once was.
import { BlameRequestSchema, BlameResultSchema, DEFAULT_BLAMED_LINES, type BlameRequest } from '../../schemas/blame.ts'
import type { LineOutOfRange } from '../engine/failure.ts'
import { fail, ok } from '../result.ts'
import type { HistoryReader } from '../workers/history-reader.ts'
import type { FileFailure } from '../workspace/failure.ts'
import type { Workspace } from '../workspace/api.ts'
import { RECALL_CODES } from './codes.ts'
import { decodedPast } from './decoding.ts'
import { editsOfFile } from './edits-of-file.ts'
import { hashesOf } from './file-hash.ts'
import { sweptEdit } from './meant-edits.ts'
import type { BlameOutcome, EditSwept, Operation, OperationFailure, TextsGone } from './operation.ts'
import { textsGone } from './texts-gone.ts'

type BlameFailure = OperationFailure | LineOutOfRange | TextsGone | EditSwept | FileFailure

const notOfFile = fail<OperationFailure>({
  code: 'INVALID_REQUEST',
  faults: [{ pointer: '/at', reason: 'not_of_file' }]
})

export const makeBlame = (workspace: Workspace, reader: HistoryReader): Operation<BlameRequest> => ({
  id: 'blame_file',
  route: '/blame',
  summary: 'Show who wrote the lines of a file',
  description: () => 'Lists the lines of a file, now or as it was after an edit, each with the edits that wrote it.',
  hints: {},
  route_only: true,
  effect: 'looks',
  request: BlameRequestSchema,
  outcome: BlameResultSchema,
  codes: [...RECALL_CODES, 'LINE_OUT_OF_RANGE'],
  expects_hash: false,
  expects_none: false,
  items: {},
  async call({ path, limit = DEFAULT_BLAMED_LINES, ...range }) {
    const done = await workspace.recall<BlameOutcome, BlameFailure>({ path }, async read => {
      const file = await decodedPast(read)
      const { path, resolved_path, file_hash, bytes, changes, records } = file
      const { at } = range
      if (at !== undefined && records.every(({ edit_id }) => edit_id !== at)) {
        return (await sweptEdit(workspace, at, 'blame')) ?? notOfFile
      }
      const found = await reader.blame(bytes, { changes, limit, ...range })
      if (!found.ok) {
        const { failure } = found
        if (failure.code === 'LINE_OUT_OF_RANGE') return fail(failure)
        return fail(textsGone(failure, { to: 'blame', edit_ids: at === undefined ? [] : [at] }))
      }
      const outcome: BlameOutcome = {
        path,
        resolved_path,
        ...hashesOf(file_hash),
        at,
        ...found.value,
        edits: editsOfFile(file, new Set(found.value.lines.flatMap(({ edit_ids }) => edit_ids)))
      }
      return ok(outcome)
    })
    return done.ok ? ok({ operation: 'blame', outcome: done.value }) : done
  }
})
