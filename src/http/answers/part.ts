// What is added to the problem of one operation of a batch: which one it is, that nothing was changed, and which text it
// failed on. Does not know failures.
import type { Problem } from '../../../schemas/problem.ts'
import type { BatchPart, FailedPart } from '../../operations/operation.ts'
import { type CallSyntax, pathShown } from './call-names.ts'
import { NOTHING_WRITTEN, sentences, capital, cut, listed } from './phrases.ts'

export const NOTHING_CHANGED = 'Nothing was changed in any file.'

/** Followed by a period, or by why nothing was. */
const WRITTEN = new RegExp(`${NOTHING_WRITTEN.slice(0, -1)}(?=[.:])`, 'g')

/** Operations that a sentence names. */
const NAMED = 5

/** `operations[2]`. */
export const operationNamed = ({ operation_index, list = 'operations' }: BatchPart): string =>
  `${list}[${operation_index}]`

/** `operations[2] (edit of src/app.ts)`; of a patch, whose files have no number, `Update of src/app.ts`. */
export function partNamed(part: BatchPart, path: string | undefined): string {
  const { operation, list } = part
  const what = [operation, path === undefined ? undefined : `of ${cut(path, 200)}`].filter(word => word !== undefined)
  if (list === 'files') return capital(what.join(' '))
  return `${operationNamed(part)}${what.length === 0 ? '' : ` (${what.join(' ')})`}`
}

/** The earlier operation that makes what stands in the way, inside a sentence. */
export function behindNamed({ behind }: FailedPart, naming: CallSyntax): string | undefined {
  if (behind === undefined) return undefined
  const name = partNamed(behind, pathShown(naming, behind.path))
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** Why the text isn't the one of the file; empty where it is. */
export function afterOthers({ after, list = 'operations' }: FailedPart): string {
  if (after.length === 0) return ''
  if (list === 'files') return 'It was tried on the text that an earlier part of this patch had made.'
  const names = after.slice(-NAMED).map(index => `operations[${index}]`)
  const more = after.length > NAMED ? `${after.length - NAMED} earlier ones, ` : ''
  return `It was tried on the text that ${more}${listed(names)} of this batch had made.`
}

/** A detail, with the operation that it is of; of the first that failed, with what that means for all. */
export function ofPart(detail: string, part: FailedPart, path: string | undefined, isFirst: boolean): string {
  // A quotation before it may have the same words.
  const at = [...detail.matchAll(WRITTEN)].at(-1)?.index ?? detail.length
  const rest = detail.slice(at + NOTHING_WRITTEN.length - 1) || '.'
  return sentences(
    `${partNamed(part, path)}: ${detail.slice(0, at).trimEnd()}`,
    isFirst || rest.startsWith(':') ? `${NOTHING_CHANGED.slice(0, -1)}${rest}` : rest.slice(1).trimStart(),
    afterOthers(part)
  )
}

/** An operation, and its path as it is shown. */
export type NamedPart = BatchPart & { path: string | undefined }

/** `operations[1] (edit of src/app.ts) and operations[3] (…)`, at most five of them by name. */
function partsNamed(parts: readonly NamedPart[]): string {
  const names = parts.slice(0, NAMED).map(part => partNamed(part, part.path))
  const [first, ...more] = names.map((name, i) => (i === 0 ? name : name.charAt(0).toLowerCase() + name.slice(1)))
  return listed([first!, ...more, ...(parts.length > NAMED ? [`${parts.length - NAMED} more`] : [])])
}

/** Which operations fail too; empty where none is known to. */
export function operationsFailToo(
  others: readonly { part: FailedPart | undefined; body: Pick<Problem, 'path'> }[]
): string {
  if (others.length === 0) return ''
  const names = partsNamed(others.map(({ part, body }) => ({ ...part!, path: body.path })))
  return `${names} ${others.length === 1 ? 'fails' : 'fail'} too: other_failures says why, and what to send.`
}

/** Which operations were not tried; empty where all were. */
export function operationsNotTried(untried: readonly NamedPart[]): string {
  if (untried.length === 0) return ''
  return `${partsNamed(untried)} ${untried.length === 1 ? 'was' : 'were'} not tried.`
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
