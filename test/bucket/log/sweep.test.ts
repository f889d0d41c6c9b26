// A history in a bucket of a real Ceph is kept within its bounds: which texts and copies go, and what is reported where
// the store refuses to remove something.
// runs in .ci/run
import t from 'tap'
import { BLOBS, COPIES, LOGS, SERVERS } from '../../../src/bucket/log/names.ts'
import { LivingServers } from '../../../src/bucket/log/servers.ts'
import { NO_CEPH } from '../../ceph.ts'
import { startCuttingProxy } from '../../cutting-proxy.ts'
import { recordOf, write } from '../../log/support/history.ts'
import { openBucketStore } from '../../object-store/open.ts'
import { keysIn, makeBucketPlace, PREFIX } from './support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }
const A = Buffer.from('a.txt')
const ALL = { days: 30, bytes: 1e9 }
const NONE = { days: 0, bytes: 0 }

t.test('removes texts and copies that are too old, and no others', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const history = await place.open({ limits: { text: 10 } })
  const text = 'a text of more than ten bytes'
  const [record] = await write(history, [recordOf(history, 'a.txt', text)])
  history.keepCopy(A, { edit_id: record!.edit_id, pieces: [Buffer.from(text)], hash: record!.hash_after! })
  await history.flush()
  await history.leave(A)
  await history.sweep(ALL)
  t.equal((await keysIn(place.store, BLOBS)).length, 1)
  t.equal((await keysIn(place.store, COPIES)).length, 1)
  await history.sweep(NONE)
  t.strictSame(await keysIn(place.store, BLOBS), [])
  t.strictSame(await keysIn(place.store, COPIES), [])
  t.ok((await keysIn(place.store, LOGS)).length > 0, 'a log that is written to stays')
  t.strictSame(place.events, [])
})

t.test('judges ages by the time of the store, whatever the clock of a server says', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const gone = await place.open({ nonce: 'gone', limits: { text: 10 } })
  await write(gone, [recordOf(gone, 'a.txt', 'a text of more than ten bytes')])
  await gone.close()
  const ahead = await place.open({ nonce: 'ahead' })
  const real = Date.now
  t.teardown(() => {
    Date.now = real
  })
  Date.now = () => real() + 40 * 24 * 60 * 60 * 1000
  const { removed } = await ahead.sweep(ALL)
  const since = ahead.now() - real()
  Date.now = real
  t.equal(removed, 0)
  t.ok(Math.abs(since) < 60_000, `${since} ms apart`)
  t.equal((await keysIn(place.store, BLOBS)).length, 1)
  t.strictSame(place.events, [])
})

t.test('reports what the store refuses to remove or to put together, and goes on', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const proxy = await startCuttingProxy(t, place.bucket.endpoints[0])
  const store = await openBucketStore(t, place.bucket, { endpoint: proxy.endpoint, prefix: PREFIX })
  const writer = await place.open({ nonce: 'one' })
  for (const text of ['one', 'two', 'three']) await write(writer, [recordOf(writer, 'a.txt', text)])
  const before = await keysIn(place.store, LOGS)
  t.ok(before.length > 1)
  place.gone.add('one')
  const servers = new LivingServers({
    store,
    nonce: 'other',
    report: event => place.events.push(event),
    times: { silent: 0 }
  })
  await place.store.write(`${SERVERS}one`, { bytes: Buffer.from('{}'), if: 'absent', attempt: 'one' })
  const other = await place.open({ nonce: 'other', servers }, store)
  proxy.refuses = ({ method, path }) => method === 'DELETE' || (method === 'PUT' && /\d{9}-\d{9}/.test(path))
  await other.sweep(NONE)
  t.match(place.events.splice(0), [
    { event: 'history_merge_failed', log: 1, code: 'STORE_REFUSED' },
    { event: 'history_sweep_failed', code: 'STORE_REFUSED' },
    { event: 'history_sweep_failed', code: 'STORE_REFUSED' }
  ])
  t.equal((await keysIn(place.store, LOGS)).length, before.length + 1, 'with the end')
  proxy.refuses = () => false
  t.match(await other.sweep(NONE), { bytes: 0 })
  t.strictSame(await keysIn(place.store, LOGS), [])
  t.strictSame(await keysIn(place.store, SERVERS), [])
  t.strictSame(place.events, [])
})

t.test('keeps the log with the highest number as long as there are others', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const [first, second] = [await place.open({ nonce: 'one' }), await place.open({ nonce: 'two' })]
  await write(first, [recordOf(first, 'a.txt')])
  await write(second, [recordOf(second, 'a.txt')])
  await second.close()
  const later = await place.open({ nonce: 'three' })
  const before = await keysIn(place.store, LOGS)
  t.ok((await later.sweep(NONE)).bytes > 0)
  t.equal(
    (await keysIn(place.store, LOGS)).length,
    before.length,
    'neither that one, nor the one of a server that lives'
  )
  await first.close()
  t.match(await later.sweep(NONE), { bytes: 0 })
  t.strictSame(await keysIn(place.store, LOGS), [])
  t.strictSame(place.events, [])
})
