// Explains in one sentence, for a person, why a bucket can't be served. Does not know the process.
import { Unsafe } from '../object-store/probe.ts'
import { SdkMissing } from '../object-store/s3-requests.ts'
import { StoreRefused, StoreUnavailable } from '../object-store/store.ts'
import { ClockWrong } from './clock.ts'

const RIGHTS =
  'the credentials need s3:GetObject, s3:PutObject and s3:DeleteObject on the objects, and s3:ListBucket on the bucket, ' +
  'without a condition on the prefix'

/** `isFault`: the operator has to change something. Null: the error isn't the store's. */
export function storeFailure(error: unknown, root: string): { sentence: string; isFault: boolean } | null {
  if (error instanceof SdkMissing) {
    return {
      sentence: `to serve ${root}, install @aws-sdk/client-s3 beside editd: npm install @aws-sdk/client-s3.`,
      isFault: true
    }
  }
  if (error instanceof Unsafe) {
    return {
      sentence:
        `the object store of ${root} can't be used: ${error.message}. ` +
        "Without conditional writes (If-Match, If-None-Match: *) edits would overwrite each other's.",
      isFault: true
    }
  }
  if (error instanceof ClockWrong) {
    return { sentence: `${error.message} (${root}): set the clock, for instance by NTP.`, isFault: true }
  }
  if (error instanceof StoreRefused) {
    const remedy =
      error.reason === 'AccessDenied' ? RIGHTS : 'check the bucket, --s3-endpoint, --s3-region and the keys'
    return {
      sentence: `the object store refuses ${root} (${error.reason}: ${error.message}): ${remedy}.`,
      isFault: true
    }
  }
  if (error instanceof StoreUnavailable) {
    const cause = error.cause instanceof Error && error.cause.message !== '' ? ` (${error.cause.message})` : ''
    return { sentence: `the object store of ${root} does not answer${cause}: check --s3-endpoint.`, isFault: false }
  }
  return null
}
