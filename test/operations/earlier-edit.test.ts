// What is said of an edit that is sent once more: which edit made it, where the history has that for certain.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startServer, type TestServer } from '../http/test-server.ts'

const FILES = {
  'a.yml': 'dev:\n  timeout: 30\nprod:\n  timeout: 60\n',
  'b.py': 'import os\n\nprint(os)\n',
  'latin.txt': Buffer.from('caf\xe9 noir\ncaf\xe9 cr\xe8me, d\xe9j\xe0 vu, fa\xe7ade\n', 'latin1')
}
const SLOWER = { path: 'a.yml', old_text: 'dev:\n  timeout: 30', new_text: 'dev:\n  timeout: 45' }
const IMPORT = { path: 'b.py', old_text: 'import os', new_text: 'import os\nimport json' }
const UPPER = { path: 'latin.txt', old_text: 'café noir', new_text: 'CAFÉ NOIR' }

/** The last sentence of an answer to the edit with this id. */
const NOTE = / Edit (01\w{24})( by "[a-z]+")? made this change at \d{4}-\d\d-\d\dT[\d:.]+Z\.$/

async function send(server: TestServer, route: string, body: unknown, headers: Record<string, string> = {}) {
  return server.call('POST', route, { body, headers })
}

const start = (t: Test, settings = {}) => startServer(t, { files: FILES, settings })

t.test('names the edit that was sent before', async t => {
  const server = await start(t)
  for (const [edit, code] of [
    [SLOWER, 'NO_MATCH'],
    [IMPORT, 'ALREADY_APPLIED'],
    [UPPER, 'NO_MATCH']
  ] as const) {
    const made = await send(server, '/edit', edit)
    t.match(made, { status: 200 }, edit.path)
    const again = await send(server, '/edit', edit)
    t.match(again.body, { code, already_applied: true, detail: NOTE }, edit.path)
    t.equal(NOTE.exec(String(again.body.detail))?.[1], made.body.edit_id)
    t.equal(NOTE.exec(String(again.body.detail))?.[2], undefined)
  }
})

t.test('names it for the hash of before, for tools, and in a batch', async t => {
  const server = await start(t)
  const { body: before } = await send(server, '/inspect', { path: 'a.yml' })
  const hashed = { ...SLOWER, expected_hash: before.file_hash }
  const made = await send(server, '/edit', hashed, { 'editd-agent': 'ann' })
  const stale = await send(server, '/edit', hashed)
  t.match(stale.body, { code: 'STALE_FILE', detail: NOTE })
  t.equal(NOTE.exec(String(stale.body.detail))?.[2], ' by "ann"')
  const { text } = await send(server, '/tools/edit_file', SLOWER, { accept: '*/*' })
  t.match(text, new RegExp(`\\nEdit ${String(made.body.edit_id)} by "ann" made this change at .*Z\\.$`))
  const operations = [
    { ...IMPORT, operation: 'edit', old_text: 'nowhere in this' },
    { ...SLOWER, operation: 'edit' }
  ]
  const batch = await send(server, '/batch', { operations })
  t.match(batch.body, { code: 'NO_MATCH', other_failures: [{ operation_index: 1, detail: NOTE }] })
  t.notMatch(batch.body.detail, /made this change/)
  const brief = await send(server, '/tools/batch_edit', { operations }, { accept: '*/*' })
  t.match(brief.text, /\nEdit 01\w{24} by "ann" made this change at /)
})

t.test('names it for calls of other editors', async t => {
  const server = await start(t)
  const patch = '*** Begin Patch\n*** Update File: a.yml\n@@\n dev:\n-  timeout: 30\n+  timeout: 45\n*** End Patch\n'
  await send(server, '/edit', SLOWER)
  const adapted = await send(server, '/adapters/codex-apply-patch', { input: patch })
  t.match(adapted.text, /made this change at /, adapted.text)
  const replace = { command: 'str_replace', path: 'a.yml', old_str: '  timeout: 30', new_str: '  timeout: 45' }
  const replaced = await send(server, '/adapters/anthropic-text-editor', replace)
  t.match(replaced.text, /made this change at /, replaced.text)
})

t.test('names none where it is not certain', async t => {
  const server = await start(t)
  const says = async (edit: object, what: string) => {
    const { body } = await send(server, '/edit', edit)
    t.match(body, { status: 422 }, what)
    t.notMatch(body.detail, /made this change/, what)
  }
  await send(server, '/edit', SLOWER)
  await says({ ...SLOWER, old_text: 'dev:\n  timeout: 31' }, 'another old_text')
  await send(server, '/edit', { path: 'a.yml', old_text: 'timeout: 45', new_text: 'timeout: 50' })
  await send(server, '/edit', { path: 'a.yml', old_text: 'timeout: 50', new_text: 'timeout: 45' })
  await says(SLOWER, 'the text was put back by another edit')
  await send(server, '/edit', { path: 'b.py', old_text: 'print', new_text: 'log' })
  writeFileSync(join(server.root, 'b.py'), 'import os\nimport json\n\nlog(os)\n')
  await says(IMPORT, 'another program did it')
})

t.test('says nothing of it without a history', async t => {
  const server = await start(t, { history: 'off' })
  await send(server, '/edit', SLOWER)
  const { body } = await send(server, '/edit', SLOWER)
  t.match(body, { code: 'NO_MATCH', already_applied: true })
  t.notMatch(body.detail, /made this change/)
})
