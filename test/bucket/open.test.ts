// A bucket of a real Ceph is opened, looked after from time to time, and followed; also where the store refuses something.
// runs in .ci/run
import { setTimeout as sleep } from 'node:timers/promises'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import { KEYS, LOGS } from '../../src/bucket/log/names.ts'
import { endLog } from '../../src/bucket/log/appender.ts'
import type { BucketOptions } from '../../src/bucket/open.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { openBucketStore } from '../object-store/open.ts'
import { append, collect, REAL } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }

async function prepare(t: Test, content = 'one\n') {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'a.txt', Body: content }))
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const events: { event: string; [key: string]: unknown }[] = []
  const open = async (options: Partial<BucketOptions> = {}) => {
    const workspace = await openOn(bucket, {
      endpoint: proxy.endpoint,
      report: event => events.push(event),
      ...options
    })
    t.teardown(() => workspace.close())
    return workspace
  }
  const lists = ({ method, path }: { method: string; path: string }, prefix: string) =>
    method === 'GET' && path.includes(`prefix=${encodeURIComponent(prefix)}`)
  const store = await openBucketStore(t, bucket, { endpoint: bucket.endpoints[1] })
  return { bucket, proxy, events, open, lists, store }
}

t.test('is not opened where its history may not be listed', CEPH, async t => {
  const { proxy, open, lists } = await prepare(t)
  proxy.refuses = request => lists(request, LOGS)
  await t.rejects(open(), { code: 'STORE_REFUSED', reason: 'AccessDenied' })
  t.match(await open({ history: 'off' }), { kind: 'bucket' })
})

t.test('sweeps the history when a log is ended, and reports where that fails', CEPH, async t => {
  const { proxy, events, open, lists, store } = await prepare(t)
  const sizes: number[] = []
  const unheard = () => {}
  const meter = {
    locked: unheard,
    tookOver: unheard,
    committed: unheard,
    read: unheard,
    history: (bytes: number) => sizes.push(bytes),
    closed: unheard
  }
  const workspace = await open({ meter })
  const edit = async () => t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('more\n')), { ok: true })
  await edit()
  // Another server takes this one for gone.
  await endLog(store, 1, 1, 'other')
  await edit()
  while (sizes.length === 0) await sleep(50)
  t.ok(sizes[0]! > 0)
  t.notOk(events.some(({ event }) => event === 'sweep_failed'))
  proxy.refuses = request => lists(request, KEYS)
  await endLog(store, 2, 1, 'other')
  await edit()
  while (!events.some(({ event }) => event === 'sweep_failed')) await sleep(50)
  t.match(events.at(-1), { event: 'sweep_failed', reason: 'STORE_REFUSED' })
  t.equal(sizes.length, 1)
})

t.test('reads an object again that was cut off in the middle, three times', CEPH, async t => {
  const content = 'x'.repeat(200_000)
  const { bucket, proxy, open } = await prepare(t, content)
  const workspace = await open()
  let cuts = 2
  proxy.cuts = ({ method, path }) =>
    method === 'GET' && path.startsWith(`/${bucket.name}/a.txt`) && cuts-- > 0 && 'half'
  const look = () => workspace.look({ path: 'a.txt' }, { file: collect, directory: { limit: 1 } })
  t.match(await look(), { ok: true, value: { file_size: content.length, value: { bytes: Buffer.from(content) } } })
  t.equal(proxy.cut, 2)
  cuts = 3
  t.match(await look(), { ok: false, failure: { code: 'NOT_READY', reason: 'store_unavailable' } })
  t.equal(proxy.cut, 5)
})

t.test('tells who follows it of changes, until it is ended', CEPH, async t => {
  const { open } = await prepare(t)
  const workspace = await open()
  const following = await workspace.follow()
  t.ok(following.ok)
  if (!following.ok) return
  const follower = following.value
  const edited = await workspace.edit({ path: 'a.txt' }, REAL, append('more\n'))
  let told: readonly unknown[] = []
  while (told.length === 0) {
    await follower.more()
    const next = await follower.next(10)
    if (next.ok) told = next.value
  }
  t.match(told, [{ facts: { edit_id: edited.ok && edited.value.edit_id } }])
  workspace.endFollowing()
  await follower.more()
  t.ok(follower.isEnded)
})
