// What is asked of any history, asked of one in a bucket of a real Ceph.
import t, { type Test } from 'tap'
import { NO_CEPH } from '../../ceph.ts'
import { feedBehaviours } from '../../history/behaviours/feed.ts'
import { recordBehaviours } from '../../history/behaviours/history.ts'
import { reviewBehaviours } from '../../history/behaviours/reviews.ts'
import { makeBucketPlace } from './support/place.ts'

t.test('a history in a bucket', { skip: NO_CEPH, timeout: 300_000 }, async t => {
  const makePlace = (t: Test) => makeBucketPlace(t)
  recordBehaviours(t, makePlace)
  reviewBehaviours(t, makePlace)
  feedBehaviours(t, makePlace)
})
