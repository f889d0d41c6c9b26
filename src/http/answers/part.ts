// What is added to the problem of one operation of a batch: which one it is, that nothing was changed, and which text it
// failed on. Does not know failures.
import type { Problem } from '../../../schemas/problem.ts'
import type { FailedPart } from '../../operations/operation.ts'
import { NOTHING_WRITTEN, sentences } from './description.ts'
import { capital, cut, listed } from './phrases.ts'

export const NOTHING_CHANGED = 'Nothing was changed in any file.'

/** Operations that a sentence names. */
const NAMED = 5

/** `operations[2] (edit of src/app.ts)`; of a patch, whose files have no number, `Update of src/app.ts`. */
export function partNamed(
  { operation_index, operation, list = 'operations' }: FailedPart,
  path: string | undefined
): string {
  const what = [operation, path === undefined ? undefined : `of ${cut(path, 200)}`].filter(word => word !== undefined)
  if (list === 'files') return capital(what.join(' '))
  return `${list}[${operation_index}]${what.length === 0 ? '' : ` (${what.join(' ')})`}`
}

/** Why the text isn't the one of the file; empty where it is. */
export function afterOthers({ after, list = 'operations' }: FailedPart): string {
  if (after.length === 0) return ''
  if (list === 'files') return 'It was tried on the text that an earlier part of this patch had made.'
  const names = after.slice(-NAMED).map(index => `operations[${index}]`)
  const more = after.length > NAMED ? `${after.length - NAMED} earlier ones, ` : ''
  return `It was tried on the text that ${more}${listed(names)} of this batch had made.`
}

/** A detail, with the operation that it is of. */
export function ofPart(detail: string, part: FailedPart, path: string | undefined): string {
  const said = detail.replace(new RegExp(`${NOTHING_WRITTEN.slice(0, -1)}(?=[.:])`), NOTHING_CHANGED.slice(0, -1))
  return sentences(
    `${partNamed(part, path)}: ${said}`,
    said.includes(NOTHING_CHANGED.slice(0, -1)) ? '' : NOTHING_CHANGED,
    afterOthers(part)
  )
}

/** The members of its problem. */
export function membersIn(
  members: Partial<Problem> | undefined,
  { operation_index, list = 'operations' }: FailedPart
): Partial<Problem> {
  const at = `/${list}/${operation_index}/`
  const errors = members?.errors?.map(error =>
    error.pointer.startsWith(at) ? error : { ...error, pointer: `${at.slice(0, -1)}${error.pointer}` }
  )
  return { ...members, ...(errors !== undefined && { errors }), operation_index }
}
