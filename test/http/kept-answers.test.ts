// What is kept of the answer to a keyed request about a file whose texts the history must not keep.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { openAs } from '../log/support/history.ts'
import { check, startServer, TOKEN } from './test-server.ts'

t.test('keeps no text of a private file, and gives the answer again without it', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-kept-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const server = await startServer(t, { settings: { stateDir } })
  writeFileSync(join(server.root, '.env'), 'A=1\nPASSWORD=hunter1\n')
  const send = () =>
    server.call('POST', '/edit', {
      body: {
        path: '.env',
        old_text: 'PASSWORD=hunter1',
        new_text: 'PASSWORD=hunter2',
        show_diff: true,
        syntax: 'warn',
        idempotency_key: 'k'
      }
    })
  const first = await send()
  t.match(first, { status: 200, body: { changed: true, diff: /hunter2/ } })
  const again = await send()
  t.match(again, { status: 200, body: { changed: true, edit_id: first.body.edit_id, file_hash: first.body.file_hash } })
  t.notMatch(JSON.stringify(again.body), 'hunter')
  await server.call('POST', '/inspect', { body: { path: '.env' } })
  const deletes = () =>
    server.call('POST', '/tools/edit_lines', {
      body: { path: '.env', start_line: 2, end_line: 2, new_text: '', idempotency_key: 'lines' },
      headers: { accept: 'text/plain' }
    })
  t.match((await deletes()).text, /removed:\n2\tPASSWORD=hunter2$/)
  t.notMatch((await deletes()).text, 'hunter')
  const history = join(stateDir, 'history')
  const kept = readdirSync(history, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  t.ok(kept.length > 0)
  t.notMatch(kept.join('\n'), 'hunter')
})

t.test('keeps no names of headings or symbols of a private file', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-kept-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const server = await startServer(t, { settings: { stateDir } })
  const texts: Record<string, string> = {
    'secrets.md': '# Hunter the first\n\nx\n\n```hunterlang\ncode\n```\n',
    'secrets.js': 'class Hunter {\n  hunt() {}\n}\n'
  }
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(server.root, path), text)
  const edits = [
    { path: 'secrets.md', heading: 'Hunter the first', kind: 'section' },
    { path: 'secrets.md', code_block: { index: 1 }, kind: 'code block' },
    { path: 'secrets.js', symbol: 'Hunter.hunt', kind: 'method' }
  ]
  for (const [i, { kind, ...target }] of edits.entries()) {
    const body = { ...target, action: 'insert_after', new_text: 'go() {}\n', idempotency_key: `k${i}` }
    const first = await check(t, server, '/edit-section', body, 200, { message: /Hunter|hunterlang/ })
    const again = await check(t, server, '/edit-section', body, 200, {
      edit_id: first.body.edit_id,
      message: new RegExp(`Target: the ${kind}\\.$`)
    })
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.notMatch(JSON.stringify(again.body), /hunter|hunt\b/i)
  }
  writeFileSync(join(server.root, 'secrets.py'), '@hunter\ndef f():\n    pass\n')
  const body = { path: 'secrets.py', symbol: 'f', action: 'replace', new_text: 'def f(): pass\n', idempotency_key: 'd' }
  await check(t, server, '/edit-section', body, 200, { warnings: [/began with "@hunter"/] })
  await check(t, server, '/edit-section', body, 200, {
    warnings: [/^The function began with a decorator or attribute, /]
  })
  const kept = readdirSync(join(stateDir, 'history'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  t.ok(kept.length > 0)
  t.notMatch(kept.join('\n'), /hunter|hunt\b/i)
})

t.test('says so where the answer under a key was forgotten', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-kept-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const server = await startServer(t, { settings: { stateDir }, files: { 'a.txt': 'one\n' } })
  const body = { path: 'a.txt', old_text: 'one', new_text: 'two', idempotency_key: 'k' }
  await check(t, server, '/edit', body, 200, {})
  const forgetting = await openAs('forgetting', join(stateDir, 'history'))
  t.equal(await forgetting.forget(Buffer.from('a.txt')), 1)
  await forgetting.close()
  await check(t, server, '/edit', body, 422, { code: 'IDEMPOTENCY_KEY_REUSED', detail: /editd forget/ })
})

t.test('gives no answer again that names a file which is protected by now, and does nothing', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-kept-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const server = await startServer(t, {
    settings: { stateDir },
    files: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
    replace: { keyed: (...args) => used.workspace!.keyed(...args), edit: (...args) => used.workspace!.edit(...args) }
  })
  const used: { workspace?: Workspace } = { workspace: server.opened }
  const as = { 'editd-session': 's1' }
  for (const path of ['a.txt', 'b.txt']) {
    await check(t, server, '/edit', { path, old_text: 'one', new_text: 'two' }, 200, {}, as)
  }
  const body = { session: 's1', idempotency_key: 'k' }
  const done = await check(t, server, '/undo', body, 200, { results: [{}, {}] })
  const [first, last] = done.body.results as { path: string; edit_id: string }[]
  await check(t, server, '/redo', { edit_ids: [first!.edit_id, last!.edit_id] }, 200, {})
  for (const { path } of [first!, last!]) {
    const loaded = loadConfig([server.root, '--token', TOKEN, '--state-dir', stateDir], {})
    if (!loaded.ok) throw new Error(loaded.failure.join())
    used.workspace = await openWorkspace({ ...loaded.value, protect: [path], readProtect: [path] })
    const { text } = await check(t, server, '/undo', body, 403, { code: 'PROTECTED_PATH' })
    t.comment(text)
    await used.workspace.close()
  }
  for (const path of ['a.txt', 'b.txt']) t.equal(readFileSync(join(server.root, path), 'utf8'), 'two\n')
  used.workspace = server.opened
  await check(t, server, '/undo', body, 200, { undone: done.body.undone })
})
