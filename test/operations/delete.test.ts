// Deleting files and folders: what is gone, what is answered and recorded, what is refused, and what an undo brings back.
import { chmodSync, existsSync, mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stateOf, type FolderState } from './support/folder-state.ts'
import { ALLOWED, type Files } from './support/patched.ts'
import { serveOperations } from './support/serve-operations.ts'
import type { Workspace, WorkspaceOptions } from '../../src/workspace/api.ts'
import { often } from '../often.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0xff, 0xfe, 0])
const TREE: Files = { 'd/a.txt': 'a\n', 'd/e/b.txt': 'b\r\n', 'd/e/f/c.txt': '', 'other.txt': 'o\n' }

t.test('removes a file, also a binary one, and an undo brings it back with its mode', async t => {
  const { root, call } = await serveOperations(t, { 'a.txt': 'one\ntwo\n', 'd/latin.txt': '' })
  writeFileSync(join(root, 'b.png'), PNG)
  writeFileSync(join(root, 'd/latin.txt'), Buffer.from('caf\xe9\n', 'latin1'))
  chmodSync(join(root, 'b.png'), 0o640)
  for (const path of ['a.txt', 'b.png', 'd/latin.txt']) {
    const before = stateOf(root)
    const { body, text } = await call('delete', { path })
    t.match(body, { path, removed: true, changed: true, dry_run: false, edit_id: /./, batch_id: /./ })
    t.equal(text, `Deleted ${path}. edit_id: ${String(body.edit_id)}`)
    t.notOk(existsSync(join(root, path)))
    t.match((await call('undo', { path })).body, { results: [{ path, created: true }] })
    t.strictSame(stateOf(root), before)
    t.match((await call('redo', {})).body, { results: [{ path, removed: true }] })
    t.notOk(existsSync(join(root, path)))
  }
  t.ok(existsSync(join(root, 'd')), 'the folder of one file stays')
  const { body } = await call('history', { limit: 20 })
  const deletions = (body.edits as { operation: string; path: string }[]).filter(edit => edit.operation === 'delete')
  t.strictSame(
    deletions.map(({ path }) => path),
    ['d/latin.txt', 'b.png', 'a.txt']
  )
})

t.test('says what a deletion would take, and shows it as a diff', async t => {
  const { call, texts } = await serveOperations(t, { 'a.txt': 'one\ntwo\n' })
  const { body } = await call('delete', { path: 'a.txt', dry_run: true, show_diff: true })
  t.match(body, { message: 'Would delete a.txt; nothing was written.', file_hash: /./, diff: /^-two$/m })
  t.notOk('removed' in body)
  const preview = await call('preview', { operation: 'delete', path: 'a.txt' })
  t.match(preview.body, { dry_run: true, diff: /^-one$/m })
  t.strictSame(texts(), { 'a.txt': 'one\ntwo\n' })
})

t.test('removes a folder with all files and folders in it, and an undo brings them back', async t => {
  const { root, call, texts } = await serveOperations(t, TREE)
  writeFileSync(join(root, 'd/e/p.png'), PNG)
  chmodSync(join(root, 'd/a.txt'), 0o755)
  mkdirSync(join(root, 'd/empty/too'), { recursive: true })
  const before = stateOf(root)
  const dry = await call('delete', { path: 'd/', recursive: true, dry_run: true })
  t.equal(dry.text, 'Would delete d with 4 files; nothing was written.\nd/a.txt\nd/e/b.txt\nd/e/f/c.txt\nd/e/p.png')
  t.strictSame(stateOf(root), before)
  const { body, text } = await call('delete', { path: 'd', recursive: true })
  t.match(body, { removed: true, batch_id: /./, total_lines_before: 2, total_lines_after: 0, file_size: 0 })
  t.match(body.files, [{ path: 'd/a.txt', hash_before: /./, edit_id: /./ }, {}, {}, { path: 'd/e/p.png' }])
  t.equal(text, `Deleted d with 4 files. batch_id: ${String(body.batch_id)}`)
  t.strictSame(texts(), { 'other.txt': 'o\n' })
  t.notOk(existsSync(join(root, 'd')))
  await call('undo', { batch_id: body.batch_id })
  t.strictSame(stateOf(root), withoutEmpty(before))
  await call('redo', { batch_id: body.batch_id })
  t.notOk(existsSync(join(root, 'd')))
  await call('undo', {})
  t.strictSame(stateOf(root), withoutEmpty(before))
})

/** Folders without a file aren't recorded. */
const withoutEmpty = (state: FolderState): FolderState =>
  Object.fromEntries(Object.entries(state).filter(([path]) => !path.startsWith('d/empty')))

t.test('removes a folder without files, of which nothing is recorded', async t => {
  const { root, call } = await serveOperations(t, { 'a/b/c.txt': 'c\n' })
  await call('delete', { path: 'a/b/c.txt' })
  t.match((await call('delete', { path: 'a' })).body, { code: 'NOT_A_FILE', detail: /with 0 files/ })
  t.match((await call('delete', { path: 'a', recursive: true, dry_run: true })).body, { dry_run: true, files: [] })
  t.ok(existsSync(join(root, 'a/b')))
  const { body } = await call('delete', { path: 'a', recursive: true })
  t.match(body, { path: 'a', removed: true, files: [], message: 'Deleted a with 0 files.' })
  t.notOk('batch_id' in body)
  t.notOk(existsSync(join(root, 'a')))
})

t.test('removes many files in one batch, and an undo brings all of them back', async t => {
  // More than a request may name.
  const count = often(1000, 120)
  const files = Object.fromEntries(Array.from({ length: count }, (_, i) => [`m/${i % 7}/${i}.txt`, `${i}\n`]))
  const { root, call } = await serveOperations(t, files)
  const before = stateOf(root)
  const { body } = await call('delete', { path: 'm', recursive: true })
  t.match(body, { removed: true, files: { length: count } })
  t.notOk(existsSync(join(root, 'm')))
  t.match((await call('undo', { batch_id: body.batch_id })).body, { results: { length: count } })
  t.strictSame(stateOf(root), before)
})

t.test('refuses more files than one request may remove', async t => {
  const { root, call } = await serveOperations(t, {})
  mkdirSync(join(root, 'm'))
  for (let i = 0; i <= 1000; i++) writeFileSync(join(root, `m/${i}`), '')
  const many = { code: 'TOO_MANY_OPERATIONS', limit: 1000, actual: 1001, detail: /have 1001 files/ }
  t.match((await call('delete', { path: 'm', recursive: true })).body, many)
  t.match((await call('move', { path: 'm', to: 'n' })).body, many)
  unlinkSync(join(root, 'm/0'))
  mkdirSync(join(root, 'n'))
  writeFileSync(join(root, 'n/0'), '')
  const operations = ['m', 'n'].map(path => ({ operation: 'delete', path, recursive: true }))
  t.match((await call('batch', { operations })).body, many)
})

interface Refusal {
  name: string
  prepare?: (root: string) => void
  options?: Partial<WorkspaceOptions>
  body?: object
  answer: object
}

async function checkRefused(t: Test, { name, prepare, options, body, answer }: Refusal): Promise<void> {
  await t.test(name, async t => {
    const { root, call } = await serveOperations(t, TREE, { ...ALLOWED, ...options })
    prepare?.(root)
    const before = stateOf(root)
    t.match((await call('delete', { path: 'd', recursive: true, ...body })).body, answer)
    t.strictSame(stateOf(root), before)
  })
}

t.test('removes all of a folder or nothing, and names what is in the way', async t => {
  const cases: Refusal[] = [
    {
      name: 'no recursive',
      body: { recursive: false },
      answer: { code: 'NOT_A_FILE', path: 'd', detail: /d is a directory with 3 files.*recursive: true/ }
    },
    {
      name: 'a link',
      prepare: root => symlinkSync('../other.txt', join(root, 'd/e/link')),
      answer: {
        code: 'NOT_A_FILE',
        path: 'd/e/link',
        detail: /^d\/e\/link is a symbolic link, which no operation deletes or moves, .*one by one/
      }
    },
    {
      name: 'a link, without recursive',
      prepare: root => symlinkSync('/etc', join(root, 'd/link')),
      body: { recursive: false },
      answer: { code: 'NOT_A_FILE', path: 'd', detail: /d is a directory with 3 files.*recursive: true/ }
    },
    {
      name: 'nothing but a link',
      prepare: root => {
        mkdirSync(join(root, 'l'))
        symlinkSync('none', join(root, 'l/link'))
      },
      body: { path: 'l' },
      answer: { code: 'NOT_A_FILE', path: 'l/link', detail: /symbolic link/ }
    },
    {
      name: 'a link to the folder',
      prepare: root => symlinkSync('d', join(root, 'l')),
      body: { path: 'l' },
      answer: { code: 'NOT_A_FILE', path: 'l', detail: /symbolic link.*leads to: d\.$/ }
    },
    {
      name: 'a protected folder',
      prepare: root => mkdirSync(join(root, 'd/e/.git')),
      answer: { code: 'PROTECTED_PATH', path: 'd/e/.git' }
    },
    {
      name: 'a protected folder itself',
      prepare: root => mkdirSync(join(root, '.vscode')),
      body: { path: '.vscode' },
      answer: { code: 'PROTECTED_PATH' }
    },
    {
      name: 'a file whose text is not kept',
      prepare: root => writeFileSync(join(root, 'd/.env'), 'KEY=1\n'),
      options: { historyPrivate: ['.env*'] },
      answer: { code: 'DELETE_NOT_ALLOWED', path: 'd/.env', detail: /could bring it back/ }
    },
    {
      name: 'a file that is too large',
      options: { maxFileSize: 2 },
      answer: { code: 'FILE_TOO_LARGE', path: 'd/e/b.txt' }
    },
    {
      name: 'a file with another extension',
      options: { allowExtensions: ['.md'] },
      answer: { code: 'PATH_NOT_ALLOWED', path: 'd/a.txt' }
    },
    {
      name: 'a name that is not UTF-8',
      prepare: root => writeFileSync(Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from([0xff])]), ''),
      answer: { code: 'INVALID_PATH', path: 'd/\ufffd', detail: /not UTF-8.*rename it/ }
    },
    { name: 'a hash of a folder', body: { expected_hash: '0'.repeat(16) }, answer: { code: 'INVALID_REQUEST' } },
    { name: 'the workspace', body: { path: '.' }, answer: { code: 'INVALID_REQUEST', detail: /workspace itself/ } },
    { name: 'nothing there', body: { path: 'none' }, answer: { code: 'FILE_NOT_FOUND' } },
    { name: 'not allowed', options: { allowDelete: false }, answer: { code: 'DELETE_NOT_ALLOWED', path: 'd' } },
    { name: 'no history', options: { history: 'off' }, answer: { code: 'DELETE_NOT_ALLOWED' } },
    { name: 'read only', options: { readOnly: true }, answer: { code: 'READ_ONLY' } },
    { name: 'no hash', options: { requireHash: true }, answer: { code: 'PRECONDITION_REQUIRED', path: 'd/a.txt' } }
  ]
  for (const one of cases) await checkRefused(t, one)
})

t.test('deletes what is beside a link one by one, and folders without one', async t => {
  const { root, call, texts } = await serveOperations(t, TREE)
  symlinkSync('../other.txt', join(root, 'd/link'))
  t.match((await call('delete', { path: 'd', recursive: true })).text, /^d\/link is a symbolic link/)
  for (const path of ['d/a.txt', 'd/e']) {
    t.match((await call('delete', { path, recursive: true })).body, { removed: true })
  }
  t.strictSame(texts(), { 'd/link': 'o\n', 'other.txt': 'o\n' })
})

t.test('shows the call that deletes a folder', async t => {
  const { call } = await serveOperations(t, TREE)
  const { text } = await call('delete', { path: 'd' })
  t.match(text, /^d is a directory with 3 files/)
  t.match(text, '{"path":"d","recursive":true}')
})

t.test('deletes only the file that is expected', async t => {
  const { call, texts } = await serveOperations(t, { a: 'a\n' })

  t.match((await call('delete', { path: 'a', expected_hash: '0'.repeat(16) })).body, { code: 'STALE_FILE' })
  const { body } = await call('inspect', { path: 'a' })
  await call('delete', { path: 'a', expected_hash: body.file_hash })
  t.strictSame(texts(), {})
  t.match((await call('delete', { path: 'a' })).body, { code: 'FILE_NOT_FOUND', detail: /bring it back/ })
})

t.test('deletes once under one key', async t => {
  const { call, texts, root } = await serveOperations(t, TREE)
  const body = { path: 'd', recursive: true, idempotency_key: 'k' }
  const first = await call('delete', body)
  t.match(await call('delete', body), { body: first.body, text: /done before/ })
  mkdirSync(join(root, 'd'))
  writeFileSync(join(root, 'd/new.txt'), 'n\n')
  t.strictSame((await call('delete', body)).body, first.body)
  t.strictSame(texts(), { 'd/new.txt': 'n\n', 'other.txt': 'o\n' })
})

t.test('tells nothing to a token of what it may not use', async t => {
  const { root, workspace, callOf } = await serveOperations(t, { 'd/a.txt': 'a\n', 'd/a.md': 'm\n', 'e/b.md': 'b\n' })
  const before = stateOf(root)
  const limited = callOf(workspace.limitedTo(['d/*.md', 'e/**']))
  for (const path of ['d', 'none']) {
    const { body } = await limited('delete', { path, recursive: true })
    t.match(body, { code: 'PATH_NOT_ALLOWED', detail: /may use d\/\*\.md and e\/\*\*/ })
  }
  t.match((await limited('move', { path: 'e', to: 'd/e' })).body, { code: 'PATH_NOT_ALLOWED', path: 'd/e/b.md' })
  t.strictSame(stateOf(root), before)
  t.match((await limited('delete', { path: 'e', recursive: true })).body, { removed: true })
  t.notOk(existsSync(join(root, 'e')))
})

t.test('keeps a folder in which another program makes a file meanwhile', async t => {
  const { root, workspace, callOf } = await serveOperations(t, { 'd/a.txt': 'a\n', 'e/f/g.txt': '' })
  const batch: Workspace['batch'] = (...batch) => {
    writeFileSync(join(root, 'd/late.txt'), 'late\n')
    return workspace.batch(...batch)
  }
  const filesBelow = workspace.filesBelow.bind(workspace)
  const call = callOf(Object.assign(Object.create(workspace) as Workspace, { batch, filesBelow }))
  t.match((await call('delete', { path: 'd', recursive: true })).body, { files: [{ path: 'd/a.txt' }] })
  t.strictSame(Object.keys(stateOf(root)), ['d', 'd/late.txt', 'e', 'e/f', 'e/f/g.txt'])
})

t.test('fails if a file of the folder is gone by the time, or a folder is not empty', async t => {
  const { root, workspace, callOf } = await serveOperations(t, { 'd/a.txt': 'a\n', 'd/b.txt': '' })
  const filesBelow: Workspace['filesBelow'] = async (...asked) => {
    const found = await workspace.filesBelow(...asked)
    unlinkSync(join(root, 'd/b.txt'))
    return found
  }
  const batch = workspace.batch.bind(workspace)
  const call = callOf(Object.assign(Object.create(workspace) as Workspace, { batch, filesBelow }))
  const { body } = await call('delete', { path: 'd', recursive: true })
  t.match(body, { code: 'STALE_FILE', path: 'd/b.txt', detail: /changed/ })
  t.strictSame(Object.keys(stateOf(root)), ['d', 'd/a.txt'])
  t.match(await workspace.removeFolder({ path: 'd' }, { dry_run: false }), {
    failure: { code: 'STALE_FILE' },
    path: 'd'
  })
  t.match(await workspace.removeFolder({ path: 'd/a.txt' }, { dry_run: false }), { ok: true })
  t.strictSame(Object.keys(stateOf(root)), ['d', 'd/a.txt'])
})
