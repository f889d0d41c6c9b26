// What is added to a problem: what became of an edit of the caller, or which edit made what it asks for. Does not know
// failures.
import type { EarlierEdit, Failed, TakenBackEdit } from '../../operations/operation.ts'
import { quote } from './phrases.ts'

/** What else there is to be known of what was done before; it comes last. */
export const historyNotes = ({ taken_back, made_by }: Pick<Failed, 'taken_back' | 'made_by'>): string[] => [
  ...(made_by === undefined ? [] : [madeByNote(made_by)]),
  ...(taken_back === undefined ? [] : [takenBackNote(taken_back)])
]

function madeByNote({ edit_id, at, agent }: EarlierEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  return `Edit ${edit_id}${who} made this change at ${new Date(at).toISOString()}.`
}

/** An edit of the caller that somebody took back: the miss may be of what it had written. */
function takenBackNote({ edit_id, agent, note }: TakenBackEdit): string {
  const who = agent === undefined ? '' : ` by ${quote(agent)}`
  const why = note === undefined ? '' : `: ${quote(note, 200)}`
  return `Your edit ${edit_id} of this file was taken back${who}${why}. Don't make it again.`
}
