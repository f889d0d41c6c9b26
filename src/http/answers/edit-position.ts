// Which edit of a request failed, and what became of the others. Does not know why it failed.
import type { EditPosition } from '../../engine/failure.ts'
import { NOTHING_WRITTEN } from './problems/entry.ts'
import { listed } from './phrases.ts'

/** The members of a problem that say which edit failed. */
export const position = ({ edit_index, total_edits }: EditPosition): EditPosition => ({ edit_index, total_edits })

/**
 * Why one edit failed, with its number if there are several, and that nothing was written. `inOrder`: edits are tried
 * one after the other, so those before it match.
 */
export function ofEdit(failure: EditPosition, why: string, { inOrder = false } = {}): string {
  const { edit_index, total_edits } = failure
  if (total_edits === 1) return `${why} ${NOTHING_WRITTEN}`
  const none = `Nothing was written: none of the ${total_edits} edits was made`
  const before = inOrder ? earlierMatch(edit_index) : ''
  const untried = editsNotTried(failure)
  const behind = untried === '' ? '' : `; ${untried}`
  return `Edit ${edit_index + 1} of ${total_edits} failed: ${why} ${none}${before}${behind}.`
}

/** That edits behind those that are told of weren't tried, without its period; empty where there are none. */
export function editsNotTried({ untried_from: from, total_edits }: EditPosition): string {
  if (from === undefined) return ''
  return from === total_edits - 1
    ? `edit ${total_edits} was not tried`
    : `edits ${from + 1} to ${total_edits} were not tried`
}

function earlierMatch(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '; edit 1 matches' : `; edits 1 to ${count} match`
}

/** `edit 2`, `edits 2 and 3`. */
export const editsNumbered = (edits: readonly { edit_index: number }[]): string =>
  `${edits.length === 1 ? 'edit' : 'edits'} ${listed(edits.map(({ edit_index }) => `${edit_index + 1}`))}`
