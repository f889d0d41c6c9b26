// Maps errors of the object store to failures. Does not know paths or sentences.
import { Unsafe } from '../object-store/probe.ts'
import { Overwritten, StoreRefused, StoreUnavailable, StoreUnsafe } from '../object-store/store.ts'
import { failureOf } from '../workspace/errno.ts'
import type { FileFailure, NotReady } from '../workspace/failure.ts'

/** Why a store is unusable: it doesn't answer, refuses this server's credentials or rights, or ignores conditions. */
export type StoreFault = 'store_unavailable' | 'store_refused' | 'store_unsafe'

/** `error`: what an unusable store rejected with. */
export function faultOf(error: unknown): StoreFault {
  if (error instanceof StoreUnsafe || error instanceof Unsafe) return 'store_unsafe'
  return error instanceof StoreRefused ? 'store_refused' : 'store_unavailable'
}

export const notReady = (reason: NotReady['reason']): NotReady => ({ code: 'NOT_READY', reason, retry_after: 5 })

/** Null: it isn't an error of the store, and is to be thrown again. */
export function failureOfStore(error: unknown): FileFailure | null {
  if (error instanceof Overwritten) return { code: 'STALE_FILE', reason: 'overwritten' }
  if (error instanceof StoreUnavailable) {
    return notReady(error.unknown && !(error instanceof StoreUnsafe) ? 'store_unknown' : faultOf(error))
  }
  if (error instanceof StoreRefused) {
    if (error.isOfAll) return notReady('store_refused')
    if (error.reason === 'AccessDenied') return { code: 'PERMISSION_DENIED', reason: 'store_denies' }
    if (error.reason === 'QuotaExceeded') return { code: 'NO_SPACE' }
    if (error.reason === 'NoSuchBucket') return notReady('root_gone')
  }
  return failureOf(error)
}
