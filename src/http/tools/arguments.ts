// The arguments of a tool call: the body itself, or its member `arguments`, as an object or as JSON in a string. Does
// not know any operation.
import { fail, ok, type Result } from '../../result.ts'
import type { RequestFailure } from '../request-failure.ts'
import { cutOff, escapePointer, parseSentJson } from '../requests/json.ts'

const refuse = (message: string, pointer = '/arguments') =>
  fail<RequestFailure>({ code: 'INVALID_REQUEST', errors: [{ pointer, message }] })

/**
 * The arguments in a body. No operation has a field `arguments`, so an object with one is always the envelope, which
 * holds nothing else. Fails on an envelope with other members, and on a string that isn't strict JSON.
 */
export function argumentsIn(body: unknown): Result<unknown, RequestFailure> {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'arguments')) return ok(body)
  const { arguments: args, ...others } = body as Record<string, unknown>
  const [other] = Object.keys(others)
  if (other !== undefined) {
    return refuse(
      'is beside arguments, which must be the only field; send {"arguments": …} or the arguments themselves',
      `/${escapePointer(other)}`
    )
  }
  if (typeof args !== 'string') {
    return typeof args === 'object' && args !== null && !Array.isArray(args)
      ? ok(args)
      : refuse('must be the arguments of the tool call, as an object or as the JSON of one in a string')
  }
  // Encoding the text as bytes would replace a lone surrogate.
  if (!args.isWellFormed()) return fail({ code: 'INVALID_UNICODE', pointer: '/arguments' })
  const parsed = parseSentJson(args)
  if (parsed.ok) return parsed
  return refuse(cutOff(args, parsed.failure) ?? `is a string that is not valid JSON: ${whyNot(parsed.failure)}`)
}

function whyNot(failure: RequestFailure): string {
  if (failure.code === 'INVALID_JSON') {
    switch (failure.reason) {
      case 'empty':
        return 'it is empty; a call without arguments has {}'
      case 'syntax':
        return failure.where ?? 'it has a syntax error'
      case 'duplicate_key':
        return `the field ${JSON.stringify(failure.key)} is given twice in the same object`
      case 'too_deep':
        return `it is nested deeper than ${failure.limit}`
    }
  }
  return 'errors' in failure ? failure.errors.map(({ message }) => message).join('; ') : 'its text is not valid Unicode'
}
