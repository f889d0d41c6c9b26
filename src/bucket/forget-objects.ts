// `editd forget` in a bucket: removes the texts of one file's history, whether or not servers are running on the
// bucket. Does not know argv.
import { randomBytes } from 'node:crypto'
import { KEY_LIMIT } from '../object-store/address.ts'
import { openS3Store, type S3StoreOptions } from '../object-store/s3-store.ts'
import { ok, type Result } from '../result.ts'
import type { CommonOptions } from '../workspace/api.ts'
import type { FileFailure } from '../workspace/failure.ts'
import { relativePath } from '../workspace/path.ts'
import { openBucketHistory } from './log/bucket-log.ts'

/** Does what `forgetTexts` does in a folder. Throws what opening the store throws. */
export async function forgetInBucket(
  { report = () => {}, ...store }: Omit<S3StoreOptions, 'readOnly'> & Pick<CommonOptions, 'report'>,
  path: string
): Promise<Result<number, FileFailure>> {
  const relative = relativePath(path, [], 'linux', KEY_LIMIT)
  if (!relative.ok) return relative
  const opened = await openS3Store({ ...store, readOnly: false })
  try {
    const nonce = randomBytes(12).toString('hex')
    const history = await openBucketHistory(opened, { nonce, level: 'meta', isPrivate: () => true, report })
    try {
      return ok(await history.forget(Buffer.from(relative.value)))
    } finally {
      await history.close()
    }
  } finally {
    opened.close()
  }
}
