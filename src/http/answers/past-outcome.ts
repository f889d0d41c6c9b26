// The sentences of what is pending of a file, and of who wrote its lines. Does not know problems.
import type { BlameOutcome, PendingOutcome } from '../../operations/operation.ts'
import { sentences } from './problems/entry.ts'
import { counted, span } from './phrases.ts'

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
