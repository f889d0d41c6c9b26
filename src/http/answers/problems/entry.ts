// What is known of the failures of one code, and how it is looked up. Does not know any failure.
import type { Problem, ProblemCode } from '../../../../schemas/problem.ts'
import type { FilePreview, HunkFailure } from '../../../engine/failure.ts'
import type { FailedPart } from '../../../operations/operation.ts'
import type { Failure } from '../../request-failure.ts'
import type { Brief, FailedCall } from '../brief/call.ts'
import type { NamedFile } from '../call-names.ts'
import { counted } from '../phrases.ts'

export type FailureOf<C extends ProblemCode> = Extract<Failure, { code: C }>

/** All about one code. */
export interface ProblemEntry<F extends Failure> {
  /** Its status and title, and whether sending the request again can help. */
  kind: readonly [status: number, title: string, retry: Problem['retry']]
  /**
   * What its problems are about, if not a path: the `request`, without a file that may be named, or a file that was read,
   * whose hash they have.
   */
  about?: 'request' | 'read_file'
  /** What is wrong and what to do next: the sentences alone, or with members of the body and headers. */
  detail: (failure: F, request: FailedRequest) => string | ProblemParts
  /** What a model is given instead: short, with calls to send. Undefined where `detail` says it. */
  brief?: (failure: F, call: FailedCall) => Brief | undefined
  /** For the published document and for tests. */
  example: Exclude<F, HunkFailure>
}

export type ProblemEntries = { [C in ProblemCode]: ProblemEntry<FailureOf<C>> }

/** The entry of a failure, in a table that has one for its code. */
export const entryOf = <F extends Failure>(table: Pick<ProblemEntries, F['code']>, { code }: F): ProblemEntry<F> =>
  table[code as F['code']] as unknown as ProblemEntry<F>

/** What a failure says beyond its kind: the sentence, members of the body, headers. */
export interface ProblemParts {
  detail: string
  members?: Partial<Problem>
  headers?: Record<string, string>
}

/** What an entry's `detail` returned, in one form. */
export const partsOf = (said: string | ProblemParts): ProblemParts =>
  typeof said === 'string' ? { detail: said } : said

/** The request that failed, as far as sentences may speak of it. */
export interface FailedRequest extends NamedFile {
  /** `path`, short enough for a sentence. */
  shown: string
  /** The route, without its query. */
  instance: string
  request_id: string
  /** The hash of the file as it is now, if it was read. */
  file_hash?: string
  /** Which of several operations failed: what is to be sent otherwise is that, and not the whole request. */
  part?: FailedPart
}

const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds))
export const retryAfter = (seconds: number) => ({ 'retry-after': String(wholeSeconds(seconds)) })
export const sendAgain = (seconds: number) => `Send the request again in ${counted(wholeSeconds(seconds), 'second')}.`

/** The file that several examples are about. */
export const EXAMPLE_PREVIEW: FilePreview = {
  total_lines: 90,
  preview_start_line: 44,
  preview_end_line: 46,
  content: 'export {}\nconst  foo = 1;\nrun()\n',
  highlights: [{ start_line: 45, end_line: 45 }]
}
