// What is asked of any history of its records, asked of one in a bucket of a real Ceph.
// runs in .ci/run
import t, { type Test } from 'tap'
import { NO_CEPH } from '../../ceph.ts'
import { recordBehaviours } from '../../log/behaviours/history.ts'
import { makeBucketPlace } from './support/place.ts'

t.test('in a bucket', { skip: NO_CEPH, timeout: 280_000 }, async t => {
  recordBehaviours(t, (t: Test) => makeBucketPlace(t))
})
