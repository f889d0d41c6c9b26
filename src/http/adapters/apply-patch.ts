// The apply_patch tools of OpenAI and codex: each call runs our operation of that name, all files or none. Does not
// know how a diff is applied, or routes.
import { ApplyPatchCall, ApplyPatchOperation, CodexPatch } from '../../../schemas/adapters.ts'
import { MAX_BATCH_FILES } from '../../../schemas/batch.ts'
import type { PatchFile } from '../../../schemas/apply-patch.ts'
import type { Problem } from '../../../schemas/problem.ts'
import { type FilePatch, parsePatch, writePatch } from '../../engine/patch/envelope.ts'
import { type PatchForm, turnDiff, turnPatch, withoutGitHeader } from '../../engine/patch/forms.ts'
import type { Operations } from '../../operations.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { CallSyntax } from '../answers/call-names.ts'
import { shownDiffs } from '../answers/problems/hunks.ts'
import { below } from '../answers/brief/layout.ts'
import type { CallAnswer, Done } from '../call.ts'
import { invalidField, type Failure, type RequestFailure } from '../request-failure.ts'
import {
  type Adapter,
  type AdapterAnswer,
  type AdapterContext,
  carryOutOwn,
  completed,
  failed,
  isDone,
  type OwnCall,
  refusedCall
} from './adapter.ts'
import { bodyReader } from './body-reader.ts'

/**
 * Names for a model that has only this editing tool: one call, the patch itself, and reading tools that aren't ours.
 */
export const BY_PATCH: CallSyntax = {
  edit: 'apply_patch',
  create: 'apply_patch',
  inspectWith: () => undefined,
  field: name => (name === 'old_text' ? 'the old lines' : 'the new lines'),
  takes: () => false,
  write: () => undefined,
  pathShown: path => path
}

/** How what was sent is read. */
const UNDERSTOOD: Record<PatchForm, string> = {
  indented: 'All lines were indented; the white space that they begin with was left out.',
  escaped_breaks: 'The text had "\\n" for its line breaks; it was read as lines.',
  more_envelopes: 'Several patches were sent as one; they are read as one: all files or none.',
  git_header: 'The lines of git before the first @@ were left out.'
}

type OpenAiOperation = { type: 'create_file' | 'update_file' | 'delete_file'; path: string; diff?: string }

/** OpenAI's `{type: "apply_patch"}`: one file per call. */
export function openAiApplyPatch(operations: Operations): Adapter {
  const readBody = bodyReader<{ operation: OpenAiOperation }>(ApplyPatchCall, { operation: ApplyPatchOperation })
  const read = (body: unknown): Result<OwnCall, Failure> => {
    const fields = readBody(body)
    if (!fields.ok) return fields
    const forms: PatchForm[] = []
    const file = fileOf(fields.value.operation, forms)
    if (!file.ok) return file
    return ok({
      operation: operations.apply_patch,
      body: { files: [file.value] },
      sentNames: OPENAI_NAMES,
      understood: forms.map(form => UNDERSTOOD[form])
    })
  }
  return {
    id: 'openai_apply_patch',
    route: '/adapters/openai-apply-patch',
    summary: "Carry out an apply_patch_call of OpenAI's Responses API",
    description:
      'Takes the whole item as it came. Give the model status and output as an apply_patch_call_output with this ' +
      'call_id. A diff is applied only where its lines are exactly and once.',
    request: ApplyPatchCall,
    echo: callIdOf,
    async answer(body, context) {
      const answer = await patched(read(body), context, messagesOf)
      return { ...answer, body: { ...answer.body, ...callIdOf(body) } }
    }
  }
}

const OPENAI_NAMES = new Map([
  ['/files', '/operation'],
  ['/files/0', '/operation'],
  ['/files/0/path', '/operation/path'],
  ['/files/0/diff', '/operation/diff']
])

function callIdOf(body: unknown): { call_id?: string } {
  const { call_id } = { ...(body as object) } as { call_id?: unknown }
  return typeof call_id === 'string' ? { call_id } : {}
}

/** The file of an operation. Adds to `forms` those in which its diff was written. */
function fileOf({ type, path, diff }: OpenAiOperation, forms: PatchForm[]): Result<PatchFile, RequestFailure> {
  if (type === 'delete_file') {
    return diff === undefined
      ? ok({ operation: 'delete', path })
      : invalidField('/operation/diff', 'is not used by delete_file; leave it out')
  }
  if (diff === undefined) return invalidField('/operation/diff', 'is missing')
  if (type === 'update_file') {
    const turned = turnDiff(diff)
    forms.push(...turned.forms)
    return ok({ operation: 'update', path, ...diffOf({ path, diff: turned.text }, forms) })
  }
  const whole = diffOf({ path, diff, isNew: true }, forms)
  // OpenAI puts a break between the lines, so an empty last one only ends the line before.
  return ok({ operation: 'create', path, ...whole, diff: whole.diff.replace(/(^|\n)\+\r?\n?$/, '$1') })
}

/** The diff of a file without git's header, and its first line. Adds to `forms` if it had one. */
function diffOf(
  { diff, first_line = 1, ...file }: { path: string; diff: string; first_line?: number; isNew?: boolean },
  forms: PatchForm[]
): { diff: string; first_line: number } {
  const bare = withoutGitHeader(diff, file)
  if (bare === null) return { diff, first_line }
  if (!forms.includes('git_header')) forms.push('git_header')
  return { diff: bare.diff, first_line: first_line + bare.lines }
}

/** codex's patches: many files, from `*** Begin Patch` to `*** End Patch`. */
export function codexApplyPatch(operations: Operations): Adapter {
  const readBody = bodyReader<{ input: string }>(CodexPatch)
  const read = (body: unknown): Result<{ files: FilePatch[]; forms: PatchForm[] }, Failure> => {
    const fields = readBody(body)
    if (!fields.ok) return fields
    const { text, forms } = turnPatch(fields.value.input)
    const parsed = parsePatch(text)
    if (!parsed.ok) {
      const fault = { pointer: '/input', reason: 'unreadable_patch', fault: parsed.failure } as const
      return fail({ code: 'INVALID_REQUEST', faults: [fault] })
    }
    const files = parsed.value.map(file =>
      file.kind === 'delete' ? file : { ...file, ...diffOf({ ...file, isNew: file.kind === 'create' }, forms) }
    )
    return ok({ files, forms })
  }
  return {
    id: 'codex_apply_patch',
    route: '/adapters/codex-apply-patch',
    summary: "Apply a patch in the format of codex's apply_patch",
    description:
      'Takes {"input": patch}, or the patch itself as text/plain. All files of it are changed, or none. A hunk is ' +
      'applied only where its lines are exactly and once. Give the model output.',
    request: CodexPatch,
    bodyOfText: input => ({ input }),
    async answer(body, context) {
      const patch = read(body)
      if (!patch.ok) return patched(patch, context, summaryOf)
      const { files, forms } = patch.value
      const call = {
        operation: operations.apply_patch,
        body: { files: files.map(patchFile) },
        sentNames: codexNames(Math.min(files.length, MAX_BATCH_FILES)),
        understood: forms.map(form => UNDERSTOOD[form])
      }
      const answer = await patched(ok(call), context, summaryOf)
      const { problem, output } = answer.body
      return problem === undefined
        ? answer
        : { ...answer, body: { ...answer.body, output: withWholePatches(output, problem, files) } }
    }
  }
}

/**
 * Makes whole patches of the last diffs in a text, those of the first file that has any. A whole patch covers all
 * files; if there is exactly one place for other failing diffs, it has them corrected too.
 */
function withWholePatches(text: string, problem: Problem, files: readonly FilePatch[]): string {
  const all = [problem, ...(problem.other_failures ?? [])].map(({ operation_index = 0, suggested_fixes = [] }) => ({
    operation_index,
    diffs: suggested_fixes.flatMap(({ diff }) => (diff === undefined ? [] : [{ diff }]))
  }))
  const last = all.find(({ diffs }) => diffs.length > 0)
  const corrected = new Map(
    all.flatMap(({ operation_index, diffs: [one, ...more] }) =>
      one === undefined || more.length > 0 ? [] : [[operation_index, one.diff] as const]
    )
  )
  let whole = text
  let end = text.length
  // Searched from the end, since one diff may contain the lines of an earlier one.
  for (const { diff } of shownDiffs(last?.diffs ?? []).toReversed()) {
    const shown = diff.replace(/\n$/, '')
    const start = whole.lastIndexOf(shown, end - shown.length)
    if (start === -1) continue
    corrected.set(last!.operation_index, diff)
    const patch = writePatch(files.map((file, i) => withDiff(file, corrected.get(i))))
    whole = `${whole.slice(0, start)}${patch.trimEnd()}${whole.slice(start + shown.length)}`
    end = start
  }
  return whole
}

const withDiff = (file: FilePatch, diff: string | undefined): FilePatch =>
  diff === undefined || file.kind === 'delete' ? file : { ...file, diff }

/** Every failure is about the one text that was sent, whichever file it concerns. */
const codexNames = (files: number): Map<string, string> =>
  new Map(
    Array.from({ length: files }, (_, i) => ['', '/path', '/diff', '/move_to'].map(field => `/files/${i}${field}`))
      .flat()
      .map(pointer => [pointer, '/input'])
  )

const patchFile = (file: FilePatch): PatchFile => {
  switch (file.kind) {
    case 'create':
      return { operation: 'create', path: file.path, diff: file.diff, first_line: file.first_line }
    case 'delete':
      return { operation: 'delete', path: file.path }
    case 'update':
      return {
        operation: 'update',
        path: file.path,
        ...(file.diff !== '' && { diff: file.diff, first_line: file.first_line }),
        ...(file.move_to !== undefined && { move_to: file.move_to })
      }
  }
}

const LETTERS = { create: 'A', update: 'M', move: 'M', delete: 'D' }

/** What was done to each file, a sentence per line. */
const messagesOf = ({ body }: Done): string =>
  'results' in body
    ? below(...body.results.map(result => ('message' in result ? result.message : undefined)))
    : body.message

/** The summary in codex's format; files that already had this content aren't listed. */
function summaryOf({ body, value }: Done): string {
  const results = value.operation === 'apply_patch' ? value.outcome.results : []
  const changed = results.filter(({ outcome }) => outcome.changed)
  if (changed.length === 0) return body.message
  return below(
    'Success. Updated the following files:',
    ...changed.map(({ operation, outcome }) => `${LETTERS[operation]} ${outcome.path}`)
  )
}

async function patched(
  call: Result<OwnCall, Failure>,
  context: AdapterContext,
  outputOf: (answer: Done) => string
): Promise<AdapterAnswer> {
  if (!call.ok) {
    const answer = refusedCall(call.failure, BY_PATCH, context)
    return failed(answer, answer.text())
  }
  const answer: CallAnswer = await carryOutOwn(call.value, BY_PATCH, context)
  if (!isDone(answer)) return failed(answer, answer.text())
  const warnings = (answer.body.warnings ?? []).map(warning => `Warning: ${warning}`)
  return completed(answer, below(outputOf(answer), ...warnings))
}
