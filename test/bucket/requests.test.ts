// How many requests each operation takes, counted before the store: docs/object-store.md has a table of them.
// runs in .ci/run
import { PutObjectCommand } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import type { BucketOptions } from '../../src/bucket/open.ts'
import { openS3Store } from '../../src/object-store/s3-store.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { startServer, type TestServer } from '../http/test-server.ts'
import { OPTIONS } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

const REAL = { skip: NO_CEPH, timeout: 250_000 }

interface Counted extends TestServer {
  /** What was asked since the last call: method and what for, sorted. */
  asked(): string[]
  put(key: string): Promise<void>
}

const WHAT: [RegExp, string][] = [
  [/list-type=2/, 'LIST'],
  [/\/\.editd\/(log|copies|keys|servers|blobs|probe|secret)/, ''],
  [/./, 'file']
]

function named(method: string, path: string): string {
  const [pattern, what] = WHAT.find(([pattern]) => pattern.test(path))!
  if (what === 'LIST') return what
  return `${method} ${what || pattern.exec(path)![1]!}`
}

async function open(t: Test, options: Partial<BucketOptions> = {}): Promise<Counted> {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const proxy = await startCuttingProxy(t, bucket.endpoints[0])
  let asked: string[] = []
  proxy.cuts = ({ method, path }) => {
    asked.push(named(method, path))
    return false
  }
  const workspace = await openOn(bucket, {
    history: OPTIONS.history,
    address: { bucket: bucket.name, prefix: 'p' },
    endpoint: proxy.endpoint,
    ...options
  })
  const server = await startServer(t, { workspace })
  return {
    ...server,
    asked() {
      const now = asked.sort()
      asked = []
      return now
    },
    async put(key) {
      await bucket.client(1).send(new PutObjectCommand({ Bucket: bucket.name, Key: `p/${key}`, Body: 'one\ntwo\n' }))
    }
  }
}

const EDIT = { path: 'a.txt', old_text: 'one', new_text: 'eins' }
const BACK = { path: 'a.txt', old_text: 'eins', new_text: 'one' }

t.test('asks for little without a history', REAL, async t => {
  const server = await open(t, { history: 'off' })
  await server.put('a.txt')
  await server.put('dir/b.txt')
  const cases: [string, object, string[]][] = [
    ['/inspect', { path: 'a.txt' }, ['GET file']],
    ['/inspect', { path: 'dir' }, ['GET file', 'LIST', 'LIST']],
    ['/inspect', { path: '.' }, ['LIST']],
    ['/edit', EDIT, ['GET file', 'PUT file']],
    ['/preview', { operation: 'edit', ...BACK }, ['GET file']],
    ['/create', { path: 'new.txt', content: 'x' }, ['GET file', 'LIST', 'PUT file']],
    ['/create', { path: 'x/y/new.txt', content: 'x' }, ['GET file', 'HEAD file', 'HEAD file', 'LIST', 'PUT file']]
  ]
  server.asked()
  for (const [route, body, expected] of cases) {
    const { status, text } = await server.call('POST', route, { body })
    t.equal(status, 200, text)
    t.strictSame(server.asked(), expected, JSON.stringify(body))
  }
})

t.test('asks for more with a history, most of it after the answer', REAL, async t => {
  const server = await open(t, { history: 'full' })
  await server.put('a.txt')
  const flush = () => new Promise(resolve => setTimeout(resolve, 3000))
  // The first of a server begins its log.
  await server.call('POST', '/edit', { body: EDIT })
  await flush()
  server.asked()
  const edit = async (body: object, headers = {}) => {
    const { status, text } = await server.call('POST', '/edit', { body, headers })
    t.equal(status, 200, text)
    await flush()
    return server.asked()
  }
  const one = ['GET file', 'HEAD copies', 'PUT copies', 'PUT file', 'PUT log', 'PUT log']
  t.strictSame(await edit(BACK), one)
  const keyed = await edit(EDIT, { 'idempotency-key': 'k' })
  t.strictSame(
    keyed.filter(what => / keys/.test(what)),
    ['DELETE keys', 'PUT keys']
  )
  t.strictSame(
    keyed.filter(what => !/ keys|LIST/.test(what)),
    one
  )
  t.comment(keyed.join(', '))
})

t.test('puts objects of its log together, which takes some more now and then', REAL, async t => {
  const server = await open(t, { history: 'full' })
  await server.put('a.txt')
  server.asked()
  const edits = 64
  const since = performance.now()
  for (let n = 0; n < edits; n++) {
    const { status } = await server.call('POST', '/edit', { body: n % 2 === 0 ? EDIT : BACK })
    t.equal(status, 200)
  }
  await server.opened.close()
  const asked = server.asked()
  const counts = Object.fromEntries([...new Set(asked)].map(what => [what, asked.filter(one => one === what).length]))
  t.comment(JSON.stringify(counts))
  const of = (what: string) => (counts[what] ?? 0) / edits
  t.ok(of('PUT log') <= 2.3, 'PUT log')
  t.ok(of('DELETE log') <= 2.2, 'DELETE log')
  t.ok(of('LIST') <= 0.5, 'LIST')
  // Every two seconds one, and one at the end.
  const most = 2 + (performance.now() - since) / 2000
  t.ok((counts['PUT copies'] ?? 0) <= most, 'of a file that is edited again and again, not each content is kept')
  t.equal(of('GET log'), 0, 'what it wrote itself it does not read')
})

t.test('probes with some 170 requests', REAL, async t => {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  let requests = 0
  const proxy = await startCuttingProxy(t, bucket.endpoints[0], () => {
    requests++
    return false
  })
  const begun = performance.now()
  const place = { bucket: bucket.name, prefix: 'p', endpoint: proxy.endpoint, region: null }
  const store = await openS3Store({ ...place, readOnly: false })
  store.close()
  t.comment(`${requests} requests in ${Math.round(performance.now() - begun)} ms`)
  t.ok(requests > 150 && requests < 260, `${requests}`)
})
