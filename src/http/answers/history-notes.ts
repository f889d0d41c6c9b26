// What is added to a problem: that an edit of the caller was taken back, and which files were changed before a request
// failed. Does not know failures.
import type { Failed, TakenBackEdit } from '../../operations/operation.ts'
import { sentences } from './description.ts'
import { cut, listed, quote } from './phrases.ts'

/** An edit of the caller that somebody took back: the miss may be of what it had written. */
export function takenBackNote({ edit_id, agent, note }: TakenBackEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  const why = note === undefined ? '' : `: ${quote(note, 200)}`
  return `Your edit ${edit_id} of this file was taken back${who}${why}. Don't make it again.`
}

/** Files that were changed before the request failed. */
export function writtenNote({ stays, restored }: NonNullable<Failed['written']>): string {
  const named = (paths: readonly string[]) => listed(paths.slice(0, 20).map(path => cut(path, 200)))
  const still = stays.map(({ path, edit_id }) => (edit_id === undefined ? path : `${path} (edit ${edit_id})`))
  return sentences(
    restored.length === 0 ? '' : `Changed before that, and changed back: ${named(restored)}.`,
    stays.length === 0
      ? 'Nothing that was asked for is done.'
      : `Changed before that, and could not be changed back: ${named(still)}. The rest is not done.`
  )
}
