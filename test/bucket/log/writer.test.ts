// The writing end of a history in a bucket of a real Ceph, where the store refuses what it writes.
// runs in .ci/run
import t from 'tap'
import { LOGS, objectKey } from '../../../src/bucket/log/names.ts'
import { NO_CEPH } from '../../ceph.ts'
import { startCuttingProxy } from '../../cutting-proxy.ts'
import { FAST, recordOf } from '../../log/support/history.ts'
import { openBucketStore } from '../../object-store/open.ts'
import { keysIn, makeBucketPlace, PREFIX } from './support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }

t.test('tries to end a log again with the next lines', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const proxy = await startCuttingProxy(t, place.bucket.endpoints[0])
  const store = await openBucketStore(t, place.bucket, { endpoint: proxy.endpoint, prefix: PREFIX })
  const history = await place.open({ limits: { segment: 1 } }, store)
  const end = objectKey(1, { from: 1, to: 1 })
  proxy.refuses = ({ method, path }) => method === 'PUT' && path.includes(end)
  await history.append(recordOf(history, 'a.txt'), FAST)
  const first = objectKey(1, { from: 0, to: 0 })
  t.strictSame(await keysIn(place.store, LOGS), [first])
  t.match(place.events.splice(0)[0], { event: 'history_log_not_ended', log: 1, code: 'STORE_REFUSED' })
  proxy.refuses = () => false
  await history.append(recordOf(history, 'a.txt'), FAST)
  await history.flush()
  const second = objectKey(2, { from: 0, to: 0 })
  t.strictSame(await keysIn(place.store, LOGS), [first, end, second, objectKey(2, { from: 1, to: 1 })])
  t.strictSame(place.events, [])
})

t.test('gives a log up in which it could not write', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const proxy = await startCuttingProxy(t, place.bucket.endpoints[0])
  const store = await openBucketStore(t, place.bucket, { endpoint: proxy.endpoint, prefix: PREFIX })
  const history = await place.open({}, store)
  const first = recordOf(history, 'a.txt')
  await history.append(first, FAST)
  proxy.refuses = ({ method }) => method === 'PUT'
  const refused = recordOf(history, 'a.txt')
  await t.rejects(history.append(refused, FAST), { code: 'STORE_REFUSED' })
  t.match(place.events.splice(0)[0], { event: 'history_log_given_up', log: 1, code: 'STORE_REFUSED' })
  proxy.refuses = () => false
  const next = recordOf(history, 'a.txt')
  await history.append(next, FAST)
  // While there is a store that it can end its log in.
  await history.close()
  const { records } = await (await place.open()).ofPath(Buffer.from('a.txt'))
  t.strictSame(
    records.map(({ record }) => record.edit_id),
    [first.edit_id, next.edit_id]
  )
})
