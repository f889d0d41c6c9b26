// What is asked of any history of what it tells, asked of one in a bucket of a real Ceph.
import t, { type Test } from 'tap'
import { NO_CEPH } from '../../ceph.ts'
import { feedBehaviours } from '../../history/behaviours/feed.ts'
import { makeBucketPlace } from './support/place.ts'

t.test('in a bucket', { skip: NO_CEPH, timeout: 280_000 }, async t => {
  // Each step of the law is some requests.
  feedBehaviours(t, (t: Test) => makeBucketPlace(t), 1 / 4)
})
