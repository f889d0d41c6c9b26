// Maps system errors to failures. Does not know paths or sentences.
import { codeOf } from '../error-code.ts'
import { HistoryUnreadable } from '../log/unreadable.ts'
import { fail, type Result } from '../result.ts'
import type { FileFailure, NotReady } from './failure.ts'

export { codeOf }

/** Failure of work that must start again, in other places: a path leads elsewhere by now. */
export const MOVED: unique symbol = Symbol('moved')

/** Thrown when the file system changed during an operation; becomes `STALE_FILE`. */
export class Raced extends Error {
  readonly code = 'RACED'
}

/** Thrown when an object was changed since it was read, so that everything must be done again. */
export class Overtaken extends Raced {}

/** Thrown when a change must not be made because its record can't be written; `cause` is the system's error. */
export class HistoryUnwritable extends Error {
  readonly code: string

  constructor(cause: unknown) {
    super('the history cannot be written', { cause })
    this.code = failureOf(cause)?.code === 'NO_SPACE' ? codeOf(cause) : 'HISTORY_UNWRITABLE'
  }
}

/** Thrown when a failure stops work that no request asked for. */
export class Hindered extends Error {
  readonly code: string
  readonly failure: FileFailure

  constructor(failure: FileFailure) {
    super('a file cannot be looked at now')
    this.code = failure.code
    this.failure = failure
  }
}

/**
 * The failure for a thrown system error; null: no request caused it (EIO, a bug), and the error must be thrown again.
 */
export function failureOf(error: unknown): FileFailure | null {
  if (error instanceof Hindered) return error.failure
  if (error instanceof Error && error.cause instanceof Hindered) return error.cause.failure
  if (error instanceof HistoryUnreadable) return unreadable(error)
  switch (codeOf(error)) {
    case 'RACED':
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ESTALE':
      return { code: 'STALE_FILE', reason: 'changed_meanwhile' }
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ETXTBSY':
      return { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return { code: 'NO_SPACE' }
    case 'ENAMETOOLONG':
      return { code: 'INVALID_PATH', reason: 'too_long' }
    case 'EMFILE':
    case 'ENFILE':
      return { code: 'NOT_READY', reason: 'no_descriptors', retry_after: 1 }
    case 'AUDIT_UNWRITABLE':
      return { code: 'NOT_READY', reason: 'audit_unwritable', retry_after: 5 }
    case 'HISTORY_UNWRITABLE':
      return { code: 'NOT_READY', reason: 'history_unwritable', retry_after: 5 }
    default:
      return null
  }
}

/** Error codes which show that something was put in a place, or a folder above it has gone. */
const RACES = ['EEXIST', 'ENOENT', 'ENOTDIR', 'RACED']

/** `failureOf` for work on one file. MOVED: the file is new, and its place is taken by now, or its folder gone. */
export const failureAt = (error: unknown, isNew: boolean): FileFailure | typeof MOVED | null =>
  isNew && RACES.includes(codeOf(error)) ? MOVED : failureOf(error)

function unreadable({ cause }: HistoryUnreadable): NotReady {
  const failure = failureOf(cause)
  return failure?.code === 'NOT_READY' ? failure : { code: 'NOT_READY', reason: 'history_unreadable', retry_after: 5 }
}

/** The result of work that only reads the history; NOT_READY if that can't be read now. */
export async function unlessUnreadable<T, F>(work: () => Promise<Result<T, F>>): Promise<Result<T, F | NotReady>> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HistoryUnreadable)) throw error
    return fail(unreadable(error))
  }
}

/** Runs a clean-up that must not hide an earlier error. */
export function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}
