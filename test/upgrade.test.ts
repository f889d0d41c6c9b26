// This version reads the state folders of earlier ones: it lists and undoes their history. Each folder of test/upgrade
// has the root and the history of one version, as it left them; 0.1.0-form-6 was written by 0.1.0 when its indexes had
// form 6. KEEP=0.2.0 first adds the folder of this version.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { check, startServer } from './http/test-server.ts'

const KEPT = join(import.meta.dirname, 'upgrade')
const { KEEP } = process.env

const LONG = 'x'.repeat(70_000)
/** Before anything was changed. */
const BEFORE = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', 'long.txt': `${LONG}\nend\n` }
/** After what `change` does. */
const AFTER = { 'a.txt': 'eins\nzwei\nthree\n', 'b.txt': 'B\n', 'long.txt': 'short\nend\n', 'new/c.txt': 'c\n' }

/** The server of this version on a root and a history. */
const serve = (t: Test, root: string, stateDir: string) =>
  startServer(t, { settings: { root, stateDir, historyDays: 36_500 } })

const filesIn = (root: string) =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [path.slice(root.length + 1), readFileSync(path, 'utf8')])
  )

/** Every kind of record: edits, an undo and its redo, a batch, a new file, a long text, a verdict. */
async function change(t: Test, root: string, stateDir: string) {
  const server = await serve(t, root, stateDir)
  const as = (agent: string) => ({ 'editd-agent': agent, 'editd-session': 's' })
  const edit = (path: string, old_text: string, new_text: string) => ({ path, old_text, new_text })
  const { body } = await check(t, server, '/edit', edit('a.txt', 'one', 'eins'), 200, {}, as('ann'))
  const { edit_id } = body
  await check(t, server, '/undo', { edit_ids: [edit_id] }, 200, {}, as('bob'))
  await check(t, server, '/redo', { edit_ids: [edit_id] }, 200, {}, as('bob'))
  const operations = [
    { operation: 'edit', ...edit('a.txt', 'two', 'zwei') },
    { operation: 'edit', ...edit('b.txt', 'b', 'B') },
    { operation: 'create', path: 'new/c.txt', content: 'c\n' }
  ]
  await check(t, server, '/batch', { operations }, 200, {}, as('ann'))
  await check(t, server, '/edit', { ...edit('long.txt', LONG, 'short'), reason: 'too long' }, 200, {}, as('carl'))
  await check(t, server, '/review', { verdict: 'keep', agent: 'carl' }, 200, {})
}

async function keep(t: Test, version: string) {
  const [root, stateDir] = [join(KEPT, version, 'root'), mkdtempSync(join(tmpdir(), 'editd-kept-'))]
  mkdirSync(root, { recursive: true })
  for (const [name, text] of Object.entries(BEFORE)) writeFileSync(join(root, name), text)
  // A test of its own, at whose end the server is closed.
  await t.test('changes files', t => change(t, root, stateDir))
  cpSync(join(stateDir, 'history'), join(KEPT, version, 'history'), { recursive: true })
  rmSync(stateDir, { recursive: true })
}

if (KEEP !== undefined) await t.test('keeps what this version records', t => keep(t, KEEP))

for (const version of readdirSync(KEPT)) {
  t.test(`lists and takes back what version ${version} recorded`, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'editd-upgrade-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const [root, stateDir] = [join(folder, 'root'), join(folder, 'state')]
    cpSync(join(KEPT, version, 'root'), root, { recursive: true })
    mkdirSync(stateDir, { mode: 0o700 })
    cpSync(join(KEPT, version, 'history'), join(stateDir, 'history'), { recursive: true })
    t.strictSame(filesIn(root), AFTER)

    const server = await serve(t, root, stateDir)
    const { body } = await check(t, server, '/history', {}, 200, {})
    const edits = (body.edits as Record<string, string>[]).map(
      ({ operation, path, agent }) => `${operation} ${path} ${agent}`
    )
    t.strictSame(edits.sort(), [
      'batch a.txt ann',
      'batch b.txt ann',
      'batch new/c.txt ann',
      'edit a.txt ann',
      'edit long.txt carl',
      'redo a.txt bob',
      'undo a.txt bob'
    ])
    await check(t, server, '/history', { agent: 'carl', review: 'kept' }, 200, {
      edits: [{ reason: 'too long', session: 's' }]
    })
    const undone = await check(t, server, '/undo', { session: 's' }, 200, {})
    t.strictSame(filesIn(root), BEFORE)
    await check(t, server, '/redo', { batch_id: undone.body.batch_id }, 200, {})
    t.strictSame(filesIn(root), AFTER)
  })
}
