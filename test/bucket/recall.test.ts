// What is known of an object in a bucket of a real Ceph when it is read with its changes: those of other programs, what
// is left of one that is gone, and one that changes while it is read.
// runs in .ci/run
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import { ok } from '../../src/result.ts'
import type { FileWithPast } from '../../src/workspace/api.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { append, become, REAL } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

async function prepare(t: Test) {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const workspace = await openOn(bucket, { maxFileSize: 1000, endpoint: proxy.endpoint })
  t.teardown(() => workspace.close())
  /** As another program does; null removes it. */
  const put = async (Key: string, Body: string | null) => {
    const object = { Bucket: bucket.name, Key }
    if (Body === null) await bucket.client(1).send(new DeleteObjectCommand(object))
    else await bucket.client(1).send(new PutObjectCommand({ ...object, Body }))
  }
  const recall = (path: string) => workspace.recall({ path }, async (file: FileWithPast) => ok(file))
  const isHead = ({ method, path }: { method: string; path: string }, key: string) =>
    method === 'HEAD' && path.startsWith(`/${bucket.name}/${key}`)
  return { workspace, proxy, put, recall, isHead }
}

const CEPH = { skip: NO_CEPH, timeout: 200_000 }

t.test(
  'gives an object with its changes, also those of others, and what is left of one that is gone',
  CEPH,
  async t => {
    const { workspace, put, recall } = await prepare(t)
    await put('a.txt', 'one\n')
    for (const text of ['two\n', 'three\n']) {
      t.match(await workspace.edit({ path: 'a.txt' }, REAL, append(text)), { ok: true })
    }
    const known = await recall('a.txt')
    t.match(known, {
      ok: true,
      value: { path: 'a.txt', records: { length: 2 }, changes: { length: 2 }, file_hash: String }
    })
    if (known.ok) t.equal(known.value.bytes.toString(), 'one\ntwo\nthree\n')
    await put('a.txt', 'one\ntwo\n')
    const outside = await recall('a.txt')
    t.match(outside, { ok: true, value: { records: { length: 2 }, changes: { length: 3 } } })
    if (outside.ok) t.match(outside.value.changes.at(-1)?.splices, [{ start: 8, insert: Buffer.alloc(0) }])
    await put('a.txt', null)
    const gone = await recall('a.txt')
    t.match(gone, { ok: true, value: { changes: { length: 3 } } })
    if (gone.ok) {
      t.notOk('file_hash' in gone.value)
      t.equal(gone.value.bytes.length, 0)
      t.match(gone.value.changes.at(-1), { existence: 'removed' })
    }
  }
)

t.test('fails where there is no file with a past', CEPH, async t => {
  const { workspace, put, recall } = await prepare(t)
  await put('folder/a.txt', 'a\n')
  await put('large.txt', 'x'.repeat(1001))
  await workspace.create({ path: 'b', overwrite: false, create_parents: true }, REAL, become('b\n'))
  await put('b', null)
  await put('b/c.txt', 'c\n')
  const cases: [string, object][] = [
    ['.', { code: 'NOT_A_FILE', type: 'directory' }],
    ['folder', { code: 'NOT_A_FILE', type: 'directory' }],
    ['folder/a.txt/', { code: 'NOT_A_FILE', type: 'file_as_directory' }],
    ['b', { code: 'NOT_A_FILE', type: 'directory' }],
    ['folder/A.txt', { code: 'FILE_NOT_FOUND', did_you_mean: ['folder/a.txt'] }],
    ['large.txt', { code: 'FILE_TOO_LARGE' }],
    ['.git/config', { code: 'PROTECTED_PATH' }]
  ]
  for (const [path, failure] of cases) t.match(await recall(path), { ok: false, failure }, path)
  await put('b/c.txt', null)
  t.match(await recall('b/'), { ok: false, failure: { code: 'FILE_NOT_FOUND' } })
  t.match(await recall('b'), { ok: true })
})

t.test('reads an object again that changed meanwhile, and gives up where it does each time', CEPH, async t => {
  const { workspace, proxy, put, recall, isHead } = await prepare(t)
  await put('a.txt', 'one\n')
  await workspace.edit({ path: 'a.txt' }, REAL, append('two\n'))
  await put('a.txt', 'by others 0\n')
  let looks = 0
  let changes = 1
  proxy.before = async request => {
    if (isHead(request, 'a.txt') && looks++ < changes) await put('a.txt', `by others ${looks}\n`)
  }
  const once = await recall('a.txt')
  t.match(once, { ok: true })
  if (once.ok) t.equal(once.value.bytes.toString(), 'by others 1\n')
  changes = Infinity
  t.match(await recall('a.txt'), { ok: false, failure: { code: 'STALE_FILE', reason: 'changed_meanwhile' } })
})
