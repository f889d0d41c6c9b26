// What the tests of object stores share. Does not know any test.
import type { Test } from 'tap'
import { openS3Store } from '../../src/object-store/s3-store.ts'
import type { ObjectStore } from '../../src/object-store/store.ts'
import { etagForm, type Bucket } from '../ceph.ts'

/**
 * Opens a bucket by one of its gateways or a proxy in front of it, and closes it after the test. `probes`: checks the
 * store first, as a server does.
 */
export async function openBucketStore(
  t: Test,
  bucket: Bucket,
  { endpoint = bucket.endpoints[0], prefix = '', readOnly = false, probes = false } = {}
): Promise<ObjectStore> {
  Object.assign(process.env, bucket.environment)
  const store = await openS3Store({
    bucket: bucket.name,
    prefix,
    endpoint,
    region: null,
    readOnly,
    // Probing takes seconds, and the result is always the same.
    ...(!probes && { form: await etagForm() })
  })
  t.teardown(() => store.close())
  return store
}
