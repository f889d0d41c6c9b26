// A store that doesn't answer makes the workspace not ready, and its requests fail with what a caller can do; when it
// answers again, all goes on. A real Ceph behind a proxy that cuts everything.
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t from 'tap'
import { StoreHealth } from '../../src/bucket/health.ts'
import { failureOfStore } from '../../src/bucket/store-failure.ts'
import { storeFailure } from '../../src/bucket/start-failure.ts'
import { Unsafe } from '../../src/object-store/probe.ts'
import { SdkMissing } from '../../src/object-store/s3-requests.ts'
import {
  type ObjectStore,
  Overwritten,
  StoreRefused,
  StoreUnavailable,
  StoreUnsafe
} from '../../src/object-store/store.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { append, become, look, OPTIONS, REAL } from '../folder/support/open.ts'
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
  t.equal(await workspace.ready(), null)
  proxy.cuts = () => true
  const failed = await workspace.edit({ path: 'a' }, REAL, become('b\n'))
  t.match(failed, { ok: false, failure: { code: 'NOT_READY', reason: 'store_unavailable' } })
  t.match(await workspace.ready(), { code: 'NOT_READY', reason: 'store_unavailable' })
  t.match(await other.edit({ path: 'a' }, REAL, append('of the other\n')), { ok: true }, 'whom it answers goes on')
  proxy.cuts = () => false
  // It looks by itself.
  while ((await workspace.ready()) !== null) await new Promise(resolve => setTimeout(resolve, 100))
  t.match(await workspace.edit({ path: 'a' }, REAL, append('b\n')), { ok: true })
  t.match(await look(other, { path: 'a' }), {
    ok: true,
    value: { value: { bytes: Buffer.from('a\nof the other\nb\n') } }
  })
  proxy.before = () => new Promise(() => {})
  while ((await workspace.ready()) === null);
  t.match(await workspace.ready(), { code: 'NOT_READY', reason: 'store_unavailable' }, 'without any other request')
  proxy.before = () => {}
  while ((await workspace.ready()) !== null) await new Promise(resolve => setTimeout(resolve, 100))
  await workspace.close()
  t.match(await workspace.edit({ path: 'a' }, REAL, become('c\n')), { failure: { reason: 'draining' } })
  t.match(await workspace.ready(), { reason: 'draining' })
})

t.test(
  'takes another program that writes the same object for no fault of the store',
  { skip: NO_CEPH, timeout: 280_000 },
  async t => {
    const bucket = await makeBucket(t)
    Object.assign(process.env, bucket.environment)
    const write = (Body: string) => bucket.client(1).send(new PutObjectCommand({ Bucket: bucket.name, Key: 'a', Body }))
    await write('one\n')
    const proxy = await startCuttingProxy(t, bucket.endpoints[0])
    const workspace = await openOn(bucket, { endpoint: proxy.endpoint })
    t.teardown(() => workspace.close())
    const isWrite = ({ method, path }: { method: string; path: string }) =>
      method === 'PUT' && path.split('?')[0] === `/${bucket.name}/a`
    proxy.before = request => isWrite(request) && write('two\n')
    proxy.cuts = isWrite
    const edited = await workspace.edit({ path: 'a' }, REAL, append('three\n'))
    t.match(edited, { ok: false, failure: { code: 'STALE_FILE', reason: 'overwritten' } })
    t.equal(proxy.cut, 1, 'it is not sent again')
    t.equal(await workspace.ready(), null)
  }
)

/** A store that answers as the test says, and what was asked of it. */
function makeStore() {
  const state = {
    answer: (): Promise<unknown> => Promise.resolve(null),
    check: (): Promise<void> => Promise.resolve(),
    isVersioned: false as boolean | null,
    asked: [] as string[]
  }
  let answeredAt = -Infinity
  const answered = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    state.asked.push(name)
    try {
      return await work()
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      answeredAt = performance.now()
      throw error
    }
  }
  const names = ['get', 'open', 'head', 'write', 'remove', 'list'] as const
  const asked = (name: string) => async () => {
    const done = (await answered(name, state.answer)) as never
    answeredAt = performance.now()
    return done
  }
  const store: ObjectStore = {
    ...(Object.fromEntries(names.map(name => [name, asked(name)])) as unknown as Pick<
      ObjectStore,
      (typeof names)[number]
    >),
    name: 's3://b',
    check: () => answered('check', state.check),
    get isVersioned() {
      return state.isVersioned
    },
    get answeredAt() {
      return answeredAt
    },
    now: () => 7,
    close() {}
  }
  const reported: object[] = []
  const health = new StoreHealth(store, event => reported.push(event))
  const fails = async (error: Error) => {
    state.answer = () => Promise.reject(error)
    await t.rejects(health.head('a'), { message: error.message })
    state.answer = () => Promise.resolve(null)
    return health.fault
  }
  return { state, health, reported, fails }
}

t.test('tells a store that does not answer from one that refuses, and one object from all', async t => {
  const { state, health, reported, fails } = makeStore()
  t.teardown(() => health.close())
  t.equal(health.name, 's3://b')
  t.equal(health.now(), 7)
  t.equal(await fails(new StoreRefused('QuotaExceeded', 'no')), null)
  t.equal(await fails(new StoreRefused('AccessDenied', 'no')), null, 'another object may be had')
  t.equal(await fails(new StoreRefused('AccessDenied', 'no')), null)
  t.equal(state.asked.filter(name => name === 'check').length, 1, 'once in a while')
  t.equal(await fails(new StoreUnavailable('no answer')), 'store_unavailable')
  await health.head('a')
  t.equal(health.fault, null)
  t.equal(await fails(new StoreUnavailable('no answer', { cause: new RangeError('x') })), 'store_unavailable')
  await health.head('a')
  t.equal(await fails(new StoreRefused('ExpiredToken', 'no')), 'store_refused')
  t.equal(await fails(new StoreUnavailable('no answer')), 'store_refused')
  await health.head('a')
  t.equal(health.fault, 'store_refused', 'that one request was answered says nothing of the others')
  await health.check()
  t.equal(health.fault, null)
  t.strictSame(reported, [
    { event: 'store_unavailable', reason: 'unknown' },
    { event: 'store_available' },
    { event: 'store_unavailable', reason: 'RangeError' },
    { event: 'store_available' },
    { event: 'store_unavailable', reason: 'ExpiredToken' },
    { event: 'store_available' }
  ])
})

t.test('says that rights are gone where all is denied', async t => {
  const { state, health, reported, fails } = makeStore()
  t.teardown(() => health.close())
  state.check = () => Promise.reject(new StoreRefused('AccessDenied', 'no'))
  t.equal(await fails(new StoreRefused('AccessDenied', 'no')), 'store_refused')
  state.answer = () => Promise.reject(new StoreRefused('AccessDenied', 'no'))
  const error: unknown = await health.get('a').catch((error: unknown) => error)
  t.match(failureOfStore(error), { code: 'NOT_READY', reason: 'store_refused' })
  t.strictSame(reported, [{ event: 'store_unavailable', reason: 'AccessDenied' }])
})

t.test('answers no write as done where the store ignores conditions since it keeps versions', async t => {
  const { state, health, reported } = makeStore()
  t.teardown(() => health.close())
  const write = () => health.write('a', { bytes: Buffer.from('a'), if: 'absent', attempt: 'x' })
  const written = { version: 'v' }
  state.answer = () => Promise.resolve(written)
  t.equal(await write(), written)
  state.isVersioned = true
  t.equal(await write(), written, 'it keeps both')
  t.strictSame(state.asked, ['write', 'write', 'check'])
  state.isVersioned = false
  state.check = () => Promise.reject(new Unsafe('2 of 8 writers won at once'))
  await t.rejects(write(), { code: 'STORE_UNAVAILABLE', unknown: true })
  const refused: unknown = await write().catch((error: unknown) => error)
  t.match(failureOfStore(refused), { code: 'NOT_READY', reason: 'store_unsafe' })
  t.equal(state.asked.filter(name => name === 'write').length, 3, 'the last one was not sent')
  t.equal(await health.ask(), 'store_unsafe')
  state.check = () => Promise.resolve()
  await health.check()
  t.equal(await write(), written)
  t.strictSame(reported, [
    { event: 'store_unavailable', reason: '2 of 8 writers won at once' },
    { event: 'store_available' }
  ])
})

t.test('checks once more where versions are switched on meanwhile', async t => {
  const { state, health } = makeStore()
  t.teardown(() => health.close())
  state.check = async () => {
    state.isVersioned = true
  }
  await health.check()
  t.strictSame(state.asked, ['check', 'check'])
})

t.test('looks by itself where it can not be used, and once a minute while it is written to', async t => {
  let tick = (): void => {}
  let now = performance.now()
  t.intercept(globalThis, 'setInterval', {
    value: (work: () => void) => {
      tick = work
      return setTimeout(() => {}, 0)
    }
  })
  // Before the store is made: by the real time, it would be checked later than here, where that takes a while.
  t.intercept(performance, 'now', { value: () => now })
  const { state, health, fails } = makeStore()
  const asks = async (...expected: string[]) => {
    state.asked.length = 0
    tick()
    // Some turns later it is begun, also where another look has to end first.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    t.strictSame(state.asked, expected)
  }
  await asks()
  await health.write('a', { bytes: Buffer.from('a'), if: 'absent', attempt: 'x' })
  await asks()
  now += 60_001
  await asks('check')
  now += 60_001
  await asks()
  await fails(new StoreUnavailable('no answer'))
  await asks('head')
  t.equal(health.fault, null)
  state.check = () => Promise.reject(new StoreRefused('AccessDenied', 'no'))
  await fails(new StoreRefused('InvalidAccessKeyId', 'no'))
  await asks('check')
  state.check = () => Promise.reject(new Unsafe('it does not'))
  await asks('check')
  await asks()
  now += 60_001
  await asks('check')
  health.close()
})

t.test('asks a store that has not answered for a second, and takes one that says nothing for gone', async t => {
  const { state, health, reported } = makeStore()
  t.teardown(() => health.close())
  t.equal(await health.ask(), null)
  t.equal(await health.ask(), null)
  t.strictSame(state.asked, ['head'], 'it has answered just now')
  const mute = makeStore()
  t.teardown(() => mute.health.close())
  let answer = (): void => {}
  mute.state.answer = () => new Promise(resolve => (answer = () => resolve(null)))
  t.equal(await mute.health.ask(), 'store_unavailable')
  answer()
  await new Promise(setImmediate)
  t.equal(await mute.health.ask(), null)
  t.strictSame(reported, [])
  t.strictSame(mute.reported, [{ event: 'store_unavailable', reason: 'no answer' }, { event: 'store_available' }])
})

t.test('says of each error of the store what it means', async t => {
  const cases: [Error, object | null, RegExp | null][] = [
    [new StoreUnavailable('no answer'), { code: 'NOT_READY', reason: 'store_unavailable' }, /does not answer: check/],
    [
      new StoreUnavailable('no answer', { unknown: true, cause: new Error('cut') }),
      { code: 'NOT_READY', reason: 'store_unknown' },
      /does not answer \(cut\)/
    ],
    [new Overwritten(), { code: 'STALE_FILE', reason: 'overwritten' }, /does not answer/],
    [
      new StoreRefused('AccessDenied', 'no'),
      { code: 'PERMISSION_DENIED', reason: 'store_denies' },
      /refuses s3:\/\/b \(AccessDenied: no\): .* need s3:GetObject/
    ],
    [new StoreRefused('NoSuchBucket', 'no'), { code: 'NOT_READY', reason: 'root_gone' }, /NoSuchBucket/],
    [new StoreRefused('QuotaExceeded', 'no'), { code: 'NO_SPACE' }, /QuotaExceeded/],
    [new StoreRefused('ExpiredToken', 'no'), { code: 'NOT_READY', reason: 'store_refused' }, /ExpiredToken/],
    [
      new StoreUnsafe('ignores conditions', { unknown: true }),
      { code: 'NOT_READY', reason: 'store_unsafe' },
      /does not answer/
    ],
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
