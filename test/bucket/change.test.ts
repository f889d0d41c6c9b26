// Changes of objects of a real Ceph that are refused, wait, or change nothing.
// runs in .ci/run
import { createHash } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import type { BucketOptions } from '../../src/bucket/open.ts'
import { ok } from '../../src/result.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { append, become, DRY, REAL, remove } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

const CEPH = { skip: NO_CEPH, timeout: 200_000 }

async function openWith(t: Test, files: Record<string, string>, options: Partial<BucketOptions> = {}) {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  for (const [Key, Body] of Object.entries(files)) {
    await bucket.client(1).send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }))
  }
  const workspace = await openOn(bucket, options)
  t.teardown(() => workspace.close())
  return workspace
}

t.test('waits for the edit of the same file before it, and not for longer than it may', CEPH, async t => {
  const waits: [number, boolean][] = []
  const unheard = () => {}
  const meter = {
    locked: (seconds: number, isHeld: boolean) => waits.push([seconds, isHeld]),
    tookOver: unheard,
    committed: unheard,
    read: unheard,
    history: unheard,
    closed: unheard
  }
  const workspace = await openWith(t, { 'a.txt': 'one\n', 'b.txt': 'b\n' }, { lockTimeout: 2000, meter })
  let plan = (): void => {}
  const planned = new Promise<void>(resolve => (plan = resolve))
  let begin = (): void => {}
  const begun = new Promise<void>(resolve => (begin = resolve))
  const first = workspace.edit({ path: 'a.txt' }, REAL, async original => {
    begin()
    await planned
    return ok({ pieces: [original, Buffer.from('two\n')], description: null })
  })
  await begun
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('three\n')), {
    ok: false,
    failure: { code: 'FILE_LOCKED', reason: 'timeout', retry_after: 1 },
    file_hash: createHash('sha256').update('one\n').digest('hex')
  })
  t.equal(waits.filter(([, isHeld]) => !isHeld).length, 1)
  const client = { isGone: () => true, onGone: unheard }
  const left = workspace.edit({ path: 'a.txt' }, { ...REAL, client }, append('three\n'))
  t.match(await workspace.edit({ path: 'b.txt' }, REAL, append('two\n')), { ok: true }, 'others need not wait')
  t.match(
    await workspace.edit({ path: 'a.txt' }, { ...DRY, client }, append('two\n')),
    { ok: true },
    'nor does a dry run'
  )
  plan()
  t.match(await first, { ok: true, value: { changed: true } })
  t.match(await left, { ok: false, failure: { code: 'FILE_LOCKED', reason: 'client_gone' } }, 'nobody waits for it')
})

t.test('replaces only what was expected', CEPH, async t => {
  const workspace = await openWith(t, { 'a.txt': 'one\n' }, { requireHash: true })
  t.match(await workspace.edit({ path: 'a.txt' }, REAL, append('two\n')), {
    ok: false,
    failure: { code: 'PRECONDITION_REQUIRED' },
    file_hash: /^[0-9a-f]{64}$/
  })
  const target = { overwrite: true, create_parents: true, expected_hash: '0'.repeat(16) }
  t.match(await workspace.create({ path: 'b.txt', ...target }, REAL, become('b\n')), {
    ok: false,
    failure: { code: 'FILE_NOT_FOUND', missing: 'expected' }
  })
  t.match(await workspace.create({ path: 'a.txt', ...target }, REAL, become('b\n')), {
    ok: false,
    failure: { code: 'STALE_FILE' }
  })
})

t.test('writes nothing where nothing changes, and removes nothing', CEPH, async t => {
  for (const history of ['full', 'off'] as const) {
    const workspace = await openWith(t, { 'a.txt': 'one\n' }, { history })
    const done = await workspace.edit({ path: 'a.txt' }, REAL, become('one\n'))
    t.match(done, { ok: true, value: { changed: false } })
    if (done.ok) t.equal(done.value.new_hash, done.value.hash_before)
    t.match(await workspace.edit({ path: 'a.txt' }, { ...REAL, may_delete: true }, remove()), {
      ok: false,
      failure: { code: 'DELETE_NOT_ALLOWED', reason: 'bucket' }
    })
    t.match(await workspace.removeFolder({ path: 'd' }, DRY), {
      failure: { code: 'DELETE_NOT_ALLOWED', reason: 'bucket' },
      path: 'd'
    })
    if (history === 'full') t.match(await workspace.history({ limit: 1 }), { ok: true, value: { edits: [] } })
  }
})
