// Which failure an error of the object store amounts to. Does not know paths or sentences.
import { StoreRefused, StoreUnavailable } from '../object-store/store.ts'
import { failureOf } from '../workspace/errno.ts'
import type { FileFailure } from '../workspace/failure.ts'

/** Null: no request is at fault, and the error is to be thrown again. */
export function failureOfStore(error: unknown): FileFailure | null {
  if (error instanceof StoreUnavailable) {
    return { code: 'NOT_READY', reason: error.unknown ? 'store_unknown' : 'store_unavailable', retry_after: 5 }
  }
  if (error instanceof StoreRefused) {
    if (error.isOfKeys) return { code: 'NOT_READY', reason: 'store_unavailable', retry_after: 5 }
    if (error.reason === 'AccessDenied') return { code: 'PERMISSION_DENIED', reason: 'not_permitted' }
    if (error.reason === 'QuotaExceeded') return { code: 'NO_SPACE' }
    if (error.reason === 'NoSuchBucket') return { code: 'NOT_READY', reason: 'root_gone', retry_after: 5 }
  }
  return failureOf(error)
}
