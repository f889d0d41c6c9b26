// What the problem of one operation in a batch adds: which operation it is, that nothing was changed, and which text it
// failed on. Does not know failures.
import type { Problem } from '../../../schemas/problem.ts'
import type { BatchPart, FailedPart } from '../../operations/operation.ts'
import { type CallSyntax, pathShown } from './call-names.ts'
import { NOTHING_WRITTEN, sentences, capital, cut, listed } from './phrases.ts'

export const NOTHING_CHANGED = 'Nothing was changed in any file.'

/** Matches when followed by a period, or by a colon and the reason. */
const WRITTEN = new RegExp(`${NOTHING_WRITTEN.slice(0, -1)}(?=[.:])`, 'g')

/** The most operations that a sentence names. */
const NAMED = 5

/** `operations[2]`. */
export const operationNamed = ({ operation_index, list = 'operations' }: BatchPart): string =>
  `${list}[${operation_index}]`

/** `operations[2] (edit of src/app.ts)`; for a patch, whose files have no number, `Update of src/app.ts`. */
export function partNamed(part: BatchPart, path: string | undefined): string {
  const { operation, list } = part
  const what = [operation, path === undefined ? undefined : `of ${cut(path, 200)}`].filter(word => word !== undefined)
  if (list === 'files') return capital(what.join(' '))
  return `${operationNamed(part)}${what.length === 0 ? '' : ` (${what.join(' ')})`}`
}

/** The earlier operation that creates the obstacle, worded for the middle of a sentence. */
export function behindNamed({ behind }: FailedPart, naming: CallSyntax): string | undefined {
  if (behind === undefined) return undefined
  const name = partNamed(behind, pathShown(naming, behind.path))
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/**
 * Says that the operation was tried on a text that earlier operations had changed; empty if it was tried on the file.
 */
export function afterOthers({ after, list = 'operations' }: FailedPart): string {
  if (after.length === 0) return ''
  if (list === 'files') return 'It was tried on the text that an earlier part of this patch had made.'
  const names = after.slice(-NAMED).map(index => `operations[${index}]`)
  const more = after.length > NAMED ? `${after.length - NAMED} earlier ones, ` : ''
  return `It was tried on the text that ${more}${listed(names)} of this batch had made.`
}

/** A detail with the name of its operation; for the first failure, also says that no file was changed. */
export function ofPart(detail: string, part: NamedPart & FailedPart, isFirst: boolean): string {
  // An earlier quotation may contain the same words.
  const at = [...detail.matchAll(WRITTEN)].at(-1)?.index ?? detail.length
  const rest = detail.slice(at + NOTHING_WRITTEN.length - 1) || '.'
  return sentences(
    `${partNamed(part, part.path)}: ${detail.slice(0, at).trimEnd()}`,
    isFirst || rest.startsWith(':') ? `${NOTHING_CHANGED.slice(0, -1)}${rest}` : rest.slice(1).trimStart(),
    afterOthers(part)
  )
}

/** An operation, with its path as shown. */
export type NamedPart = BatchPart & { path: string | undefined }

/** `operations[1] (edit of src/app.ts) and operations[3] (…)`; names at most five, and counts the rest. */
function partsNamed(parts: readonly NamedPart[]): string {
  const names = parts.slice(0, NAMED).map(part => partNamed(part, part.path))
  const [first, ...more] = names.map((name, i) => (i === 0 ? name : name.charAt(0).toLowerCase() + name.slice(1)))
  return listed([first!, ...more, ...(parts.length > NAMED ? [`${parts.length - NAMED} more`] : [])])
}

/** Says which operations fail too; empty if none is known to. */
export function operationsFailToo(others: readonly { part: NamedPart | undefined }[]): string {
  if (others.length === 0) return ''
  const names = partsNamed(others.map(({ part }) => part!))
  return `${names} ${others.length === 1 ? 'fails' : 'fail'} too: other_failures says why, and what to send.`
}

/** Says which operations were not tried; empty if all were. */
export function operationsNotTried(untried: readonly NamedPart[]): string {
  if (untried.length === 0) return ''
  return `${partsNamed(untried)} ${untried.length === 1 ? 'was' : 'were'} not tried.`
}

/** A problem's members, with pointers and index of its operation. */
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
