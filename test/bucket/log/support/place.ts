// What the tests of a bucket's history share: a bucket of a real Ceph, and histories opened on it. Does not know any
// test.
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { openBucketHistory, type BucketHistoryOptions } from '../../../../src/bucket/log/bucket-log.ts'
import type { History } from '../../../../src/log/api.ts'
import { openS3Store } from '../../../../src/object-store/s3-store.ts'
import type { ObjectStore } from '../../../../src/object-store/store.ts'
import { etagForm, makeBucket, type Bucket } from '../../../ceph.ts'

/** The prefix of all keys of a place. */
export const PREFIX = 'work'

export interface BucketPlace {
  bucket: Bucket
  /** The bucket through the first gateway. */
  store: ObjectStore
  events: { event: string; [key: string]: unknown }[]
  /** Nonces of servers that have ended, or that others believe to have ended. */
  gone: Set<string>
  late: Map<string, number>
  /** Opens the history of another server, on `store`; by default through the two gateways in turn. */
  open(options?: Partial<BucketHistoryOptions>, store?: ObjectStore): Promise<History>
}

/** Makes a bucket for this test, and closes the opened histories when the test ends. */
export async function makeBucketPlace(t: Test): Promise<BucketPlace> {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const form = await etagForm()
  const stores = await Promise.all(
    bucket.endpoints.map(endpoint =>
      openS3Store({ bucket: bucket.name, prefix: PREFIX, endpoint, region: null, readOnly: false, form })
    )
  )
  const opened: History[] = []
  t.teardown(async () => {
    for (const history of opened) await history.close()
    for (const store of stores) store.close()
  })
  const place: BucketPlace = {
    bucket,
    store: stores[0]!,
    events: [],
    gone: new Set(),
    late: new Map(),
    open: async (options, store = stores[opened.length % 2]!) => {
      const history = await openBucketHistory(store, {
        nonce: randomBytes(6).toString('hex'),
        level: 'full',
        isPrivate: () => false,
        report: event => place.events.push(event),
        servers: {
          begin: async () => {},
          look: async () => {},
          isGone: nonce => place.gone.has(nonce),
          sweep: async () => {},
          end: async () => {}
        },
        ...options
      })
      opened.push(history)
      return history
    }
  }
  return place
}

/** The keys in the bucket below a prefix. */
export async function keysIn(store: ObjectStore, prefix: string): Promise<string[]> {
  return (await store.list(prefix)).keys.map(({ key }) => key)
}
