// What is added to a problem: that an edit of the caller was taken back. Does not know failures.
import type { TakenBackEdit } from '../../operations/operation.ts'
import { quote } from './phrases.ts'

/** An edit of the caller that somebody took back: the miss may be of what it had written. */
export function takenBackNote({ edit_id, agent, note }: TakenBackEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  const why = note === undefined ? '' : `: ${quote(note, 200)}`
  return `Your edit ${edit_id} of this file was taken back${who}${why}. Don't make it again.`
}
