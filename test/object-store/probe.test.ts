// The probe refuses a store that ignores or breaks conditions: a real one that ignores them, and the answers of others.
import { startFauxqs } from 'fauxqs'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import type { Attempted } from '../../src/object-store/attempts.ts'
import { probe, probeAgain } from '../../src/object-store/probe.ts'
import { openS3Store } from '../../src/object-store/s3-store.ts'
import type { SentCondition } from '../../src/object-store/s3-requests.ts'

t.test('refuses a store that ignores the conditions, and leaves nothing in it', async t => {
  const server = await startFauxqs({ port: 0, logger: false })
  t.teardown(() => server.stop())
  server.createBucket('docs')
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  const open = (readOnly: boolean) =>
    openS3Store({ bucket: 'docs', prefix: 'p', endpoint: `http://127.0.0.1:${server.port}`, region: null, readOnly })
  await t.rejects(open(false), /writes although the condition does not hold \(If-None-Match/)
  // Who only reads needs no conditions.
  const store = await open(true)
  t.strictSame((await store.list('')).keys, [])
  store.close()
})

/** What a store does with conditions, kept in memory: `faulty` may answer instead of it. */
function makeStore(faulty: (key: string, condition: SentCondition, nth: number) => Attempted | 'obey' | 'ignore') {
  const objects = new Map<string, string>()
  let writes = 0
  const put = async (key: string, bytes: Buffer, condition: SentCondition): Promise<Attempted> => {
    const answer = faulty(key, condition, writes++)
    if (typeof answer === 'object') return answer
    const etag = objects.get(key)
    const holds =
      condition === null ||
      (condition === 'absent' ? etag === undefined : etag !== undefined && condition.match === `"${etag}"`)
    if (!holds && answer === 'obey') return { outcome: 'failed' }
    objects.set(key, bytes.toString('hex'))
    return { outcome: 'written', version: bytes.toString('hex') }
  }
  return {
    objects,
    put,
    now: () => Date.now(),
    list: async () => ({
      keys: [{ key: 'old', version: 'x', size: 1, modified_at: new Date(0) }],
      prefixes: [],
      next_after: null
    }),
    remove: async (key: string) => {
      objects.delete(key)
    }
  }
}

t.test('names what a store does wrong', async t => {
  const matches = (condition: SentCondition): condition is { match: string } =>
    condition !== null && typeof condition === 'object'
  const cases: [string, Parameters<typeof makeStore>[0], RegExp][] = [
    ['ignores If-Match', (_, condition) => (matches(condition) ? 'ignore' : 'obey'), /If-Match with an ETag/],
    ['refuses If-Match', (_, condition) => (matches(condition) ? { outcome: 'failed' } : 'obey'), /refuses If-Match/],
    [
      'lets two win',
      (key, condition) => (/-race$/.test(key) && matches(condition) ? 'ignore' : 'obey'),
      /8 of 8 writers won at once \(If-Match, round 1\)/
    ],
    [
      'lets two create',
      (key, condition) => (/-race-/.test(key) && condition === 'absent' ? 'ignore' : 'obey'),
      /8 of 8 writers won at once \(If-None-Match: \*, round 2\)/
    ],
    [
      'lets nobody win',
      (key, condition) => (/-race-/.test(key) && condition === 'absent' ? { outcome: 'failed' } : 'obey'),
      /none of 8 writers won/
    ],
    ['writes nothing', () => ({ outcome: 'failed' }), /refuses to write/]
  ]
  for (const [name, faulty, message] of cases) {
    const store = makeStore(faulty)
    await t.rejects(probe(store, ''), { message }, name)
    t.equal(store.objects.size, 0, name)
  }
})

t.test('takes lost answers for no fault', async t => {
  const lost: Attempted = { outcome: 'unknown', error: new Error('cut') }
  const store = makeStore((_key, _condition, nth) => (nth % 3 === 2 ? lost : 'obey'))
  store.objects.set('old', 'left by a server that was killed')
  t.equal(await probe(store, ''), 'quoted')
  t.equal(store.objects.size, 0)
})

t.test('gives up where a store does not answer', { skip: ONLY_CI }, async t => {
  const store = makeStore(() => ({ outcome: 'unsent', error: new Error('refused') }))
  await t.rejects(probe(store, ''), { code: 'STORE_UNAVAILABLE', unknown: false, cause: { message: 'refused' } })
})

t.test('tries again what it has found, in few requests', async t => {
  let requests = 0
  const tried = (
    faulty: Parameters<typeof makeStore>[0],
    head = async (_key: string): Promise<never> => null as never
  ) => {
    requests = 0
    const store = makeStore((...given) => {
      requests++
      return faulty(...given)
    })
    return { store, done: probeAgain({ ...store, head }, 'p/', 'quoted') }
  }
  const fine = tried(() => 'obey')
  await fine.done
  t.equal(fine.store.objects.size, 0)
  t.ok(requests <= 20, String(requests))
  const broken = tried((key, condition) => (/-race$/.test(key) && condition === 'absent' ? 'ignore' : 'obey'))
  await t.rejects(broken.done, { message: /8 of 8 writers won at once \(If-None-Match: \*\)/ })
  t.equal(broken.store.objects.size, 0)
  const denied = tried(
    () => 'obey',
    () => Promise.reject(new Error('no'))
  )
  await t.rejects(denied.done, { message: 'no' })
})
