// What an operation does: request → planner → workspace → outcome. Knows neither HTTP nor sentences.
import { posix } from 'node:path'
import type { TSchema } from 'typebox'
import { editRequest, SINGLE_FIELDS, TextEdit as TextEditSchema, type EditRequest } from '../schemas/edit.ts'
import { InspectRequestSchema, InspectResultSchema, type InspectRequest, type InspectResult } from '../schemas/inspect.ts'
import { EditResultSchema, type EditResult } from '../schemas/outcome.ts'
import { describe, type Description } from './engine/describe.ts'
import { unifiedDiff, type Diff } from './engine/diff.ts'
import { isBinary } from './engine/encoding.ts'
import { lineWindow, textFacts, type LineOutOfRange } from './engine/facts.ts'
import type { TextEdit, TextFailure } from './engine/failure.ts'
import type { LeftAlone } from './engine/plan.ts'
import { planTextEdits } from './engine/replace-text.ts'
import { fail, ok, type Result } from './result.ts'
import type { FileFailure } from './workspace/failure.ts'
import type { Planner, Workspace } from './workspace/workspace.ts'

/** What is wrong with a request that its schema can't say. */
export type OperationFailure =
  | { code: 'MIXED_MODES', fields: string[] }
  | { code: 'NO_EDITS' }
  | { code: 'INVALID_REQUEST', errors: { pointer: string, message: string }[] }

export type Failure = OperationFailure | TextFailure | FileFailure | LineOutOfRange

/** A failure, and what is known of the file that it concerns. */
export interface Failed { ok: false, failure: Failure, path?: string, resolved_path?: string, file_hash?: string }

/** What an answer says, but for its sentences: `left_alone` becomes the note. */
export type EditOutcome = Omit<EditResult, 'message' | 'note'> & { left_alone: LeftAlone[] }
export type InspectOutcome = Omit<InspectResult, 'message'>
export type Outcome = { operation: 'edit', outcome: EditOutcome } | { operation: 'inspect', outcome: InspectOutcome }

/** One operation, by all ways in which it can be called. */
export interface Operation<Request = never> {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly request: TSchema
  readonly outcome: TSchema
  /** Whether it takes expected_hash, and so If-Match. */
  readonly precondition: boolean
  /** Its fields that hold several objects, each with their schema. */
  readonly items: Record<string, TSchema>
  /**
   * `request` has passed the schema; a field with null counts as left out before that.
   * `hashes`: where the request has no expected_hash, the file has to have one of these, if there are any.
   */
  call (request: Request, hashes?: readonly string[]): Promise<{ ok: true, value: Outcome } | Failed>
}

export interface Operations { readonly edit: Operation<EditRequest>, readonly inspect: Operation<InspectRequest> }

/** `max_file_size` in bytes. */
export interface OperationLimits { max_edits: number, max_file_size: number }

const CONTEXT_LINES = 3
const DIFF_LINES = 100

/** The table of operations. */
export function makeOperations (workspace: Workspace, limits: OperationLimits): Operations {
  return {
    edit: {
      id: 'edit_file',
      summary: 'Replace exact text in a file',
      description: 'Replaces exact text, one or many edits, all or nothing. Inspect first, copy old_text from there and pass the file_hash on as expected_hash. If old_text fits several places, add context rather than count. Check changes in the answer; when in doubt, inspect again.',
      request: editRequest(limits.max_edits),
      outcome: EditResultSchema,
      precondition: true,
      items: { edits: TextEditSchema },
      call: (request, hashes = []) => editFile(workspace, limits, request, hashes)
    },
    inspect: {
      id: 'inspect_file',
      summary: 'Look at a file: facts and lines',
      description: 'Tells the size, hash, encoding, line endings and indentation of a file, and reads a window of lines (start_line, end_line). Call it before an edit: copy old_text from content and pass the file_hash on as expected_hash.',
      request: InspectRequestSchema,
      outcome: InspectResultSchema,
      precondition: false,
      items: {},
      call: request => inspectFile(workspace, request)
    }
  }
}

/** The edits of a request, in either mode. */
function editsOf (request: EditRequest): Result<TextEdit[], OperationFailure> {
  // `replace_all: false` is what it would be anyway: it is no sign of a mode.
  const single = SINGLE_FIELDS.filter(field => request[field] !== undefined && request[field] !== false)
  if (request.edits !== undefined && single.length > 0) return fail({ code: 'MIXED_MODES', fields: single })
  if (request.edits === undefined && single.length === 0) return fail({ code: 'NO_EDITS' })
  const { old_text, new_text, occurrences, replace_all, occurrence, edits } = request
  if (edits === undefined && (old_text === undefined || new_text === undefined)) {
    const missing = (['old_text', 'new_text'] as const).filter(field => request[field] === undefined)
    return fail({ code: 'INVALID_REQUEST', errors: missing.map(field => ({ pointer: `/${field}`, message: 'is missing' })) })
  }
  const list = edits ?? [{
    old_text: old_text ?? '',
    new_text: new_text ?? '',
    ...occurrences !== undefined && { occurrences },
    ...replace_all !== undefined && { replace_all },
    ...occurrence !== undefined && { occurrence }
  }]
  const errors = list.flatMap((edit, i) => edit.replace_all === true && edit.occurrence !== undefined
    ? [{ pointer: `${edits === undefined ? '' : `/edits/${i}`}/occurrence`, message: 'excludes replace_all: true; give one of them' }]
    : [])
  return errors.length > 0 ? fail({ code: 'INVALID_REQUEST', errors }) : ok(list)
}

async function editFile (workspace: Workspace, limits: OperationLimits, request: EditRequest, hashes: readonly string[]): Promise<{ ok: true, value: Outcome } | Failed> {
  const edits = editsOf(request)
  if (!edits.ok) return { ...edits, path: request.path }
  const dry_run = request.dry_run ?? false
  const shownPath = posix.relative(workspace.root, posix.resolve(workspace.root, request.path))
  const planner: Planner<Described, TextFailure> = original => {
    const planned = planTextEdits(original, edits.value, { line_endings: request.line_endings ?? 'adapt', max_result_size: limits.max_file_size })
    if (!planned.ok) return planned
    const { splices, pieces, edits_applied, left_alone } = planned.value
    return ok({
      pieces,
      description: {
        applied: { total_replacements: edits_applied.reduce((sum, { occurrences_replaced }) => sum + occurrences_replaced, 0), edits_applied },
        changes: describe(original, planned.value, { context_lines: request.context_lines ?? CONTEXT_LINES, dry_run }),
        diff: request.show_diff === true ? unifiedDiff(original, splices, { path: shownPath, max_lines: request.max_diff_lines ?? DIFF_LINES }) : {},
        left_alone
      }
    })
  }
  const expected_hash = request.expected_hash ?? await nowAmong(workspace, request.path, hashes)
  const edited = await workspace.edit({ path: request.path, ...expected_hash !== undefined && { expected_hash } }, { dry_run }, planner)
  if (!edited.ok) return edited
  const { path, resolved_path, changed, file_size, hash_before, file_hash, new_hash, write_strategy, warnings, description } = edited.value
  return ok({
    operation: 'edit',
    outcome: {
      path,
      ...resolved_path !== undefined && { resolved_path },
      changed,
      dry_run,
      ...description.applied,
      ...description.changes,
      file_size,
      hash_before,
      file_hash,
      ...dry_run && { new_hash },
      ...write_strategy !== undefined && { write_strategy },
      ...description.diff,
      left_alone: description.left_alone,
      warnings
    }
  })
}

/** What is said of a plan before it is carried out. */
interface Described {
  applied: Pick<EditOutcome, 'total_replacements' | 'edits_applied'>
  changes: Description
  diff: Diff | Record<string, never>
  left_alone: LeftAlone[]
}

/** Of several hashes that would do, the one that the file has now: the workspace compares it again, under the lock. */
async function nowAmong (workspace: Workspace, path: string, hashes: readonly string[]): Promise<string | undefined> {
  if (hashes.length < 2) return hashes[0]
  const { file_hash } = await workspace.read({ path }).then(read => read.ok ? read.value : read)
  return hashes.find(hash => hash === file_hash) ?? hashes[0]
}

async function inspectFile (workspace: Workspace, request: InspectRequest): Promise<{ ok: true, value: Outcome } | Failed> {
  const { path: asked, ...wanted } = request
  const read = await workspace.read({ path: asked })
  if (!read.ok) return read
  const { bytes, encoding, modified_at, path, resolved_path, file_hash } = read.value
  const facts = {
    path,
    ...resolved_path !== undefined && { resolved_path },
    type: 'file' as const,
    file_size: bytes.length,
    file_hash,
    encoding,
    modified_at: modified_at.toISOString()
  }
  if (isBinary(encoding)) return ok({ operation: 'inspect', outcome: facts })
  const text = textFacts(bytes, resolved_path ?? path)
  if (Object.keys(wanted).length === 0) return ok({ operation: 'inspect', outcome: { ...facts, ...text } })
  const window = lineWindow(bytes, wanted, text.total_lines)
  if (!window.ok) return { ...window, path, file_hash, ...resolved_path !== undefined && { resolved_path } }
  return ok({ operation: 'inspect', outcome: { ...facts, ...text, ...window.value } })
}
