// /edit-section: changes a section or code block of a Markdown document, or a symbol of a source file, by its name.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { EditSectionRequestSchema, type EditSectionRequest } from '../../schemas/edit-section.ts'
import { EditSectionResultSchema } from '../../schemas/outcome.ts'
import type { LineFailure, SectionFailure, Target } from '../engine/failure.ts'
import type { LineEdit } from '../engine/edit/request.ts'
import { OUTLINED } from '../engine/outline/outlined.ts'
import type { SectionRequest, PlannedSection, Section, UnfitSection } from '../engine/plan/plan-section.ts'
import type { SyntaxCheck } from '../engine/syntax/new-fault.ts'
import type { Outliner } from '../workers/outline.ts'
import { fail, ok, type Result } from '../result.ts'
import type { FileChanged, Planner, Workspace } from '../workspace/api.ts'
import {
  carryOut,
  type FileOperation,
  keyedBy,
  outcomeOf,
  plannerFor,
  type Planning,
  preparedEdit
} from './file-operation.ts'
import { CHANGE_CODES } from './codes.ts'
import { CHANGE_HINTS, fieldsBut } from './hints.ts'
import type { CallFailure, ChangedOutcome, FieldFault, FixedFault, OperationFailure } from './operation.ts'
import { outlined } from './outlining.ts'
import type { Reported } from './syntax-guard.ts'

type PlanFailure = Extract<OperationFailure, { code: 'INVALID_REQUEST' }> | SectionFailure | LineFailure

export const makeEditSection = (
  workspace: Workspace,
  planning: Planning,
  outliner: Outliner
): FileOperation<EditSectionRequest> => {
  const prepare: FileOperation<EditSectionRequest>['prepare'] = (request, context) => {
    const target = targetIn(request)
    if (!target.ok) return { ...target, path: request.path }
    if (outliner.full) return { ...fail({ code: 'NOT_READY', reason: 'parsing', retry_after: 1 }), path: request.path }
    const { at_line, action, new_text = '', line_endings = 'adapt', include_heading, include_comment } = request
    const sectionRequest: Omit<SectionRequest, 'max_result_size'> = {
      target: target.value,
      at_line,
      action,
      new_text,
      include_heading,
      include_comment,
      line_endings
    }
    let section: Section | undefined
    const planner: Planner<Reported, CallFailure> = async (original, file) => {
      const path = file.resolved_path ?? file.path
      const { max_result_size = planning.limits.max_file_size } = file
      const planned = await plan(outliner, path, original, { ...sectionRequest, max_result_size })
      if (!planned.ok) {
        const { failure } = planned
        return file.stale === undefined || failure.code === 'INVALID_REQUEST'
          ? planned
          : fail({ ...file.stale, now: { fits: false, failure } })
      }
      section = planned.value.section
      const { edit, syntax } = planned.value
      // Code is parsed in any case, so a warning costs nothing.
      return plannerFor(
        planning,
        { ...request, syntax: request.syntax ?? 'warn' },
        { operation: 'edit_lines', edits: [edit], line_endings, by_name: true },
        { known: syntax }
      )(original, file)
    }
    const answer = (done: FileChanged<Reported>): ChangedOutcome => ({
      operation: 'edit_section',
      outcome: outcomeOf(request, done),
      // Nothing is edited without a plan, so the section is set here.
      section: section!
    })
    return preparedEdit('edit_section', request, context, { workspace, planning, planner, answer })
  }
  return {
    id: 'edit_section',
    route: '/edit-section',
    summary: 'Change a section, code block or symbol by its name',
    description: ({ inspect }) =>
      'Replaces, deletes or extends a whole section or code block of a Markdown document, or a function, class or ' +
      'other symbol of a source file, by its name. ' +
      `${inspect} with structure: true lists the names; pass its file_hash on as expected_hash. ` +
      'Check changes in the answer.',
    hints: {
      ...CHANGE_HINTS,
      action: 'append, prepend: inside the target. insert_…: beside it.',
      heading: 'Its text, or a path such as Guide > Setup. Send one of heading, code_block, symbol.',
      symbol: 'Name or path, such as Parser.parse.',
      at_line: 'If several match, the one with this line.',
      include_heading: 'replace: also the heading line, or the fences.',
      include_comment: 'replace, delete: also the doc comment.'
    },
    tool_fields: fieldsBut(EditSectionRequestSchema, 'on_stale'),
    effect: 'changes',
    request: EditSectionRequestSchema,
    outcome: EditSectionResultSchema,
    codes: [...CHANGE_CODES, 'TARGET_NOT_FOUND', 'AMBIGUOUS_TARGET', 'UNSUPPORTED_TARGET'],
    expects_hash: true,
    expects_none: false,
    items: {},
    call_fields: CALL_FIELDS,
    keyed: keyedBy(workspace),
    prepare,
    call: (request, context = {}) => carryOut(workspace, request, context, prepare(request, context))
  }
}

/** `syntax`: what parsing has shown, if the file is code. */
interface Planned {
  edit: LineEdit
  section: Section
  syntax?: SyntaxCheck
}

/** The line edit that the request means, planned in the thread that parses the file. */
async function plan(
  outliner: Outliner,
  path: string,
  original: Buffer,
  sectionRequest: SectionRequest
): Promise<Result<Planned, PlanFailure>> {
  const { target, action } = sectionRequest
  const wanted = target.symbol === undefined ? 'document' : 'code'
  const planned = await outlined(path, original, wanted, language =>
    outliner.section(original, language, sectionRequest)
  )
  if (!planned.ok) return planned
  if (!planned.value.ok) {
    const { failure } = planned.value
    if (failure.code === 'REFUSED') return fail(refused(failure))
    if (failure.code !== 'STRAY') return fail(failure)
    const pointer = action === 'delete' ? '/action' : '/new_text'
    return fail({ code: 'INVALID_REQUEST', pointer, stray: failure.stray })
  }
  const { faults, ...made } = planned.value.value
  return ok({ ...made, syntax: faults && syntaxOf(faults) })
}

/** What an edit of code did to its syntax. */
function syntaxOf({ before, after }: NonNullable<PlannedSection['faults']>): SyntaxCheck {
  if (before !== undefined) return { found: 'errors_before' }
  return after === undefined ? { found: 'nothing' } : { found: 'fault', fault: after }
}

const invalid = (...faults: FieldFault[]) => ({ code: 'INVALID_REQUEST' as const, faults })

function refused({ reason, entry }: Extract<UnfitSection, { code: 'REFUSED' }>): PlanFailure {
  if (reason === 'closes_fence') return invalid({ pointer: '/new_text', reason, line: entry.start_line })
  return { code: 'UNSUPPORTED_TARGET', reason, entry, languages: OUTLINED }
}

/** The target of a request, with the fields that belong to it. */
function targetIn(request: EditSectionRequest): Result<Target, OperationFailure> {
  const { action, new_text, heading, code_block, symbol, include_heading, include_comment } = request
  const target = {
    ...(heading !== undefined && { heading }),
    ...(code_block !== undefined && { code_block }),
    ...(symbol !== undefined && { symbol })
  }
  const [first, ...others] = Object.keys(target)
  const faults: FieldFault[] =
    first === undefined
      ? [{ pointer: '', reason: 'no_target' }]
      : others.map(field => ({ pointer: `/${field}`, reason: 'second_target', other: first }))
  const find = (wrong: boolean, field: string, reason: FixedFault) => {
    if (wrong) faults.push({ pointer: `/${field}`, reason })
  }
  const replaces = action === 'replace'
  const deletes = action === 'delete'
  find(code_block !== undefined && Object.keys(code_block).length === 0, 'code_block', 'empty_target')
  find(deletes && new_text !== undefined && new_text !== '', 'new_text', 'text_to_delete')
  find(!deletes && new_text === undefined, 'new_text', 'missing')
  find(include_heading === true && (!replaces || symbol !== undefined), 'include_heading', 'heading_not_replaced')
  find(
    include_comment === true && ((!replaces && !deletes) || symbol === undefined),
    'include_comment',
    'comment_not_replaced'
  )
  return faults.length > 0 ? fail(invalid(...faults)) : ok(target)
}
