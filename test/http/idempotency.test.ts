// A request under an idempotency key is carried out once, whichever way, server or life of a server it comes through.
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { ONLY_CI } from '../often.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { operationsIn, makeOperations } from '../../src/operations.ts'
import { start } from '../running.ts'
import { bytesOf, check, startServer, type Reply, type TestServer } from './test-server.ts'

const files = { 'a.txt': 'one\ntwo\n', 'b.md': '# A\n\ntext\n' }
/** Sent twice, it changes the file twice. */
const INSERT = { path: 'a.txt', start_line: 1, end_line: 0, new_text: 'new' }
const REPLAYED = 'idempotency-replayed'

const post = (server: TestServer, route: string, body: object, headers: Record<string, string> = {}) =>
  server.call('POST', route, { body, headers })

/** The second answer is the first one, and says so. */
function isReplay(t: Test, first: Reply, second: Reply) {
  t.equal(first.status, 200, first.text)
  t.equal(first.headers.get(REPLAYED), null)
  t.strictSame([second.status, second.body], [200, first.body])
  t.equal(second.headers.get(REPLAYED), 'true')
  t.equal(second.headers.get('etag'), first.headers.get('etag'))
}

t.test('carries every change out once', async t => {
  const server = await startServer(t, { files })
  for (const [route, body] of Object.entries({
    '/edit': { path: 'a.txt', old_text: 'two', new_text: 'two two', expected_hash: undefined, occurrence: 'first' },
    '/edit-lines': INSERT,
    '/edit-section': { path: 'b.md', action: 'append', heading: 'A', new_text: 'more' },
    '/create': { path: 'c/d.txt', content: 'new\n' }
  })) {
    const request = { ...body, idempotency_key: 'one key for all', show_diff: true }
    const first = await post(server, route, request)
    const now = bytesOf(server, body.path)
    isReplay(t, first, await post(server, route, request))
    t.equal(bytesOf(server, body.path), now)
    t.match(first.body.edit_id, /^[0-9A-Z]{26}$/i)
    const again = await post(server, route, { ...body, idempotency_key: 'another' })
    t.equal(again.headers.get(REPLAYED), null)
  }
  t.equal(bytesOf(server, 'a.txt'), 'new\nnew\none\ntwo two two\n')
  t.equal(bytesOf(server, 'b.md'), '# A\n\ntext\n\nmore\n\nmore\n')
})

t.test('gives an answer again with all that was in it', async t => {
  const server = await startServer(t, {
    files: {
      'latin.txt': Buffer.from('caf\xe9\r\nport\rX\nport\n', 'latin1'),
      'mark.js': '\ufefflet a = 1\nlet b = 2\n',
      'code.py': 'def f():\n    return 1\n\n\ndef g():\n    return 2\n',
      'b.md': '# A\n\n## B\n\n```js\n1\n```\n',
      link: t.fixture('symlink', 'latin.txt')
    }
  })
  const asked: [string, Record<string, unknown>, Record<string, unknown>][] = [
    [
      '/edit',
      {
        path: 'link',
        edits: [
          { old_text: 'port', new_text: 'é', occurrence: 'first' },
          { old_text: 'X', new_text: '' }
        ]
      },
      {
        resolved_path: 'latin.txt',
        note: /also appears/,
        warnings: [/together/, /not UTF-8/]
      }
    ],
    [
      '/edit',
      { path: 'mark.js', old_text: '\ufefflet a = 1', new_text: '// ... existing code ...\nlet a = (', syntax: 'warn' },
      { warnings: [/syntax/, /byte-order mark/, /placeholder/] }
    ],
    [
      '/edit-section',
      { path: 'code.py', action: 'replace', symbol: 'f', new_text: 'def f():\n    return (\n' },
      { message: /Target: the function "f"/, warnings: [/syntax/] }
    ],
    [
      '/edit-section',
      { path: 'b.md', action: 'replace', heading: 'B', new_text: '## B\n\nnew' },
      { warnings: [/heading line/] }
    ],
    [
      '/create',
      { path: 'new/a.json', content: '{', syntax: 'warn' },
      { created: true, hash_before: undefined, warnings: [/syntax/] }
    ],
    [
      '/edit-lines',
      { path: 'b.md', edits: [1, 2, 3].map(line => ({ start_line: line, end_line: line - 1, new_text: `${line}` })) },
      {}
    ]
  ]
  for (const [i, [route, body, expected]] of asked.entries()) {
    const request = { ...body, show_diff: true, context_lines: 5, idempotency_key: `${i}` }
    const first = await check(t, server, route, request, 200, expected)
    isReplay(t, first, await post(server, route, request))
  }
})

t.test('takes requests that ask the same for one, and no others', async t => {
  const server = await startServer(t, { files })
  const { body } = await post(server, '/inspect', { path: 'a.txt' })
  const hash = String(body.file_hash)
  const request = { ...INSERT, idempotency_key: 'k' }
  const first = await post(server, '/edit-lines', { ...request, expected_hash: hash })
  const { path, start_line, ...rest } = INSERT
  for (const [same, headers] of [
    [{ ...request, expected_hash: hash, show_diff: null, agent: 'me', session: 's', reason: 'r' }, {}],
    [request, { 'if-match': `"${hash}"` }],
    [{ expected_hash: hash, ...rest, startLine: start_line, file_path: path, idempotencyKey: 'k' }, {}],
    [{ ...INSERT, expected_hash: hash }, { 'idempotency-key': 'k' }],
    [
      { ...INSERT, expected_hash: hash },
      { 'idempotency-key': '"k"', 'editd-agent': 'other' }
    ]
  ] as [Record<string, unknown>, Record<string, string>][]) {
    const second = await post(server, '/edit-lines', same, headers)
    t.equal(second.headers.get(REPLAYED), 'true', JSON.stringify([same, second.body]))
    t.equal(second.body.edit_id, first.body.edit_id)
  }
  for (const [other, headers] of [
    [request, {}],
    [{ ...request, expected_hash: hash, new_text: 'newer' }, {}],
    [{ ...request, expected_hash: hash, show_diff: false }, {}],
    [request, { 'if-match': '"0123456789abcdef"' }],
    [{ ...request, expected_hash: hash, path: 'b.md' }, {}]
  ] as [Record<string, unknown>, Record<string, string>][]) {
    await check(t, server, '/edit-lines', other, 422, { code: 'IDEMPOTENCY_KEY_REUSED', path: other.path }, headers)
  }
  t.equal(bytesOf(server, 'a.txt'), 'new\none\ntwo\n')
  // Of another operation the key is another one.
  await check(t, server, '/edit', { path: 'a.txt', old_text: 'one', new_text: '1', idempotency_key: 'k' }, 200, {
    changed: true
  })
})

t.test('knows a request whichever way it comes', async t => {
  const server = await startServer(t, { files })
  const headers = { 'idempotency-key': 'k' }
  const first = await post(server, '/edit-lines', INSERT, headers)
  isReplay(t, first, await post(server, '/tools/edit_lines', { arguments: JSON.stringify(INSERT) }, headers))
  const text = await post(server, '/tools/edit_lines', INSERT, { ...headers, accept: 'text/plain' })
  t.match(
    text.text,
    /^This was done before under the same idempotency_key; nothing was done again\. The answer was:\nInserted line 1 into a\.txt/
  )
  t.equal(text.headers.get(REPLAYED), 'true')
  const call = (more: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'edit_lines', arguments: { ...INSERT, ...more } }
  })
  const mcp = { accept: 'application/json, text/event-stream' }
  for (const [body, more] of [
    [call({ idempotency_key: 'k' }), {}],
    [call({}), headers]
  ] as const) {
    const { text } = await post(server, '/mcp', body, { ...mcp, ...more })
    t.match(text, /This was done before under the same idempotency_key/)
    t.notMatch(text, /isError/)
  }
  t.equal(bytesOf(server, 'a.txt'), 'new\none\ntwo\n')
  const replays = server.log.filter(({ replayed }) => replayed === true)
  t.equal(replays.length, 4)
  for (const line of replays) t.match(line, { operation: 'edit_lines', path: 'a.txt', hash_after: undefined })
})

t.test('keeps what changed nothing, and no problem', async t => {
  const server = await startServer(t, { files })
  const edit = { path: 'a.txt', old_text: 'three', new_text: '3', idempotency_key: 'k' }
  await check(t, server, '/edit', edit, 422, { code: 'NO_MATCH' })
  appendFileSync(join(server.root, 'a.txt'), 'three\n')
  const done = await check(t, server, '/edit', edit, 200, { changed: true })
  isReplay(t, done, await post(server, '/edit', edit))
  const same = { path: 'a.txt', old_text: 'one', new_text: 'one', idempotency_key: 'nothing' }
  const unchanged = await check(t, server, '/edit', same, 200, { changed: false, edit_id: undefined })
  writeFileSync(join(server.root, 'a.txt'), 'one\none\n')
  isReplay(t, unchanged, await post(server, '/edit', same))
})

t.test('refuses a key that can not be used', async t => {
  const server = await startServer(t, { files })
  const edit = { path: 'a.txt', old_text: 'one', new_text: '1' }
  const refuses = (body: object, pointer: string, message: RegExp, headers: Record<string, string> = {}) =>
    check(
      t,
      server,
      '/edit',
      { ...edit, ...body },
      400,
      { code: 'INVALID_REQUEST', errors: [{ pointer, message }] },
      headers
    )
  await refuses({ idempotency_key: '' }, '/idempotency_key', /^must not be empty$/)
  await refuses({ idempotency_key: 'k'.repeat(256) }, '/idempotency_key', /^must have at most 255 characters$/)
  await refuses({ idempotency_key: 1 }, '/idempotency_key', /^must be a string/)
  await refuses({ idempotency_key: 'k', dry_run: true }, '/idempotency_key', /^is not used in a dry run/)
  await refuses({ idempotencyKey: 'k', dry_run: true }, '/idempotencyKey', /^is not used in a dry run/)
  await refuses({ dry_run: true }, '', /^the header Idempotency-Key is not used in a dry run/, {
    'idempotency-key': 'k'
  })
  await refuses({ idempotency_key: 'k' }, '', /differ; send one of them$/, { 'idempotency-key': 'l' })
  await refuses({}, '', /must not be empty$/, { 'idempotency-key': '' })
  await refuses({}, '', /must be one key of visible/, { 'idempotency-key': 'a b' })
  await refuses({ agent: 'a' }, '', /Editd-Agent and the field agent differ/, { 'editd-agent': 'b' })
  await refuses({ reason: 'r'.repeat(201) }, '/reason', /at most 200 characters/)
  await refuses({ session: '' }, '/session', /^must not be empty$/)
  await check(t, server, '/preview', { operation: 'edit', ...edit, idempotency_key: 'k' }, 400, {
    errors: [{ pointer: '/idempotency_key', message: /^is not used in a dry run/ }]
  })
  const headers = { 'idempotency-key': 'k', 'editd-agent': 'me' }
  await check(t, server, '/preview', { operation: 'edit', ...edit, agent: 'me', reason: 'r' }, 200, {}, headers)
  await check(t, server, '/inspect', { path: 'a.txt' }, 200, {}, headers)
  t.equal(bytesOf(server, 'a.txt'), 'one\ntwo\n')
  await check(t, server, '/edit', edit, 200, {}, headers)
})

t.test('says that no key can be honoured where no history is kept', async t => {
  const server = await startServer(t, { files, settings: { history: 'off' } })
  const edit = { path: 'a.txt', old_text: 'one', new_text: '1' }
  await check(t, server, '/edit', { ...edit, idempotency_key: 'k' }, 410, {
    code: 'HISTORY_GONE',
    detail: /could not tell whether this idempotency_key was used/
  })
  t.equal(bytesOf(server, 'a.txt'), 'one\ntwo\n')
  await check(t, server, '/edit', edit, 200, { edit_id: undefined })
})

t.test('lets every operation that changes something take a key', async t => {
  const server = await startServer(t)
  for (const operation of operationsIn(makeOperations(server.workspace, { max_edits: 1, max_file_size: 1 }))) {
    const { id, effect, keyed, call_fields = [] } = operation
    const changes = effect === 'changes' || effect === 'makes'
    t.equal(keyed !== undefined, changes, id)
    if (changes) t.ok(call_fields.includes('idempotency_key'), id)
  }
})

t.test('carries requests that come at once out once', async t => {
  const server = await startServer(t, { files })
  for (let round = 0; round < 5; round++) {
    const request = { ...INSERT, idempotency_key: `round ${round}` }
    const replies = await Promise.all(Array.from({ length: 8 }, () => post(server, '/edit-lines', request)))
    const done = replies.filter(({ status, headers }) => status === 200 && headers.get(REPLAYED) === null)
    t.equal(done.length, 1)
    for (const { status, body, headers } of replies) {
      if (status === 200) t.equal(body.edit_id, done[0]?.body.edit_id)
      else {
        t.match({ status, ...body }, { status: 409, code: 'REQUEST_IN_FLIGHT', retry: 'after_delay' })
        t.equal(headers.get('retry-after'), '1')
      }
    }
  }
  t.equal(bytesOf(server, 'a.txt'), `${'new\n'.repeat(5)}one\ntwo\n`)
})

/** A root and a state folder for processes. */
function folders(t: Test): { root: string; state: string } {
  const base = mkdtempSync(join(tmpdir(), 'editd-keys-'))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const root = join(base, 'root')
  mkdirSync(root)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return { root, state: join(base, 'state') }
}

t.test('knows a key on every server, and after they have ended', { skip: ONLY_CI }, async t => {
  const { root, state } = folders(t)
  const servers = await Promise.all([start(root, state), start(root, state)])
  t.teardown(() => servers.map(({ child }) => child.kill('SIGKILL')))
  const ids = new Set<unknown>()
  for (let round = 0; round < 5; round++) {
    const request = { ...INSERT, idempotency_key: `round ${round}` }
    const answers = await Promise.all(
      servers.flatMap(({ post }) => [post('/edit-lines', request), post('/edit-lines', request)])
    )
    const done = answers.filter(({ status, headers }) => status === 200 && headers.get(REPLAYED) === null)
    t.equal(done.length, 1, answers.map(({ text }) => text).join('\n'))
    for (const { status, body } of answers) {
      if (status !== 200) t.match(body, { code: 'REQUEST_IN_FLIGHT' })
    }
    // Callers that got REQUEST_IN_FLIGHT get the answer now.
    for (const { post } of servers) t.match(await post('/edit-lines', request), { status: 200, body: done[0]!.body })
    ids.add(done[0]!.body.edit_id)
  }
  const now = `${'new\n'.repeat(5)}one\ntwo\n`
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), now)
  t.equal(await servers[0]!.stop(), 0)
  servers[1]!.child.kill('SIGKILL')
  const after = await start(root, state)
  t.teardown(() => after.child.kill('SIGKILL'))
  writeFileSync(join(root, 'a.txt'), 'saved by another program\n')
  for (let round = 0; round < 5; round++) {
    const { status, body, headers } = await after.post('/edit-lines', { ...INSERT, idempotency_key: `round ${round}` })
    t.match({ status, replayed: headers.get(REPLAYED) }, { status: 200, replayed: 'true' })
    t.ok(ids.delete(body.edit_id))
  }
  t.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'saved by another program\n')
})
