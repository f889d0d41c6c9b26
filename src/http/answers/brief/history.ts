// The texts of what was listed, taken back or made again: a line for each edit, and the lines that changed. Does not
// know problems.
import type { HistoryResult, ListedEdit } from '../../../../schemas/history.ts'
import type { RedoResult, UndoResult } from '../../../../schemas/undo.ts'
import type { TakeBackOutcome } from '../../../operations/operation.ts'
import { type CallSyntax, pathShown, type ToolCall } from '../call-names.ts'
import { sentences, cut, quote } from '../phrases.ts'
import { below, hashLine, numbered } from './text.ts'

/** Places of one edit that a line lists. */
const PLACES = 5

/** Edits, a line each, as `edit_id  time  path  what  lines  by whom`; below it the diff, if it was asked for. */
export function briefHistory(
  { message, edits, next_before }: HistoryResult,
  made: ToolCall,
  naming: CallSyntax
): string {
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
    undoes
  } = edit
  const lines = changes.slice(0, PLACES).map(({ new_start_line }) => new_start_line)
  const more = changes.length > PLACES || edit.changes_truncated === true ? ',…' : ''
  const parts = [
    edit_id,
    `${at.slice(0, 19)}Z`,
    cut(pathShown(naming, path), 200),
    `${operation} +${lines_added} -${lines_removed}${lines.length === 0 ? '' : ` at ${lines.join(',')}${more}`}`,
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

/** What became of each file. */
export function briefTakeBack(
  { results: outcomes }: TakeBackOutcome,
  body: UndoResult | RedoResult,
  naming: CallSyntax
): string {
  const { message, batch_id, results } = body
  const isOne = results.length === 1
  const files = results.map((file, i) => {
    const { file_hash, edit_id, diff, diff_truncated, diff_unavailable } = file
    const what = isOne ? message : file.message
    return below(
      sentences(what, edit_id === undefined ? '' : `edit_id: ${edit_id}`, hashLine(file_hash, naming)),
      diff?.trimEnd() ?? (file.removed === true ? '' : numbered(outcomes[i]!.changed_lines)),
      diff_truncated === true ? 'The diff is cut here.' : '',
      diff_unavailable,
      ...file.warnings.map(warning => `Warning: ${warning}`)
    )
  })
  const all = sentences(message, batch_id === undefined ? '' : `batch_id: ${batch_id}`)
  return below(isOne ? '' : all, ...files)
}
