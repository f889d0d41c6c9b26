// The sentences of what was listed, taken back or made again. Does not know problems.
import type {
  ChangesOutcome,
  HistoryOutcome,
  ReviewOutcome,
  TakeBackOutcome,
  TakeBackVerb,
  TakenBackFile
} from '../../operations/operation.ts'
import { sentences } from './problems/entry.ts'
import { capital, counted, listed } from './phrases.ts'

/** Ids that a sentence names; with more it only counts them. */
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

/** On what there is another verdict now. */
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

/** What was done in all files. */
export function takeBackMessage(verb: TakeBackVerb, { dry_run, results, toggled, skipped }: TakeBackOutcome): string {
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

/** What was done in one file. */
export function fileMessage(verb: TakeBackVerb, file: TakenBackFile): string {
  const { path, dry_run, edit_ids } = file
  const [would, did] = VERBS[verb]
  const what = `${editsNamed(edit_ids)} in ${path}`
  return dry_run
    ? `Would ${would} ${what}${stateThen(file)}; nothing was written.`
    : `${did} ${what}${stateThen(file)}.`
}

/** What has become of the file. */
function stateThen({ removed, created, changed, dry_run, changes, total_lines_after }: TakenBackFile): string {
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
