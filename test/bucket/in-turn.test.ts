// Two servers that edit one object in turn and read nothing of each other's log before it: what is asked of the store,
// that nothing is missed that others did, and that ids follow each other.
// runs in .ci/run
import { setTimeout as sleep } from 'node:timers/promises'
import { CopyObjectCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import type { BucketOptions } from '../../src/bucket/open.ts'
import { ok } from '../../src/result.ts'
import type { Planner } from '../../src/workspace/api.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { append, become, REAL } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

const CEPH = { skip: NO_CEPH, timeout: 250_000 }

async function open(t: Test) {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const client = bucket.client(1)
  const Bucket = bucket.name
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const openAt = async (endpoint: string, options: Partial<BucketOptions> = {}) => {
    const workspace = await openOn(bucket, { endpoint, ...options })
    t.teardown(() => workspace.close())
    return workspace
  }
  return {
    /** Through the proxy. */
    one: await openAt(proxy.endpoint),
    other: await openAt(bucket.endpoints[1]),
    proxy,
    openAnother: (options: Partial<BucketOptions> = {}) => openAt(bucket.endpoints[1], options),
    /** As another program does. */
    put: async (Key: string, Body: string) => {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }))
    },
    remove: async (Key: string) => {
      await client.send(new DeleteObjectCommand({ Bucket, Key }))
    },
    /** With its metadata. */
    copy: async (from: string, Key: string) => {
      await client.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${from}` }))
    }
  }
}

/** The id of the edit. */
async function add(workspace: Workspace, text: string, path = 'a.txt'): Promise<string> {
  const done = await workspace.edit({ path }, REAL, append(text))
  if (!done.ok) throw new Error(done.failure.code)
  return done.value.edit_id ?? ''
}

/** The operations of its records, oldest first. */
async function operations(workspace: Workspace, path = 'a.txt'): Promise<string[]> {
  const found = await workspace.history({ path, limit: 100 })
  return found.ok ? found.value.edits.map(({ record }) => record.operation).reverse() : [found.failure.code]
}

/** Longer than what comes after an answer takes: others don't know before that that the edit took place. */
const settled = () => sleep(500)

/** With this server's clock ahead by so many ms. */
async function ahead<R>(t: Test, ms: number, work: () => Promise<R>): Promise<R> {
  const { now } = Date
  const { restore } = t.capture(Date, 'now', () => now() + ms)
  try {
    return await work()
  } finally {
    restore()
  }
}

/** What an undo of these edits is where it changes no byte. */
const undoOf =
  (...edit_ids: string[]): Planner<null, never> =>
  async (original, { history }) => {
    await history()
    return ok({ pieces: [original], toggles: edit_ids.map(edit_id => ({ edit_id })), description: null })
  }

t.test('reads no log before an edit, whichever server made the last', CEPH, async t => {
  const { one, other, proxy, put } = await open(t)
  await put('a.txt', '0\n')
  await add(one, '1\n')
  await add(other, '2\n')
  await settled()
  const asked: string[] = []
  proxy.before = ({ method, path }) => asked.push(`${method} ${path.includes('/.editd/log/') ? 'log' : path}`)
  for (const last of ['other', 'own']) {
    await settled()
    asked.length = 0
    await add(one, '3\n')
    // Copies are written when their time has come, of an edit before this one too.
    const forEdit = asked.filter(what => !what.includes('/.editd/copies/'))
    t.strictSame(
      forEdit.map(what => what.replace(/\/test-[^/]*\//, '').replace(/\?.*/, '')),
      ['GET a.txt', 'PUT log', 'PUT a.txt'],
      last
    )
  }
})

t.test('knows all changes afterwards, in their order, and no other', CEPH, async t => {
  const { one, other, put } = await open(t)
  await put('a.txt', '0\n')
  const made: string[] = []
  for (const text of ['1\n', '2\n', '3\n']) made.push(await add(one, text), await add(other, text))
  t.strictSame(made, made.toSorted())
  await settled()
  for (const workspace of [one, other]) {
    const seen = await workspace.recall({ path: 'a.txt' }, async ({ changes }) => ok(changes))
    t.ok(seen.ok)
    if (!seen.ok) continue
    t.strictSame(
      seen.value.map(({ edit_id }) => edit_id),
      made
    )
    t.ok(seen.value.every(({ splices }) => splices?.length === 1))
  }
})

t.test('gives an edit a later id than that of the last one, whatever the clocks say', CEPH, async t => {
  const { one, other, put } = await open(t)
  await put('a.txt', '0\n')
  await add(other, '1\n')
  const first = await ahead(t, 30_000, () => add(one, '2\n'))
  const second = await add(other, '3\n')
  t.ok(second > first, `${first} ${second}`)
})

t.test('records what another program did between two edits', CEPH, async t => {
  const { one, other, put } = await open(t)
  await put('a.txt', '0\n')
  await add(one, '1\n')
  await add(other, '2\n')
  await settled()
  await put('a.txt', 'outside\n')
  await add(one, '3\n')
  await add(other, '4\n')
  t.strictSame(await operations(one), ['edit', 'edit', 'outside', 'edit', 'edit'])
})

t.test('knows what another program did, a while after the last edit also by another server', CEPH, async t => {
  const { one, other, put, openAnother } = await open(t)
  await put('a.txt', '0\n')
  await add(other, '1\n')
  await add(one, '2\n')
  // Copies wait for later edits.
  await sleep(3500)
  await put('a.txt', '0\n1\n2\noutside\n')
  const third = await openAnother()
  await add(third, '3\n')
  const found = await third.history({ path: 'a.txt', limit: 2, texts: true })
  const splices = [{ start: 6, insert: Buffer.from('outside\n') }]
  t.match(found, { ok: true, value: { edits: [{}, { record: { operation: 'outside', splices } }] } })
})

t.test('records that an object was replaced by another with its metadata', CEPH, async t => {
  const { one, other, put, copy } = await open(t)
  await put('a.txt', '0\n')
  await put('b.txt', 'b\n')
  await add(one, '1\n', 'b.txt')
  await add(one, '1\n')
  await settled()
  await copy('a.txt', 'b.txt')
  await add(other, '2\n', 'b.txt')
  t.strictSame(await operations(one, 'b.txt'), ['edit', 'outside', 'edit'])
})

t.test('records that an older version was put back with its metadata', CEPH, async t => {
  const { one, other, put, copy } = await open(t)
  await put('old.txt', '0\n')
  await put('young.txt', '0\n')
  await ahead(t, -120_000, () => add(one, '1\n', 'old.txt'))
  await add(one, '1\n', 'young.txt')
  for (const path of ['old.txt', 'young.txt']) {
    await copy(path, 'kept')
    await add(other, '2\n', path)
    await settled()
    await copy('kept', path)
  }
  await add(one, '3\n', 'old.txt')
  await add(other, '3\n', 'young.txt')
  t.strictSame(await operations(one, 'old.txt'), ['edit', 'edit', 'outside', 'edit'], 'by its time')
  t.strictSame(
    await operations(one, 'young.txt'),
    ['edit', 'edit', 'outside', 'edit'],
    'by a server that knows a later one'
  )
})

t.test('records that a server without a history has changed an object', CEPH, async t => {
  const { one, other, put, openAnother } = await open(t)
  const off = await openAnother({ history: 'off' })
  await put('a.txt', '0\n')
  await add(one, '1\n')
  await settled()
  t.equal(await add(off, '2\n'), '')
  await add(other, '3\n')
  t.strictSame(await operations(one), ['edit', 'outside', 'edit'])
})

t.test('records that an object was removed, and goes on with the one that is made again', CEPH, async t => {
  const { one, other, put, remove } = await open(t)
  await put('a.txt', '0\n')
  await add(one, '1\n')
  await settled()
  await remove('a.txt')
  const target = { path: 'a.txt', overwrite: false, create_parents: true }
  t.match(await other.create(target, REAL, become('new\n')), { ok: true })
  await add(one, '2\n')
  t.strictSame(await operations(one), ['edit', 'outside', 'create', 'edit'])
})

t.test('gives an edit a later id than that of an undo that changed no byte', CEPH, async t => {
  const { one, other, put } = await open(t)
  await put('a.txt', '0\n')
  const made = [await add(one, '1\n'), await add(other, '2\n')]
  const undo = await ahead(t, 30_000, () => one.edit({ path: 'a.txt' }, REAL, undoOf(...made)))
  t.match(undo, { ok: true, value: { changed: false, edit_id: String, warnings: [] } })
  const next = await add(other, '3\n')
  if (undo.ok) t.ok(next > undo.value.edit_id!, `${undo.value.edit_id} ${next}`)
  const found = await one.history({ path: 'a.txt', limit: 1, before: next, texts: true })
  t.match(found, {
    ok: true,
    value: { edits: [{ record: { toggles: [{ edit_id: made[0] }, { edit_id: made[1] }], splices: [] } }] }
  })
})

t.test('plans an undo that changes no byte again where an edit came first', CEPH, async t => {
  const { one, other, proxy, put } = await open(t)
  await put('a.txt', '0\n')
  const made = await add(one, '1\n')
  let left = 1
  proxy.before = async ({ method, path }) => {
    if (method === 'PUT' && path.endsWith('/a.txt?x-id=PutObject') && left-- > 0) await add(other, '2\n')
  }
  const planned: string[] = []
  const undo = await one.edit({ path: 'a.txt' }, REAL, async (original, file) => {
    planned.push(original.toString())
    return undoOf(made)(original, file)
  })
  t.match(undo, { ok: true, value: { changed: false } })
  t.strictSame(planned, ['0\n1\n', '0\n1\n2\n'])
})

t.test('fails where an undo that changes no byte cannot be recorded', CEPH, async t => {
  const { one, proxy, put } = await open(t)
  await put('a.txt', '0\n')
  const made = await add(one, '1\n')
  await settled()
  proxy.refuses = ({ method, path }) => method === 'PUT' && path.includes('/.editd/log/')
  const undo = await one.edit({ path: 'a.txt' }, REAL, undoOf(made))
  t.match(undo, { ok: false, failure: { code: 'NOT_READY', reason: 'history_unwritable' } })
  t.match(await one.edit({ path: 'a.txt' }, REAL, append('2\n')), { ok: true, value: { warnings: ['unrecorded'] } })
})
