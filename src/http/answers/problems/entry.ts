// The table entry of one problem code, and how it is looked up. Does not know any failure.
import type { Problem, ProblemCode } from '../../../../schemas/problem.ts'
import type { FilePreview, HunkFailure } from '../../../engine/failure.ts'
import type { FailedPart, WrongCountInFiles } from '../../../operations/operation.ts'
import type { Failure } from '../../request-failure.ts'
import type { Brief, FailedCall } from '../brief/call.ts'
import type { NamedFile } from '../call-names.ts'
import { counted } from '../phrases.ts'

export type FailureOf<C extends ProblemCode> = Extract<Failure, { code: C }>

/** Everything about one code. */
export interface ProblemEntry<F extends Failure> {
  /** Status, title, and whether sending the request again can help. */
  kind: readonly [status: number, title: string, retry: Problem['retry']]
  /**
   * What its problems are about, if not just a path: the `request`, so no file may be named; or a file that was read,
   * so the problem has its hash.
   */
  about?: 'request' | 'read_file'
  /** What is wrong and what to do next: the text alone, or with members of the body and headers. */
  detail: (failure: F, request: FailedRequest) => string | ProblemParts
  /** The short text for a model, with calls to send. Undefined if `detail` is enough. */
  brief?: (failure: F, call: FailedCall) => Brief | undefined
  /** For the published document and for tests. */
  example: Exclude<F, HunkFailure | WrongCountInFiles>
}

export type ProblemEntries = { [C in ProblemCode]: ProblemEntry<FailureOf<C>> }

/** Looks up the entry for a failure's code. */
export const entryOf = <F extends Failure>(table: Pick<ProblemEntries, F['code']>, { code }: F): ProblemEntry<F> =>
  table[code as F['code']] as unknown as ProblemEntry<F>

/** What a failure adds to its kind: the text, members of the body, headers. */
export interface ProblemParts {
  detail: string
  members?: Partial<Problem>
  headers?: Record<string, string>
}

/** The result of an entry's `detail`, normalized. */
export const partsOf = (parts: string | ProblemParts): ProblemParts =>
  typeof parts === 'string' ? { detail: parts } : parts

/** What sentences may mention of the failed request. */
export interface FailedRequest extends NamedFile {
  /** `path`, shortened for a sentence. */
  shown: string
  /** Where a link on the path leads. */
  resolved_path?: string
  /** The route, without its query. */
  instance: string
  request_id: string
  /** The file's current hash, if the file was read. */
  file_hash?: string
  /** The operation that failed, if there are several: only this has to be sent differently, not the whole request. */
  part?: FailedPart
}

const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds))
export const retryAfter = (seconds: number) => ({ 'retry-after': String(wholeSeconds(seconds)) })
export const sendAgain = (seconds: number) => `Send the request again in ${counted(wholeSeconds(seconds), 'second')}.`

/** A preview that several examples share. */
export const EXAMPLE_PREVIEW: FilePreview = {
  total_lines: 90,
  preview_start_line: 44,
  preview_end_line: 46,
  content: 'export {}\nconst  foo = 1;\nrun()\n',
  highlights: [{ start_line: 45, end_line: 45 }]
}
