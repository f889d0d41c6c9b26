// /batch over HTTP: operations on many files, all or nothing, each answered as if it stood alone.
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { MAX_BATCH_FILES, MAX_OPERATIONS } from '../../schemas/batch.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Workspace } from '../../src/workspace/api.ts'
import { openWorkspace } from '../../src/folder/open.ts'
import { bytesOf, check, startServer, TOKEN, type Reply, type TestServer } from './test-server.ts'

const files = {
  'a.js': 'const one = 1\nconst two = 2\n',
  'b.md': '# B\n\ntext\n',
  'c.txt': 'x\ny\nz\n'
}
const EDIT = { operation: 'edit', path: 'a.js', old_text: 'one', new_text: 'uno' }
const LINES = { operation: 'edit_lines', path: 'c.txt', start_line: 1, end_line: 0, new_text: 'w' }
const SECTION = { operation: 'edit_section', path: 'b.md', action: 'append', heading: 'B', new_text: 'more' }
const CREATE = { operation: 'create', path: 'd/e.txt', content: 'new\n' }
const ALL = [EDIT, LINES, SECTION, CREATE]

/** The batch is answered with this status and these members. */
const batch = (
  t: Test,
  server: TestServer,
  request: object | object[],
  status: number,
  expected: Record<string, unknown>,
  headers: Record<string, string> = {}
) => check(t, server, '/batch', Array.isArray(request) ? { operations: request } : request, status, expected, headers)

/** What is in the files, and that no other was made. */
function isUntouched(t: Test, server: TestServer) {
  for (const [path, text] of Object.entries(files)) t.equal(bytesOf(server, path), text)
  t.strictSame(readdirSync(server.root).sort(), Object.keys(files))
}

const results = ({ body }: Reply) => body.results as Record<string, unknown>[]

t.test('changes files by all operations, and answers each as if it stood alone', async t => {
  const alone = await startServer(t, { files })
  const expected = []
  for (const { operation, ...fields } of ALL) {
    const route = { edit: '/edit', edit_lines: '/edit-lines', edit_section: '/edit-section', create: '/create' }[
      operation
    ]
    const { edit_id: _id, dry_run: _dry, ...body } = (await alone.call('POST', route!, { body: fields })).body
    expected.push({ operation, ...body })
  }
  const paths = [...Object.keys(files), 'd/e.txt']
  const texts = paths.map(path => bytesOf(alone, path))
  // On a fresh root.
  const server = await startServer(t, { files })
  const reply = await batch(t, server, ALL, 200, {
    message: '4 operations changed 4 files.',
    dry_run: false,
    batch_id: /^[0-9A-Z]{26}$/
  })
  t.equal(reply.headers.get('etag'), null)
  t.strictSame(
    results(reply).map(({ edit_id: _, ...result }) => result),
    expected
  )
  t.equal(new Set(results(reply).map(({ edit_id }) => edit_id)).size, 4, 'an edit of each file')
  t.strictSame(
    paths.map(path => bytesOf(server, path)),
    texts
  )
})

t.test('makes each operation on what the earlier ones made of the file', async t => {
  const server = await startServer(t, { files: { ...files, link: t.fixture('symlink', 'a.js') } })
  const { body } = await server.call('POST', '/inspect', { body: { path: 'a.js' } })
  const expected_hash = body.file_hash
  const reply = await batch(
    t,
    server,
    [
      { ...EDIT, expected_hash },
      { ...EDIT, path: 'link', old_text: 'uno', new_text: 'eins', expected_hash },
      { ...EDIT, old_text: 'two', new_text: 'two', occurrences: 1 },
      { operation: 'edit_lines', path: 'a.js', start_line: 1, end_line: 0, new_text: '// numbers' }
    ],
    200,
    {
      message:
        '3 of 4 operations changed 1 file; where several change one file, line numbers are those right after each.',
      results: [
        { changes: [{ new_start_line: 1 }] },
        { resolved_path: 'a.js' },
        { changed: false },
        { changes: [{ new_start_line: 1 }] }
      ]
    }
  )
  t.equal(bytesOf(server, 'a.js'), '// numbers\nconst eins = 1\nconst two = 2\n')
  const { file_hash } = (await server.call('POST', '/inspect', { body: { path: 'a.js' } })).body
  for (const { hash_before, file_hash: hash, edit_id } of results(reply)) {
    t.strictSame([hash_before, hash, edit_id], [expected_hash, file_hash, results(reply)[0]!.edit_id])
  }
  await batch(
    t,
    server,
    [
      { ...EDIT, old_text: 'eins', new_text: 'one' },
      { ...EDIT, new_text: 'eins' }
    ],
    200,
    {
      message: 'The files already have exactly the content that these operations lead to; nothing was written.',
      batch_id: undefined
    }
  )
  await batch(t, server, [{ ...EDIT, old_text: 'eins', new_text: 'eins', expected_hash: file_hash }], 200, {
    message: 'The files already have exactly the content that this operation leads to; nothing was written.'
  })
  await batch(t, server, [CREATE, { ...EDIT, path: 'd/e.txt', old_text: 'new', new_text: 'old' }], 200, {
    message: /^2 operations changed 1 file;/,
    results: [{ created: true, hash_before: undefined }, { operation: 'edit' }]
  })
  t.equal(bytesOf(server, 'd/e.txt'), 'old\n')
})

t.test('writes nothing in a dry run', async t => {
  const server = await startServer(t, { files })
  const reply = await batch(
    t,
    server,
    { operations: [...ALL, { ...LINES, show_diff: false }], dry_run: true, show_diff: true },
    200,
    {
      message:
        '5 operations would change 4 files; where several change one file, line numbers are those ' +
        'right after each; nothing was written.',
      dry_run: true,
      batch_id: undefined,
      results: ALL.map(() => ({ diff: /^--- /, new_hash: /./, edit_id: undefined }))
    }
  )
  t.equal(results(reply)[4]!.diff, undefined)
  isUntouched(t, server)
})

t.test('changes nothing where one operation fails, and says which', async t => {
  const server = await startServer(t, { files, settings: { maxEdits: 2 } })
  const fails = (operation: object, status: number, expected: Record<string, unknown>) =>
    batch(t, server, [LINES, CREATE, operation], status, { operation_index: 2, ...expected })
  await fails({ ...EDIT, old_text: 'const  one', new_text: 'const  uno' }, 422, {
    code: 'NO_MATCH',
    path: 'a.js',
    detail: /^operations\[2\] \(edit of a\.js\): .*Nothing was changed in any file\./,
    suggested_fixes: [{ edit: { old_text: /./ } }]
  })
  await fails({ ...LINES, old_text: undefined, start_line: 9, end_line: 9 }, 422, {
    code: 'LINE_OUT_OF_RANGE',
    detail: new RegExp(
      '^operations\\[2\\] \\(edit_lines of c\\.txt\\): .*Nothing was changed in any file\\..* ' +
        'It was tried on the text that operations\\[0\\] of this batch had made\\.$'
    )
  })
  await fails({ ...CREATE, path: 'a.js' }, 409, {
    code: 'ALREADY_EXISTS',
    detail: /^operations\[2\] \(create of a\.js\): a\.js already exists\. Nothing was changed in any file\./
  })
  // Which earlier one is in the way.
  const makes = (path: string) => ({ ...CREATE, path })
  for (const [earlier, later, detail] of [
    [
      'd/e.txt',
      'd/e.txt',
      'operations[1] makes d/e.txt. N. Put all of its content there, and leave this operation out.'
    ],
    [
      'd/e',
      'd/e/f.txt',
      "d/e/f.txt can't be made: operations[1] (create of d/e) makes a file where it needs a directory. N. Give one of the two another path."
    ],
    [
      'd/e/f.txt',
      'd/e',
      "d/e can't be a file: operations[1] (create of d/e/f.txt) makes a file in it. N. Give one of the two another path."
    ],
    ['d/e.txt', 'a.js/b', 'Part of the path a.js/b is not a directory. N. Correct the path.']
  ] as const) {
    const refused = await batch(t, server, [LINES, makes(earlier), makes(later)], later === earlier ? 409 : 422, {})
    const nothing = detail.replace('N.', 'Nothing was changed in any file.')
    t.equal(refused.body.detail, `operations[2] (create of ${later}): ${nothing}`)
  }
  // The whole request takes no overwrite.
  const existing = await batch(t, server, [CREATE, { ...CREATE, path: 'a.js' }], 409, { operation_index: 1 })
  const { file_hash } = existing.body
  const overwrite = `"overwrite": true, "expected_hash": "${String(file_hash)}"`
  t.equal(
    existing.body.detail,
    'operations[1] (create of a.js): a.js already exists. Nothing was changed in any file. ' +
      'To change part of it, send an edit in place of this operation. ' +
      `To replace all of it, read it first, then send the same batch with ${overwrite} in operations[1].`
  )
  const replacing = { ...CREATE, path: 'a.js', overwrite: true, expected_hash: file_hash }
  await batch(t, server, { operations: [CREATE, replacing], dry_run: true }, 200, {})
  await fails({ ...EDIT, expected_hash: '0123456789abcdef' }, 409, {
    code: 'STALE_FILE',
    detail: /Nothing was changed/
  })
  await fails({ ...LINES, expected_hash: '0123456789abcdef' }, 409, {
    code: 'STALE_FILE',
    detail: /It was tried on the text that operations\[0\] of this batch had made\.$/
  })
  await fails({ ...EDIT, path: 'missing.js' }, 404, { code: 'FILE_NOT_FOUND' })
  await fails({ ...EDIT, path: '../x' }, 403, { code: 'PATH_NOT_ALLOWED' })
  await fails({ operation: 'edit', path: 'a.js' }, 400, {
    code: 'NO_EDITS',
    detail: /^operations\[2\] \(edit of a\.js\): The request has no edits\..*Nothing was changed in any file\.$/
  })
  await fails({ ...EDIT, edits: [{ old_text: 'a', new_text: 'b' }] }, 400, { code: 'MIXED_MODES' })
  await fails({ ...EDIT, old_text: '' }, 400, { code: 'EMPTY_OLD_TEXT', path: 'a.js' })
  await fails({ ...EDIT, path: '' }, 400, { code: 'INVALID_PATH', errors: [{ pointer: '/operations/2/path' }] })
  const many = Array.from({ length: 3 }, () => ({ old_text: 'x', new_text: 'y' }))
  await fails({ operation: 'edit', path: 'a.js', edits: many }, 400, { code: 'TOO_MANY_EDITS', limit: 2, actual: 3 })
  await fails({ ...EDIT, replace_all: true, occurrence: 1 }, 400, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/operations/2/occurrence' }]
  })
  await fails(
    { operation: 'edit', path: 'a.js', old_string: 'x', newText: 'y', replaceAll: true, occurrence: 1 },
    400,
    {
      errors: [{ pointer: '/operations/2/occurrence' }]
    }
  )
  const edits = Array.from({ length: 7 }, (_, i) => ({ ...EDIT, old_text: 'two', new_text: `two${i}` }))
  await batch(t, server, [...edits, { ...EDIT, old_text: 'nothing like it' }], 422, {
    operation_index: 7,
    detail: /that 2 earlier ones, operations\[2\], .* and operations\[6\] of this batch had made\.$/
  })
  isUntouched(t, server)
  const closed = await startServer(t, { files, settings: { readOnly: true } })
  await batch(t, closed, ALL, 403, { code: 'READ_ONLY', operation_index: undefined })
})

t.test('takes operations by the names of their tools', async t => {
  const server = await startServer(t, { files })
  const { operation: _, ...edit } = EDIT
  const operations = [
    { ...edit, operation: 'edit_file' },
    { operation: 'create_file', path: 'made.txt', content: 'made\n' }
  ]
  const warnings = ['operation "edit_file" was read as edit.', 'operation "create_file" was read as create.']
  await batch(t, server, { operations }, 200, { warnings, results: [{ path: 'a.js' }, { path: 'made.txt' }] })
  t.equal(bytesOf(server, 'made.txt'), 'made\n')
  await batch(t, server, [{ ...edit, operation: 'edit_file', old_text: 'missing' }], 422, {
    code: 'NO_MATCH',
    detail: /^operations\[0\] \(edit of a\.js\): /
  })
})

t.test('refuses what is no batch', async t => {
  const server = await startServer(t, { files })
  const invalid = (request: object, ...errors: { pointer: string; message: string | RegExp }[]) =>
    batch(t, server, request, 400, { code: 'INVALID_REQUEST', errors })
  await batch(t, server, [], 400, { code: 'NO_EDITS', detail: /^The request has no operations\./ })
  await invalid({}, { pointer: '/operations', message: 'is missing' })
  await invalid({ operations: null }, { pointer: '/operations', message: /^must be a list/ })
  await invalid({ operations: 'x' }, { pointer: '/operations', message: /JSON list/ })
  await invalid([EDIT, 1], { pointer: '/operations/1', message: 'must be a JSON object, not a whole number' })
  await batch(t, server, [EDIT, 1], 400, { operation_index: 1, detail: /^operations\[1\]: The request is not valid/ })
  const unpaired = '[{"operation":"edit","path":"a.js","old_text":"\\ud800","new_text":""}]'
  await batch(t, server, { operations: unpaired }, 400, {
    code: 'INVALID_UNICODE',
    operation_index: undefined,
    errors: [{ pointer: '/operations/0/old_text' }]
  })
  await invalid([{ ...EDIT, operation: 'copy' }], { pointer: '/operations/0/operation', message: /^must be "edit"/ })
  await invalid([{ path: 'a.js' }], { pointer: '/operations/0/operation', message: 'is missing' })
  await invalid(
    [EDIT, { ...EDIT, old_txt: 'x', start_line: 1 }],
    {
      pointer: '/operations/1/old_txt',
      message: /^is an unknown field/
    },
    { pointer: '/operations/1/start_line', message: 'is a field of edit_lines, not of edit' }
  )
  for (const [field, value] of Object.entries({
    dry_run: true,
    agent: 'me',
    session: 's',
    reason: 'r',
    idempotency_key: 'k'
  })) {
    await invalid([{ ...EDIT, [field]: value }], {
      pointer: `/operations/0/${field}`,
      message: 'belongs to the whole batch; put it at the top level, beside operations'
    })
  }
  await invalid(
    {
      operations: [
        { ...EDIT, old_text: 1 },
        { ...CREATE, content: null }
      ],
      path: 'a.js'
    },
    { pointer: '/path', message: /^is an unknown field/ },
    { pointer: '/operations/0/old_text', message: /^must be a string/ },
    { pointer: '/operations/1/content', message: 'is missing' }
  )
  await invalid([EDIT, { ...EDIT, old_string: 'x' }], {
    pointer: '/operations/1/old_string',
    message: /^means old_text/
  })
  await invalid(
    [
      { ...EDIT, oldest: 1 },
      { operation: 'edit', filePath: 7, old_text: 'x', new_text: 'y' }
    ],
    {
      pointer: '/operations/0/oldest',
      message: /./
    },
    { pointer: '/operations/1/filePath', message: /^must be a string/ }
  )
  await batch(
    t,
    server,
    Array.from({ length: MAX_OPERATIONS + 1 }, () => EDIT),
    400,
    {
      code: 'TOO_MANY_OPERATIONS',
      limit: MAX_OPERATIONS,
      actual: MAX_OPERATIONS + 1,
      detail: /operations; the limit is 1000\. Send several requests\.$/
    }
  )
  await batch(
    t,
    server,
    Array.from({ length: MAX_BATCH_FILES + 1 }, (_, i) => ({ ...CREATE, path: `${i}` })),
    400,
    {
      code: 'TOO_MANY_OPERATIONS',
      limit: MAX_BATCH_FILES,
      actual: MAX_BATCH_FILES + 1,
      detail: /paths; the limit is 100\. Send several requests\.$/
    }
  )
  for (const [name, value] of [
    ['If-Match', '"0123456789abcdef"'],
    ['If-Match', ''],
    ['If-None-Match', '*']
  ] as const) {
    const detail = new RegExp(`the header ${name} is of one file.*send expected_hash in the operations`)
    await batch(t, server, ALL, 400, { detail }, { [name]: value })
  }
  await invalid({ operations: ALL, dry_run: true, idempotency_key: 'k' }, { pointer: '/idempotency_key', message: /./ })
  isUntouched(t, server)
})

t.test('takes the names that models send, in each operation', async t => {
  const server = await startServer(t, { files })
  await batch(
    t,
    server,
    {
      operations: JSON.stringify([
        { operation: 'edit', file_path: 'a.js', old_string: 'one', new_string: 'uno', occurrences: null },
        { operation: 'edit', path: 'a.js', command: 'str_replace', edits: '[{"old_str":"two","new_str":"due"}]' }
      ]),
      dryRun: false,
      agent_name: 'me',
      session: null
    },
    200,
    {
      warnings: [
        'dryRun was read as dry_run.',
        'agent_name was read as agent.',
        /operations was a string/,
        'file_path was read as path.',
        'old_string was read as old_text.',
        'new_string was read as new_text.',
        /^command "str_replace" was left out/,
        /^edits was a string/,
        'old_str was read as old_text.',
        'new_str was read as new_text.'
      ]
    }
  )
  t.equal(bytesOf(server, 'a.js'), 'const uno = 1\nconst due = 2\n')
  const { body } = await server.call('POST', '/history', { body: { agent: 'me' } })
  t.match(body.edits, [{ operation: 'batch', path: 'a.js' }])
})

t.test('carries a batch out once under one key', async t => {
  const server = await startServer(t, { files })
  const request = { operations: [LINES, CREATE, EDIT], idempotency_key: 'k', show_diff: true }
  const first = await batch(t, server, request, 200, { results: [{ diff: /./ }, {}, { diff: /./ }] })
  const { message, batch_id } = first.body
  const ids = (first.body.results as { edit_id: string }[]).map(({ edit_id }) => ({ edit_id }))
  const second = await batch(t, server, request, 200, { message, batch_id, results: ids })
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  // It is kept with one of the files, where `editd forget` of another one doesn't look.
  t.notMatch(second.text, /"diff"|"before_lines":\["/)
  t.equal(bytesOf(server, 'c.txt'), 'w\nx\ny\nz\n')
  const ofOne = { operations: [{ ...EDIT, old_text: 'uno', new_text: 'due' }], idempotency_key: 'l', show_diff: true }
  const whole = await batch(t, server, ofOne, 200, {})
  t.strictSame((await batch(t, server, ofOne, 200, {})).body, whole.body, 'of one file, with all that was in it')
  await batch(t, server, { ...request, operations: [EDIT] }, 422, { code: 'IDEMPOTENCY_KEY_REUSED' })
})

t.test('keeps no texts under a key where one of the files must not have them kept', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-batch-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const server = await startServer(t, {
    files: { '.env': 'PASSWORD=hunter1\n', 'a.js': 'let a\n' },
    settings: { stateDir }
  })
  const request = {
    operations: [
      { operation: 'edit', path: '.env', old_text: 'hunter1', new_text: 'hunter2' },
      { operation: 'edit', path: 'a.js', old_text: 'let a', new_text: 'let b' }
    ],
    show_diff: true,
    idempotency_key: 'k'
  }
  const first = await batch(t, server, request, 200, { results: [{ diff: /hunter2/ }, { diff: /let b/ }] })
  const again = await batch(t, server, request, 200, { batch_id: first.body.batch_id, message: first.body.message })
  t.notMatch(again.text, 'hunter')
  const kept = readdirSync(join(stateDir, 'history'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  t.ok(kept.length > 0)
  t.notMatch(kept.join('\n'), 'hunter')
})

t.test('lists and takes back a batch as a whole', async t => {
  const server = await startServer(t, { files })
  const other = await batch(t, server, [{ ...EDIT, old_text: '2', new_text: '3' }], 200, {})
  const { batch_id } = (await batch(t, server, ALL, 200, {})).body
  t.not(batch_id, other.body.batch_id)
  const list = await check(t, server, '/history', { batch_id }, 200, { message: '4 edits, newest first.' })
  t.strictSame(
    (list.body.edits as Record<string, unknown>[]).map(({ batch_id: id, operation }) => [id, operation]),
    ALL.map(() => [batch_id, 'batch'])
  )
  await check(t, server, '/undo', { batch_id, agent: 'x' }, 400, { errors: [{ pointer: '/agent' }] })
  await check(t, server, '/undo', { batch_id }, 200, { message: 'Took back 4 edits in 4 files.' })
  t.equal(bytesOf(server, 'a.js'), files['a.js'].replace('2', '3'))
  await check(t, server, '/undo', { batch_id }, 422, { code: 'NOTHING_TO_UNDO' })
  await check(t, server, '/undo', { batch_id: 'unknown' }, 422, { code: 'NOTHING_TO_UNDO' })
  await batch(t, server, [LINES, SECTION], 200, {})
  await check(t, server, '/undo', {}, 200, { message: /^Took back edits \w+ and \w+ in 2 files\.$/ })
  t.equal(bytesOf(server, 'c.txt'), files['c.txt'])
  const off = await startServer(t, { files, settings: { history: 'off' } })
  await batch(t, off, ALL, 200, { batch_id: undefined, results: [{ edit_id: undefined }] })
})

t.test('refuses files that are too large together', async t => {
  const server = await startServer(t, { files: { a: '', b: '' }, settings: { maxFileSize: 2e8 } })
  for (const name of ['a', 'b']) truncateSync(join(server.root, name), 130_000_000)
  const all = ['a', 'b'].map(path => ({ operation: 'edit', path, old_text: 'x', new_text: 'y' }))
  await batch(t, server, all, 413, {
    code: 'FILE_TOO_LARGE',
    limit: 256e6,
    actual: 260_000_000,
    operation_index: undefined,
    path: undefined
  })
})

t.test('gives no answer again that names a file which is protected by now', async t => {
  const stateDir = mkdtempSync(join(tmpdir(), 'editd-batch-'))
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }))
  const used: { workspace?: Workspace } = {}
  const server = await startServer(t, {
    files,
    settings: { stateDir },
    replace: { keyed: (...args) => (used.workspace ?? server.opened).keyed(...args) }
  })
  const request = { operations: [EDIT, LINES], idempotency_key: 'k' }
  const { body } = await batch(t, server, request, 200, {})
  for (const path of ['a.js', 'c.txt']) {
    const loaded = loadConfig([server.root, '--token', TOKEN, '--state-dir', stateDir], {})
    if (!loaded.ok) throw new Error(loaded.failure.join())
    used.workspace = await openWorkspace({ ...loaded.value, protect: [path], readProtect: [path] })
    await batch(t, server, request, 403, { code: 'PROTECTED_PATH' })
    await used.workspace.close()
  }
  delete used.workspace
  await batch(t, server, request, 200, { batch_id: body.batch_id })
  t.equal(bytesOf(server, 'c.txt'), 'w\nx\ny\nz\n', 'made once')
})

t.test('is a tool that answers in a few lines', async t => {
  const server = await startServer(t, { files })
  const call = async (request: object, accept = 'text/plain') =>
    (await server.call('POST', '/tools/batch_edit', { body: request, headers: { accept } })).text.split('\n')
  const lines = await call({ operations: [EDIT, { ...EDIT, old_text: 'two', new_text: 'due = (' }] })
  t.match(lines, [
    /^2 operations changed 1 file; where .* right after each\. batch_id: \w{26}$/,
    /^Successfully replaced 1 occurrence in a\.js \(line 1\)\.$/,
    '1\tconst uno = 1',
    '2\tconst two = 2',
    /^Successfully replaced 1 occurrence in a\.js \(line 2\)\. file_hash: [0-9a-f]{16}$/,
    '1\tconst uno = 1',
    '2\tconst due = ( = 2',
    /^Warning: .*syntax/
  ])
  const miss = await call({ operations: [LINES, { ...EDIT, old_text: 'const  uno', new_text: 'const  tre' }] })
  t.match(miss, [
    /^operations\[1\] \(edit of a\.js\): old_text was not found.*\[NO_MATCH\]$/,
    'Nothing was changed in any file.',
    'If so, send:',
    JSON.stringify({
      operations: [LINES, { operation: 'edit', path: 'a.js', old_text: 'const uno', new_text: 'const tre' }]
    })
  ])
  const long = { ...CREATE, content: 'x'.repeat(7000) }
  t.match(await call({ operations: [long, { ...EDIT, old_text: 'const  uno', new_text: 'const  tre' }] }), [
    /NO_MATCH/,
    /./,
    'If so, send the same call with this in operations[1]:',
    JSON.stringify({ operation: 'edit', path: 'a.js', old_text: 'const uno', new_text: 'const tre' })
  ])
  t.match(await call({ operations: [long, { ...EDIT, path: 'a.jsx' }] }), [
    /FILE_NOT_FOUND/,
    /./,
    'If so, send the same call with "path": "a.js" in operations[1].'
  ])
  const code =
    'function total (items) {\n  let sum = 0\n  for (const item of items) sum += item.price\n  return sum\n}\n'
  writeFileSync(join(server.root, 'total.js'), code)
  const old_text = 'function total (items) {\n  var s = 0\n  for (const i of items) s += i.cost\n  return s\n}'
  const section = { operation: 'edit_section', path: 'total.js', action: 'replace', symbol: 'total' }
  const unlike = { operation: 'edit', path: 'total.js', old_text, new_text: 'x' }
  for (const [before, how, sent] of [
    [[], 'send this', { operations: [section] }],
    [[long], 'send the same call with this in operations[1]', section]
  ] as const) {
    const lines = await call({ operations: [...before, unlike] })
    const at = lines.indexOf(`"total" is lines 1 to 5 now; to replace all of it, ${how} with a new_text of your own:`)
    t.not(at, -1, lines.join('\n'))
    t.equal(lines[at + 1], JSON.stringify(sent))
  }
  const edits = [
    { old_text: '1', new_text: '1' },
    { old_text: 'const  uno', new_text: 'const  tre' }
  ]
  t.match(await call({ operations: [long, { operation: 'edit', path: 'a.js', edits }] }), [
    /NO_MATCH/,
    /./,
    'If so, send the same call with this as edit 2 in operations[1]:',
    '{"old_text":"const uno","new_text":"const tre"}'
  ])
  for (const before of [[], [long]]) {
    const empty = [...before, { ...CREATE, path: 'empty', content: '' }, { ...EDIT, path: 'empty' }]
    const put = { operation: 'edit_lines', path: 'empty', start_line: 1, end_line: 0, new_text: 'uno' }
    t.match(await call({ operations: empty }), [
      /the file is empty\. \[NO_MATCH\]$/,
      /It was tried on the text that operations\[\d\] of this batch had made\.$/,
      before.length === 0
        ? 'To put the text into it, send this:'
        : 'To put the text into it, send the same call with this in operations[2]:',
      JSON.stringify(before.length === 0 ? { operations: [empty[0], put] } : put)
    ])
  }
})
