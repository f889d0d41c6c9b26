// A store that doesn't answer makes the workspace not ready, and its requests fail with what a caller can do; when it
// answers again, all goes on. A real Ceph behind a proxy that cuts everything.
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { watched } from '../../src/bucket/health.ts'
import { failureOfStore } from '../../src/bucket/store-failure.ts'
import { storeFailure } from '../../src/bucket/start-failure.ts'
import { Unsafe } from '../../src/object-store/probe.ts'
import { SdkMissing } from '../../src/object-store/s3-requests.ts'
import { type ObjectStore, StoreRefused, StoreUnavailable } from '../../src/object-store/store.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { append, become, look, OPTIONS, REAL } from '../workspace/support/open.ts'
import { openOn } from './support/workspace.ts'

t.test('is not ready while the store does not answer', { skip: NO_CEPH, timeout: 280_000 }, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key: 'a', Body: 'a\n' }))
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  const open = async (endpoint: string) => {
    const opened = await openOn(bucket, { history: OPTIONS.history, endpoint })
    t.teardown(() => opened.close())
    return opened
  }
  const workspace = await open(proxy.endpoint)
  const other = await open(bucket.endpoints[1])
  t.equal(workspace.ready(), null)
  proxy.cuts = () => true
  const failed = await workspace.edit({ path: 'a' }, REAL, become('b\n'))
  t.match(failed, { ok: false, failure: { code: 'NOT_READY', reason: 'store_unavailable' } })
  t.match(workspace.ready(), { code: 'NOT_READY', reason: 'store_unavailable' })
  t.match(await other.edit({ path: 'a' }, REAL, append('of the other\n')), { ok: true }, 'whom it answers goes on')
  proxy.cuts = () => false
  // It looks by itself.
  while (workspace.ready() !== null) await new Promise(resolve => setTimeout(resolve, 100))
  t.match(await workspace.edit({ path: 'a' }, REAL, append('b\n')), { ok: true })
  t.match(await look(other, { path: 'a' }), {
    ok: true,
    value: { value: { bytes: Buffer.from('a\nof the other\nb\n') } }
  })
  await workspace.close()
  t.match(await workspace.edit({ path: 'a' }, REAL, become('c\n')), { failure: { reason: 'draining' } })
  t.match(workspace.ready(), { reason: 'draining' })
})

t.test('is not ready while the store refuses its keys, and reports why', async t => {
  let answer: () => Promise<unknown>
  const asked = () => answer() as Promise<never>
  const names = ['get', 'open', 'head', 'write', 'remove', 'list'] as const
  const store = Object.fromEntries(names.map(name => [name, asked])) as unknown as ObjectStore
  const reported: object[] = []
  const { store: seen, answers } = watched({ ...store, name: 's3://b', close: () => {} }, event => reported.push(event))
  const fails = async (error: Error) => {
    answer = () => Promise.reject(error)
    await t.rejects(seen.head('a'), error)
    return answers()
  }
  t.equal(await fails(new StoreRefused('AccessDenied', 'no')), true, 'another object may be had')
  t.equal(await fails(new StoreRefused('ExpiredToken', 'no')), false)
  t.equal(await fails(new StoreUnavailable('no answer')), false)
  answer = () => Promise.resolve(null)
  await seen.head('a')
  t.equal(answers(), true)
  t.equal(await fails(new StoreUnavailable('no answer', { cause: new RangeError('x') })), false)
  seen.close()
  t.equal(answers(), true)
  t.equal(await fails(new StoreUnavailable('no answer')), false)
  seen.close()
  t.strictSame(reported, [
    { event: 'store_unavailable', reason: 'ExpiredToken' },
    { event: 'store_available' },
    { event: 'store_unavailable', reason: 'RangeError' },
    { event: 'store_unavailable', reason: 'unknown' }
  ])
})

t.test('says of each error of the store what it means', async t => {
  const cases: [Error, object | null, RegExp | null][] = [
    [new StoreUnavailable('no answer'), { code: 'NOT_READY', reason: 'store_unavailable' }, /does not answer: check/],
    [
      new StoreUnavailable('no answer', { unknown: true, cause: new Error('cut') }),
      { code: 'NOT_READY', reason: 'store_unknown' },
      /does not answer \(cut\)/
    ],
    [
      new StoreRefused('AccessDenied', 'no'),
      { code: 'PERMISSION_DENIED' },
      /refuses s3:\/\/b \(AccessDenied: no\): .* need s3:GetObject/
    ],
    [new StoreRefused('NoSuchBucket', 'no'), { code: 'NOT_READY', reason: 'root_gone' }, /NoSuchBucket/],
    [new StoreRefused('QuotaExceeded', 'no'), { code: 'NO_SPACE' }, /QuotaExceeded/],
    [new StoreRefused('ExpiredToken', 'no'), { code: 'NOT_READY', reason: 'store_unavailable' }, /ExpiredToken/],
    [new StoreRefused('Other', 'no'), null, /Other/],
    [new SdkMissing('no module'), null, /^to serve s3:\/\/b, install @aws-sdk\/client-s3/],
    [new Unsafe('it ignores them'), null, /^the object store of s3:\/\/b can't be used: it ignores them\. /],
    [new Error('a bug'), null, null]
  ]
  for (const [error, failure, sentence] of cases) {
    if (failure === null) t.equal(failureOfStore(error), null, error.message)
    else t.match(failureOfStore(error), failure)
    const said = storeFailure(error, 's3://b')
    if (sentence === null) t.equal(said, null)
    else t.match(said?.sentence, sentence)
  }
})
