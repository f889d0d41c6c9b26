// How what serves buckets of a real Ceph is started: beside folders by an access file, as several processes, and as
// `editd mcp`.
import { createHash, randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { Client, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startFauxqs } from 'fauxqs'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { makeBucket, NO_CEPH } from '../ceph.ts'
import { COMMAND, SERVER, start, type Running } from '../running.ts'

const REAL = { skip: NO_CEPH, timeout: 280_000 }

/** A folder for what a server needs, until the test ends. */
function makeFolder(t: Test): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'editd-starts-')))
  t.teardown(() => rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))
  return base
}

/** A bucket with objects, and a folder beside it. */
async function prepare(t: Test, files: Record<string, string>) {
  const bucket = await makeBucket(t)
  Object.assign(process.env, bucket.environment)
  for (const [Key, Body] of Object.entries(files)) {
    await bucket.client().send(new PutObjectCommand({ Bucket: bucket.name, Key, Body }))
  }
  const read = async (Key: string) => {
    const { Body } = await bucket.client(1).send(new GetObjectCommand({ Bucket: bucket.name, Key }))
    return Body?.transformToString()
  }
  const endpoint = ['--s3-endpoint', bucket.endpoints[0]]
  return { bucket, base: makeFolder(t), read, root: `s3://${bucket.name}`, endpoint }
}

/** Starts a server with an access file; rejects with its stderr if it ends before it listens. */
async function startWith(t: Test, access: string, state: string, ...flags: string[]) {
  const [command = '', ...own] = COMMAND
  const args = [...own, '--access', access, '--state-dir', state, '--port', '0', ...flags]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', chunk => (log += chunk))
  const said = once(child.stdout.setEncoding('utf8'), 'data')
  const [printed] = (await Promise.race([said, ended.then(() => [''])])) as [string]
  const url = / listening on (\S+)/.exec(printed)?.[1]
  if (url === undefined) throw new Error(log)
  const post = async (token: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return { child, post, printed, log: () => log }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const edit = (old_text: string, new_text: string) => ({ path: 'a.txt', old_text, new_text })
const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Record<string, unknown>)

t.test('serves buckets and folders beside each other by an access file, each to its tokens', REAL, async t => {
  const { bucket, base, read, root, endpoint } = await prepare(t, {
    'one/a.txt': 'one\n',
    'one/docs/b.txt': 'b\n',
    'two/a.txt': 'two\n'
  })
  mkdirSync(join(base, 'folder'))
  writeFileSync(join(base, 'folder', 'a.txt'), 'folder\n')
  const [access, audit] = [join(base, 'access.yaml'), join(base, 'audit.jsonl')]
  const tokens = { one: randomUUID(), docs: randomUUID(), folder: randomUUID(), two: randomUUID() }
  const declare = (two?: object) => {
    const token = (name: keyof typeof tokens, workspace: string, more: object) => ({
      name,
      sha256: sha256(tokens[name]),
      workspace,
      ...more
    })
    const workspaces = {
      one: { root: `${root}/one`, protect: ['fixed/**'] },
      folder: { root: 'folder' },
      ...(two !== undefined && { two })
    }
    const all = [
      token('one', 'one', { scope: 'review' }),
      token('docs', 'one', { scope: 'edit', paths: ['docs/**'] }),
      token('folder', 'folder', { scope: 'edit' }),
      ...(two === undefined ? [] : [token('two', 'two', { scope: 'edit' })])
    ]
    // JSON is YAML.
    writeFileSync(access, JSON.stringify({ workspaces, tokens: all }))
  }
  declare()
  const server = await startWith(t, access, join(base, 'state'), ...endpoint, '--audit', audit)
  t.match(server.printed, 'workspaces=one,folder')
  t.match(await server.post(tokens.one, '/edit', edit('one', '1')), { status: 200 })
  t.equal(await read('one/a.txt'), '1\n')
  t.match(await server.post(tokens.folder, '/edit', edit('folder', '2')), { status: 200 })
  t.equal(readFileSync(join(base, 'folder', 'a.txt'), 'utf8'), '2\n')
  t.match(await server.post(tokens.docs, '/inspect', { path: 'a.txt' }), { status: 403 })
  t.match(await server.post(tokens.docs, '/edit', { ...edit('b', 'B'), path: 'docs/b.txt' }), { status: 200 })
  const made = { path: 'fixed/x', content: '' }
  t.match(await server.post(tokens.one, '/create', made), { status: 403, body: { code: 'PROTECTED_PATH' } })
  t.match(await server.post(tokens.two, '/inspect', { path: 'a.txt' }), { status: 401 })
  t.match(await server.post(tokens.one, '/history', { path: 'docs/b.txt' }), {
    body: { edits: [{ operation: 'edit', token: 'docs' }] }
  })

  // The file is read again: one workspace more, then one that can't be served.
  const logs = async (event: string) => {
    while (!server.log().includes(event)) await sleep(50)
  }
  declare({ root: `${root}/two`, read_only: true })
  server.child.kill('SIGHUP')
  await logs('access_read')
  t.match(await server.post(tokens.two, '/inspect', { path: 'a.txt' }), { status: 200, body: { content: 'two\n' } })
  t.match(await server.post(tokens.two, '/edit', edit('two', '2')), { status: 403, body: { code: 'READ_ONLY' } })
  declare({ root: `s3://no-${bucket.name}` })
  server.child.kill('SIGHUP')
  await logs('access_unchanged')
  t.match(server.log(), /refuses s3:\/\/no-test-[^ ]* \(NoSuchBucket/)
  t.match(await server.post(tokens.two, '/inspect', { path: 'a.txt' }), { status: 200 }, 'what was stays')
  while (linesOf(audit).length < 5) await sleep(20)
  t.match(linesOf(audit), [
    { outcome: 'done', workspace: 'one', subject: 'one', path: 'a.txt' },
    { outcome: 'done', workspace: 'folder', subject: 'folder' },
    { outcome: 'done', workspace: 'one', subject: 'docs', path: 'docs/b.txt' },
    { outcome: 'refused', workspace: 'one', code: 'PROTECTED_PATH' },
    { outcome: 'refused', workspace: 'two', subject: 'two', code: 'READ_ONLY' }
  ])
})

t.test('does not start where buckets of an access file overlap, or are none', async t => {
  const base = makeFolder(t)
  const access = join(base, 'access.yaml')
  const fails = async (workspaces: object, said: string) => {
    const tokens = [{ name: 'ci', sha256: sha256('x'), workspace: 'a', scope: 'edit' }]
    writeFileSync(access, JSON.stringify({ workspaces, tokens }))
    await t.rejects(startWith(t, access, join(base, 'state')), { message: said })
  }
  await fails({ a: { root: 's3://docs/x' }, b: { root: 's3://docs/x/y' } }, 'the roots of a and b overlap')
  await fails({ a: { root: 's3://docs' }, b: { root: 's3://docs/x/' } }, 'the roots of a and b overlap')
  await fails({ a: { root: 's3://Docs' } }, 'workspaces.a.root "s3://Docs" has no valid name of a bucket')
})

t.test('serves a bucket in two servers, which lose nothing of each other', REAL, async t => {
  const { base, read, root, endpoint } = await prepare(t, { 'a.txt': '0\n' })
  const audit = join(base, 'audit.jsonl')
  const servers = await Promise.all(
    [1, 2].map(() => start(root, null, ...endpoint, '--audit', audit, '--audit-required'))
  )
  t.teardown(() => Promise.all(servers.map(server => server.stop())))
  let asked = 0
  const post: Running['post'] = (...request) => servers[asked++ % 2]!.post(...request)
  const counting = async () => {
    for (let done = 0; done < 5;) {
      const { body } = await post('/inspect', { path: 'a.txt' })
      const now = Number(body.content)
      const counted = { ...edit(`${now}`, `${now + 1}`), expected_hash: body.file_hash }
      const { status } = await post('/edit', counted)
      if (status === 200) done++
    }
  }
  await Promise.all(Array.from({ length: 4 }, counting))
  t.equal(await read('a.txt'), '20\n')
  for (let i = 0; i < 4; i++) {
    t.match(await post('/edit', edit('20', '21'), { 'idempotency-key': 'k1' }), { status: 200 })
  }
  t.equal(await read('a.txt'), '21\n')
  const edits: string[] = []
  // A page is shorter where much isn't settled yet.
  for (let before: unknown; ;) {
    const { body } = await post('/history', { path: 'a.txt', ...(before !== undefined && { before }) })
    edits.push(...(body.edits as { edit_id: string }[]).map(({ edit_id }) => edit_id))
    if (body.next_before === undefined) break
    before = body.next_before
  }
  t.equal(edits.length, 21, 'each server knows what the other has recorded')
  for (const server of servers) t.equal(await server.stop(), 0)
  const done = linesOf(audit).filter(({ outcome }) => outcome === 'done')
  t.strictSame(done.map(({ edit_id }) => edit_id).sort(), edits.sort())
})

t.test('does not start on a store that ignores conditions: exit status 2', { skip: ONLY_CI }, async t => {
  const fake = await startFauxqs({ port: 0, logger: false })
  t.teardown(() => fake.stop())
  fake.createBucket('docs')
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' })
  const [command = '', ...own] = COMMAND
  const flags = ['s3://docs', '--s3-endpoint', `http://127.0.0.1:${fake.port}`, '--port', '0']
  const child = spawn(command, [...own, ...flags, '--token', 't'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => (said += text))
  t.strictSame(await once(child, 'close'), [2, null], said)
  t.match(said, "editd: the object store of s3://docs can't be used: it writes although")
})

t.test('gives the tools to a program on stdin and stdout', REAL, async t => {
  const { base, bucket, read, root, endpoint } = await prepare(t, { 'docs/a.txt': 'one\n' })
  const audit = join(base, 'audit.jsonl')
  const client = new Client({ name: 'test', version: '0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [SERVER, 'mcp', `${root}/docs`, ...endpoint, '--audit', audit],
      env: { ...bucket.environment, PATH: process.env.PATH ?? '' },
      stderr: 'ignore'
    })
  )
  t.teardown(() => client.close())
  const call = async (name: string, args: object) =>
    (await client.callTool({ name, arguments: { ...args } })) as CallToolResult
  t.notOk((await call('edit_file', edit('one', 'two'))).isError)
  t.equal(await read('docs/a.txt'), 'two\n')
  t.ok((await call('inspect_file', { path: '../one' })).isError)
  const listed = JSON.stringify(await call('inspect_file', { path: '.' }))
  t.match(listed, 'a.txt')
  t.notMatch(listed, '.editd')
  t.notOk((await call('undo_edit', { path: 'a.txt' })).isError)
  t.equal(await read('docs/a.txt'), 'one\n')
  await client.close()
  t.match(linesOf(audit), [
    { outcome: 'done', operation: 'edit_file', path: 'a.txt' },
    { outcome: 'done', operation: 'undo_edit', path: 'a.txt' }
  ])
})
