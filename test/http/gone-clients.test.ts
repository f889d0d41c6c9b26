// Changes whose client goes while they wait for a file: they are not made.
import { EventEmitter, once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { fail } from '../../src/result.ts'
import { speakMcp } from '../../src/stdio.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { makeFolders, removeFolders } from '../folder/support/open.ts'
import { bytesOf, check, settingsOf, startServer, TOKEN, type TestServer } from './test-server.ts'

const FILES = { 'a.txt': 'one\ntwo\n', 'b.txt': 'one\n' }

/** Holds a.txt; the returned function lets it go. */
async function hold(workspace: Pick<Workspace, 'edit'>): Promise<() => Promise<unknown>> {
  const events = new EventEmitter()
  const held = once(events, 'held')
  const holding = workspace.edit({ path: 'a.txt' }, { dry_run: false }, async () => {
    const released = once(events, 'release')
    events.emit('held')
    await released
    return fail(null)
  })
  await held
  return () => {
    events.emit('release')
    return holding
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !isSo(); i++) await sleep(10)
}

/** Sends a request, closes its connection while it waits for a.txt, and resolves with what is logged of it. */
async function leave(server: TestServer, route: string, body: object) {
  const release = await hold(server.opened)
  server.log.length = 0
  const json = JSON.stringify(body)
  const socket = connect(server.port, '127.0.0.1')
  const head = `POST ${route} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n`
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`)
  await sleep(100)
  socket.destroy()
  await until(() => server.log.length > 0)
  await release()
  await until(() => server.log.length > 1)
  return server.log
}

t.test('makes no change of a client that has closed its connection meanwhile', async t => {
  const server = await startServer(t, { files: FILES })
  const made = { path: 'a.txt', old_text: 'two', new_text: 'three' }
  const { edit_id, file_hash } = (await check(t, server, '/edit', made, 200, {})).body
  const before = bytesOf(server, 'a.txt')
  const batch = [
    { operation: 'edit', path: 'b.txt', old_text: 'one', new_text: '1' },
    { operation: 'edit', path: 'a.txt', old_text: 'one', new_text: '1' }
  ]
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** End Patch'
  const requests: [string, object][] = [
    ['/edit', { path: 'a.txt', old_text: 'one', new_text: '1' }],
    ['/edit-lines', { path: 'a.txt', start_line: 1, end_line: 1, new_text: '1' }],
    ['/create', { path: 'a.txt', content: 'new\n', overwrite: true, expected_hash: file_hash }],
    ['/batch', { operations: batch }],
    ['/undo', { edit_id }],
    ['/tools/edit_file', { path: 'a.txt', old_text: 'one', new_text: '1' }],
    ['/adapters/codex-apply-patch', { input: patch }]
  ]
  for (const [route, body] of requests) {
    t.match(await leave(server, route, body), [{ aborted: true }, { code: 'FILE_LOCKED' }], route)
  }
  t.equal(bytesOf(server, 'a.txt'), before)
  t.equal(bytesOf(server, 'b.txt'), FILES['b.txt'])
})

t.test('makes no change that a client over stdio has cancelled meanwhile', async t => {
  const folders = makeFolders()
  const file = join(folders.root, 'a.txt')
  writeFileSync(file, FILES['a.txt'])
  const config = settingsOf([folders.root, '--state-dir', folders.state])
  const workspace = await openWorkspace(config)
  t.teardown(async () => {
    await workspace.close()
    removeFolders(folders)
  })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const log: { code?: string; operation?: string }[] = []
  const logger = pino({ base: null }, { write: line => log.push(JSON.parse(line)) })
  const speaking = speakMcp({ config, workspace, logger, input, output })
  const send = (message: object) => input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'x', version: '1' }
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
  const release = await hold(workspace)
  const edits = [1, 2].map(id => ({ path: 'a.txt', old_text: id === 1 ? 'one' : 'two', new_text: String(id) }))
  for (const [i, edit] of edits.entries()) {
    send({ id: i + 1, method: 'tools/call', params: { name: 'edit_file', arguments: edit } })
  }
  await sleep(100)
  send({ method: 'notifications/cancelled', params: { requestId: 1 } })
  await sleep(100)
  t.strictSame(log, [], 'both wait')
  await release()
  input.end()
  await speaking
  t.match(log, [{ operation: 'edit_file', code: 'FILE_LOCKED' }, { operation: 'edit_file' }])
  t.equal(readFileSync(file, 'utf8'), 'one\n2\n')
})
