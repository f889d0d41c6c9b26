// /undo and /redo without a selector, where several clients edit and none gives a name. Does not know other selectors.
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

/** Client a takes its edit of line 1 back, then client b its own of line 2; returns the ids of both undos. */
async function undos(t: Test, server: TestServer): Promise<{ own: string; other: string }> {
  const undo = async (client: string, text: string) => {
    const edit_id = await edit(t, server, [text, text.toUpperCase()], by(client))
    const { body } = await check(t, server, '/undo', { edit_id }, 200, {}, by(client))
    return (body.results as [{ edit_id: string }])[0].edit_id
  }
  return { own: await undo('a', 'one'), other: await undo('b', 'two') }
}

t.test('makes the last undo again where one client takes edits back, whoever edits', async t => {
  const server = await startServer(t, { files })
  await edit(t, server, ['three', 'THREE'], by('b'))
  await edit(t, server, ['two', 'TWO'], by('a'))
  const { body } = await check(t, server, '/undo', {}, 422, {}, by('a'))
  const [{ call }] = body.suggested_fixes as [{ call: { arguments: Record<string, unknown> } }]
  await check(t, server, '/undo', call.arguments, 200, {}, by('a'))
  await check(t, server, '/tools/redo_edit', {}, 200, { redone: call.arguments.edit_ids }, by('a'))
  t.equal(bytesOf(server, 'a.txt'), 'one\nTWO\nTHREE\n')
})

t.test('lists the last undos where another client has taken edits back too, with a call for each', async t => {
  const server = await startServer(t, { files })
  const { own, other } = await undos(t, server)
  for (const [route, redo] of [
    ['/redo', '/redo'],
    ['/tools/redo_edit', 'redo_edit']
  ] as const) {
    const { body } = await check(t, server, route, {}, 422, { code: 'NOTHING_TO_UNDO' }, by('a'))
    t.match(body.detail, 'Several clients took edits back here within the last hour')
    t.match(body.detail, `${other} (a.txt: line 2, "TWO" became "two"; by another client)`)
    t.match(body.detail, `${own} (a.txt: line 1, "ONE" became "one"; by this client)`)
    t.match(body.suggested_fixes, [
      { type: 'USE_REDO', call: { name: redo, arguments: { edit_ids: [other] } } },
      { type: 'USE_REDO', call: { name: redo, arguments: { edit_ids: [own] } } }
    ])
  }
  t.equal(bytesOf(server, 'a.txt'), TEXT)
  await check(t, server, '/redo', { edit_ids: [own] }, 200, { redone: [String] }, by('a'))
  t.equal(bytesOf(server, 'a.txt'), 'ONE\ntwo\nthree\n')
  // What is made again is no undo that anybody can mean.
  await check(t, server, '/redo', {}, 200, { redone: [String] }, by('b'))
  t.equal(bytesOf(server, 'a.txt'), 'ONE\nTWO\nthree\n')
})

t.test('asks nobody who gives a name whose undo is meant', async t => {
  const server = await startServer(t, { files })
  await undos(t, server)
  const named = by('a', { 'editd-agent': 'ann' })
  const edit_id = await edit(t, server, ['three', 'THREE'], named)
  await check(t, server, '/undo', { edit_id }, 200, {}, named)
  await check(t, server, '/redo', {}, 200, { redone: [edit_id] }, by('c', { 'editd-agent': 'ann' }))
  t.equal(bytesOf(server, 'a.txt'), 'one\ntwo\nTHREE\n')
})

t.test('knows clients of MCP by what sends their requests, too', async t => {
  const server = await startServer(t, { files, settings: { tools: ['edit_file', 'undo_edit', 'redo_edit'] } })
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
  for (const client of ['a', 'b']) {
    const listed = await call(client, 'undo_edit', {})
    const [edit_id] = /[0-9A-Z]{26}/.exec(listed) ?? []
    await call(client, 'undo_edit', edit_id === undefined ? {} : { edit_ids: [edit_id] })
  }
  t.equal(bytesOf(server, 'a.txt'), TEXT)
  t.match(await call('a', 'redo_edit', {}), /Several clients took edits back/)
  t.equal(bytesOf(server, 'a.txt'), TEXT)
})
