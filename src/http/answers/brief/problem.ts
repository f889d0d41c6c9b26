// A problem as the text that a model is given: what went wrong, the call to send next, the lines of the file that
// the call doesn't hold, the hash, and nothing else. Does not know statuses.
import type { Problem } from '../../../../schemas/problem.ts'
import type { Failure } from '../../failure.ts'
import type { FailedPart } from '../../../operations/operation.ts'
import { type CallSyntax, pathsShown, type ToolCall } from '../call-names.ts'
import { sentences } from '../description.ts'
import { afterOthers, NOTHING_CHANGED, partNamed } from '../part.ts'
import { cut, listed } from '../phrases.ts'
import { again, type Brief, type Briefs, type FailedCall, inspect, pathOf } from './call.ts'
import { EDIT_BRIEFS } from './edit.ts'
import { staleFile } from './stale-file.ts'
import { undoConflict } from './undo-conflict.ts'
import { below, hashLine } from './text.ts'

/**
 * The text of a problem; `body` is its JSON, `made` the call, without which no other can be proposed. A code that
 * has no text of its own is answered with `detail`.
 */
export function briefProblem(
  failure: Failure,
  body: Problem,
  { made, part, naming }: { made: ToolCall | undefined; part: FailedPart | undefined; naming: CallSyntax }
): string {
  const { code, detail, path, file_hash } = body
  const shown = cut(path ?? 'the file', 200)
  const file = { shown, file_hash, naming }
  const call = made && (part === undefined ? { made, ...file } : partOf(made, part, file))
  const brief = call && briefOf(BRIEFS, failure, call)
  if (brief === undefined) return withHash(withCode(detail, code, path), file_hash, naming)
  const { what, next, lines } = brief
  const of = part === undefined ? '' : `${partNamed(part, path)}: `
  const whole = part === undefined ? '' : sentences(NOTHING_CHANGED, afterOthers(part))
  return withHash(
    below(`${of}${what}${/[.?]$/.test(what) ? '' : '.'} [${code}]`, whole, ...next, lines),
    file_hash,
    naming
  )
}

/** The one operation of a call that failed. */
function partOf(
  { name, arguments: all }: ToolCall,
  { operation_index: index, list = 'operations' }: FailedPart,
  file: Pick<FailedCall, 'shown' | 'file_hash' | 'naming'>
): FailedCall {
  const operations = all[list] as readonly ToolCall['arguments'][]
  return { ...file, made: { name, arguments: operations[index]! }, part: { list, index, all } }
}

/** A text with the hash, if that isn't in it. */
const withHash = (text: string, file_hash = '', naming: CallSyntax): string =>
  text.includes(file_hash) ? text : below(text, hashLine(file_hash, naming))

function briefOf<F extends { code: string }>(table: Briefs<F>, failure: F, call: FailedCall): Brief | undefined {
  const made = table[failure.code as F['code']] as ((failure: F, call: FailedCall) => Brief | undefined) | undefined
  return made?.(failure, call)
}

/** `detail` with the code after its first sentence. */
function withCode(detail: string, code: string, path = ''): string {
  // A path may hold what looks like the end of a sentence.
  const masked = path === '' ? detail : detail.replaceAll(path, '-'.repeat(path.length))
  const end = /[.?](?= [A-Z])/.exec(masked.replace(/"(?:[^"\\]|\\.)*"/g, quoted => '-'.repeat(quoted.length)))
  const at = end === null ? detail.length : end.index + 1
  return `${detail.slice(0, at)} [${code}]${detail.slice(at)}`
}

const BRIEFS: Briefs<Failure> = {
  UNDO_CONFLICT: undoConflict,
  ...EDIT_BRIEFS,
  STALE_FILE: (failure, call) => staleFile(failure, call, (inner, renewed) => briefOf(EDIT_BRIEFS, inner, renewed)),
  FILE_NOT_FOUND: ({ did_you_mean = [], missing, folder = '.' }, call) => {
    const [first] = did_you_mean
    if (missing !== undefined) return undefined
    const what = `${call.shown} was not found`
    const listing = inspect(call, { path: folder })
    return first === undefined
      ? { what, next: listing.length === 0 ? ['Check the path.'] : ['This lists what is there:', ...listing] }
      : {
          what: `${what}; did you mean ${listed(pathsShown(call.naming, did_you_mean), 'or')}?`,
          next: again(call, { path: first })
        }
  },
  PATH_NOT_ALLOWED: ({ reason, did_you_mean: [first, ...others] = [] }, call) =>
    reason === 'outside' && first !== undefined
      ? {
          what: `${call.shown} is outside the workspace; did you mean ${listed(pathsShown(call.naming, [first, ...others]), 'or')}?`,
          next: again(call, { path: first })
        }
      : undefined,
  PRECONDITION_REQUIRED: (_failure, call) => {
    if (!call.naming.takes('expected_hash')) return undefined
    const what = 'This server requires expected_hash with every edit: send the file_hash that this call answers'
    return { what, next: inspect(call, { path: pathOf(call) }) }
  }
}
