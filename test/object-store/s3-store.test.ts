// The store over a real Ceph with two gateways: what it gives, lists and writes, and what becomes of lost answers.
// runs alone: it changes the environment of its process
// runs in .ci/run
import { randomUUID } from 'node:crypto'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { openS3Store } from '../../src/object-store/s3-store.ts'
import type { ObjectStore, WriteCondition } from '../../src/object-store/store.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { openBucketStore } from './open.ts'

const REAL = { skip: NO_CEPH, timeout: 250_000 }
const text = (bytes: Buffer | null | undefined) => bytes?.toString() ?? null

const put = (
  store: ObjectStore,
  key: string,
  content: string,
  condition: WriteCondition,
  attempt: string = randomUUID()
) => store.write(key, { bytes: Buffer.from(content), if: condition, attempt })

t.test('writes on a condition, and says from which writes an object comes', REAL, async t => {
  const bucket = await makeBucket(t)
  const store = await openBucketStore(t, bucket, { prefix: 'some/where', probes: true })
  t.equal(store.name, `s3://${bucket.name}/some/where`)
  t.equal(await store.get('a.txt'), null)
  t.equal(await store.head('a.txt'), null)
  t.equal(await store.open('a.txt'), null)
  const made = await put(store, 'a.txt', 'one', 'absent', 'first')
  t.type(made?.version, 'string')
  t.equal(await put(store, 'a.txt', 'two', 'absent'), null)
  const one = await store.get('a.txt')
  t.match(one, { size: 3, version: made?.version, landed: [{ attempt: 'first', replaced: null }] })
  t.equal(text(one?.bytes), 'one')
  t.ok(Math.abs(one!.modified_at.getTime() - Date.now()) < 60_000)
  t.equal(await put(store, 'a.txt', 'two', { is: '0'.repeat(32) }), null)
  t.equal(await put(store, 'b.txt', 'two', { is: one!.version }), null)
  const written = await store.write('a.txt', {
    bytes: [Buffer.from('tw'), Buffer.from('o')],
    if: { is: one!.version, landed: one!.landed },
    attempt: 'second',
    metadata: { 'editd-sha256': 'abc' }
  })
  t.match(await store.head('a.txt'), {
    version: written?.version,
    metadata: { 'editd-sha256': 'abc' },
    landed: [
      { attempt: 'second', replaced: one!.version },
      { attempt: 'first', replaced: null }
    ]
  })
  t.match(await store.get('a.txt', 2), { bytes: null, size: 3 })
  const opened = await store.open('a.txt')
  const read: Buffer[] = []
  for await (const chunk of opened!.chunks) read.push(chunk)
  t.equal(Buffer.concat(read).toString(), 'two')
  ;(await store.open('a.txt'))?.discard()
  await store.remove('a.txt')
  await store.remove('a.txt')
  t.equal(await store.head('a.txt'), null)
  // Beside the prefix there is nothing, and below it nothing is left of the probe.
  const { Contents = [] } = await bucket.client(1).send(new ListObjectsV2Command({ Bucket: bucket.name }))
  t.strictSame(
    Contents.map(({ Key }) => Key),
    []
  )
})

t.test('keeps at most 16 writes, and takes metadata of others for none', REAL, async t => {
  const bucket = await makeBucket(t)
  const store = await openBucketStore(t, bucket)
  await put(store, 'a', '0', 'absent', 'n0')
  for (let n = 1; n <= 20; n++) {
    const { version, landed } = (await store.head('a'))!
    await put(store, 'a', `${n}`, { is: version, landed }, `n${n}`)
  }
  t.strictSame(
    (await store.head('a'))!.landed.map(({ attempt }) => attempt),
    Array.from({ length: 16 }, (_, i) => `n${20 - i}`)
  )
  const Metadata = { 'editd-landed': 'not ours' }
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'b', Body: 'x', Metadata }))
  t.strictSame((await store.head('b'))!.landed, [])
})

t.test('lists keys and prefixes in the order of their bytes, a page at a time', REAL, async t => {
  const bucket = await makeBucket(t)
  const store = await openBucketStore(t, bucket, { prefix: 'p' })
  const names = ['a b+c%20.txt', 'a.txt', 'dir/one', 'dir/two', 'dir0', 'é.txt', '\u{1f600}.txt', '<&>"\'.txt']
  for (const name of names) await put(store, name, name, 'absent')
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'q/other', Body: 'x' }))
  const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const all = await store.list('')
  t.strictSame(
    all.keys.map(({ key }) => key),
    sorted
  )
  t.equal(all.next_after, null)
  t.match(all.keys[0], { size: Buffer.byteLength(sorted[0]!), version: (await store.head(sorted[0]!))!.version })
  t.strictSame(
    (await store.list('dir/')).keys.map(({ key }) => key),
    ['dir/one', 'dir/two']
  )
  const paged: string[] = []
  let after: string | undefined
  do {
    const page = await store.list('', { limit: 2, folders: true, ...(after !== undefined && { after }) })
    t.ok(page.keys.length + page.prefixes.length <= 2)
    paged.push(...page.keys.map(({ key }) => key), ...page.prefixes)
    after = page.next_after ?? undefined
  } while (after !== undefined)
  t.strictSame(paged.toSorted(), [...names.filter(name => !name.startsWith('dir/')), 'dir/'].toSorted())
  t.strictSame((await store.list('', { after: 'dir/', folders: true })).prefixes, [])
})

t.test('lets one of many writers win, over two gateways', REAL, async t => {
  const bucket = await makeBucket(t)
  const stores = [await openBucketStore(t, bucket), await openBucketStore(t, bucket, { endpoint: bucket.endpoints[1] })]
  await put(stores[0]!, 'count', '0', 'absent')
  await Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      const store = stores[writer % 2]!
      for (let done = 0; done < 10;) {
        const { bytes, version, landed } = (await store.get('count'))!
        if ((await put(store, 'count', `${Number(bytes) + 1}`, { is: version, landed })) !== null) done++
      }
    })
  )
  t.equal(text((await stores[0]!.get('count'))?.bytes), '40')
})

t.test('finds out what became of a write whose answer was cut', REAL, async t => {
  const bucket = await makeBucket(t)
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const store = await openBucketStore(t, bucket, { endpoint: proxy.endpoint })
  const others = await openBucketStore(t, bucket, { endpoint: bucket.endpoints[1] })
  const raw = async (key: string) => {
    const { Body } = await bucket.client(1).send(new GetObjectCommand({ Bucket: bucket.name, Key: key }))
    return Body?.transformToString()
  }
  /** Cuts the next answer to a write, after doing something. */
  const cutOnce = () => {
    let left = 1
    proxy.cuts = ({ method }) => method === 'PUT' && left-- > 0
  }

  cutOnce()
  const made = await put(store, 'a', 'one', 'absent', 'first')
  t.match(made, { version: String })
  t.equal(await raw('a'), 'one')
  t.equal(proxy.cut, 1)

  const one = (await store.head('a'))!
  cutOnce()
  t.match(await put(store, 'a', 'two', { is: one.version, landed: one.landed }, 'second'), { version: String })
  t.equal(proxy.cut, 2)

  // Replaced by another server before it is looked at.
  const two = (await store.head('a'))!
  cutOnce()
  const replacing = async () => {
    for (;;) {
      const now = (await others.head('a'))!
      if (now.landed[0]?.attempt === 'third') {
        return put(others, 'a', 'four', { is: now.version, landed: now.landed }, 'fourth')
      }
    }
  }
  // The answer is held back until the other has written.
  const held = proxy.cuts
  proxy.cuts = async request => {
    if (!(await held(request))) return false
    await replacing()
    return true
  }
  const third = await put(store, 'a', 'three', { is: two.version, landed: two.landed }, 'third')
  t.strictSame(third, { version: null })
  t.equal(await raw('a'), 'four')

  // The condition did not hold in the first place.
  cutOnce()
  t.equal(await put(store, 'a', 'five', { is: two.version, landed: two.landed }, 'fifth'), null)
  t.equal(await raw('a'), 'four')

  // Nobody knows what was there before a program that isn't editd.
  await bucket.client(1).send(new PutObjectCommand({ Bucket: bucket.name, Key: 'b', Body: 'x' }))
  const b = (await store.head('b'))!
  await bucket.client(1).send(new PutObjectCommand({ Bucket: bucket.name, Key: 'b', Body: 'y' }))
  cutOnce()
  await t.rejects(put(store, 'b', 'z', { is: b.version, landed: b.landed }), {
    code: 'STORE_UNAVAILABLE',
    unknown: true
  })
  t.equal(await raw('b'), 'y')
})

t.test('is not opened without its bucket, its rights, or a store', REAL, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const open = (changes: object) =>
    openS3Store({
      bucket: bucket.name,
      prefix: '',
      endpoint: bucket.endpoints[0],
      region: null,
      readOnly: false,
      ...changes
    })
  await t.rejects(open({ bucket: 'no-such-bucket' }), { code: 'STORE_REFUSED', reason: 'NoSuchBucket' })
  await t.rejects(open({ endpoint: 'http://127.0.0.1:1' }), { code: 'STORE_UNAVAILABLE', unknown: false })
  process.env.AWS_SECRET_ACCESS_KEY = 'wrong'
  await t.rejects(open({ readOnly: true }), { code: 'STORE_REFUSED', reason: 'SignatureDoesNotMatch' })
  Object.assign(process.env, bucket.environment)
})

t.test('does again all that a server needs, and leaves nothing', REAL, async t => {
  const bucket = await makeBucket(t)
  for (const readOnly of [false, true]) {
    const store = await openBucketStore(t, bucket, { prefix: 'p', readOnly })
    await store.check()
    t.equal(store.isVersioned, readOnly ? null : false)
    t.ok(performance.now() - store.answeredAt < 60_000)
    t.strictSame((await store.list('')).keys, [])
  }
})
