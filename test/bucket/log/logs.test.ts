// A history in a bucket of a real Ceph: many servers at once, objects that are put together, removed, and not editd's.
// runs in .ci/run
import t from 'tap'
import { LOGS, logPrefix, objectKey, parseObject } from '../../../src/bucket/log/names.ts'
import { endLog } from '../../../src/bucket/log/appender.ts'
import type { History } from '../../../src/log/api.ts'
import { Cursor } from '../../../src/log/cursor.ts'
import { NO_CEPH } from '../../ceph.ts'
import { FAST, hashOf, recordOf, write } from '../../log/support/history.ts'
import { keysIn, makeBucketPlace } from './support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }
const A = Buffer.from('a.txt')

const idsOf = async (history: History, path = A) =>
  (await history.ofPath(path)).records.map(({ record }) => record.edit_id)

async function told(history: History, after: Cursor): Promise<string[]> {
  const page = await history.readOn(Cursor.parse(after.toString())!, 10_000)
  return page.ok ? page.value.events.map(({ facts }) => facts.edit_id) : [page.failure.code]
}

t.test('keeps what servers write at the same time, and few objects of it', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const servers = await Promise.all(['one', 'two', 'three'].map(nonce => place.open({ nonce })))
  const start = await servers[0]!.feedEnd()
  const written: string[] = []
  await Promise.all(
    servers.map(async history => {
      for (let i = 0; i < 40; i++) {
        const record = recordOf(history, 'a.txt', `${i}`)
        await history.append(record, FAST)
        history.settle(record.edit_id, 'done')
        written.push(record.edit_id)
        if (i % 10 === 0) await history.refresh()
      }
      await history.flush()
    })
  )
  written.sort()
  const later = await place.open()
  for (const history of [...servers, later]) {
    t.strictSame(await idsOf(history), written)
    t.strictSame((await told(history, start)).sort(), written)
  }
  for (const history of servers) await history.close()
  const keys = await keysIn(place.store, LOGS)
  // Of servers that begin at the same time, one may end a log after its first object, and begin another.
  const logs = new Set(keys.map(key => parseObject(key)!.log))
  t.equal(keys.length, 2 * logs.size, 'each log is one object and its end')
  t.strictSame(await idsOf(later), written, 'what it has read was put together')
  t.strictSame(await idsOf(await place.open()), written)
  t.strictSame(place.events, [])
})

t.test('a server that others have ended goes on in a new log, and loses nothing', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const [silent, other] = [await place.open({ nonce: 'silent' }), await place.open()]
  const start = await other.feedEnd()
  const records = [...(await write(silent, [recordOf(silent, 'a.txt')]))]
  place.gone.add('silent')
  await other.sweep({ days: 30, bytes: 1e9 })
  const ended = await other.feedEnd()
  place.gone.delete('silent')
  records.push(...(await write(silent, [recordOf(silent, 'a.txt', 'two')])))
  const ids = records.map(({ edit_id }) => edit_id)
  for (const history of [silent, other, await place.open()]) {
    t.strictSame(await idsOf(history), ids)
    t.strictSame(await told(history, start), ids)
    t.strictSame(await told(history, ended), ids.slice(1))
  }
  t.match(place.events, [{ event: 'history_log_given_up', code: 'LOG_ENDED' }])
})

t.test('removes the oldest logs, whole, and says of a cursor before them that it is gone', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const history = await place.open({ limits: { segment: 1 } })
  const start = await history.feedEnd()
  for (let i = 0; i < 4; i++) await write(history, [recordOf(history, 'a.txt', `${i}`)])
  const all = await history.sweep({ days: 30, bytes: 1e9 })
  t.equal(all.removed, 0)
  const middle = await history.feedEnd()
  const { removed, bytes } = await history.sweep({ days: 30, bytes: all.bytes - 1 })
  t.ok(removed > 0)
  t.ok(bytes < all.bytes)
  const left = await idsOf(history)
  t.ok(left.length < 4)
  t.strictSame(await idsOf(await place.open()), left)
  t.strictSame(await told(history, start), ['CURSOR_GONE'])
  t.strictSame(await told(history, middle), [])
  t.strictSame(await history.sweep({ days: 0, bytes: 0 }).then(swept => swept.bytes), 0)
  t.strictSame(await keysIn(place.store, LOGS), [])
  t.strictSame(await told(history, middle), ['CURSOR_GONE'])
  t.strictSame(place.events, [])
})

t.test('forgets the texts of a path in all logs, blobs and its copy', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const [one, two] = [await place.open(), await place.open({ limits: { text: 10 } })]
  const secret = 'a secret that nobody is to see'
  const records = [recordOf(one, 'a.txt', secret), recordOf(one, 'b.txt', 'kept'), recordOf(two, 'a.txt', secret)]
  await write(one, records.slice(0, 2))
  await write(two, records.slice(2))
  const keep = () =>
    two.keepCopy(A, { edit_id: records[2]!.edit_id, pieces: [Buffer.from(secret)], hash: records[2]!.hash_after! })
  keep()
  await two.flush()
  t.equal((await one.copyOf(A))?.bytes.toString(), secret)
  keep()
  t.equal(await one.forget(A), 2)
  await two.flush()
  t.equal(await one.copyOf(A), null, 'nor is there one that waited at another server')
  t.equal(await two.forget(A), 0)
  for (const history of [one, two, await place.open()]) {
    t.strictSame(
      (await history.ofPath(A)).records.map(({ texts }) => texts),
      ['none', 'none']
    )
    t.equal((await history.ofPath(Buffer.from('b.txt'))).records[0]?.texts, 'kept')
    t.equal(await history.copyOf(A), null)
  }
  await write(one, [recordOf(one, 'a.txt', 'again')])
  t.equal((await idsOf(two)).length, 3)
  for (const key of await keysIn(place.store, '')) {
    t.notMatch((await place.store.get(key))?.bytes?.toString(), secret, key)
  }
})

t.test('reads past what isn’t editd’s, and reports it', CEPH, async t => {
  const place = await makeBucketPlace(t)
  const { store } = place
  const first = await place.open({ nonce: 'one' })
  const records = []
  for (let i = 0; i < 5; i++) records.push(...(await write(first, [recordOf(first, 'a.txt', `${i}`)])))
  const ids = records.map(({ edit_id }) => edit_id)
  const keys = await keysIn(store, logPrefix(1))
  let count = 0
  const put = async (key: string, bytes: Buffer) => {
    const there = await store.head(key)
    const condition = there === null ? ('absent' as const) : { is: there.version }
    await store.write(key, { bytes, if: condition, attempt: `hostile${++count}` })
  }
  await put(`${LOGS}garbage`, Buffer.from('x'))
  await put(`${logPrefix(1)}garbage`, Buffer.from('x'))
  await put(objectKey(7, { from: 0, to: 0 }), Buffer.from('garbage\nof nobody'))
  const second = (await store.get(keys[1]!))!.bytes!
  await put(keys[1]!, second.subarray(0, -5))
  await put(keys[2]!, Buffer.from('garbage without an end'))
  await store.remove(keys[3]!)
  const other = await place.open()
  const { records: found, gaps } = await other.ofPath(A)
  t.ok(found.length > 0)
  for (const { record } of found) t.ok(ids.includes(record.edit_id))
  t.ok(gaps.length > 0, 'what is missing may be of this path')
  t.ok(place.events.some(({ code }) => code === 'unknown_name'))
  t.ok(place.events.some(({ code }) => code === 'unknown_server'))
  t.ok(place.events.some(({ code }) => code === 'missing'))
  const [more] = await write(other, [recordOf(other, 'a.txt', 'more')])
  t.equal((await (await place.open()).byId(more!.edit_id))?.settled, 'done')
  await endLog(store, 1, 0, 'one')
  await other.sweep({ days: 30, bytes: 1e9 })
  t.equal((await other.lastOf(A))?.edit_id, more!.edit_id)
})

t.test('tells whether what is damaged may be of a key', CEPH, async t => {
  const { store, open } = await makeBucketPlace(t)
  const history = await open()
  const digests = ['a', 'b'].map(text => hashOf(text))
  const [damaged, whole] = digests as [string, string]
  for (const digest of digests) {
    await write(history, [{ ...recordOf(history, 'a.txt'), key: { digest, fingerprint: '', outcome: null } }])
  }
  const [key] = await keysIn(store, logPrefix(1))
  const { bytes, version } = (await store.get(key!))!
  bytes![bytes!.indexOf(damaged)]! ^= 1
  await store.write(key!, { bytes: bytes!, if: { is: version }, attempt: 'hostile' })
  const other = await open()
  t.equal(await other.byKey(damaged), null)
  t.strictSame(await Promise.all(digests.map(digest => other.mayHaveLostKey(digest, ''))), [true, false])
  t.match(await other.byKey(whole), { record: { key: { digest: whole } } })
})
