// What a request names, and the shape of what came of it, wherever files are: types only.
import type { FailedStep } from './api.ts'
import type { FileFailure } from './failure.ts'

/** A path as a request gives it. */
export interface RequestedPath {
  /** Normalised, below the root; answers name the file by it. '.' is the root itself. */
  path: string
  /** The same in bytes; '' is the root itself. */
  relative: Buffer
  /** It ends as only a folder's path does. */
  isFolder: boolean
}

/** What an answer tells of a file besides its path, as far as it is known and may be revealed. */
export interface FileInfo {
  resolved_path?: string
  file_hash?: string
}

/** A failure carries what was known of the file when it failed. */
export type FileResult<T, F = FileFailure> = { ok: true; value: T } | FailedFile<F>
export type FailedFile<F> = { ok: false; failure: F } & FileInfo

/** Of work on several files: a failure says which of them it is of; `others`, `untried`: as of `FailedSteps`. */
export type ManyResult<T, F> = { ok: true; value: T } | FailedMany<F>
export type FailedMany<F> = FailedOne<F> & { others?: readonly FailedOne<F>[]; untried?: readonly number[] }
export type FailedOne<F> = FailedFile<F> & Pick<FailedStep<F>, 'at' | 'behind'>
