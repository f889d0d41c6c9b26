// /create: makes a new file, or replaces a whole file for a caller who knows its content.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { CreateRequestSchema, type CreateRequest } from '../../schemas/create.ts'
import { CreateResultSchema } from '../../schemas/outcome.ts'
import { ok } from '../result.ts'
import type { FileChanged, Workspace } from '../workspace/api.ts'
import {
  carryOut,
  type FileOperation,
  keyedBy,
  noteChange,
  outcomeOf,
  type Planning,
  plannerFor,
  targetOf
} from './file-operation.ts'
import { CHANGE_CODES } from './codes.ts'
import { replacingEncoding } from './decoding.ts'
import { CHANGE_HINTS, fieldsBut } from './hints.ts'
import type { ChangedOutcome } from './operation.ts'
import { withHowRemoved } from './removals.ts'
import type { Reported } from './syntax-guard.ts'

export const makeCreate = (workspace: Workspace, planning: Planning): FileOperation<CreateRequest> => {
  const prepare: FileOperation<CreateRequest>['prepare'] = (request, context) => {
    const target = {
      ...targetOf(request),
      if_none_match: context.if_none_match,
      overwrite: request.overwrite ?? false,
      create_parents: request.create_parents ?? true,
      ...(request.literal_path === true && { name: 'literal' as const })
    }
    const planner = replacingEncoding(
      plannerFor(planning, request, {
        operation: 'create',
        content: request.content,
        line_endings: request.line_endings ?? 'adapt'
      })
    )
    const answer = (done: FileChanged<Reported>): ChangedOutcome => ({
      operation: 'create',
      outcome: outcomeOf(request, done, { created: done.created === true })
    })
    const step = { operation: 'create', target, plan: planner } as const
    return ok({
      operation: 'create',
      steps: [step],
      answer: ([done]) => {
        noteChange(planning.reads, context, done!)
        return answer(done!)
      },
      explained: failed => withHowRemoved(workspace, failed, context)
    })
  }
  return {
    id: 'create_file',
    route: '/create',
    summary: 'Create a new file',
    description: ({ edit }) =>
      'Creates a file, and missing directories; fails if the file exists. ' +
      `To change part of a file use ${edit}. ` +
      'To replace a whole file, inspect it first, then send overwrite: true with its file_hash as expected_hash.',
    hints: CHANGE_HINTS,
    tool_fields: fieldsBut(CreateRequestSchema, 'literal_path'),
    effect: 'makes',
    request: CreateRequestSchema,
    outcome: CreateResultSchema,
    codes: [...CHANGE_CODES, 'ALREADY_EXISTS'],
    expects_hash: true,
    expects_none: true,
    items: {},
    call_fields: CALL_FIELDS,
    keyed: keyedBy(workspace),
    prepare,
    call: (request, context = {}) => carryOut(workspace, request, context, prepare(request, context))
  }
}
