// What an object of a real Ceph holds is read within the memory that large ones may take together.
// runs in .ci/run
import t from 'tap'
import { withContent } from '../../src/bucket/content.ts'
import { BufferPool } from '../../src/workspace/buffer-pool.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { openBucketStore } from '../object-store/open.ts'

t.test('reads large objects one after the other where there is no memory for both', { skip: NO_CEPH }, async t => {
  const store = await openBucketStore(t, await makeBucket(t))
  const size = 1_500_000
  const write = { if: 'absent', attempt: 'one' } as const
  await store.write('large', { bytes: Buffer.alloc(size, 'x'), ...write })
  await store.write('small', { bytes: Buffer.from('x'), ...write })
  const context = { store, buffers: new BufferPool(2_000_000), maxFileSize: 2_000_000, lockTimeout: 100 }
  const sizeOf = (key: string) => withContent(context, key, async ({ bytes }) => bytes.length)
  const done = await withContent(context, 'large', async ({ bytes }) => {
    t.match(await sizeOf('large'), { ok: false, failure: { code: 'NOT_READY', reason: 'large_files', retry_after: 1 } })
    t.strictSame(await sizeOf('small'), { ok: true, value: 1 })
    return bytes.length
  })
  t.strictSame(done, { ok: true, value: size })
  t.strictSame(await sizeOf('large'), { ok: true, value: size }, 'it was given back')
  t.equal(await sizeOf('none'), null)
})
