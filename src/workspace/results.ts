// Requested paths, and the shape of results, in any store: types only.
import type { FailedStep } from './api.ts'
import type { FileFailure } from './failure.ts'

/** A path as a request gives it. */
export interface RequestedPath {
  /** Normalised, below the root; answers name the file by it. '.' is the root itself. */
  path: string
  /** That path in bytes; '' is the root itself. */
  relative: Buffer
  /** The path ends as only a folder's does. */
  isFolder: boolean
}

/** What an answer has on a file besides its path, as far as it is known and may be revealed. */
export interface FileInfo {
  resolved_path?: string
  file_hash?: string
}

/** A failure carries what was known of the file at the time. */
export type FileResult<T, F = FileFailure> = { ok: true; value: T } | FailedFile<F>
export type FailedFile<F> = { ok: false; failure: F } & FileInfo

/**
 * Result of work on several files: a failure says which file failed; `others` and `untried` are those of `FailedSteps`.
 */
export type ManyResult<T, F> = { ok: true; value: T } | FailedMany<F>
export type FailedMany<F> = FailedOne<F> & { others?: readonly FailedOne<F>[]; untried?: readonly number[] }
/** `path`: if it isn't that of the step. */
export type FailedOne<F> = FailedFile<F> & Pick<FailedStep<F>, 'at' | 'behind'> & { path?: string }
