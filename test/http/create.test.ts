// /create over HTTP: new files, what is there already, and many who want the same name.
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { testFolder } from '../folder.ts'
import { bytesOf, check, startServer } from './test-server.ts'

const files = { 'a.txt': 'old\n', src: { 'app.ts': 'x\n' } }

t.test('says that it takes away a byte-order mark', async t => {
  const server = await startServer(t, { files: { 'marked.txt': '\ufeffa\n' } })
  const { body } = await check(t, server, '/inspect', { path: 'marked.txt' }, 200, { bom: true })
  const replace = { path: 'marked.txt', content: 'b\n', overwrite: true, expected_hash: body.file_hash }
  await check(t, server, '/create', { ...replace, dry_run: true }, 200, {
    warnings: [/^The file begins with a byte-order mark and content does not, so the mark would be removed\. To keep /]
  })
  await check(t, server, '/create', replace, 200, {
    warnings: [/^The file began with a byte-order mark and content does not, so the mark was removed\. To put /]
  })
})

t.test('makes files, and the folders that they need', async t => {
  const server = await startServer(t, { files })
  const made = await check(
    t,
    server,
    '/create',
    { path: 'new/deep/b.ts', content: 'one\r\ntwo', show_diff: true },
    200,
    {
      path: 'new/deep/b.ts',
      message: 'Created new/deep/b.ts (2 lines, 8 bytes).',
      created: true,
      changed: true,
      dry_run: false,
      hash_before: undefined,
      new_hash: undefined,
      file_hash: /^[0-9a-f]{16}$/,
      total_lines_before: 0,
      total_lines_after: 2,
      file_size: 8,
      changes: [
        { operation: 'insert', start_line: 1, end_line: 0, new_start_line: 1, new_end_line: 2, lines_added: 2 }
      ],
      diff: /^--- \/dev\/null\n\+\+\+ b\/new\/deep\/b\.ts\n@@ -0,0 \+1,2 @@\n/,
      warnings: []
    }
  )
  t.equal(bytesOf(server, 'new/deep/b.ts'), 'one\r\ntwo', 'written as given')
  t.equal(made.headers.get('etag'), `"${made.body.sha256}"`)
  await check(t, server, '/create', { path: 'empty', content: '' }, 200, {
    created: true,
    changed: true,
    message: 'Created empty (0 lines, 0 bytes).',
    changes: [],
    file_size: 0
  })
  await check(t, server, '/inspect', { path: 'empty' }, 200, { total_lines: 0 })
  const elsewhere = testFolder(t)
  writeFileSync(join(elsewhere, 'diff'), String(made.body.diff))
  execFileSync('git', ['apply', 'diff'], { cwd: elsewhere })
  t.ok(existsSync(join(elsewhere, 'new/deep/b.ts')), 'the diff makes the file')
})

t.test('writes nothing in a dry run', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/create', { path: 'new/b.ts', content: 'x\n', dry_run: true }, 200, {
    created: true,
    message: 'Would create new/b.ts (1 line, 2 bytes); nothing was written.',
    file_hash: undefined,
    hash_before: undefined,
    new_hash: /^[0-9a-f]{16}$/,
    changes: [{ old_content: '', new_content: 'x\n' }]
  })
  t.strictSame(readdirSync(server.root).sort(), ['a.txt', 'src'])
})

t.test('replaces only what the caller knows', async t => {
  const server = await startServer(t, { files })
  const {
    body: { file_hash: hash }
  } = await server.call('POST', '/inspect', { body: { path: 'a.txt' } })
  const create = { path: 'a.txt', content: 'new\n' }
  const exists = {
    code: 'ALREADY_EXISTS',
    file_hash: hash,
    retry: 'after_read',
    suggested_fixes: [{ type: 'READ_FILE', example: 'POST /inspect {"path":"a.txt"}' }]
  }
  await check(t, server, '/create', create, 409, {
    ...exists,
    detail: [
      'a.txt already exists. Nothing was written. To change part of it, use /edit.',
      'To replace all of it, read it first, then send the same request with "overwrite": true,',
      `"expected_hash": "${hash}".`
    ].join(' ')
  })
  await check(t, server, '/create', { ...create, overwrite: true }, 409, {
    ...exists,
    detail: /overwrite: true also requires the expected_hash/
  })
  await check(t, server, '/create', { ...create, expected_hash: hash }, 409, {
    ...exists,
    detail: /overwrite is not true/
  })
  await check(
    t,
    server,
    '/create',
    create,
    409,
    { ...exists, detail: /overwrite is not true/ },
    { 'if-match': `"${hash}"` }
  )
  await check(t, server, '/create', { ...create, overwrite: true, expected_hash: '0123456789abcdef' }, 409, {
    code: 'STALE_FILE',
    file_hash: hash
  })
  await check(
    t,
    server,
    '/create',
    { ...create, overwrite: true },
    412,
    { code: 'STALE_FILE' },
    { 'if-match': '"0123456789abcdef"' }
  )
  await check(
    t,
    server,
    '/create',
    create,
    412,
    { ...exists, detail: /If-None-Match: \* requires a new file.* and without If-None-Match\.$/ },
    { 'if-none-match': '*' }
  )
  await check(t, server, '/create', { ...create, overwrite: true, expected_hash: hash }, 412, exists, {
    'if-none-match': '*'
  })
  for (const [name, value] of [
    ['if-none-match', `"${hash}"`],
    ['if-none-match', 'W/"x"']
  ] as const) {
    await check(
      t,
      server,
      '/create',
      create,
      400,
      { code: 'INVALID_REQUEST', detail: /If-None-Match may only be \*/ },
      { [name]: value }
    )
  }
  await check(
    t,
    server,
    '/create',
    create,
    400,
    { code: 'INVALID_REQUEST', detail: /mutually exclusive/ },
    { 'if-none-match': '*', 'if-match': `"${hash}"` }
  )
  await check(
    t,
    server,
    '/create',
    { path: 'new.txt', content: 'new\n' },
    400,
    { code: 'INVALID_REQUEST', detail: /If-Match may not be \* where a file may be created/ },
    { 'if-match': '*' }
  )
  t.equal(bytesOf(server, 'a.txt'), 'old\n')
  await check(
    t,
    server,
    '/create',
    { ...create, overwrite: true, dry_run: true },
    200,
    {
      created: false,
      message: 'Would replace the whole content of a.txt (1 line, 4 bytes); nothing was written.',
      file_hash: hash,
      hash_before: hash
    },
    { 'if-match': `"${hash}"` }
  )
  await check(t, server, '/create', { ...create, overwrite: true, expected_hash: hash, show_diff: true }, 200, {
    created: false,
    message: 'Replaced the whole content of a.txt (1 line, 4 bytes).',
    hash_before: hash,
    changes: [{ operation: 'replace' }],
    diff: /^--- a\/a\.txt\n/
  })
  t.equal(bytesOf(server, 'a.txt'), 'new\n')
  const {
    body: { file_hash: now }
  } = await check(
    t,
    server,
    '/create',
    { path: 'c.txt', content: '' },
    200,
    { created: true },
    { 'if-none-match': '*' }
  )
  await check(t, server, '/create', { path: 'c.txt', content: '', overwrite: true, expected_hash: now }, 200, {
    changed: false,
    created: false,
    message: /already has exactly this content/
  })
})

t.test('makes nothing through a broken link', async t => {
  const server = await startServer(t, { files })
  symlinkSync('nowhere', join(server.root, 'dangling'))
  await check(t, server, '/create', { path: 'dangling', content: 'x' }, 409, {
    code: 'ALREADY_EXISTS',
    file_hash: undefined,
    detail: /may be a broken link\. Nothing was written\. Choose another path\./
  })
  t.notOk(existsSync(join(server.root, 'nowhere')))
})

t.test('refuses what can not be made', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/create', { path: 'no/b.txt', content: '', create_parents: false }, 404, {
    code: 'FILE_NOT_FOUND',
    detail: /^The directory for no\/b\.txt was not found\. Nothing was written\. Set create_parents to true/
  })
  await check(t, server, '/create', { path: 'a.txt/b.txt', content: '' }, 422, {
    code: 'NOT_A_FILE',
    detail: /^Part of the path a\.txt\/b\.txt is not a directory/
  })
  await check(t, server, '/create', { path: 'src', content: '' }, 422, {
    code: 'NOT_A_FILE',
    detail: /^src is a directory/
  })
  await check(t, server, '/create', { path: '../b', content: '' }, 403, { code: 'PATH_NOT_ALLOWED' })
  await check(t, server, '/create', { path: '.git/hooks/x', content: '' }, 403, { code: 'PROTECTED_PATH' })
  await check(
    t,
    server,
    '/create',
    { path: 'gone.txt', content: '', overwrite: true, expected_hash: '0123456789abcdef' },
    404,
    { code: 'FILE_NOT_FOUND' }
  )
  const invalid = (request: object, pointer: string, message: string | RegExp) =>
    check(t, server, '/create', { path: 'b', content: '', ...request }, 400, {
      code: 'INVALID_REQUEST',
      errors: [{ pointer, message }]
    })
  await invalid({ content: undefined }, '/content', 'is missing')
  await invalid({ content: null }, '/content', 'must be a string, not null')
  await invalid({ line_endings: 'lf' }, '/line_endings', 'must be "adapt" or "exact"')
  await invalid({ new_text: '' }, '/new_text', /^is an unknown field/)
  const strict = await startServer(t, { files, settings: { maxFileSize: 10 } })
  await check(t, strict, '/create', { path: 'b', content: 'x'.repeat(11) }, 422, {
    code: 'RESULT_TOO_LARGE',
    limit: 10
  })
  const closed = await startServer(t, { files, settings: { readOnly: true } })
  await check(t, closed, '/create', { path: 'b', content: '' }, 403, { code: 'READ_ONLY' })
})

t.test('lets one of a hundred make a name', async t => {
  const server = await startServer(t, { files })
  mkdirSync(join(server.root, 'race'))
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      server.call('POST', '/create', { body: { path: 'race/one.txt', content: `by ${i}\n` } })
    )
  )
  const winners = replies.flatMap(({ status }, i) => (status === 200 ? [i] : []))
  t.equal(winners.length, 1)
  t.strictSame(
    replies
      .filter(({ status }) => status !== 200)
      .map(({ body }) => body.code)
      .filter(code => code !== 'ALREADY_EXISTS'),
    []
  )
  t.equal(bytesOf(server, 'race/one.txt'), `by ${winners[0]}\n`)
  t.strictSame(readdirSync(join(server.root, 'race')), ['one.txt'])
})

t.test('refuses names that are hardly meant as they are, with what is meant, unless they are meant so', async t => {
  const server = await startServer(t, { files: { 'a%20b': { 'x.md': '' }, 'old.md': 'old\n', 'q"': {} } })
  const root = server.root
  /** `meant`: the path that is offered; null: none is. */
  const odd = async (path: string, meant: string | null, why: RegExp) => {
    const { body } = await check(t, server, '/create', { path, content: 'x\n' }, 400, {
      code: 'INVALID_PATH',
      detail: why,
      errors: [{ pointer: '/path' }],
      did_you_mean: meant === null ? undefined : [meant],
      suggested_fixes: meant === null ? undefined : [{ type: 'FIX_PATH' }]
    })
    t.match(
      body.detail,
      meant === null ? /Send a path relative/ : `Send it again with the path ${JSON.stringify(meant)}.`
    )
    await check(t, server, '/preview', { operation: 'create', path, content: 'x\n' }, 400, { code: 'INVALID_PATH' })
    const operations = [{ operation: 'create', path, content: 'x\n' }]
    await check(t, server, '/batch', { operations }, 400, { code: 'INVALID_PATH', operation_index: 0 })
  }
  await odd('new.md\n', 'new.md', /has a line break or another control character/)
  await odd('a\nb.md', null, /control character, which no path here may have\. Nothing was written\. Send a path/)
  await odd(' src/new.md ', 'src/new.md', /begins or ends with white space/)
  await odd('"src/new.md"', 'src/new.md', /in quotes or backticks.*literal_path: true\.$/)
  await odd('`new.md`', 'new.md', /in quotes/)
  await odd('src\\new.md', 'src/new.md', /backslashes/)
  await odd('C:\\x.md', 'x.md', /drive/)
  await odd('C:\\Users\\me\\x.md', null, /drive/)
  await odd('file:///x.md', 'x.md', /is a URL/)
  await odd(`file://${root}/x%20y.md`, `${root}/x y.md`, /is a URL/)
  await odd('~/x.md', 'x.md', /begins with ~/)
  await odd('dir%20a/x.md', 'dir a/x.md', /percent-encoded/)
  await odd('a%20b/y%20z.md', 'a%20b/y z.md', /percent-encoded/)
  await odd('""', null, /in quotes/)
  const make = { content: 'x\n' }
  await check(t, server, '/create', { ...make, path: 'a%20b/y.md' }, 200, { created: true })
  for (const path of ['100%.md', 'x%zz.md', 'a%ff.md', "it's.md", 'a:b.md', '~x.md', 'q"/r.md']) {
    await check(t, server, '/create', { ...make, path }, 200, { created: true })
  }
  for (const path of ['src\\new.md', 'c%20d/e.md', 'C:\\x.md', '"q"', '~/f.md']) {
    const { body } = await check(t, server, '/create', { ...make, path, literal_path: true }, 200, { created: true })
    t.ok(existsSync(join(root, path)), path)
    // What was there is made again without a word.
    await check(t, server, '/undo', { edit_id: body.edit_id }, 200, {})
    await check(t, server, '/redo', { edit_id: body.edit_id }, 200, {})
    t.ok(existsSync(join(root, path)), path)
  }
  await check(t, server, '/create', { ...make, path: 'a\tb', literal_path: true }, 400, { code: 'INVALID_PATH' })
  const text = await server.call('POST', '/tools/create_file', {
    body: { path: 'src\\n.md', content: 'x\n' },
    headers: { accept: 'text/plain' }
  })
  t.equal(
    text.text,
    [
      `"src\\\\n.md" can't be created: path has backslashes, which do not separate directories here. [INVALID_PATH]`,
      'If so, send:',
      '{"path":"src/n.md","content":"x\\n"}',
      'If the name is meant as it is, send it again with literal_path: true.'
    ].join('\n')
  )
  await check(t, server, '/tools/create_file', { ...make, path: 'src\\n.md', literal_path: true }, 200, {})
  const patch = ['*** Begin Patch', '*** Add File: src\\m.md', '+x', '*** End Patch'].join('\n')
  const codex = await server.call('POST', '/adapters/codex-apply-patch', { body: { input: patch } })
  t.match(codex.text, /backslashes.*src\/m\.md/)
  t.notMatch(codex.text, /literal_path/)
  const move = ['*** Begin Patch', '*** Update File: old.md', '*** Move to: src\\old.md', '*** End Patch'].join('\n')
  t.match(
    (await server.call('POST', '/adapters/codex-apply-patch', { body: { input: move } })).text,
    /src\/old\.md|backslash|delete/
  )
  const view = await server.call('POST', '/adapters/anthropic-text-editor', {
    body: { command: 'create', path: 'src\\e.md', file_text: 'x\n' }
  })
  t.match(view.text, /backslashes.*src\/e\.md/s)
  t.notMatch(view.text, /literal_path/)
})
