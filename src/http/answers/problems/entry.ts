// How the sentences of failures are written down: a table by code, a line for each sentence. Does not know any failure.
import type { Problem } from '../../../../schemas/problem.ts'
import type { FailedPart } from '../../../operations/operation.ts'
import type { NamedFile } from '../call-names.ts'
import { counted } from '../phrases.ts'

/** What a failure says beyond its kind: the sentence, members of the body, headers. */
export interface ProblemParts {
  detail: string
  members?: Partial<Problem>
  headers?: Record<string, string>
}

/** The request that failed, as far as sentences may speak of it. */
export interface FailedRequest extends NamedFile {
  /** `path`, short enough for a sentence. */
  shown: string
  /** The route, without its query. */
  instance: string
  request_id: string
  /** Of the file as it is now, if it was read. */
  file_hash?: string
  /** Of several operations, the one that failed: what is to be sent otherwise is that, and not the whole request. */
  part?: FailedPart
}

/** For each code of `F` what is said of it: the sentences alone, or with members of the body and headers. */
export type Descriptions<F extends { code: string }> = {
  [C in F['code']]: (failure: Extract<F, { code: C }>, request: FailedRequest) => string | ProblemParts
}

/** What the table says of the failure. */
export function describeBy<F extends { code: string }>(
  table: Descriptions<F>,
  failure: F,
  request: FailedRequest
): ProblemParts {
  const describe = table[failure.code as F['code']] as (failure: F, request: FailedRequest) => string | ProblemParts
  const described = describe(failure, request)
  return typeof described === 'string' ? { detail: described } : described
}

const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds))
export const retryAfter = (seconds: number) => ({ 'retry-after': String(wholeSeconds(seconds)) })
export const sendAgain = (seconds: number) => `Send the request again in ${counted(wholeSeconds(seconds), 'second')}.`
