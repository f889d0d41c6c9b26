// What is asked of any history of what it tells, asked of one in a bucket of a real Ceph.
// runs in .ci/run
import t, { type Test } from 'tap'
import { NO_CEPH } from '../../ceph.ts'
import { feedBehaviours } from '../../log/behaviours/feed.ts'
import { LONG } from '../../often.ts'
import { makeBucketPlace } from './support/place.ts'

t.test('in a bucket', { skip: NO_CEPH, timeout: 280_000 }, async t => {
  // Each step of the law is some requests: as few rounds in CI as anywhere else.
  feedBehaviours(t, (t: Test) => makeBucketPlace(t), LONG ? 1 / 12 : 1 / 4)
})
