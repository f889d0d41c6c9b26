// A success as text for a model: what was done or found, the lines in question, the hash, and nothing else. Does not
// know problems.
import type { BatchResult } from '../../../../schemas/batch.ts'
import type { HistoryResult, ListedEdit } from '../../../../schemas/history.ts'
import type { InspectResult } from '../../../../schemas/inspect.ts'
import type { ReplaceResult } from '../../../../schemas/replace.ts'
import type { RedoResult, UndoResult } from '../../../../schemas/undo.ts'
import type { ChangeResult } from '../../../../schemas/outcome.ts'
import type { RemovedLines } from '../../../engine/report/changed-lines.ts'
import type {
  BatchOutcome,
  ChangedOutcome,
  InspectOutcome,
  Outcome,
  SearchedText,
  UndoOutcome
} from '../../../operations/operation.ts'
import { BY_ROUTE, type CallSyntax, pathShown, type ToolCall } from '../call-names.ts'
import { counted, cut, linesListed, quote, sentences, span, timesOn } from '../phrases.ts'
import { oneLineAtATime } from '../inspect-outcome.ts'
import type { AnswerBody } from '../outcome.ts'
import { briefFound, numberedMatches } from './found.ts'
import { briefReplaced } from './replaced.ts'
import { below, hashLine, linesChanged, linesOf, manyFiles, numbered, outlineLines } from './layout.ts'

/** The text of a success. `body` is its JSON, `made` the call, `naming` the caller's names. */
export function briefOutcome(value: Outcome, body: AnswerBody, made: ToolCall, naming: CallSyntax = BY_ROUTE): string {
  const warnings = (body.warnings ?? []).map(warning => `Warning: ${warning}`)
  switch (value.operation) {
    case 'inspect':
      return below(
        inspected({ ...value.outcome, path: (body as InspectResult).path }, value.searched, { made, naming }),
        ...warnings
      )
    case 'find':
      return below(briefFound(value, made, naming), ...warnings)
    case 'history':
      return below(briefHistory(body as HistoryResult, made, naming), ...warnings)
    case 'undo':
    case 'redo':
      return below(briefUndo(value.outcome, body as UndoResult | RedoResult, naming), ...warnings)
    case 'batch':
      return below(briefBatch(value.outcome, body as BatchResult, naming), ...warnings)
    case 'replace':
      return below(briefReplaced(body as ReplaceResult, naming), ...warnings)
    case 'apply_patch':
    case 'review':
    case 'pending':
    case 'blame':
    case 'changes':
      return below(body.message, ...warnings)
    default:
      return briefChange(value, body as ChangeResult, warnings, naming)
  }
}

function briefChange(
  value: ChangedOutcome,
  body: Omit<ChangeResult, 'dry_run'>,
  warnings: string[],
  naming: CallSyntax
): string {
  const { message, file_hash, edit_id, note, diff, diff_truncated, diff_unavailable, files, batch_id } = body
  // The caller has just sent every line of a created file.
  const { changed, dry_run, removed_lines } = value.outcome
  const lines = value.operation === 'create' || !changed ? '' : linesChanged(value.outcome)
  return below(
    sentences(
      message,
      files === undefined || batch_id === undefined ? '' : `batch_id: ${batch_id}`,
      hashLine(file_hash, naming, edit_id)
    ),
    dry_run && files !== undefined ? filesShown(files, naming) : '',
    diff?.trimEnd() ?? below(lines, removed_lines && removed(removed_lines, dry_run)),
    diff_truncated === true ? 'The diff is cut here.' : '',
    diff_unavailable,
    note,
    ...warnings
  )
}

/** The most files of a directory that a text lists. */
const FILES = 20

/** The files of a directory that would be deleted or moved, by their present paths. */
function filesShown(files: NonNullable<ChangeResult['files']>, naming: CallSyntax): string {
  const shown = files.slice(0, FILES).map(({ path, moved_from = path }) => pathShown(naming, moved_from))
  return below(...shown, files.length > FILES ? `and ${files.length - FILES} more` : '')
}

/** Removed lines, with the numbers they had. */
function removed({ lines, total }: RemovedLines, dry_run: boolean): string {
  const part = lines.length < total ? ` (${lines.length} of ${counted(total, 'line')})` : ''
  return below(`What ${dry_run ? 'would be' : 'was'} removed${part}:`, numbered(lines))
}

/** What each operation did. Shows each file's hash once; the batch's id stands for those of its edits. */
function briefBatch(
  { results: outcomes }: BatchOutcome,
  { message, batch_id, results }: BatchResult,
  naming: CallSyntax
): string {
  const each = results.map(({ file_hash, edit_id: _, ...body }, i) => {
    const isLast = results.findLastIndex(({ path }) => path === body.path) === i
    const warnings = body.warnings.map(warning => `Warning: ${warning}`)
    const shown = { ...body, ...(isLast && file_hash !== undefined && { file_hash }) }
    return briefChange(outcomes[i]!, shown, warnings, naming)
  })
  return below(sentences(message, batch_id === undefined ? '' : `batch_id: ${batch_id}`), ...each)
}

/** The text of a replayed answer. */
export const briefReplay = (text: string): string =>
  below('This was done before under the same idempotency_key; nothing was done again. The answer was:', text)

/** A call that looked, and its caller's names. */
interface Looked {
  made: ToolCall
  naming: CallSyntax
}

function inspected(outcome: InspectOutcome, searched: SearchedText | undefined, looked: Looked): string {
  return outcome.type === 'directory' ? listing(outcome, looked) : file(outcome, searched, looked)
}

function listing({ path, entries = [], next_entry }: InspectOutcome, looked: Looked): string {
  const kinds = { file: '', directory: '/', symlink: '@', other: '?' }
  const each = entries.map(({ name, type, file_size }) => `${name}${kinds[type]}${sizeOf(file_size)}`)
  const next = next_entry === undefined ? undefined : continued(looked, { after: next_entry })
  const toContinue = next === undefined ? '' : '; to continue, send the last line'
  const more = next_entry === undefined ? '' : `, and there are more${toContinue}`
  return below(`${path} is a directory with ${counted(entries.length, 'entry')}${more}.`, ...each, next)
}

const sizeOf = (bytes: number | undefined): string => (bytes === undefined ? '' : `\t${counted(bytes, 'byte')}`)

function file(outcome: InspectOutcome, searched: SearchedText | undefined, looked: Looked): string {
  const { made, naming } = looked
  const { file_hash, content, start_line = 1, structure, next_line, next_column, syntax_error_lines } = outcome
  const plain = made.arguments.numbered === false
  const lines = content === undefined || content === '' ? [] : linesOf(content, start_line)
  return below(
    sentences(facts(outcome), hashLine(file_hash, naming)),
    plain
      ? content?.replace(/\r?\n$/, '')
      : made.arguments.numbered === true
        ? content?.replace(/\n$/, '')
        : numbered(lines),
    structure === undefined ? '' : outlineLines(structure),
    structure === undefined ? '' : itemsLeft(outcome, looked),
    syntax_error_lines === undefined ? '' : `There are syntax errors (${linesListed(syntax_error_lines)}).`,
    searched === undefined ? '' : found(outcome, searched, looked),
    next_line === undefined ? '' : toContinue(continued(looked, { start_line: next_line, start_column: next_column }))
  )
}

/** The call that continues where the answer was cut. */
function continued({ made, naming }: Looked, from: object): string | undefined {
  const {
    start_line,
    start_column,
    search,
    regex,
    ignore_case,
    context_lines,
    structure,
    start_item,
    max_items,
    ...rest
  } = made.arguments
  return naming.write(made.name, { ...rest, ...from }, made)
}

const toContinue = (call: string | undefined): string =>
  call === undefined ? 'There is more, which is not shown.' : below('To continue, send:', call)

const LINE_ENDINGS = { lf: '', none: '', crlf: 'CRLF', cr: 'CR line breaks', mixed: 'mixed line breaks' }

function facts(outcome: InspectOutcome): string {
  const { path, file_size = 0, encoding = '', total_lines, bom, line_ending, ends_with_newline, indentation } = outcome
  const { language, content, start_line = 1, end_line = 0, lossy } = outcome
  if (total_lines === undefined) {
    return `${path} is a binary file (${encoding}, ${counted(file_size, 'byte')}): it has no lines and can't be edited.`
  }
  const { style, width } = indentation ?? { style: 'none' as const }
  const indented = { none: '', tabs: 'tabs', mixed: 'tabs and spaces mixed', spaces: `${width ?? 'some'} spaces` }[
    style
  ]
  const all = [
    counted(total_lines, 'line'),
    counted(file_size, 'byte'),
    encoding,
    line_ending === undefined ? '' : LINE_ENDINGS[line_ending],
    bom === true ? 'byte-order mark' : '',
    ends_with_newline === false && total_lines > 0 ? 'no line break at the end' : '',
    indented === '' ? '' : `indented with ${indented}`,
    language ?? ''
  ]
  const part = content !== undefined && end_line - start_line + 1 < total_lines
  const shown = part && end_line >= start_line ? ` Shown: ${span([start_line, end_line])}.` : ''
  const replaced = lossy === true ? ' Bytes that are not UTF-8 are shown as \ufffd.' : ''
  return `${path}: ${all.filter(fact => fact !== '').join(', ')}.${shown}${replaced}`
}

function itemsLeft({ total_items = 0, next_item }: InspectOutcome, { made, naming }: Looked): string {
  if (total_items === 0) return 'There are no headings, code blocks or symbols.'
  if (next_item === undefined) return ''
  const next = naming.write(made.name, { ...made.arguments, start_item: next_item }, made)
  return `There are ${counted(total_items, 'item')}. ${toContinue(next)}`
}

function found(outcome: InspectOutcome, searched: SearchedText, looked: Looked): string {
  const { matches = [], total_matches = 0, stopped_at_line } = outcome
  const lines = new Map(matches.map(({ line_number, line_content }) => [line_number, line_content]))
  const isInContext = matches.some(
    ({ context_before, context_after }) => (context_before ?? context_after) !== undefined
  )
  const areAll = total_matches <= matches.length
  const times = areAll ? timesOn(total_matches, lines.size) : counted(total_matches, 'time')
  const where = total_matches === 0 ? 'was not found' : `was found ${times}`
  const on = lines.size === matches.length ? '' : `, on ${counted(lines.size, 'line')},`
  const more = areAll ? '' : `; the first ${matches.length}${on} are shown`
  return below(
    sentences(
      `${quote(searched.text)} ${where}${more}${total_matches === 0 ? '.' : ':'}`,
      oneLineAtATime(searched),
      stopped_at_line === undefined
        ? ''
        : `Lines from ${stopped_at_line} on were not searched: it took too long; simplify it.`
    ),
    ...(isInContext
      ? numberedMatches(matches).map(({ text }) => text)
      : [...lines].map(([line, text]) => `${line}\t${text}`)),
    areAll ? '' : matchesLeft(outcome, looked)
  )
}

/** How to see the other matches. Those that are left on the last shown line can't be reached by reading on. */
function matchesLeft({ matches = [], total_lines = 0 }: InspectOutcome, { made, naming }: Looked): string {
  const last = matches.at(-1)?.line_number ?? 0
  // With another first line, the requested end_line no longer fits, and `facts` can't be combined.
  const { end_line, facts, ...rest } = made.arguments
  const read =
    last < total_lines ? continued({ made: { ...made, arguments: rest }, naming }, { start_line: last + 1 }) : undefined
  return read === undefined
    ? 'To find fewer, search for a longer text.'
    : below('Search for a longer text; or, to read the lines after these, send:', read)
}

/** The most places of one edit that a line lists. */
const PLACES = 5

/** Edits, one per line: `edit_id  time  path  what  lines  by whom`; below each its diff, if requested. */
function briefHistory({ message, edits, next_before }: HistoryResult, made: ToolCall, naming: CallSyntax): string {
  const next =
    next_before === undefined ? '' : naming.write(made.name, { ...made.arguments, before: next_before }, made)
  if (edits.length === 0) return below(message, next)
  return below(
    ...edits.map(edit => below(lineOf(edit, naming), edit.diff?.trimEnd(), edit.diff_unavailable)),
    next === undefined || next === '' ? '' : below('For older ones, send:', next)
  )
}

function lineOf(edit: ListedEdit, naming: CallSyntax): string {
  const {
    edit_id,
    batch_id,
    at,
    path,
    operation,
    lines_added,
    lines_removed,
    changes,
    token,
    agent,
    session,
    reason,
    undoes,
    moved_from,
    moved_to
  } = edit
  const lines = changes.slice(0, PLACES).map(({ new_start_line }) => new_start_line)
  const more = changes.length > PLACES || edit.changes_truncated === true ? ',…' : ''
  const parts = [
    edit_id,
    `${at.slice(0, 19)}Z`,
    cut(pathShown(naming, path), 200),
    moved_from !== undefined
      ? `${operation} from ${cut(pathShown(naming, moved_from), 200)}`
      : moved_to !== undefined
        ? `${operation} to ${cut(pathShown(naming, moved_to), 200)}`
        : `${operation} +${lines_added} -${lines_removed}${lines.length === 0 ? '' : ` at ${lines.join(',')}${more}`}`,
    batch_id === undefined ? '' : `batch ${batch_id}`,
    undoes === undefined ? '' : `of ${undoes.slice(0, PLACES).join(', ')}`,
    token === undefined ? '' : `token ${quote(token)}`,
    agent === undefined ? '' : `by ${quote(agent)}`,
    session === undefined ? '' : `session ${quote(session)}`,
    reason === undefined ? '' : quote(reason, 200),
    edit.state === 'applied' ? '' : edit.state.replace('_', ' '),
    edit.undone_by === undefined ? '' : `by undo ${edit.undone_by}`,
    edit.metadata_only === true ? "can't be undone" : '',
    edit.texts_lost === true ? "its texts are damaged or missing: can't be undone" : ''
  ]
  return parts.filter(part => part !== '').join('  ')
}

/** What happened to each file. */
function briefUndo({ results: outcomes }: UndoOutcome, body: UndoResult | RedoResult, naming: CallSyntax): string {
  const { message, batch_id, results } = body
  const isOne = results.length === 1
  const all = sentences(message, batch_id === undefined ? '' : `batch_id: ${batch_id}`)
  const files = results.map((file, i) => {
    const { file_hash, edit_id, diff, diff_truncated, diff_unavailable, removed, created } = file
    const what = isOne ? message : file.message
    // If there are several, a redo names their batch.
    const id = isOne ? edit_id : undefined
    return {
      head: sentences(what, hashLine(file_hash, naming, id)),
      rest: below(
        diff?.trimEnd() ?? (removed === true || (created === true && !isOne) ? '' : linesChanged(outcomes[i]!)),
        diff_truncated === true ? 'The diff is cut here.' : '',
        diff_unavailable,
        ...file.warnings.map(warning => `Warning: ${warning}`)
      ),
      asked: isOne || diff !== undefined
    }
  })
  return below(isOne ? '' : all, manyFiles(files))
}
