// /edit-section: a section or code block of a Markdown document, or a symbol of a source file, is changed by its name.
import { CALL_FIELDS } from '../../schemas/change-fields.ts'
import { EditSectionRequestSchema, type EditSectionRequest } from '../../schemas/edit-section.ts'
import { EditSectionResultSchema } from '../../schemas/outcome.ts'
import type { BrokenSyntax, LineFailure, OutlineEntry, SectionFailure, Target } from '../engine/failure.ts'
import type { LineEdit } from '../engine/edit/request.ts'
import type { LineEndings } from '../engine/text/eol.ts'
import { LineTable } from '../engine/text/lines.ts'
import { OUTLINED } from '../engine/outline/outlined.ts'
import type { Outline } from '../engine/outline/outline.ts'
import { droppedMark } from '../engine/outline/dropped.ts'
import { repeatedIn } from '../engine/outline/repeated.ts'
import { linesPutIn, withLinesAsSent } from '../engine/outline/string-lines.ts'
import { findTarget, outlineEntryOf } from '../engine/outline/target.ts'
import { planLineEdits } from '../engine/plan/replace-lines.ts'
import { planSectionEdit, strayItem } from '../engine/plan/replace-section.ts'
import { type Refusal } from '../engine/outline/section-edit.ts'
import type { SyntaxCheck } from '../engine/syntax/new-fault.ts'
import type { TaskFailure } from '../engine/task.ts'
import type { Outliner } from '../workers/outline.ts'
import { fail, ok, type Result } from '../result.ts'
import type { StaleFile } from '../workspace/failure.ts'
import type { BatchStepDone, Planner, Workspace } from '../workspace/workspace.ts'
import { carryOut, type FileOperation, keyedBy, outcomeOf, plannerFor, type Planning, preparedEdit } from './change.ts'
import { CHANGE_CODES } from './codes.ts'
import { CHANGE_HINTS } from './hints.ts'
import type { ChangedOutcome, FieldFault, FixedFault, OperationFailure, Section } from './operation.ts'
import { outlineOf } from './outlining.ts'
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
    const options = { line_endings: request.line_endings ?? 'adapt', max_result_size: planning.limits.max_file_size }
    let section: Section | undefined
    const planner: Planner<Reported, PlanFailure | TaskFailure | BrokenSyntax | StaleFile> = async (original, file) => {
      const path = file.resolved_path ?? file.path
      const planned = await plan(outliner, path, original, request, target.value, options)
      if (!planned.ok) {
        const { failure } = planned
        return file.stale === undefined || failure.code === 'INVALID_REQUEST'
          ? planned
          : fail({ ...file.stale, now: { fits: false, failure } })
      }
      section = planned.value.section
      const { edit, syntax } = planned.value
      // Code is parsed anyway, so that a warning costs nothing.
      return plannerFor(
        planning,
        { ...request, syntax: request.syntax ?? 'warn' },
        { operation: 'edit_lines', edits: [edit], line_endings: options.line_endings, by_name: true },
        syntax
      )(original, file)
    }
    const answer = (done: BatchStepDone<Reported>): ChangedOutcome => ({
      operation: 'edit_section',
      outcome: outcomeOf(request, done, {}),
      // Without a plan nothing is edited.
      section: section!
    })
    return preparedEdit('edit_section', request, context, { workspace, planner, answer })
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

/**
 * How often a result is parsed at most: as indented, which shows its strings, and with these as they were sent. A heredoc
 * whose end was indented seems to go on to the end of the file, so that only the second time shows its lines.
 */
const MOST_TRIES = 3

interface Options {
  line_endings: LineEndings
  max_result_size: number
}
/** `syntax`: of code, what parsing it has shown. */
interface Planned {
  edit: LineEdit
  section: Section
  syntax?: SyntaxCheck
}

/**
 * The edit of lines that the request comes to. What it makes of the rest of the outline is looked at before anything is
 * written: a Markdown document's stays as it is.
 */
async function plan(
  outliner: Outliner,
  path: string,
  original: Buffer,
  request: EditSectionRequest,
  target: Target,
  options: Options
): Promise<Result<Planned, PlanFailure>> {
  const wanted = target.symbol === undefined ? 'document' : 'code'
  const outline = await outlineOf(outliner, path, original, wanted)
  if (!outline.ok) return outline
  const before = outline.value
  const found = findTarget(before, target, request.at_line)
  if (!found.ok) return found
  const entry = outlineEntryOf(found.value)
  const { action, new_text = '' } = request
  const repeated = action === 'replace' ? repeatedIn(original, found.value, new_text) : undefined
  const dropped = action === 'replace' ? droppedMark(original, found.value, new_text) : undefined
  const {
    include_heading = repeated === 'heading' || repeated === 'fences',
    include_comment = repeated === 'comment' || action === 'delete'
  } = request
  /** `string_lines`: of the result, which stay as they were sent. */
  const attempt = async (
    apart: boolean,
    string_lines: readonly number[] = [],
    tries = MOST_TRIES
  ): Promise<Result<Planned, PlanFailure>> => {
    const made = planSectionEdit(
      original,
      before,
      found.value,
      { action, new_text, include_heading, include_comment },
      { ...options, apart }
    )
    if (!made.ok) return fail(refused(made.failure, entry))
    const edit = withLinesAsSent(made.value, new_text, string_lines)
    const trial = planLineEdits(original, [edit], options)
    if (!trial.ok) return trial
    const result = Buffer.concat(trial.value.pieces)
    const after = await outlineOf(outliner, path, result, wanted, linesPutIn(edit))
    if (!after.ok) return after
    if (after.value.type === 'code' && tries > 1) {
      const seen = after.value.string_lines!
      if (withLinesAsSent(made.value, new_text, seen).new_text !== edit.new_text) return attempt(apart, seen, tries - 1)
    }
    const stray = strayItem(before, after.value, edit, new LineTable(result).total - new LineTable(original).total)
    const section = {
      entry,
      ...(repeated !== undefined && (include_heading || include_comment) && { repeated }),
      ...(dropped !== undefined && { dropped: { mark: dropped } }),
      ...(action === 'delete' &&
        include_comment &&
        entry.comment_start_line !== undefined && { with_comment: true as const }),
      errors_before: before.type === 'code' ? before.syntax_error_lines : [],
      ...(stray !== undefined && { stray: { reason: stray.reason, entry: outlineEntryOf(stray.item) } })
    }
    if (before.type === 'code') return ok({ edit, section, syntax: syntaxOf(before, after.value) })
    if (stray === undefined) return ok({ edit, section })
    // Two paragraphs that touch are one, and so are a text and the heading that is underlined below it.
    if (!apart) return attempt(true)
    return fail({
      code: 'INVALID_REQUEST',
      pointer: action === 'delete' ? '/action' : '/new_text',
      stray: section.stray!
    })
  }
  return attempt(false)
}

/** What an edit of code did to its syntax, by the outlines before and after. */
function syntaxOf(before: Outline & { type: 'code' }, after: Outline): SyntaxCheck {
  if (before.fault !== undefined) return { found: 'errors_before' }
  return 'fault' in after && after.fault !== undefined ? { found: 'fault', fault: after.fault } : { found: 'nothing' }
}

const invalid = (...faults: FieldFault[]) => ({ code: 'INVALID_REQUEST' as const, faults })

function refused(reason: Refusal, entry: OutlineEntry): PlanFailure {
  if (reason === 'closes_fence') return invalid({ pointer: '/new_text', reason, line: entry.start_line })
  return { code: 'UNSUPPORTED_TARGET', reason, entry, languages: OUTLINED }
}

/** The one target of a request, with the fields that belong to it. */
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
