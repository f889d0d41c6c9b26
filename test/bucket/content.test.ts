// What an object of a real Ceph holds is read within the memory that large ones may take together.
// runs in .ci/run
import t from 'tap'
import { readContent } from '../../src/bucket/content.ts'
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
  const taken: (() => void)[] = []
  const sizeOf = async (key: string): Promise<unknown> => {
    const read = await readContent(context, key, taken)
    return read?.ok === true ? { ok: true, value: read.value.bytes.length } : read
  }
  t.strictSame(await sizeOf('large'), { ok: true, value: size })
  t.match(await sizeOf('large'), { ok: false, failure: { code: 'NOT_READY', reason: 'large_files', retry_after: 1 } })
  t.strictSame(await sizeOf('small'), { ok: true, value: 1 })
  for (const release of taken.splice(0)) release()
  t.strictSame(await sizeOf('large'), { ok: true, value: size }, 'it was given back')
  t.equal(await sizeOf('none'), null)
})
