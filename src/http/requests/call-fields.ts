// Who sends a request, why, and under which idempotency key: read from fields or headers. Does not know any operation
// by name, or what a key does.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { CallField } from '../../../schemas/change-fields.ts'
import type { Callable, CallContext } from '../../operations/operation.ts'
import { ok, type Result } from '../../result.ts'
import { invalidField, type RequestFailure } from '../request-failure.ts'

/** The fields that a header can replace, with their headers. */
export const CALL_HEADERS = {
  agent: 'Editd-Agent',
  session: 'Editd-Session',
  idempotency_key: 'Idempotency-Key'
} as const
type HeaderField = keyof typeof CALL_HEADERS

/** The fields, each with its header's name in Node. */
const HEADERS = (Object.keys(CALL_HEADERS) as HeaderField[]).map(
  field => [field, CALL_HEADERS[field].toLowerCase()] as const
)

/** The most characters of a header; the fields have the same limits. */
const LONGEST: Record<HeaderField, number> = { agent: 200, session: 200, idempotency_key: 255 }

/** `request`: without the call fields. */
interface ReadCall<Request> {
  request: Request
  caller: NonNullable<CallContext['caller']>
  key?: string
}

/** What `readCall` needs to know about an operation. */
export type CalledOperation = Pick<Callable, 'effect' | 'call_fields' | 'keyed'>

/**
 * Reads who sends a request that has passed its schema. Fails if field and header differ; if a header is empty, too
 * long or malformed; and on a key for a dry run, which writes nothing. An operation that only looks has just the names
 * in valid headers. One that never writes ignores the key's header, since a client may send that with everything.
 */
export function readCall<Request extends { dry_run?: boolean }>(
  headers: IncomingHttpHeaders,
  sent: Request,
  { effect, call_fields = [], keyed }: CalledOperation
): Result<ReadCall<Request>, RequestFailure> {
  if (effect === 'looks') return ok({ request: sent, caller: namesIn(headers) })
  const fields: Record<string, unknown> = sent
  const given: Partial<Record<CallField, string>> = {}
  for (const field of call_fields) {
    // The schema guarantees a string.
    if (fields[field] !== undefined) given[field] = fields[field] as string
  }
  const request = Object.keys(given).length === 0 ? sent : without(sent, call_fields)
  const isDry = effect === 'computes' || sent.dry_run === true
  if (isDry && given.idempotency_key !== undefined) return invalidField('/idempotency_key', UNUSED)
  for (const [field, name] of HEADERS) {
    const header = headers[name]
    if (typeof header !== 'string' || (field === 'idempotency_key' && keyed === undefined)) continue
    const read = readHeader(field, header)
    if (!read.ok) return read
    if (isDry && field === 'idempotency_key') return invalidField('', `the header ${CALL_HEADERS[field]} ${UNUSED}`)
    if (given[field] !== undefined && given[field] !== read.value) {
      return invalidField('', `the header ${CALL_HEADERS[field]} and the field ${field} differ; send one of them`)
    }
    given[field] = read.value
  }
  const { idempotency_key, ...caller } = given
  return ok(idempotency_key === undefined ? { request, caller } : { request, caller, key: idempotency_key })
}

/** The names of a caller who only looks: nothing of it is recorded, so a wrong header is no reason to refuse the call. */
function namesIn(headers: IncomingHttpHeaders): ReadCall<never>['caller'] {
  const caller: ReadCall<never>['caller'] = {}
  for (const field of ['agent', 'session'] as const) {
    const header = headers[CALL_HEADERS[field].toLowerCase()]
    const read = typeof header === 'string' ? readHeader(field, header) : undefined
    if (read?.ok === true) caller[field] = read.value
  }
  return caller
}

/** Removes the call fields; all of the operation's own fields stay. */
const without = <Request extends object>(sent: Request, call_fields: readonly string[]) =>
  Object.fromEntries(Object.entries(sent).filter(([field]) => !call_fields.includes(field))) as Request

const UNUSED = 'is not used in a dry run, which writes nothing; leave it out'

function readHeader(field: HeaderField, header: string): Result<string, RequestFailure> {
  const name = CALL_HEADERS[field]
  const text = field === 'idempotency_key' ? keyIn(header) : textIn(header)
  if (text === null) {
    return invalidField(
      '',
      `the header ${name} must be one key of visible ASCII characters, or a quoted string such as "8e03978e-40d5"`
    )
  }
  if (text === '') return invalidField('', `the header ${name} must not be empty`)
  return [...text].length <= LONGEST[field]
    ? ok(text)
    : invalidField('', `the header ${name} must have at most ${LONGEST[field]} characters`)
}

/**
 * The key in a header: plain text without spaces, commas or quotes, which two joined headers would contain; or the
 * string of a structured field. Null: neither.
 */
function keyIn(header: string): string | null {
  if (/^[!#-+\--~]*$/.test(header)) return header
  const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(header)?.[1]
  return quoted?.replace(/\\(.)/g, '$1') ?? null
}

/** Decodes a header: Node reads it as Latin-1, but clients send UTF-8. */
function textIn(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : header
}
