// A bucket as a workspace, by a real server over HTTP and a real Ceph: every operation, what is refused, and the history.
// runs in .ci/run
import { GetObjectCommand, PutObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import t, { type Test } from 'tap'
import { openBucket, type BucketOptions } from '../../src/bucket/open.ts'
import { Searcher } from '../../src/workers/search.ts'
import { ceph, etagForm, makeBucket, NO_CEPH, type Bucket } from '../ceph.ts'
import { startCuttingProxy } from '../cutting-proxy.ts'
import { check, startServer, type TestServer } from '../http/test-server.ts'
import { append, OPTIONS } from '../folder/support/open.ts'
import { openOn } from './support/workspace.ts'

const REAL = { skip: NO_CEPH, timeout: 280_000 }

interface Served extends TestServer {
  bucket: Bucket
  /** What an object holds; null: there is none. */
  read(key: string): Promise<string | null>
  put(key: string, content: string | Buffer): Promise<void>
}

async function serve(
  t: Test,
  options: Partial<BucketOptions> = {},
  files: Record<string, string> = {}
): Promise<Served> {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  const Bucket = bucket.name
  const put = async (key: string, Body: string | Buffer) => {
    await bucket.client(1).send(new PutObjectCommand({ Bucket, Key: `ws/${key}`, Body }))
  }
  for (const [key, content] of Object.entries(files)) await put(key, content)
  const workspace = await openOn(bucket, { address: { bucket: bucket.name, prefix: 'ws' }, ...options })
  const server = await startServer(t, { workspace })
  const read = async (key: string) => {
    try {
      const { Body } = await bucket.client(1).send(new GetObjectCommand({ Bucket, Key: `ws/${key}` }))
      return (await Body?.transformToString()) ?? null
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return null
      throw error
    }
  }
  return { ...server, bucket, read, put }
}

t.test('edits, creates, looks and lists', REAL, async t => {
  const server = await serve(t, {}, { 'a.txt': 'one\ntwo\n', 'src/deep/b.md': '# Title\n\ntext\n', 'src/c.txt': 'c\n' })
  const edited = await check(t, server, '/edit', { path: 'a.txt', old_text: 'two', new_text: 'zwei' }, 200, {
    changed: true,
    path: 'a.txt',
    edit_id: String
  })
  t.equal(await server.read('a.txt'), 'one\nzwei\n')
  await check(t, server, '/edit-lines', { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'eins' }, 200, {})
  t.equal(await server.read('a.txt'), 'eins\nzwei\n')
  await check(t, server, '/inspect', { path: 'src/deep/b.md', structure: true }, 200, { type: 'file' })
  const section = { path: 'src/deep/b.md', heading: 'Title', action: 'replace', new_text: 'more\n' }
  await check(t, server, '/edit-section', section, 200, { changed: true })
  t.equal(await server.read('src/deep/b.md'), '# Title\n\nmore\n')
  await check(t, server, '/create', { path: 'new/dir/d.txt', content: 'd\n' }, 200, { created: true })
  t.equal(await server.read('new/dir/d.txt'), 'd\n')
  await check(t, server, '/create', { path: 'a.txt', content: 'x' }, 409, { code: 'ALREADY_EXISTS' })
  await check(t, server, '/create', { path: 'a.txt/x', content: 'x' }, 422, { code: 'NOT_A_FILE' })
  await check(t, server, '/create', { path: 'src', content: 'x' }, 422, { code: 'NOT_A_FILE' })
  await check(t, server, '/create', { path: 'no/x', content: 'x', create_parents: false }, 404, {
    code: 'FILE_NOT_FOUND'
  })
  await check(t, server, '/preview', { operation: 'edit', path: 'a.txt', old_text: 'eins', new_text: '1' }, 200, {})
  t.equal(await server.read('a.txt'), 'eins\nzwei\n')
  const stale = { path: 'a.txt', old_text: 'eins', new_text: '1', expected_hash: edited.body.file_hash }
  await check(t, server, '/edit', stale, 409, { code: 'STALE_FILE' })
  await check(t, server, '/edit', { path: 'a.tx', old_text: 'a', new_text: 'b' }, 404, { did_you_mean: ['a.txt'] })
  await check(t, server, '/edit', { path: 'deep.md', old_text: 'a', new_text: 'b' }, 404, {
    code: 'FILE_NOT_FOUND'
  })
  await check(t, server, '/edit', { path: 'src/nowhere', old_text: 'a', new_text: 'b' }, 404, {
    detail: /POST \/inspect \{"path":"src"\} lists what is there/
  })
  await check(t, server, '/inspect', { path: '/workspace/src/c.txt' }, 403, { did_you_mean: ['src/c.txt'] })
  await check(t, server, '/edit', { path: 'x/B.md', old_text: 'a', new_text: 'b' }, 404, {
    did_you_mean: ['src/deep/b.md']
  })
  await check(t, server, '/edit', { path: 'x/src/c.txt', old_text: 'a', new_text: 'b' }, 404, {
    did_you_mean: ['src/c.txt']
  })
  await check(t, server, '/edit', { path: 'src', old_text: 'a', new_text: 'b' }, 422, { code: 'NOT_A_FILE' })
  await check(t, server, '/edit', { path: '.', old_text: 'a', new_text: 'b' }, 422, { code: 'NOT_A_FILE' })
  await check(t, server, '/edit', { path: 'a.txt/', old_text: 'a', new_text: 'b' }, 422, { code: 'NOT_A_FILE' })
  await check(t, server, '/inspect', { path: 'a.txt/' }, 422, { code: 'NOT_A_FILE' })
  const listed = await check(t, server, '/inspect', { path: '.' }, 200, { type: 'directory' })
  t.strictSame(
    (listed.body.entries as { name: string }[]).map(({ name }) => name),
    ['a.txt', 'new', 'src']
  )
  const use = { file: () => ({ push() {}, finish: () => null }), directory: { limit: 1 } }
  const page = await server.opened.look({ path: 'src' }, use)
  t.match(page, { ok: true, value: { entries: [{ name: 'c.txt' }], truncated: true, next_entry: 'c.txt' } })
  const rest = await server.opened.look({ path: 'src' }, { ...use, directory: { limit: 1, after: 'c.txt' } })
  t.match(rest, { ok: true, value: { entries: [{ name: 'deep', type: 'directory' }], truncated: false } })
  const folder = { path: 'src', expected_hash: '0'.repeat(16) }
  t.match(await server.opened.look(folder, use), { ok: false, failure: { code: 'NOT_A_FILE' } })
  await check(t, server, '/inspect', { path: 'nothing' }, 404, { code: 'FILE_NOT_FOUND' })
  const capabilities = await server.call('GET', '/capabilities')
  t.match(capabilities.body, { root: { kind: 'bucket', confinement: 'keys', allow_delete: false } })
  t.notOk((capabilities.body.features as string[]).includes('batch'))
})

t.test('keeps to the policy and to keys that a file system could have', REAL, async t => {
  const server = await serve(t, { maxFileSize: 2_000_000 })
  for (const key of ['a//b.txt', 'a/../b.txt', 'a/./b.txt', 'a/', 'ok/a.txt', '.git/config', '.editd/own']) {
    await server.put(key, 'x\n')
  }
  const names = async (path: string) =>
    ((await server.call('POST', '/inspect', { body: { path } })).body.entries as { name: string }[]).map(e => e.name)
  t.strictSame(await names('.'), ['.git', 'a', 'ok'])
  t.strictSame(await names('a'), [])
  await check(t, server, '/inspect', { path: '.editd/own' }, 403, { code: 'PROTECTED_PATH' })
  await check(t, server, '/create', { path: 'src\\x', content: 'x' }, 400, {
    code: 'INVALID_PATH',
    did_you_mean: ['src/x']
  })
  await check(t, server, '/create', { path: '.editd/x', content: 'x' }, 403, { code: 'PROTECTED_PATH' })
  await check(t, server, '/inspect', { path: '.git/config' }, 403, { code: 'PROTECTED_PATH' })
  await check(t, server, '/inspect', { path: '../x' }, 403, { code: 'PATH_NOT_ALLOWED' })
  await check(t, server, '/create', { path: 'n/'.repeat(600) + 'x', content: '' }, 400, { code: 'INVALID_PATH' })
  await server.put('binary', Buffer.from([0, 1, 2, 0, 255]))
  await check(t, server, '/edit', { path: 'binary', old_text: 'a', new_text: 'b' }, 415, { code: 'BINARY_FILE' })
  await server.put('large.txt', 'x'.repeat(2_000_001))
  await check(t, server, '/edit', { path: 'large.txt', old_text: 'a', new_text: 'b' }, 413, { code: 'FILE_TOO_LARGE' })
  await check(t, server, '/inspect', { path: 'large.txt' }, 413, { code: 'FILE_TOO_LARGE' })
  await server.put('big.txt', `${'x'.repeat(1_500_000)}\nend\n`)
  await check(t, server, '/edit', { path: 'big.txt', old_text: 'end', new_text: 'END' }, 200, { changed: true })
  t.match(await server.read('big.txt'), /x\nEND\n$/)
  await check(t, server, '/inspect', { path: 'big.txt', search: 'END' }, 200, {})
  for (const key of ['a b+c%20.txt', 'é\u{1f600}.txt', '<&>"\'.txt', 'tab\t.txt']) {
    // A name with a tab is there only if somebody else made it.
    if (key.includes('\t')) await server.put(key, 'x\n')
    else {
      const made = { path: key, content: 'x\n', literal_path: true }
      await check(t, server, '/create', made, 200, { created: true, path: key })
    }
    await check(t, server, '/edit', { path: key, old_text: 'x', new_text: 'y' }, 200, { changed: true })
    t.equal(await server.read(key), 'y\n')
  }
})

t.test('shows a token no more than its paths', REAL, async t => {
  const server = await serve(t, {}, { 'docs/a.txt': 'a\n', 'secret/b.txt': 'b\n' })
  const view = server.opened.limitedTo(['docs/**'])
  t.equal(view, server.opened.limitedTo(['docs/**']))
  const use = { file: () => ({ push() {}, finish: () => null }), directory: { limit: 10 } }
  t.match(await view.look({ path: 'docs/a.txt' }, use), { ok: true })
  t.match(await view.look({ path: '.' }, use), { ok: true, value: { entries: [{ name: 'docs' }] } })
  for (const path of ['secret/b.txt', 'secret', 'nothing']) {
    t.match(await view.look({ path }, use), { ok: false, failure: { code: 'PATH_NOT_ALLOWED' } })
  }
  await view.close()
  t.equal(await server.opened.ready(), null)
})

t.test('refuses what changes several files, and what removes one', REAL, async t => {
  const server = await serve(t, {}, { 'a.txt': 'a\n', 'b.txt': 'b\n' })
  const operation = (path: string) => ({ operation: 'edit', path, old_text: path[0], new_text: 'x' })
  await check(t, server, '/batch', { operations: [operation('a.txt'), operation('b.txt')] }, 422, {
    code: 'BATCH_NOT_SUPPORTED'
  })
  t.equal(await server.read('a.txt'), 'a\n')
  await check(t, server, '/batch', { operations: [operation('a.txt')] }, 200, {})
  t.equal(await server.read('a.txt'), 'x\n')
  const made = await check(t, server, '/create', { path: 'c.txt', content: 'c\n' }, 200, {})
  await check(t, server, '/undo', { edit_id: made.body.edit_id }, 403, { code: 'DELETE_NOT_ALLOWED' })
  t.equal(await server.read('c.txt'), 'c\n')
  const refused = { code: 'DELETE_NOT_ALLOWED', detail: /this workspace is a bucket/ }
  await check(t, server, '/delete', { path: 'c.txt' }, 403, refused)
  await check(t, server, '/move', { path: 'c.txt', to: 'd.txt' }, 403, refused)
  t.equal(await server.read('c.txt'), 'c\n')
})

t.test(
  'takes no edit of another server for one from outside, which came between the read and the look',
  REAL,
  async t => {
    const proxy = await startCuttingProxy(t, (await ceph()).endpoints[0])
    const server = await serve(t, { endpoint: proxy.endpoint }, { 'a.txt': 'one\ntwo\n' })
    const other = await openBucket({
      ...OPTIONS,
      history: 'full',
      address: { bucket: server.bucket.name, prefix: 'ws' },
      endpoint: server.bucket.endpoints[1],
      region: null,
      searcher: new Searcher(),
      form: await etagForm()
    })
    t.teardown(() => other.close())
    await check(t, server, '/edit', { path: 'a.txt', old_text: 'one', new_text: 'eins' }, 200, {})
    // The same once more by another program: the next edit has to look.
    await server.put('a.txt', 'eins\ntwo\n')
    let isRead = false
    let comes = 0
    proxy.before = async ({ method, path }) => {
      if (method === 'GET' && path.includes('/ws/a.txt')) isRead = true
      else if (method === 'GET' && path.includes('list-type') && isRead && comes++ === 0) {
        t.match(await other.edit({ path: 'a.txt' }, { dry_run: false }, append('three\n')), { ok: true })
      }
    }
    await check(t, server, '/edit', { path: 'a.txt', old_text: 'two', new_text: 'zwei' }, 200, {})
    t.ok(comes > 0)
    t.equal(await server.read('a.txt'), 'eins\nzwei\nthree\n')
    const { body } = await check(t, server, '/history', { path: 'a.txt' }, 200, {})
    t.strictSame(
      (body.edits as { operation: string; state: string }[]).map(({ operation, state }) => `${operation} ${state}`),
      ['edit applied', 'edit applied', 'edit applied']
    )
  }
)

t.test('remembers changes, takes them back, and carries out a key once', REAL, async t => {
  const server = await serve(t, {}, { 'a.txt': 'one\n' })
  const first = await check(t, server, '/edit', { path: 'a.txt', old_text: 'one', new_text: 'two' }, 200, {})
  await server.put('a.txt', 'two\nby another program\n')
  await check(t, server, '/edit', { path: 'a.txt', old_text: 'another', new_text: 'some' }, 200, {})
  const { body } = await check(t, server, '/history', { path: 'a.txt' }, 200, {})
  t.strictSame(
    (body.edits as { operation: string }[]).map(({ operation }) => operation),
    ['edit', 'outside', 'edit']
  )
  await check(t, server, '/undo', { edit_id: first.body.edit_id }, 200, {})
  t.equal(await server.read('a.txt'), 'one\nby some program\n')
  await check(t, server, '/blame', { path: 'a.txt' }, 200, {})
  await check(t, server, '/pending', { path: 'a.txt' }, 200, {})
  const keyed = { path: 'a.txt', old_text: 'some', new_text: 'any' }
  const headers = { 'idempotency-key': 'k1' }
  await check(t, server, '/edit', keyed, 200, {}, headers)
  const again = await check(t, server, '/edit', keyed, 200, {}, headers)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(await server.read('a.txt'), 'one\nby any program\n')
  await check(t, server, '/changes', {}, 200, {})
  const { Contents = [] } = await server.bucket
    .client()
    .send(new ListObjectsV2Command({ Bucket: server.bucket.name, Prefix: 'ws/.editd/log/' }))
  t.ok(Contents.length > 0)
})
