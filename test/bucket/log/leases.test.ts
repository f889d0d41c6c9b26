// Keys and servers in a bucket of a real Ceph: who carries out a request, who lives, and what became of what was left.
// runs in .ci/run
import { setTimeout as sleep } from 'node:timers/promises'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { KeyLeases } from '../../../src/bucket/log/key-leases.ts'
import { KEYS, SERVERS } from '../../../src/bucket/log/names.ts'
import { LivingServers } from '../../../src/bucket/log/servers.ts'
import { Settler, type PresentFile } from '../../../src/bucket/log/settle.ts'
import { StoreUnavailable } from '../../../src/object-store/store.ts'
import { makeBucket, NO_CEPH } from '../../ceph.ts'
import { startCuttingProxy } from '../../cutting-proxy.ts'
import { FAST, hashOf, recordOf } from '../../log/support/history.ts'
import { check, startServer } from '../../http/test-server.ts'
import { openBucketStore } from '../../object-store/open.ts'
import { openOn } from '../support/workspace.ts'
import { keysIn, makeBucketPlace, PREFIX } from './support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }
const KEY = Buffer.from('\0idempotency-key\0digest')

t.test('one of many servers holds a key, and the next when it is released', CEPH, async t => {
  const { store } = await makeBucketPlace(t)
  const leases = ['a', 'b', 'c'].map(nonce => new KeyLeases({ store, nonce, wait: 0 }))
  const held = await Promise.all([...leases, ...leases].map(one => one.acquire(KEY)))
  const got = held.filter(one => one.ok)
  t.equal(got.length, 1)
  t.match(held.filter(one => !one.ok)[0], { failure: { code: 'FILE_LOCKED' } })
  t.ok(got[0]?.ok && got[0].value.held())
  if (got[0]?.ok) await got[0].value.release()
  t.strictSame(await keysIn(store, KEYS), [])
  t.ok((await leases[0]!.acquire(KEY)).ok)
})

t.test('takes the key of a killed holder over when its time is over, and never one that is held', CEPH, async t => {
  const { store } = await makeBucketPlace(t)
  const lease = 3000
  const killed = new KeyLeases({ store, nonce: 'killed', wait: 0, lease })
  const next = new KeyLeases({ store, nonce: 'next', wait: 60_000, lease })
  const first = await killed.acquire(KEY)
  const second = await next.acquire(KEY)
  t.ok(first.ok && second.ok)
  if (!first.ok || !second.ok) return
  t.notOk(first.value.held(), 'it has noticed by then')
  await first.value.release()
  t.equal((await keysIn(store, KEYS)).length, 1, 'it is no longer its own to remove')
  await next.sweep()
  await sleep(lease)
  await next.sweep()
  await sleep(lease)
  await next.sweep()
  t.strictSame(await keysIn(store, KEYS), [], 'what is left is swept')
})

t.test(
  'answers for a key by what the request came to, and that it is not ready where it can not have the key',
  CEPH,
  async t => {
    const bucket = await makeBucket(t)
    Object.assign(process.env, bucket.environment)
    await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'a', Body: 'one\n' }))
    const proxy = await startCuttingProxy(t, bucket.endpoints[0])
    const server = await startServer(t, { workspace: await openOn(bucket, { endpoint: proxy.endpoint }) })
    const edit = (old_text: string, new_text: string, status: number, expected: Record<string, unknown>) => {
      const body = { path: 'a', old_text, new_text, idempotency_key: new_text }
      return check(t, server, '/edit', body, status, expected)
    }
    const isOfKey = ({ path }: { path: string }) => path.includes(KEYS)
    proxy.cuts = ({ method, path }) => method === 'DELETE' && isOfKey({ path })
    await edit('one', 'two', 200, { changed: true })
    proxy.cuts = isOfKey
    await edit('two', 'three', 503, { code: 'NOT_READY', detail: /object store/ })
    proxy.cuts = () => false
    proxy.refuses = isOfKey
    await edit('two', 'four', 503, { code: 'NOT_READY', detail: /history/ })
    proxy.refuses = () => false
    await edit('two', 'five', 200, { changed: true })
  }
)

t.test('a server is gone when its object has not changed for a while, as seen from here', CEPH, async t => {
  const { store, events } = await makeBucketPlace(t)
  const report = (event: { event: string }) => events.push(event)
  const times = { renew: 200, silent: 5000 }
  const [one, two] = ['one', 'two'].map(nonce => new LivingServers({ store, nonce, report, times }))
  await one!.begin()
  const none = new Map([['never', '1']])
  await two!.look(none)
  t.notOk(two!.isGone('one'))
  t.notOk(two!.isGone('never'), 'it was only just seen')
  await sleep(times.silent + 500)
  await two!.look(none)
  t.notOk(two!.isGone('one'))
  t.ok(two!.isGone('never'))
  t.notOk(two!.isGone('two'), 'oneself never is')
  await two!.look(new Map([['never', '2']]))
  t.notOk(two!.isGone('never'), 'it has written')
  await one!.end()
  t.strictSame(await keysIn(store, SERVERS), [])
  await two!.look(none)
  await sleep(times.silent)
  await two!.look(none)
  await two!.sweep()
  t.strictSame(events, [])
})

t.test('a server goes on showing that it lives after the store has refused it', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const proxy = await startCuttingProxy(t, place.bucket.endpoints[0])
  const store = await openBucketStore(t, place.bucket, { endpoint: proxy.endpoint, prefix: PREFIX })
  const report = (event: { event: string }) => place.events.push(event)
  const server = new LivingServers({ store, nonce: 'one', report, times: { renew: 50 } })
  proxy.refuses = ({ method }) => method === 'PUT'
  await server.begin()
  t.match(place.events[0], { event: 'server_not_renewed', code: 'STORE_REFUSED' })
  proxy.refuses = ({ method }) => method === 'DELETE'
  while ((await keysIn(place.store, SERVERS)).length === 0) await sleep(20)
  place.events.splice(0)
  await server.end()
  t.match(place.events, [{ event: 'server_not_renewed', code: 'STORE_REFUSED' }])
  t.equal((await keysIn(place.store, SERVERS)).length, 1)
})

t.test('says what became of a change: done at once, void when its write can’t be under way', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const [gone, history] = [await place.open({ nonce: 'gone' }), await place.open()]
  const [landed, lost, copied] = ['landed', 'lost', 'copied'].map(name => recordOf(gone, name, name))
  // Undos that change no byte.
  const hash = hashOf('same')
  const [undone, undoing] = ['undone', 'undoing'].map(name =>
    recordOf(gone, name, 'same', { hash_before: hash, toggles: [{ edit_id: landed!.edit_id }] })
  )
  for (const record of [landed!, lost!, copied!, undone!, undoing!]) await gone.append(record, FAST)
  const files: Record<string, PresentFile | null> = {
    landed: { hash: hashOf('something later'), attempts: ['later', landed!.edit_id] },
    lost: { hash: hashOf(''), attempts: [] },
    undone: { hash, attempts: [undone!.edit_id] },
    undoing: { hash, attempts: [landed!.edit_id] },
    copied: { hash: hashOf('copied'), attempts: ['of another change to the same content'] }
  }
  let underWay = 60_000
  const settler = new Settler({
    history,
    present: async path => {
      const file = files[path.toString()]
      if (file == null) throw new StoreUnavailable('no answer')
      return file
    },
    report: event => place.events.push(event),
    underWay: () => underWay
  })
  const settle = async (edit_id: string) => settler.settle((await history.byId(edit_id))!)
  t.equal(await settle(landed!.edit_id), 'done')
  t.equal(await settle(lost!.edit_id), 'under_way')
  t.equal(await settle(copied!.edit_id), 'under_way')
  t.equal(await settle(undone!.edit_id), 'done')
  t.equal(await settle(undoing!.edit_id), 'under_way')
  t.equal((await history.byId(lost!.edit_id))?.settled, null, 'not written down')
  underWay = 0
  const file = files.lost!
  files.lost = null
  t.equal(await settle(lost!.edit_id), 'uncertain', 'it can’t be read')
  t.match(place.events.splice(0), [{ event: 'settle_failed', path: 'lost', reason: 'STORE_UNAVAILABLE' }])
  files.lost = file
  t.equal(await settle(lost!.edit_id), 'void')
  place.gone.add('gone')
  await settler.settleAll()
  t.strictSame(await history.unsettled(), [])
  t.equal((await history.byId(copied!.edit_id))?.settled, 'done')
  t.equal((await history.byId(undoing!.edit_id))?.settled, 'uncertain', 'its hashes say nothing')
  t.strictSame(place.events, [])
})
