// The sentences about history: edits listed, undone and redone, pending changes, and who wrote lines. Does not know
// problems.
import type {
  BlameOutcome,
  ChangesOutcome,
  HistoryOutcome,
  PendingOutcome,
  ReviewOutcome,
  UndoOutcome,
  UndoVerb,
  UndoneFile
} from '../../operations/operation.ts'
import { capital, counted, listed, sentences, span } from './phrases.ts'

/** The most ids that a sentence names; it only counts more. */
export const NAMED = 3

export function historyMessage({ edits, next_before, oldest_kept_at }: HistoryOutcome): string {
  const since = oldest_kept_at === undefined ? '' : ` The history goes back to ${oldest_kept_at}.`
  if (edits.length === 0 && next_before === undefined) return `No such edit is known.${since}`
  const more =
    next_before === undefined ? '' : `; there may be more: continue with before ${JSON.stringify(next_before)}`
  return `${counted(edits.length, 'edit')}, newest first${more}.`
}

export const changesMessage = ({ changes, timed_out }: ChangesOutcome): string =>
  timed_out
    ? 'Nothing was changed while it waited; go on with next_after.'
    : changes.length === 0
      ? 'Nothing was changed yet; go on with next_after.'
      : `${counted(changes.length, 'change')}, oldest first; go on with next_after.`

/** `edit 01J…`, `edits 01J… and 01K…`, `7 edits`. */
export const editsNamed = (ids: readonly string[]): string =>
  ids.length > NAMED ? counted(ids.length, 'edit') : `${ids.length === 1 ? 'edit' : 'edits'} ${listed(ids)}`

/** Says which changes have another verdict now. */
export function reviewMessage({ verdict, edit_ids, paths }: ReviewOutcome): string {
  if (edit_ids.length === 0) {
    return verdict === 'kept'
      ? 'Nothing of this was pending: no verdict was changed.'
      : 'Nothing of this was kept: no verdict was changed.'
  }
  const [path, ...others] = paths
  const what = `${editsNamed(edit_ids)} in ${others.length === 0 ? path : counted(paths.length, 'file')}`
  if (verdict === 'kept') return `Kept ${what}.`
  return `${capital(what)} ${edit_ids.length === 1 ? 'is' : 'are'} pending again.`
}

const VERBS = { undo: ['take back', 'Took back'], redo: ['make again', 'Made again'] } as const

/** What an undo or redo did in all files. */
export function undoMessage(verb: UndoVerb, { dry_run, results, toggled, skipped }: UndoOutcome): string {
  const [first, ...others] = results
  if (first !== undefined && others.length === 0) {
    return sentences(fileMessage(verb, first), skippedSentence(skipped, dry_run))
  }
  const [would, did] = VERBS[verb]
  const where = `${editsNamed(toggled)} in ${counted(results.length, 'file')}`
  return sentences(
    dry_run ? `Would ${would} ${where}; nothing was written.` : `${did} ${where}.`,
    skippedSentence(skipped, dry_run)
  )
}

function skippedSentence(skipped: readonly string[], dry_run: boolean): string {
  if (skipped.length === 0) return ''
  const [were, are] = skipped.length === 1 ? ['was', 'it is'] : ['were', 'they are']
  const left = dry_run ? 'would be left' : `${were} left`
  return `Because of conflicts, ${editsNamed(skipped)} ${left} as ${are}, at least in part.`
}

/** What an undo or redo did in one file. */
export function fileMessage(verb: UndoVerb, file: UndoneFile): string {
  const { path, dry_run, edit_ids } = file
  const [would, did] = VERBS[verb]
  const what = `${editsNamed(edit_ids)} in ${path}`
  return dry_run
    ? `Would ${would} ${what}${stateThen(file)}; nothing was written.`
    : `${did} ${what}${stateThen(file)}.`
}

/** The state of the file after an undo or redo. */
function stateThen({ removed, created, changed, dry_run, changes, total_lines_after }: UndoneFile): string {
  const [first, ...others] = changes
  if (removed === true && !changed) return `; the file ${dry_run ? 'would stay' : 'stays'} removed`
  if (removed === true) return dry_run ? ', which would remove the file' : ', which removed the file'
  const lines = counted(total_lines_after, 'line')
  if (created === true) {
    return dry_run ? `, which would make the file again (${lines})` : `; the file is there again (${lines})`
  }
  if (first === undefined) return ''
  const where = others.length === 0 ? `line ${first.new_start_line}` : `${changes.length} places`
  return dry_run ? ` (${where}); it would then have ${lines}` : ` (${where}); it now has ${lines}`
}

export function pendingMessage({ path, exists, hunks, total_hunks, unseen, ...reach }: PendingOutcome): string {
  const file = exists ? path : `${path}, which was removed,`
  const is = total_hunks === 1 ? 'is' : 'are'
  return sentences(
    total_hunks === 0 ? `No line of ${file} is pending.` : `${counted(total_hunks, 'hunk')} of ${file} ${is} pending.`,
    hunks.length < total_hunks ? `Only the first ${hunks.length} ${hunks.length === 1 ? 'is' : 'are'} listed.` : '',
    hunks.at(-1)?.truncated === true ? 'Not all lines of the last one are listed; to see more, send max_lines.' : '',
    unseen.length === 0 ? '' : `Pending changes of ${counted(unseen.length, 'edit')} are no longer visible.`,
    whatIsUnknown(reach)
  )
}

export function blameMessage({ path, at, lines, start_line, total_lines, next_line, ...reach }: BlameOutcome): string {
  const when = at === undefined ? '' : ` as it was after edit ${at}`
  const last = start_line + lines.length - 1
  const more = next_line === undefined ? '' : `; continue with start_line ${next_line}`
  return sentences(
    lines.length === 0
      ? `There are no lines in ${path}${when}.`
      : `Who wrote ${span([start_line, last])} (of ${total_lines}) of ${path}${when}${more}.`,
    whatIsUnknown(reach)
  )
}

function whatIsUnknown({ incomplete, reaches_back_to }: Pick<BlameOutcome, 'incomplete' | 'reaches_back_to'>): string {
  if (incomplete !== true) return ''
  const before = reaches_back_to === undefined ? '' : ` before edit ${reaches_back_to}`
  return `What was changed${before} is unknown or no longer kept.`
}
