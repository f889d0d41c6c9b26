// /undo without a selector, where several clients edit and none gives a name. Does not know other selectors.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { bytesOf, check, startServer, TOKEN, type TestServer } from './test-server.ts'

const TEXT = 'one\ntwo\nthree\n'
const files = { 'a.txt': TEXT, 'b.txt': TEXT }
const by = (client: string, more: Record<string, string> = {}) => ({ 'user-agent': client, ...more })

async function edit(
  t: Test,
  server: TestServer,
  [old_text, new_text]: [string, string],
  headers: Record<string, string>
) {
  const { body } = await check(t, server, '/edit', { path: 'a.txt', old_text, new_text }, 200, {}, headers)
  return String(body.edit_id)
}

t.test('takes the last edit back where one client edits, also by another route', async t => {
  const server = await startServer(t, { files })
  const edit_id = await edit(t, server, ['two', 'TWO'], by('a'))
  await check(t, server, '/tools/undo_edit', {}, 200, { undone: [edit_id] }, by('a'))
  t.equal(bytesOf(server, 'a.txt'), TEXT)
})

t.test('lists the last edits where another client has edited too, with a call for each', async t => {
  const server = await startServer(t, { files })
  const own = await edit(t, server, ['one', 'ONE'], by('a'))
  const other = await edit(t, server, ['two', 'TWO'], by('b'))
  const before = bytesOf(server, 'a.txt')
  for (const [route, undo] of [
    ['/undo', '/undo'],
    ['/tools/undo_edit', 'undo_edit']
  ] as const) {
    const { body } = await check(t, server, route, {}, 422, { code: 'NOTHING_TO_UNDO' }, by('a'))
    t.match(body.detail, `${other} (a.txt: line 2, "two" became "TWO"; by another client)`)
    t.match(body.detail, `${own} (a.txt: line 1, "one" became "ONE"; by this client)`)
    t.match(body.suggested_fixes, [
      { type: 'USE_UNDO', call: { name: undo, arguments: { edit_ids: [other] } } },
      { type: 'USE_UNDO', call: { name: undo, arguments: { edit_ids: [own] } } }
    ])
  }
  t.equal(bytesOf(server, 'a.txt'), before)
  const headers = by('a', { accept: 'text/plain' })
  const { text } = await server.call('POST', '/tools/undo_edit', { body: {}, headers })
  t.match(text, new RegExp(`${own}.*by this client`))
  await check(t, server, '/undo', { edit_ids: [own] }, 200, { undone: [own] }, by('a'))
  t.equal(bytesOf(server, 'a.txt'), 'one\nTWO\nthree\n')
  // Of what is undone nobody can mean anything.
  await check(t, server, '/undo', {}, 200, { undone: [other] }, by('b'))
})

t.test('asks nobody who gives a name', async t => {
  const server = await startServer(t, { files })
  const named = by('a', { 'editd-agent': 'ann' })
  const own = await edit(t, server, ['one', 'ONE'], named)
  await edit(t, server, ['two', 'TWO'], by('b', { 'editd-agent': 'bob' }))
  await check(t, server, '/undo', {}, 200, { undone: [own] }, by('c', { 'editd-agent': 'ann' }))
  t.equal(bytesOf(server, 'a.txt'), 'one\nTWO\nthree\n')
})

t.test('lists an edit of several files as one, and edits without texts by their lines', async t => {
  const server = await startServer(t, { files: { ...files, '.env': 'A=1\n' } })
  const operations = ['a.txt', 'b.txt'].map(path => ({ operation: 'edit', path, old_text: 'two', new_text: 'TWO' }))
  const { body: batch } = await check(t, server, '/batch', { operations }, 200, {}, by('a'))
  await check(t, server, '/edit', { path: '.env', old_text: '1', new_text: '2' }, 200, {}, by('b'))
  const { body } = await check(t, server, '/undo', {}, 422, { code: 'NOTHING_TO_UNDO' }, by('a'))
  t.match(body.detail, /1 more file: line 2, "two" became "TWO"; by this client/)
  t.match(body.detail, /\.env: \+1 −1 lines; by another client/)
  const [, fix] = body.suggested_fixes as { call: { arguments: { edit_ids: string[] } } }[]
  t.equal(fix?.call.arguments.edit_ids.length, 2)
  await check(t, server, '/undo', fix!.call.arguments, 200, { batch_id: String }, by('a'))
  t.equal(bytesOf(server, 'a.txt') + bytesOf(server, 'b.txt'), TEXT + TEXT)
  t.ok(batch.batch_id)
})

t.test('knows clients of MCP by what sends their requests, too', async t => {
  const server = await startServer(t, { files })
  const call = async (client: string, name: string, args: Record<string, unknown>) => {
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}`, ...by(client) } }
    const mcp = new Client({ name: 'same', version: '1' })
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }))
    const { content } = await mcp.callTool({ name, arguments: args })
    await mcp.close()
    return JSON.stringify(content)
  }
  await call('a', 'edit_file', { path: 'a.txt', old_text: 'one', new_text: 'ONE' })
  await call('b', 'edit_file', { path: 'a.txt', old_text: 'two', new_text: 'TWO' })
  t.match(await call('a', 'undo_edit', {}), /Several clients edited/)
  t.equal(bytesOf(server, 'a.txt'), 'ONE\nTWO\nthree\n')
})
