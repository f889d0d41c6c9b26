// What is kept of the answer to a keyed request about a file whose texts the history must not keep.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from './test-server.ts'

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
  const history = join(stateDir, 'history')
  const kept = readdirSync(history, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  t.ok(kept.length > 0)
  t.notMatch(kept.join('\n'), 'hunter')
})
