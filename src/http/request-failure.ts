// The closed union of everything that can be wrong with a request before it reaches an operation. Does not know
// sentences.
import type { Rate } from '../config/config.ts'
import type { CallFailure, Emptiness, TooManyOperations } from '../operations/operation.ts'
import { fail } from '../result.ts'
import type { KeyFailure } from '../workspace/failure.ts'

export interface InvalidField {
  pointer: string
  message: string
}

/**
 * What is wrong with a JWT: its length or form; its type, issuer, algorithm, key or signature, audience or start time;
 * another claim; or that it is bound to a key of its holder.
 */
export type JwtFault =
  'length' | 'form' | 'type' | 'issuer' | 'algorithm' | 'key' | 'audience' | 'time' | 'expired' | 'bound'

export type RequestFailure =
  /** `where`: the parser's description of the place. `pointer`: the object or value in question. */
  | { code: 'INVALID_JSON'; reason: 'empty' | 'syntax'; where?: string }
  | { code: 'INVALID_JSON'; reason: 'duplicate_key'; key: string; pointer: string }
  | { code: 'INVALID_JSON'; reason: 'too_deep'; limit: number }
  /** No `pointer`: the bytes aren't UTF-8. */
  | { code: 'INVALID_UNICODE'; pointer?: string }
  | { code: 'INVALID_REQUEST'; errors: InvalidField[] }
  | { code: 'NO_EDITS'; fields: readonly string[] }
  /** A batch without operations. */
  | { code: 'NO_EDITS'; none_of: 'operations' }
  /** `new_text`: of the only edit. `there`: what is at the path, if that isn't a file with text in it. */
  | { code: 'EMPTY_OLD_TEXT'; edit_index?: number; total_edits?: number; new_text?: string; there?: Emptiness }
  | { code: 'TOO_MANY_EDITS'; limit: number; actual: number }
  | TooManyOperations
  | { code: 'UNSUPPORTED_MEDIA_TYPE'; reason: 'type' | 'charset' | 'encoding'; given: string }
  | { code: 'UNAUTHORIZED'; reason: 'missing' | 'malformed' | 'wrong' | 'expired' }
  | { code: 'UNAUTHORIZED'; reason: 'jwt'; fault: JwtFault }
  /** `claim`: missing or wrong. */
  | { code: 'UNAUTHORIZED'; reason: 'jwt'; fault: 'claims'; claim: string }
  /** The token is valid but grants nothing here. `ask`: the scope to ask its issuer for. */
  | { code: 'FORBIDDEN_SCOPE'; lacks: 'workspace' }
  | { code: 'FORBIDDEN_SCOPE'; lacks: 'scope'; ask: string }
  /**
   * More than `rate` allows: requests of a token or an address, or wrong tokens of an address. `retry_after` in
   * seconds.
   */
  | { code: 'RATE_LIMITED'; of: 'token' | 'address' | 'wrong_tokens'; rate: Rate; retry_after: number }
  | { code: 'FORBIDDEN_HOST'; host: string }
  | { code: 'FORBIDDEN_ORIGIN'; origin: string }
  | { code: 'ROUTE_NOT_FOUND'; method: string; routes: string[] }
  | { code: 'ROUTE_NOT_FOUND'; workspace: string }
  | { code: 'ROUTE_NOT_FOUND'; tool: string; meant?: string; tools: string[] }
  | { code: 'METHOD_NOT_ALLOWED'; method: string; allow: string[] }
  | { code: 'REQUEST_TIMEOUT' }
  | { code: 'HEADERS_TOO_LARGE'; limit: number }
  | { code: 'REQUEST_TOO_LARGE'; limit: number }
  | { code: 'INTERNAL_ERROR' }

/** Why a request with an idempotency key isn't run. `keyed`: the missing history is needed for the key. */
export type KeyRefusal =
  Exclude<KeyFailure, { code: 'HISTORY_GONE' }> | (Extract<KeyFailure, { code: 'HISTORY_GONE' }> & { keyed: true })

export type Failure = RequestFailure | KeyRefusal | CallFailure

/** A request with one fault; `pointer`: the field, '' for anything else. */
export const invalidRequest = (message: string, pointer = ''): RequestFailure => ({
  code: 'INVALID_REQUEST',
  errors: [{ pointer, message }]
})

/** A failed result for a request with one faulty field. */
export const invalidField = (pointer: string, message: string) => fail(invalidRequest(message, pointer))
