// Logs in a bucket of a real Ceph that can't be read as they were, or not at all: what is reported, and what is read then.
// runs in .ci/run
import t, { type Test } from 'tap'
import { LOGS, logPrefix, objectKey, parseObject, SERVERS } from '../../../src/bucket/log/names.ts'
import { LivingServers } from '../../../src/bucket/log/servers.ts'
import type { History } from '../../../src/log/api.ts'
import type { ObjectStore } from '../../../src/object-store/store.ts'
import { NO_CEPH } from '../../ceph.ts'
import { startCuttingProxy } from '../../cutting-proxy.ts'
import { recordOf, write } from '../../log/support/history.ts'
import { openBucketStore } from '../../object-store/open.ts'
import { keysIn, makeBucketPlace, PREFIX } from './support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }
const A = Buffer.from('a.txt')
const UNREADABLE = { code: 'HISTORY_UNREADABLE' }
const NO_INDEX = { limits: { indexes: 0 } }

const idsOf = async (history: History) => (await history.ofPath(A)).records.map(({ record }) => record.edit_id)

async function prepare(t: Test) {
  const place = await makeBucketPlace(t)
  /** Writes so many records, each settled, as one server; returns their ids. */
  const writeSome = async (history: History, count: number) => {
    const ids = []
    for (let i = 0; i < count; i++) {
      ids.push(...(await write(history, [recordOf(history, 'a.txt', `${i}`)])).map(({ edit_id }) => edit_id))
    }
    return ids
  }
  let count = 0
  /** As no server does. */
  const put = async (key: string, bytes: Buffer) => {
    const there = await place.store.head(key)
    const condition = there === null ? ('absent' as const) : { is: there.version }
    const metadata = there?.metadata ?? {}
    await place.store.write(key, { bytes, if: condition, attempt: `hostile${++count}`, metadata })
  }
  const behindProxy = async () => {
    const proxy = await startCuttingProxy(t, place.bucket.endpoints[0])
    const store = await openBucketStore(t, place.bucket, { endpoint: proxy.endpoint, prefix: PREFIX })
    const lists = ({ method, path }: { method: string; path: string }, prefix: string) =>
      method === 'GET' && path.includes(`prefix=${encodeURIComponent(`${PREFIX}/${prefix}`)}`)
    return { proxy, store, lists }
  }
  return { ...place, writeSome, put, behindProxy }
}

t.test('reports that logs can not be listed, and reads them when they can', CEPH, async t => {
  const { open, events, writeSome, behindProxy } = await prepare(t)
  const { proxy, store, lists } = await behindProxy()
  const writer = await open()
  const reader = await open({}, store)
  const ids = await writeSome(writer, 1)
  t.strictSame(await idsOf(reader), ids)
  proxy.refuses = request => lists(request, LOGS)
  ids.push(...(await writeSome(writer, 1)))
  await reader.refresh()
  t.match(events.splice(0), [{ event: 'history_unreadable', code: 'STORE_REFUSED' }])
  await t.rejects(idsOf(reader), UNREADABLE)
  await t.rejects(reader.feedEnd(), UNREADABLE)
  await t.rejects(reader.forget(A), UNREADABLE)
  events.splice(0)
  proxy.refuses = request => lists(request, LOGS) && request.path.includes('delimiter=')
  await t.rejects(reader.feedEnd(), UNREADABLE, 'all of them have to be listed for that')
  proxy.refuses = () => false
  t.strictSame(await idsOf(reader), ids)
  t.strictSame(events, [])
})

t.test('refuses what is asked while objects can not be had, and answers when they can', CEPH, async t => {
  const { open, writeSome, behindProxy } = await prepare(t)
  const { proxy, store } = await behindProxy()
  const writer = await open()
  const ids = await writeSome(writer, 1)
  const isContent = ({ method, path }: { method: string; path: string }) =>
    method === 'GET' && !path.includes('prefix=')
  await writer.close()
  // One has read nothing yet, one keeps the index, one has to read it again.
  const [fresh, keeping, forgetting] = [await open({}, store), await open({}, store), await open(NO_INDEX, store)]
  const readers = [fresh, keeping, forgetting]
  await Promise.all([keeping, forgetting].map(idsOf))
  proxy.cuts = isContent
  await Promise.all(readers.map(reader => t.rejects(idsOf(reader), UNREADABLE)))
  proxy.cuts = () => false
  for (const reader of readers) t.strictSame(await idsOf(reader), ids)
})

t.test('ends no log while it can not be seen who lives', CEPH, async t => {
  const { open, events, store, writeSome, behindProxy } = await prepare(t)
  const behind = await behindProxy()
  await writeSome(await open({ nonce: 'one' }), 1)
  const report = (event: { event: string }) => events.push(event)
  const servers = new LivingServers({ store: behind.store, nonce: 'other', report, times: { silent: 0 } })
  const other = await open({ nonce: 'other', servers }, behind.store)
  const before = await keysIn(store, LOGS)
  behind.proxy.refuses = request => behind.lists(request, SERVERS)
  await other.sweep({ days: 30, bytes: 1e9 })
  t.match(events.splice(0), [{ event: 'look_failed' }])
  t.strictSame(await keysIn(store, LOGS), before)
  behind.proxy.refuses = () => false
  await other.sweep({ days: 30, bytes: 1e9 })
  t.not((await keysIn(store, LOGS)).join(), before.join())
  t.strictSame(events, [])
})

t.test('knows nothing more of a log that another server removes while it is read', CEPH, async t => {
  const { open, events, store, writeSome } = await prepare(t)
  const writer = await open({ limits: { segment: 1 } })
  const ids = await writeSome(writer, 2)
  // It keeps nothing in memory that it could answer from.
  const reader = await open({ limits: { indexes: 0 } })
  t.strictSame(await idsOf(reader), ids)
  await writer.sweep({ days: 0, bytes: 0 })
  t.strictSame(await keysIn(store, LOGS), [])
  t.strictSame(await idsOf(reader), [])
  t.strictSame(events, [])
})

t.test('reads a log anew of which less is there than before', CEPH, async t => {
  const { open, events, store, writeSome, put } = await prepare(t)
  const writer = await open({ nonce: 'one' })
  const ids = await writeSome(writer, 2)
  const reader = await open()
  t.strictSame(await idsOf(reader), ids)
  const last = (await keysIn(store, logPrefix(1))).at(-1)!
  await store.remove(last)
  const next = parseObject(last)!.to + 2
  await put(objectKey(1, { from: next, to: next }), Buffer.from('\n'))
  await reader.refresh()
  t.strictSame(
    events.map(({ event, code }) => `${event} ${String(code)}`),
    ['history_object_unreadable missing', 'history_segment_changed undefined', 'history_object_unreadable LOG_CHANGED']
  )
  await reader.refresh()
  t.strictSame((await idsOf(reader))[0], ids[0], 'what is left is read')
})

t.test('reads no object that is larger than any of a log', CEPH, async t => {
  const { open, events, store, writeSome, put } = await prepare(t)
  const writer = await open({ nonce: 'one' })
  const ids = await writeSome(writer, 2)
  await writer.close()
  const reader = await open({ limits: { indexes: 0 } })
  t.strictSame(await idsOf(reader), ids)
  await put((await keysIn(store, logPrefix(1)))[0]!, Buffer.alloc(64 * 1024 * 1024 + 1, 'x'))
  t.strictSame(await idsOf(reader), [])
  t.match(events.splice(0), [{ event: 'history_object_unreadable', object: /one/, code: 'OBJECT_TOO_LARGE' }])
  t.strictSame(await idsOf(await open()), [])
  t.match(events[0], { event: 'history_object_unreadable', code: 'too_large' })
})

/** This store, but its lists return two keys at a time. */
const paged = (store: ObjectStore): ObjectStore => ({
  name: store.name,
  get: (...given) => store.get(...given),
  open: (...given) => store.open(...given),
  head: (...given) => store.head(...given),
  write: (...given) => store.write(...given),
  remove: (...given) => store.remove(...given),
  list: (prefix, options) => store.list(prefix, { ...options, limit: 2 }),
  check: () => store.check(),
  answeredAt: 0,
  isVersioned: null,
  now: () => store.now(),
  close() {}
})

t.test('finds what is new where logs are listed in several pages', CEPH, async t => {
  const { open, events, store, writeSome } = await prepare(t)
  const [one, two] = [await open({ nonce: 'one' }), await open({ nonce: 'two' })]
  const reader = await open({}, paged(store))
  const ids = [...(await writeSome(one, 2)), ...(await writeSome(two, 2))]
  t.strictSame(await idsOf(reader), ids)
  await two.close()
  t.strictSame(await idsOf(reader), ids)
  // Of the log that is known but written to; those of the other are skipped.
  ids.push(...(await writeSome(one, 2)), ...(await writeSome(await open({ nonce: 'three' }), 2)))
  t.strictSame(await idsOf(reader), ids)
  ids.push(...(await writeSome(one, 1)))
  t.strictSame(await idsOf(reader), ids)
  t.strictSame(events, [])
})
