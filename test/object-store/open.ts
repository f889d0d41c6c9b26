// What the tests of object stores share. Does not know any test.
import type { Test } from 'tap'
import { openS3Store } from '../../src/object-store/s3-store.ts'
import type { ObjectStore } from '../../src/object-store/store.ts'
import { etagForm, type Bucket } from '../ceph.ts'

/** Opens a bucket, with `probes` as a server does, by one of its gateways, or by what is in front of it; it is closed with the test. */
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
    // It takes seconds, and finds the same each time.
    ...(!probes && { form: await etagForm() })
  })
  t.teardown(() => store.close())
  return store
}
