// What the audit says of calls: one line for each file that was changed, and one for each call that changed none.
import { readFileSync, truncateSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { AuditFile } from '../../src/audit/audit-file.ts'
import { Audit, type AuditOptions } from '../../src/audit/audit.ts'
import { startServer, type TestServer } from './test-server.ts'
import { fill } from '../audit/largest.ts'

type Line = Record<string, unknown>
const TRACE = { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' }
const HEADERS = { traceparent: `00-${TRACE.trace_id}-${TRACE.span_id}-01`, 'editd-agent': 'bot', 'x-request-id': 'r1' }

async function startAudited(
  t: Test,
  options: Omit<Parameters<typeof startServer>[1] & object, 'audit'> & { audit?: Partial<AuditOptions> } = {}
): Promise<TestServer & { path: string; lines(): Promise<Line[]> }> {
  const folder = mkdtempSync(join(tmpdir(), 'editd-audit-'))
  const path = join(folder, 'audit.jsonl')
  const file = new AuditFile(path, () => {})
  t.teardown(async () => {
    await file.close()
    rmSync(folder, { recursive: true })
  })
  const audit = new Audit({ file, required: false, durable: false, ...options.audit })
  const server = await startServer(t, { ...options, audit })
  let seen = 0
  /** Those since the last time. */
  const lines = async () => {
    await file.commit('{}', false)
    const all = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    const fresh = all.slice(seen).map(line => JSON.parse(line) as Line)
    seen = all.length
    return fresh.filter(line => Object.keys(line).length > 0)
  }
  return { ...server, path, lines }
}

const sha = /^[0-9a-f]{64}$/
const sharedId = /^.{26}$/

t.test('has a line for each file that a call changed, whatever the call', async t => {
  const server = await startAudited(t, {
    files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' },
    settings: { allowDelete: true }
  })
  const check = async (route: string, body: object, expected: Line[], headers: Record<string, string> = {}) => {
    const { status, text } = await server.call('POST', route, { body, headers: { ...HEADERS, ...headers } })
    t.match(String(status), /^2|^4/, text.slice(0, 300))
    const lines = await server.lines()
    t.match(lines, expected, `${route} ${JSON.stringify(body)}`)
    t.equal(lines.length, expected.length, JSON.stringify(lines))
    for (const line of lines) {
      t.match(line, { request_id: 'r1', ...TRACE, time: /^\d{4}-.*Z$/ })
      t.equal(line.reason ?? line.note, undefined)
    }
    return lines
  }
  const edit = { path: 'a.txt', old_text: 'two', new_text: 'three\nfour' }
  const [first] = await check('/edit', { ...edit, reason: 'because' }, [
    {
      outcome: 'done',
      operation: 'edit_file',
      agent: 'bot',
      path: 'a.txt',
      hash_before: sha,
      hash_after: sha,
      lines_added: 2,
      lines_removed: 1,
      edit_id: /^.{26}$/
    }
  ])
  t.notMatch(JSON.stringify(first), /three|because/)
  await check('/edit', { ...edit, old_text: 'two' }, [
    { outcome: 'refused', code: /^(NO_MATCH|ALREADY_APPLIED)$/, path: 'a.txt' }
  ])
  await check('/edit', { ...edit, dry_run: true }, [])
  await check('/inspect', { path: 'a.txt' }, [])
  await check('/preview', { operation: 'edit', path: 'a.txt', old_text: 'one', new_text: 'x' }, [])
  await check('/edit', { path: '../etc', old_text: 'a', new_text: 'b' }, [
    { outcome: 'refused', code: 'PATH_NOT_ALLOWED' }
  ])
  await check('/edit', { path: 'a.txt', nonsense: 1 }, [{ outcome: 'refused', code: 'INVALID_REQUEST', path: 'a.txt' }])
  await check(
    '/create',
    {
      path: 'a.txt',
      content: 'one\nthree\nfour\n',
      overwrite: true,
      expected_hash: String(first!.hash_after).slice(0, 16)
    },
    [{ outcome: 'unchanged', path: 'a.txt' }]
  )
  const batch = {
    operations: [
      { operation: 'edit', path: 'a.txt', old_text: 'one', new_text: '1' },
      { operation: 'create', path: 'new/c.txt', content: 'c\n', create_parents: true }
    ]
  }
  const [one, two] = await check('/batch', { ...batch, session: 's' }, [
    { outcome: 'done', operation: 'batch_edit', session: 's', path: 'a.txt', lines_added: 1, lines_removed: 1 },
    { outcome: 'done', path: 'new/c.txt', hash_before: null, lines_added: 1, lines_removed: 0 }
  ])
  t.equal(one!.batch_id, two!.batch_id)
  t.match(one!.batch_id, /^.{26}$/)
  await check('/batch', batch, [{ outcome: 'refused', operation: 'batch_edit', path: 'a.txt', code: /./ }])
  const files = (lines: Line[]) => lines.map(({ path, hash_after }) => `${path} ${hash_after}`).sort()
  const undone = await check('/undo', { batch_id: one!.batch_id }, [
    { outcome: 'done', operation: 'undo_edit', batch_id: sharedId },
    { outcome: 'done', operation: 'undo_edit', batch_id: sharedId }
  ])
  t.strictSame(files(undone), [`a.txt ${one!.hash_before}`, 'new/c.txt null'])
  const redone = await check('/redo', { batch_id: one!.batch_id }, [
    { outcome: 'done', operation: 'redo_edit', batch_id: sharedId },
    { outcome: 'done', operation: 'redo_edit', batch_id: sharedId }
  ])
  t.strictSame(files(redone), files([one!, two!]))
  await check('/review', { verdict: 'keep', path: 'a.txt' }, [
    { outcome: 'done', operation: 'review_edits', path: 'a.txt', verdict: 'kept', edit_id: /^.{26}$/ }
  ])
  await check('/review', { verdict: 'keep', path: 'a.txt' }, [{ outcome: 'unchanged', operation: 'review_edits' }])
  const keyed = { 'idempotency-key': 'k1' }
  await check('/edit', { path: 'b.txt', old_text: 'b', new_text: 'B' }, [{ outcome: 'done' }], keyed)
  await check('/edit', { path: 'b.txt', old_text: 'b', new_text: 'B' }, [{ outcome: 'replayed', path: 'b.txt' }], keyed)
  await check('/tools/edit_file', { path: 'b.txt', old_text: 'B', new_text: 'C' }, [{ outcome: 'done', path: 'b.txt' }])
  await check(
    '/adapters/anthropic-text-editor',
    { command: 'str_replace', path: 'b.txt', old_str: 'C', new_str: 'D' },
    [{ outcome: 'done', operation: 'edit_file', path: 'b.txt' }]
  )
  const patch = '*** Begin Patch\n*** Update File: b.txt\n*** Move to: moved.txt\n@@\n-D\n+E\n*** End Patch\n'
  await check('/adapters/codex-apply-patch', { input: patch }, [
    { outcome: 'done', operation: 'apply_patch', hash_before: sha },
    { outcome: 'done', operation: 'apply_patch', batch_id: /./ }
  ])
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'create_file', arguments: { path: 'm.txt', content: '' } }
  }
  await check('/mcp', call, [{ outcome: 'done', operation: 'create_file', path: 'm.txt' }], {
    accept: 'application/json, text/event-stream'
  })
  // The log has the trace as well.
  t.match(server.log.at(-1), { route: '/mcp', ...TRACE })
})

t.test('says of names what they are, and nothing that a terminal obeys', async t => {
  const server = await startAudited(t)
  const path = 'a\u001b[31m\u009b\u2028\u202e😀é.txt'
  await server.call('POST', '/create', { body: { path, content: '' } })
  await server.call('POST', '/edit', { body: { path: 'x'.repeat(5000), old_text: 'a', new_text: 'b' } })
  const raw = readFileSync(server.path, 'latin1')
  t.notMatch(raw, /[\u007f-\u009f](?<![\u00c0-\u00ff][\u0080-\u00bf]*)/)
  const lines = await server.lines()
  t.equal(lines[0]!.path, path)
  t.match(readFileSync(server.path, 'utf8'), '\\u001b[31m\\u009b\\u2028\\u202e😀é.txt')
  t.equal(String(lines[1]!.path).length, 4096)
})

t.test('has an intent for each change where it is required, and what became of it', async t => {
  const server = await startAudited(t, {
    audit: { required: true, durable: true, workspace: 'acme' },
    files: { 'a.txt': 'a\n' }
  })
  const sent = server.call('POST', '/edit', { body: { path: 'a.txt', old_text: 'a', new_text: 'b' } })
  await sent
  const [intent, done] = await server.lines()
  t.match(intent, {
    outcome: 'intent',
    workspace: 'acme',
    path: 'a.txt',
    hash_after: sha,
    change_id: /^[0-9a-f-]{36}$/
  })
  t.match(done, { outcome: 'done', workspace: 'acme', change_id: intent!.change_id, edit_id: intent!.edit_id })
  await server.call('POST', '/review', { body: { verdict: 'keep', path: 'a.txt' } })
  t.match(await server.lines(), [
    { outcome: 'intent', verdict: 'kept' },
    { outcome: 'done', verdict: 'kept' }
  ])
})

t.test('counts lines without a history too', async t => {
  const server = await startAudited(t, { settings: { history: 'off' }, files: { 'a.txt': 'a\nb\n' } })
  await server.call('POST', '/edit', { body: { path: 'a.txt', old_text: 'a', new_text: 'c\nd' } })
  await server.call('POST', '/create', { body: { path: 'n.txt', content: 'x\ny\nz\n' } })
  await server.call('POST', '/batch', {
    body: {
      operations: [
        { operation: 'edit', path: 'a.txt', old_text: 'b\n', new_text: '' },
        { operation: 'create', path: 'o.txt', content: 'x' }
      ]
    }
  })
  const lines = await server.lines()
  t.match(lines, [
    { outcome: 'done', path: 'a.txt', lines_added: 2, lines_removed: 1 },
    { outcome: 'done', path: 'n.txt', lines_added: 3, lines_removed: 0 },
    { outcome: 'done', path: 'a.txt', lines_added: 0, lines_removed: 1 },
    { outcome: 'done', path: 'o.txt', lines_added: 1, lines_removed: 0 }
  ])
  t.notOk(lines.some(line => 'edit_id' in line || 'batch_id' in line))
})

t.test('refuses changes while the file can not be written, where it is required', async t => {
  const server = await startAudited(t, { audit: { required: true }, files: { 'a.txt': 'a\n' } })
  await server.call('POST', '/edit', { body: { path: 'a.txt', old_text: 'a', new_text: 'b' } })
  if (!fill(server.path)) return t.comment('the file system has no such limit')
  for (const [route, body] of [
    ['/edit', { path: 'a.txt', old_text: 'b', new_text: 'c' }],
    ['/create', { path: 'n.txt', content: '' }],
    [
      '/batch',
      {
        operations: [
          { operation: 'edit', path: 'a.txt', old_text: 'b', new_text: 'c' },
          { operation: 'create', path: 'n.txt', content: '' }
        ]
      }
    ],
    ['/undo', { path: 'a.txt' }],
    ['/review', { verdict: 'keep', path: 'a.txt' }]
  ] as const) {
    const { status, body: problem } = await server.call('POST', route, { body })
    t.equal(status, 503, route)
    t.match(problem, { code: 'NOT_READY', detail: "The audit file of the server can't be written; nothing was done." })
  }
  t.equal(readFileSync(join(server.root, 'a.txt'), 'utf8'), 'b\n')
  t.equal((await server.call('GET', '/readyz')).status, 503)
  truncateSync(server.path, 0)
  await new Promise(resolve => setTimeout(resolve, 1500))
  t.equal((await server.call('GET', '/readyz')).status, 200)
  t.equal((await server.call('POST', '/undo', { body: { path: 'a.txt' } })).status, 200)
})

t.test('makes changes all the same where it is not, and says that it is degraded', async t => {
  const server = await startAudited(t, { files: { 'a.txt': 'a\n' } })
  if (!fill(server.path)) return t.comment('the file system has no such limit')
  t.equal((await server.call('POST', '/edit', { body: { path: 'a.txt', old_text: 'a', new_text: 'b' } })).status, 200)
  await new Promise(resolve => setTimeout(resolve, 100))
  t.match((await server.call('GET', '/readyz')).body, { status: 'ready', audit: 'degraded' })
  truncateSync(server.path, 0)
  await new Promise(resolve => setTimeout(resolve, 1500))
  t.strictSame((await server.call('GET', '/readyz')).body, { status: 'ready' })
  t.match(await server.lines(), [{ outcome: 'done', path: 'a.txt' }])
})
