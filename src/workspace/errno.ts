// What a system error means for a file. Knows no paths and no sentences.
import type { FileFailure } from './failure.ts'

/** Thrown where the file system changed under an operation; becomes `STALE_FILE`. */
export class Raced extends Error {
  readonly code = 'RACED'
}

/** The `code` of a thrown system error, or ''. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/**
 * The failure that a thrown system error amounts to; null: it is nobody's request that is at fault (EIO, a bug), and
 * the error is to be thrown on.
 */
export function failureOf(error: unknown): FileFailure | null {
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
    default:
      return null
  }
}

/** Runs a clean-up that must not hide what happened before it. */
export function quietly(work: () => void): void {
  try {
    work()
  } catch {}
}
