// Parses `s3://bucket/prefix` addresses. Sends no requests.
import { fail, ok, type Result } from '../result.ts'

export interface BucketAddress {
  bucket: string
  /** Without a leading or trailing slash; '': the whole bucket. */
  prefix: string
}

/** Whether a root is the address of a bucket. */
export const isBucketAddress = (root: string): boolean => /^s3:/i.test(root)

/** The longest key S3 allows, in bytes. The prefix may use only a part of it: the names below it need the rest. */
export const KEY_LIMIT = 1024
const PREFIX_LIMIT = 512

/** On failure, the error completes a sentence that starts with the address. */
export function parseBucketAddress(text: string): Result<BucketAddress, string> {
  const match = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text)
  if (match === null) return fail('is not the address of a bucket: write s3://BUCKET or s3://BUCKET/PREFIX')
  const [, bucket = '', path = ''] = match
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    return fail('has no valid name of a bucket: it has 3 to 63 of a-z, 0-9, - and ., as in s3://my-bucket/docs')
  }
  const prefix = path.replace(/\/$/, '')
  const names = prefix === '' ? [] : prefix.split('/')
  if (names.some(name => name === '' || name === '.' || name === '..') || prefix.includes('\0')) {
    return fail('has a prefix with an empty name, . or .. in it: write s3://BUCKET/PREFIX')
  }
  if (names.includes(OWN)) return fail(`has ${OWN} in its prefix, where editd keeps what is its own`)
  if (Buffer.byteLength(prefix) > PREFIX_LIMIT) return fail(`has a prefix of more than ${PREFIX_LIMIT} bytes`)
  return ok({ bucket, prefix })
}

/** The folder below the root that holds editd's own data. */
export const OWN = '.editd'

/** The inverse of `parseBucketAddress`. */
export const formatBucketAddress = ({ bucket, prefix }: BucketAddress): string =>
  `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
