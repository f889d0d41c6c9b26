// Who makes a change and why, as the history has it, whichever way it comes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import { SERVER } from '../running.ts'
import { check, startServer, TOKEN, type TestServer } from './test-server.ts'

const files = { 'a.txt': 'one\ntwo\n', 'b.md': '# A\n\ntext\n' }
const EDIT = { path: 'a.txt', old_text: 'two', new_text: 'two two', occurrence: 'last' }
const ERAS = ['legacy', 'auto'] as const

/** The last change that the history has, and who made it. */
async function lastOf(server: TestServer) {
  const page = await server.workspace.history({ limit: 1 })
  if (!page.ok) throw new Error(page.failure.code)
  const [edit] = page.value.edits
  if (edit === undefined) throw new Error('no edit')
  const { edit_id, operation, agent, session, reason } = edit.record
  return { edit_id, operation, agent, session, reason }
}

t.test('keeps who makes a change, and why', async t => {
  const server = await startServer(t, { files })
  const sent = { agent: 'a', session: 's', reason: 'r' }
  const nobody = { agent: undefined, session: undefined, reason: undefined }
  for (const [route, operation, body] of [
    ['/edit', 'edit', EDIT],
    ['/edit-lines', 'edit_lines', { path: 'a.txt', start_line: 1, end_line: 0, new_text: 'new' }],
    ['/edit-section', 'edit_section', { path: 'b.md', action: 'append', heading: 'A', new_text: 'more' }],
    ['/tools/edit_file', 'edit', EDIT]
  ] as const) {
    for (const [more, headers, expected] of [
      [{}, {}, nobody],
      [sent, {}, sent],
      [{ reason: 'r' }, { 'editd-agent': 'a', 'editd-session': 's' }, sent],
      [{ session_id: 's', agent: null }, {}, { ...nobody, session: 's' }]
    ] as [object, Record<string, string>, object][]) {
      const { body: answer } = await check(t, server, route, { ...body, ...more }, 200, { edit_id: String }, headers)
      t.strictSame(await lastOf(server), { edit_id: answer.edit_id, operation, ...expected })
    }
  }
  const made = await check(t, server, '/create', { path: 'c', content: '', ...sent }, 200, {})
  t.strictSame(await lastOf(server), { edit_id: made.body.edit_id, operation: 'create', ...sent })
})

t.test('names a change in the answer, also to a model, and none where nothing was written', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/edit', { ...EDIT, dry_run: true }, 200, { edit_id: undefined })
  await check(t, server, '/edit', { ...EDIT, new_text: 'two' }, 200, { edit_id: undefined })
  await check(t, server, '/preview', { operation: 'edit', ...EDIT }, 200, { edit_id: undefined })
  const { body } = await check(t, server, '/edit', EDIT, 200, { edit_id: /^\w{26}$/ })
  const { text } = await server.call('POST', '/tools/edit_file', { body: EDIT, headers: { accept: 'text/plain' } })
  const [, edit_id] = / edit_id: (\w{26})\n/.exec(text) ?? []
  t.not(edit_id, body.edit_id)
  await check(t, server, '/undo', { edit_ids: [edit_id, body.edit_id] }, 200, { undone: [body.edit_id, edit_id] })
})

t.test('does not propose to a model what its host has sent', async t => {
  const server = await startServer(t, { files })
  const { text } = await server.call('POST', '/tools/edit_file', {
    body: { ...EDIT, path: 'a.tx', agent: 'a', session: 's', reason: 'r', idempotency_key: 'k' },
    headers: { accept: 'text/plain' }
  })
  t.match(text, /If so, send:\n\{"path":"a\.txt","old_text":"two","new_text":"two two","occurrence":"last"\}$/m)
  t.notMatch(text, /agent|session|reason|idempotency_key/)
  await check(t, server, '/edit', { ...EDIT, unheard_of: 1 }, 400, { detail: /known fields: path, .*, line_endings\)/ })
  const { body } = await server.call('POST', '/edit', { body: { ...EDIT, unheard_of: 1 } })
  t.notMatch(body.detail, /agent|session|reason|idempotency_key/)
})

async function edits(t: Test, transport: Transport, mode: (typeof ERAS)[number], name: string, more: object = {}) {
  const client = new Client({ name, version: '1.2' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  const result = await client.callTool({ name: 'edit_file', arguments: { ...EDIT, ...more } })
  t.notOk(result.isError, JSON.stringify(result))
  await client.close()
}

for (const mode of ERAS) {
  t.test(`takes the client of MCP for the agent over HTTP (${mode})`, async t => {
    const server = await startServer(t, { files })
    const transport = (headers: Record<string, string> = {}) =>
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${TOKEN}`, ...headers } }
      })
    await edits(t, transport(), mode, 'test')
    // Without sessions, a client of the older revision is known only as it begins.
    t.match(await lastOf(server), { agent: mode === 'auto' ? 'test/1.2' : undefined, session: undefined })
    await edits(t, transport({ 'editd-session': 's', 'editd-agent': 'host' }), mode, 'test')
    t.match(await lastOf(server), { agent: 'host', session: 's' })
    await edits(t, transport({ 'editd-session': 's' }), mode, 'test', { agent: 'argument', reason: 'r' })
    t.match(await lastOf(server), { agent: 'argument', session: 's', reason: 'r' })
    await edits(t, transport(), mode, 'é'.repeat(300))
    t.match(await lastOf(server), { agent: mode === 'auto' ? 'é'.repeat(200) : undefined })
  })

  t.test(
    `takes the client of MCP for the agent over stdio (${mode})`,
    { skip: mode !== 'auto' && ONLY_CI },
    async t => {
      const base = mkdtempSync(join(tmpdir(), 'editd-callers-'))
      t.teardown(() => rmSync(base, { recursive: true }))
      const [root, stateDir] = [join(base, 'root'), join(base, 'state')]
      mkdirSync(root)
      writeFileSync(join(root, 'a.txt'), files['a.txt'])
      const command = { command: process.execPath, args: [SERVER, 'mcp', root, '--state-dir', stateDir] }
      await edits(t, new StdioClientTransport({ ...command, stderr: 'pipe' }), mode, 'test')
      const server = await startServer(t, { settings: { root, stateDir } })
      t.match(await lastOf(server), { agent: 'test/1.2', operation: 'edit' })
    }
  )
}
