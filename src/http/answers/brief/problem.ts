// A problem as text for a model: what went wrong, the call to send next, the lines of the file that the call doesn't
// contain, the hash, and nothing else. Does not know statuses.
import type { Problem } from '../../../../schemas/problem.ts'
import type { FailedPart } from '../../../operations/operation.ts'
import type { Failure } from '../../request-failure.ts'
import type { CallSyntax, ToolCall } from '../call-names.ts'
import { afterOthers, type NamedPart, NOTHING_CHANGED, operationsNotTried, partNamed } from '../part.ts'
import { cut, notUtf8, sentences } from '../phrases.ts'
import { entryOf } from '../problems/entry.ts'
import { PROBLEMS } from '../problems/table.ts'
import type { FailedCall, ShownAs } from './call.ts'
import { below, hashLine } from './layout.ts'

/** A failure and its JSON `body`; `body.detail` covers only this failure. `notes`: what else is known. */
export interface DescribedFailure {
  failure: Failure
  body: Problem
  notes: readonly string[]
  part: (FailedPart & NamedPart) | undefined
}

/**
 * The failed call; without `made`, no other call can be proposed. `untried`: operations that weren't tried, with their
 * paths as shown.
 */
interface Failing {
  made: ToolCall | undefined
  naming: CallSyntax
  untried: readonly NamedPart[]
}

/**
 * The text of a problem: of a failure and, in a batch, of later failures. A code without a short text uses `detail`.
 * The diff to send for a patch, that of the first file that has one, comes last, with nothing after it.
 */
export function briefProblem(all: readonly DescribedFailure[], failing: Failing): string {
  const diffs = all.map(({ failure }) => diffsOf(failure))
  const last = diffs.findIndex(count => count > 0)
  const isCorrected = (i: number): boolean => last !== -1 && i !== last && diffs[i] === 1
  const isComplete = failing.untried.length === 0 && all.every((_, i) => i === last || isCorrected(i))
  const blocks = all.map((one, i) => {
    const as = i === last ? (isComplete ? 'whole' : 'incomplete') : all.length === 1 ? 'whole' : 'part'
    const { head, rest } = briefBlock(one, failing, { isFirst: i === 0, as })
    return { head, rest: isCorrected(i) ? 'It is corrected below.' : rest }
  })
  const texts = blocks.flatMap(({ head, rest }, i) => {
    // The notes on the first failure come last in the whole answer.
    return [head, i === last ? '' : rest, ...(i === 0 ? [] : all[i]!.notes)]
  })
  return below(...texts, operationsNotTried(failing.untried), blocks[last]?.rest)
}

const diffsOf = (failure: Failure): number => ('diffs' in failure ? failure.diffs.length : 0)

/** The text for one failure: which one it is, then what to say and send. */
interface Block {
  head: string
  rest: string
}

function briefBlock(
  { failure, body, part }: DescribedFailure,
  { made, naming }: Failing,
  { isFirst, as }: { isFirst: boolean; as: ShownAs }
): Block {
  const { code, detail, path, file_hash } = body
  const shown = cut(path ?? 'the file', 200)
  const file = { path, shown, file_hash, naming }
  const call = made && (part === undefined ? { made, ...file } : partOf(made, part, { ...file, as }))
  const brief = call && entryOf(PROBLEMS, failure).brief?.(failure, call)
  if (brief === undefined) return { head: withHash(withCode(detail, code, path), file_hash, naming), rest: '' }
  const { what, next, lines } = brief
  const of = part === undefined ? '' : `${partNamed(part, part.path)}: `
  const whole = part === undefined ? '' : sentences(isFirst ? NOTHING_CHANGED : '', afterOthers(part))
  const said = sentences(notUtf8(failure, shown), what)
  const head = below(`${of}${said}${/[.?]$/.test(said) ? '' : '.'} [${code}]`, whole)
  const rest = below(...next, lines)
  return { head, rest: head.includes(file_hash ?? '') ? rest : withHash(rest, file_hash, naming) }
}

/** The one operation that failed, of several in a call. */
function partOf(
  { name, arguments: all }: ToolCall,
  { operation_index: index, list = 'operations' }: FailedPart,
  { as, ...file }: Pick<FailedCall, 'path' | 'shown' | 'file_hash' | 'naming'> & { as: ShownAs }
): FailedCall {
  const operations = all[list] as readonly ToolCall['arguments'][]
  return { ...file, made: { name, arguments: operations[index]! }, part: { list, index, all, as } }
}

/** Adds the hash to a text that doesn't contain it. */
const withHash = (text: string, file_hash = '', naming: CallSyntax): string =>
  text.includes(file_hash) ? text : below(text, hashLine(file_hash, naming))

/** `detail` with the code inserted after its first sentence. */
function withCode(detail: string, code: string, path = ''): string {
  // A path or a quotation may contain what looks like the end of a sentence.
  const masked = path === '' ? detail : detail.replaceAll(path, '-'.repeat(path.length))
  const end = /[.?](?= [A-Z])/.exec(masked.replace(/"(?:[^"\\]|\\.)*"/g, quoted => '-'.repeat(quoted.length)))
  const at = end === null ? detail.length : end.index + 1
  return `${detail.slice(0, at)} [${code}]${detail.slice(at)}`
}
