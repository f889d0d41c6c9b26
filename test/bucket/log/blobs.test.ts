// Long texts of a history in a bucket of a real Ceph: what is written, written again, and read of them.
// runs in .ci/run
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { BlobObjects } from '../../../src/bucket/log/blob-objects.ts'
import { BLOBS } from '../../../src/bucket/log/names.ts'
import { Blobs } from '../../../src/log/blobs.ts'
import { NO_CEPH } from '../../ceph.ts'
import { startCuttingProxy } from '../../cutting-proxy.ts'
import { openBucketStore } from '../../object-store/open.ts'
import { keysIn, makeBucketPlace, PREFIX } from './support/place.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }

const blobOf = (text: string) => ({
  name: createHash('sha256').update(text).digest('hex'),
  bytes: Buffer.from(text)
})

async function prepare(t: Test) {
  const place = await makeBucketPlace(t)
  const proxy = await startCuttingProxy(t, place.bucket.endpoints[0])
  const store = await openBucketStore(t, place.bucket, { endpoint: proxy.endpoint, prefix: PREFIX })
  const blobs = new Blobs({ places: new BlobObjects(store), report: event => place.events.push(event) })
  /** As another server, or a fault of the store. */
  const put = async (name: string, text: string) => {
    const there = await place.store.head(BLOBS + name)
    const condition = there === null ? ('absent' as const) : { is: there.version }
    await place.store.write(BLOBS + name, { bytes: Buffer.from(text), if: condition, attempt: 'other' })
  }
  return { ...place, proxy, blobs, put }
}

t.test('keeps a text once, and writes again what is damaged or was removed', CEPH, async t => {
  const { store, events, blobs, put } = await prepare(t)
  const [one, two] = [blobOf('one'), blobOf('two')]
  await blobs.keep([one, two], true)
  const version = (await store.head(BLOBS + one.name))?.version
  await blobs.keep([one], true)
  t.equal((await store.head(BLOBS + one.name))?.version, version)
  t.equal((await blobs.read(one.name))?.toString(), 'one')
  await put(one.name, 'on')
  t.equal(await blobs.read(one.name), null)
  t.match(events.splice(0), [{ event: 'history_blob_damaged', blob: one.name }])
  await blobs.keep([one], true)
  t.equal((await blobs.read(one.name))?.toString(), 'one')
  await blobs.removeIf(two.name, async () => true)
  t.equal(await blobs.read(two.name), null)
  await blobs.check([one, two], true)
  t.equal((await blobs.read(two.name))?.toString(), 'two')
  t.strictSame(events, [])
})

t.test('writes a text that another server removes at the same time', CEPH, async t => {
  const { store, proxy, blobs, put } = await prepare(t)
  const blob = blobOf('one')
  await put(blob.name, 'one')
  proxy.before = async ({ method }) => {
    if (method === 'HEAD') await store.remove(BLOBS + blob.name)
  }
  await blobs.keep([blob], true)
  t.equal((await blobs.read(blob.name))?.toString(), 'one')
})

t.test('reads and removes nothing by what is no name of a text, and reports what can not be read', CEPH, async t => {
  const { store, events, proxy, blobs } = await prepare(t)
  await store.write(`${BLOBS}../x`, { bytes: Buffer.from('x'), if: 'absent', attempt: 'other' })
  t.equal(await blobs.read('../x'), null)
  await blobs.removeIf('../x', async () => true)
  t.strictSame(await keysIn(store, BLOBS), [`${BLOBS}../x`])
  t.strictSame(events, [])
  const blob = blobOf('one')
  await blobs.keep([blob], true)
  proxy.refuses = ({ method }) => method === 'GET'
  t.equal(await blobs.read(blob.name), null)
  t.match(events, [{ event: 'history_blob_unreadable', blob: blob.name, code: 'STORE_REFUSED' }])
})
