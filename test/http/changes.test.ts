// POST /changes: what was changed after a cursor, and waiting for it.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { check, startServer, TOKEN, type TestServer } from './test-server.ts'

const edit = (server: TestServer, path: string, old_text: string, new_text: string, more: object = {}) =>
  check(t, server, '/edit', { path, old_text, new_text, ...more }, 200, {})

const now = async (server: TestServer): Promise<string> =>
  String((await server.call('POST', '/changes', { body: {} })).body.next_after)

t.test('tells what is changed after a cursor, of the edits and undos of all', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n', dir: { 'b.txt': 'two\n' } } })
  const start = await server.call('POST', '/changes', { body: {} })
  t.match(start.body, { message: /^Nothing was changed yet/, changes: [], timed_out: false, next_after: /^1\./ })
  const after = String(start.body.next_after)
  const made = await edit(server, 'a.txt', 'one', 'uno', { agent: 'ann', session: 's', reason: 'Italian' })
  await edit(server, 'dir/b.txt', 'two', 'due')
  const { edit_id } = made.body
  const undone = await check(t, server, '/undo', { edit_id }, 200, {})
  const { body } = await check(t, server, '/changes', { after, wait_ms: 5000, limit: 1 }, 200, {
    message: '1 change, oldest first; go on with next_after.',
    timed_out: false,
    changes: [
      {
        type: 'edit',
        edit_id,
        operation: 'edit',
        path: 'a.txt',
        agent: 'ann',
        session: 's',
        reason: 'Italian',
        lines_added: 1,
        lines_removed: 1,
        state: 'applied',
        file_hash: made.body.file_hash
      }
    ]
  })
  const changes = []
  for (let next = body.next_after; changes.length < 2;) {
    const page = await check(t, server, '/changes', { after: next, wait_ms: 5000 }, 200, { timed_out: false })
    changes.push(...(page.body.changes as object[]))
    next = page.body.next_after
  }
  const [undo] = undone.body.results as { edit_id: string }[]
  t.match(changes, [{ path: 'dir/b.txt' }, { operation: 'undo', edit_id: undo!.edit_id, undoes: [edit_id] }])
  for (const asked of [{ path: 'dir/b.txt' }, { under: 'dir' }, { under: 'dir/' }]) {
    const only = await check(t, server, '/changes', { after, ...asked }, 200, {})
    t.match(only.body.changes, [{ path: 'dir/b.txt' }])
    t.equal((only.body.changes as object[]).length, 1)
  }
  t.equal(((await check(t, server, '/changes', { after, under: '.' }, 200, {})).body.changes as object[]).length, 3)
})

t.test('waits until something is changed, or in vain', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } })
  const after = await now(server)
  const waiting = Promise.all([
    server.call('POST', '/changes', { body: { after, wait_ms: 20_000 } }),
    server.call('POST', '/changes', { body: { wait_ms: 20_000, path: 'b.txt' } }),
    server.call('POST', '/changes', { body: { after, wait_ms: 300, path: 'none.txt' } })
  ])
  await new Promise(resolve => setTimeout(resolve, 50))
  await edit(server, 'a.txt', 'one', 'two')
  await edit(server, 'b.txt', 'one', 'two')
  const [any, only, none] = await waiting
  t.match(any.body, { changes: [{ path: 'a.txt' }], timed_out: false })
  t.match(only.body, { changes: [{ path: 'b.txt' }], timed_out: false })
  t.match(none.body, { changes: [], timed_out: true, message: /while it waited/ })
})

t.test('tells verdicts', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const { body: made } = await edit(server, 'a.txt', 'one', 'two')
  const after = await now(server)
  await check(t, server, '/review', { verdict: 'keep', path: 'a.txt' }, 200, {}, { 'Editd-Agent': 'a person' })
  for (;;) {
    const { body } = await server.call('POST', '/changes', { body: { after, wait_ms: 5000, limit: 200 } })
    const told = (body.changes as Record<string, unknown>[]).filter(({ type }) => type === 'review')
    if (told.length === 0) continue
    t.match(told, [{ type: 'review', path: 'a.txt', verdict: 'kept', edit_ids: [made.edit_id], agent: 'a person' }])
    break
  }
})

t.test('tells nothing of files that may not be read now, nor what changed nothing', async t => {
  const server = await startServer(t, {
    files: { 'a.txt': 'one\n', 'secret.txt': 'one\n' },
    settings: { protect: [], readProtect: ['secret.txt'] }
  })
  const after = await now(server)
  await check(t, server, '/edit', { path: 'secret.txt', old_text: 'one', new_text: 'two' }, 200, {})
  const nothing = { path: 'a.txt', old_text: 'one', new_text: 'one', idempotency_key: 'k' }
  await check(t, server, '/edit', nothing, 200, { changed: false })
  await edit(server, 'a.txt', 'one', 'two')
  const { body } = await server.call('POST', '/changes', { body: { after, wait_ms: 5000 } })
  t.match(body.changes, [{ path: 'a.txt', lines_added: 1 }])
  t.equal((body.changes as object[]).length, 1)
})

t.test('refuses what is no cursor, and says when one is gone', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  await edit(server, 'a.txt', 'one', 'two')
  const after = await now(server)
  for (const bad of ['x', `${after}.`, 'é', '1.1-a.b']) {
    await check(t, server, '/changes', { after: bad }, 400, {
      code: 'INVALID_REQUEST',
      errors: [{ pointer: '/after', message: /^is not a cursor of this service/ }]
    })
  }
  await check(t, server, '/changes', { after: '' }, 400, { code: 'INVALID_REQUEST' })
  await check(t, server, '/changes', { wait_ms: 30_001 }, 400, { code: 'INVALID_REQUEST' })
  await check(t, server, '/changes', { path: '../x' }, 403, { code: 'PATH_NOT_ALLOWED', path: '../x' })
  await check(t, server, '/changes', { under: '/etc' }, 403, { code: 'PATH_NOT_ALLOWED' })
  await check(t, server, '/changes', { after: '1.zz-aaaaaaaaaaaaaaaaaaaaaaaa', wait_ms: 5000 }, 410, {
    code: 'CURSOR_GONE',
    retry: 'change_request',
    detail: /To go on, leave the cursor out .*; then ask \/history what was changed before that/
  })
})

t.test('answers at once what waits when the server stops', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const { changes } = server.workspace
  const isAsked = new Promise<void>(resolve => {
    server.workspace.changes = query => {
      resolve()
      return changes(query)
    }
  })
  const waiting = server.call('POST', '/changes', { body: { wait_ms: 30_000 } })
  await isAsked
  const start = performance.now()
  const drained = server.drain()
  t.match((await waiting).body, { changes: [], timed_out: true })
  await drained
  t.ok(performance.now() - start < 20_000)
})

t.test('ends the wait of a client that has gone, also of one that goes before it begins', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const { changes } = server.workspace
  for (const isEarly of [false, true]) {
    const client = new AbortController()
    const ended = new Promise<object>((resolve, reject) => {
      server.workspace.changes = async query => {
        client.abort()
        if (isEarly) await sleep(200)
        const page = changes(query)
        page.then(resolve, reject)
        return page
      }
    })
    const asked = fetch(`${server.url}/changes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ wait_ms: 30_000 }),
      signal: client.signal
    })
    await t.rejects(asked, { name: 'AbortError' })
    t.match(await Promise.race([ended, sleep(20_000, null, { ref: false })]), { ok: true, value: { events: [] } })
  }
})

t.test('says so where no history is kept', async t => {
  const server = await startServer(t, { settings: { history: 'off' } })
  await check(t, server, '/changes', {}, 410, { code: 'HISTORY_GONE', detail: /--history off/ })
  t.match(await server.call('GET', '/events'), { status: 410, body: { code: 'HISTORY_GONE' } })
  server.opened.endFollowing()
})

t.test('is no tool', async t => {
  const server = await startServer(t)
  t.match(await server.call('POST', '/tools/wait_for_changes', { body: {} }), { status: 404 })
})
