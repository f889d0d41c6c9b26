// What /undo and /redo refuse of several files or of too much, over HTTP, on real files.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { bytesOf, check, startServer, TOKEN, type TestServer } from './test-server.ts'

const as = (agent: string): Record<string, string> => ({ 'editd-agent': agent })

async function edit(server: TestServer, path: string, old_text: string, new_text: string) {
  const reply = await server.call('POST', '/edit', { body: { path, old_text, new_text }, headers: as('ann') })
  if (reply.status !== 200) throw new Error(reply.text)
  return String(reply.body.edit_id)
}

t.test('changes no more than 2,000 files at once', { skip: ONLY_CI }, async t => {
  const server = await startServer(t)
  const edit_ids: string[] = []
  for (let from = 0; from <= 2000; from += 100) {
    const operations = Array.from({ length: Math.min(100, 2001 - from) }, (_, i) => {
      return { operation: 'create', path: `${from + i}.txt`, content: 'x' }
    })
    const { body } = await server.call('POST', '/batch', { body: { operations }, headers: as('ann') })
    edit_ids.push(...(body.results as { edit_id: string }[]).map(({ edit_id }) => edit_id))
  }
  const message = 'the request means edits of 2001 files; the limit is 2000. Send edit_ids of fewer files'
  const tooMany = { code: 'INVALID_REQUEST', errors: [{ pointer: '', message }] }
  await check(t, server, '/undo', { agent: 'ann' }, 400, tooMany)
  t.ok(existsSync(join(server.root, '2000.txt')))
  const some = edit_ids.slice(-150)
  const { body } = await check(t, server, '/undo', { edit_ids: some }, 200, { skipped: [] })
  t.strictSame(new Set(body.undone as string[]), new Set(some))
  t.notOk(existsSync(join(server.root, '2000.txt')))
  const { text } = await server.call('POST', '/tools/redo_edit', {
    body: { edit_ids: some },
    headers: { accept: '*/*' }
  })
  t.ok(text.length < 6000, `${text.length}`)
  t.match(text, /^Made again 150 edits in 150 files\. batch_id: \w+\n[^]* more files not shown\.$/)
})

t.test(
  'keeps an edit of very many places as fewer changes, of near ones together, and takes them back',
  { skip: ONLY_CI },
  async t => {
    const text = 'a\n'.repeat(30_000)
    const server = await startServer(t, { files: { 'a.txt': text } })
    const replacing = { path: 'a.txt', old_text: 'a', new_text: 'bb', replace_all: true }
    const { body } = await check(t, server, '/edit', replacing, 200, { total_replacements: 30_000 })
    const edit_id = String(body.edit_id)
    const { body: page } = await check(t, server, '/history', { edit_id, show_diff: true }, 200, {
      edits: [{ lines_added: 30_000, lines_removed: 30_000, changes_truncated: true, diff_truncated: true }]
    })
    const [first, second] = (page.edits as { changes: { start_line: number; lines_removed: number }[] }[])[0]!.changes
    t.ok(first!.lines_removed > 1 && first!.lines_removed < 10, `${first!.lines_removed} lines`)
    t.equal(second!.start_line, 1 + first!.lines_removed)
    await check(t, server, '/undo', { edit_id, change_indexes: [1] }, 200, {})
    const taken = `${'bb\n'.repeat(first!.lines_removed)}${'a\n'.repeat(second!.lines_removed)}`
    t.equal(
      bytesOf(server, 'a.txt')
        .toString()
        .slice(0, taken.length + 3),
      `${taken}bb\n`
    )
    await check(t, server, '/undo', { edit_id }, 200, {})
    t.equal(bytesOf(server, 'a.txt'), text)
  }
)

t.test('makes no file larger than files may be, and then changes no other file either', async t => {
  const long = 'x'.repeat(90)
  const files = { 'a.txt': 'one\n', 'b.txt': `${long}\nb\nc\n` }
  const server = await startServer(t, { files, settings: { maxFileSize: 100 } })
  const a = await edit(server, 'a.txt', 'one', 'ONE')
  const b = await edit(server, 'b.txt', long, '')
  await check(
    t,
    server,
    '/edit-lines',
    { path: 'b.txt', start_line: 4, end_line: 3, new_text: 'y'.repeat(50) },
    200,
    {}
  )
  const refused = { code: 'RESULT_TOO_LARGE', path: 'b.txt', limit: 100 }
  await check(t, server, '/undo', { edit_id: b }, 422, refused)
  await check(t, server, '/undo', { edit_ids: [b, a] }, 422, refused)
  await check(t, server, '/undo', { edit_ids: [a, b] }, 422, refused)
  t.equal(bytesOf(server, 'a.txt'), 'ONE\n')
})

t.test('takes nothing back from below an edit whose texts are not kept', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-undo-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const used: { workspace?: Workspace } = {}
  const server = await startServer(t, {
    files: { 'a.txt': 'one\ntwo\n' },
    settings: { stateDir },
    replace: { edit: (...args) => used.workspace!.edit(...args) }
  })
  used.workspace = server.opened
  const first = await edit(server, 'a.txt', 'one', 'ONE')
  const loaded = loadConfig([server.root, '--token', TOKEN, '--state-dir', stateDir, '--history', 'meta'], {})
  if (!loaded.ok) throw new Error(loaded.failure.join())
  used.workspace = await openWorkspace(loaded.value)
  const second = await edit(server, 'a.txt', 'two', 'TWO')
  await used.workspace.close()
  used.workspace = server.opened
  await check(t, server, '/undo', { edit_id: first }, 410, {
    code: 'HISTORY_GONE',
    edit_ids: [second],
    detail: new RegExp(`^Edit ${first} can't be taken back: that needs the texts of edit ${second}, which are not kept`)
  })
  t.equal(bytesOf(server, 'a.txt'), 'ONE\nTWO\n')
})
