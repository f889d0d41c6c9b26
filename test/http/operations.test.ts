// /edit and /capabilities over HTTP, on real files, and what all operations have in common: fields, modes,
// preconditions, answers.
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bytesOf, check, startServer } from './test-server.ts'

const APP = 'import x\n\nconst foo = 1\nconst bar = 1\n'
const files = { src: { 'app.ts': APP }, 'empty.txt': '', 'crlf.txt': 'a\r\nb\r\n' }

t.test('edits, and says what changed', async t => {
  const server = await startServer(t, { files })
  const before = await check(t, server, '/inspect', { path: 'src/app.ts' }, 200, {
    total_lines: 4,
    language: 'typescript',
    line_ending: 'lf',
    ends_with_newline: true,
    bom: false,
    encoding: 'ascii',
    type: 'file',
    content: APP
  })
  const done = await check(
    t,
    server,
    '/edit',
    {
      path: 'src/app.ts',
      old_text: 'foo = 1',
      new_text: 'foo = $&\n',
      show_diff: true,
      expected_hash: before.body.file_hash
    },
    200,
    {
      path: 'src/app.ts',
      message: 'Successfully replaced 1 occurrence in src/app.ts (line 3).',
      changed: true,
      dry_run: false,
      changes: [{ start_line: 3, lines_added: 2, context: { before_lines: ['import x', ''] } }],
      hash_before: before.body.file_hash,
      diff: /^--- a\/src\/app\.ts\n\+\+\+ b\/src\/app\.ts\n@@/,
      diff_truncated: false,
      warnings: [],
      new_hash: undefined,
      note: undefined
    }
  )
  t.equal(
    bytesOf(server, 'src/app.ts'),
    APP.replace('foo = 1', () => 'foo = $&\n')
  )
  t.not(done.body.file_hash, before.body.file_hash)
  t.strictSame(Object.keys(done.body).slice(0, 5), ['path', 'message', 'changed', 'dry_run', 'total_replacements'])
  await check(
    t,
    server,
    '/edit',
    { path: 'src/app.ts', old_text: 'bar', new_text: 'baz', dry_run: true, show_diff: true },
    200,
    {
      path: 'src/app.ts',
      message: /^Would replace 1 occurrence in src\/app\.ts/,
      new_hash: /^[0-9a-f]{16}$/,
      file_hash: done.body.file_hash,
      diff: /^--- a\/src\/app\.ts\n/,
      changes: [{ old_content: 'bar', new_content: 'baz' }]
    }
  )
  await check(t, server, '/edit', { path: 'src/app.ts', old_text: 'bar', new_text: 'bar' }, 200, {
    changed: false,
    message: 'The file already has exactly this content; nothing was written.',
    file_hash: done.body.file_hash
  })
  await check(t, server, '/edit', { path: 'src/app.ts', old_text: 'const ', new_text: '', occurrence: 'last' }, 200, {
    message: 'Successfully deleted 1 occurrence from src/app.ts (line 5).',
    note: 'old_text also appears at line 3, which was left unchanged.'
  })
  await check(
    t,
    server,
    '/edit',
    { path: 'crlf.txt', old_text: 'a\nb', new_text: 'c\nd', context_lines: 0, max_diff_lines: 1 },
    200,
    { edits_applied: [{ matched_with: 'line_endings' }] }
  )
  t.equal(bytesOf(server, 'crlf.txt'), 'c\r\nd\r\n')
  await check(t, server, '/edit', { path: 'crlf.txt', old_text: 'c\nd', new_text: '', line_endings: 'exact' }, 422, {
    code: 'NO_MATCH'
  })
})

t.test('makes many edits, or none', async t => {
  const server = await startServer(t, { files })
  await check(
    t,
    server,
    '/edit',
    {
      path: 'src/app.ts',
      edits: [
        { old_text: 'foo', new_text: 'one' },
        { old_text: 'nowhere', new_text: '' },
        { old_text: 'bar', new_text: 'two' }
      ]
    },
    422,
    {
      code: 'NO_MATCH',
      edit_index: 1,
      total_edits: 3,
      detail: /^Edit 2 of 3 failed: old_text was not found/,
      path: 'src/app.ts',
      file_hash: String
    }
  )
  t.equal(bytesOf(server, 'src/app.ts'), APP)
  await check(
    t,
    server,
    '/edit',
    {
      path: 'src/app.ts',
      edits: [
        { old_text: 'foo', new_text: 'one' },
        { old_text: '= 1', new_text: '= 2', replace_all: true }
      ],
      replace_all: false
    },
    200,
    { total_replacements: 3, edits_applied: [{ edit_index: 0 }, { edit_index: 1, occurrences_replaced: 2 }] }
  )
  await check(t, server, '/edit', { path: 'src/app.ts', old_text: '= 2', new_text: '= 3' }, 422, {
    code: 'WRONG_COUNT',
    actual_occurrences: 2,
    match_lines: [3, 4]
  })
  await check(t, server, '/edit', { path: 'src/app.ts', old_text: '= 2', new_text: '= 3', occurrence: 3 }, 422, {
    code: 'OCCURRENCE_OUT_OF_RANGE'
  })
  await check(t, server, '/edit', { path: 'src/app.ts', old_text: '= 2', new_text: '= 3', occurrences: 2 }, 200, {
    total_replacements: 2
  })
})

t.test('refuses requests that could mean two things', async t => {
  const server = await startServer(t, { files, settings: { maxEdits: 2 } })
  const one = { old_text: 'foo', new_text: 'one' }
  const invalid = (request: object, ...errors: { pointer: string; message: string | RegExp }[]) =>
    check(t, server, '/edit', request, 400, { code: 'INVALID_REQUEST', errors })
  await check(t, server, '/edit', { path: 'src/app.ts', ...one, edits: [one] }, 400, {
    code: 'MIXED_MODES',
    detail: /edits as well as old_text and new_text at the top level/
  })
  await check(t, server, '/edit', { path: 'src/app.ts', occurrence: 1, edits: [one] }, 400, { code: 'MIXED_MODES' })
  await check(t, server, '/edit', { path: 'src/app.ts' }, 400, { code: 'NO_EDITS', path: 'src/app.ts' })
  await check(t, server, '/edit', { path: 'src/app.ts', edits: [] }, 400, { code: 'NO_EDITS' })
  await check(t, server, '/edit', { path: 'src/app.ts', edits: null, old_text: null, new_text: null }, 400, {
    code: 'NO_EDITS'
  })
  await check(t, server, '/edit', { path: 'src/app.ts', edits: [one, one, one] }, 400, {
    code: 'TOO_MANY_EDITS',
    limit: 2,
    actual: 3
  })
  await check(t, server, '/edit', { path: 'src/app.ts', old_text: '', new_text: 'x' }, 400, {
    code: 'EMPTY_OLD_TEXT',
    edit_index: undefined
  })
  await check(t, server, '/edit', { path: 'src/app.ts', edits: [one, { old_text: '', new_text: 'x' }] }, 400, {
    code: 'EMPTY_OLD_TEXT',
    edit_index: 1,
    total_edits: 2,
    detail: /^Edit 2 of 2 failed: old_text is empty/
  })
  await check(t, server, '/edit', { path: '', ...one }, 400, { code: 'INVALID_PATH', detail: /path is empty/ })
  await check(t, server, '/edit', { path: 'a/'.repeat(3000), ...one }, 400, {
    code: 'INVALID_PATH',
    detail: /is too long, or one of its names is/
  })
  await invalid(
    { path: 'src/app.ts', old_text: 'foo' },
    {
      pointer: '/new_text',
      message: 'is missing; send "" to delete old_text'
    }
  )
  await invalid({ path: 'src/app.ts', new_text: 'foo' }, { pointer: '/old_text', message: 'is missing' })
  await invalid(
    { path: 'src/app.ts', edits: [{ old_text: 'foo', new_text: null }] },
    { pointer: '/edits/0/new_text', message: 'must be a string, not null; send "" to delete old_text' }
  )
  await invalid(
    { path: 'src/app.ts', edits: [{ new_text: '' }, null] },
    { pointer: '/edits/0/old_text', message: 'is missing' },
    { pointer: '/edits/1', message: 'must be an object, not null' }
  )
  await invalid({ path: null, ...one }, { pointer: '/path', message: 'must be a string, not null' })
  await invalid({ ...one }, { pointer: '/path', message: 'is missing' })
  await invalid(
    { path: 'src/app.ts', ...one, replace_all: true, occurrence: 'first' },
    { pointer: '/occurrence', message: /combined with replace_all/ }
  )
  await invalid(
    { path: 'src/app.ts', edits: [one, { ...one, replace_all: true, occurrence: 1 }] },
    { pointer: '/edits/1/occurrence', message: /combined with replace_all/ }
  )
  await invalid(
    { path: 'src/app.ts', old_txt: 'foo', new_text: '' },
    { pointer: '/old_txt', message: 'is an unknown field (did you mean old_text?)' }
  )
  await invalid(
    { path: 'src/app.ts', ...one, replacesAll: true },
    { pointer: '/replacesAll', message: 'is an unknown field (did you mean replace_all?)' }
  )
  await invalid(
    { path: 'src/app.ts', edits: [{ ...one, 'a/b': 1 }] },
    {
      pointer: '/edits/0/a~1b',
      message: /^is an unknown field \(known fields: old_text, new_text, occurrences, replace_all, occurrence\)$/
    }
  )
  await invalid(
    { path: 'src/app.ts', edits: [{ ...one, occurrences: 1, replace_all: false, occurrence: 1, more: 1 }] },
    { pointer: '/edits/0/more', message: 'is an unknown field' }
  )
  for (const field of ['batch_id', 'edit_id', 'structure', 'zzzzzzzzzzzzzzzz']) {
    await invalid(
      { path: 'src/app.ts', ...one, [field]: null },
      { pointer: `/${field}`, message: /^is an unknown field/ }
    )
  }
  await invalid(
    { path: 'src/app.ts', ...one, dry_run: 'yes' },
    { pointer: '/dry_run', message: 'must be true or false, not a string' }
  )
  await invalid({ path: ['a'], ...one }, { pointer: '/path', message: 'must be a string, not a list' })
  await invalid({ path: {}, ...one }, { pointer: '/path', message: 'must be a string, not an object' })
  await invalid({ path: 'src/app.ts', edits: 1 }, { pointer: '/edits', message: 'must be a list, not a whole number' })
  await invalid(
    { path: 'src/app.ts', ...one, occurrences: 1.5 },
    { pointer: '/occurrences', message: 'must be a whole number, not 1.5' }
  )
  await invalid(
    { path: 'src/app.ts', ...one, occurrences: 'two' },
    { pointer: '/occurrences', message: 'must be a whole number, not a string' }
  )
  await invalid(
    { path: 'src/app.ts', ...one, occurrences: 0 },
    { pointer: '/occurrences', message: 'must be at least 1' }
  )
  await invalid(
    { path: 'src/app.ts', ...one, context_lines: 21 },
    { pointer: '/context_lines', message: 'must be at most 20' }
  )
  await invalid(
    { path: 'src/app.ts', ...one, line_endings: 'lf' },
    { pointer: '/line_endings', message: 'must be "adapt" or "exact"' }
  )
  await invalid(
    { path: 'src/app.ts', ...one, occurrence: 'second' },
    { pointer: '/occurrence', message: 'must be "first", "last", "all" or a whole number from 1' }
  )
  await invalid(
    { path: '', old_text: '', new_text: 1 },
    { pointer: '/path', message: 'must not be empty' },
    { pointer: '/old_text', message: 'must not be empty' },
    { pointer: '/new_text', message: 'must be a string, not a whole number' }
  )
  await check(
    t,
    server,
    '/edit',
    { path: 'src/app.ts', ...one },
    400,
    { errors: [{ pointer: '', message: /must be one quoted file hash/ }] },
    { 'if-match': 'x'.repeat(1001) }
  )
  await invalid(
    { path: 'src/app.ts', ...one, expected_hash: 'ABC' },
    {
      pointer: '/expected_hash',
      message: 'must be the file_hash or sha256 of an answer: 16 to 64 hex digits in lower case'
    }
  )
  t.equal(bytesOf(server, 'src/app.ts'), APP)
})

t.test('takes null in an optional field as leaving it out', async t => {
  const server = await startServer(t, { files })
  await check(
    t,
    server,
    '/edit',
    {
      path: 'src/app.ts',
      old_text: null,
      new_text: null,
      occurrences: null,
      replace_all: null,
      occurrence: null,
      edits: [{ old_text: 'foo', new_text: 'one', occurrences: null, replace_all: null, occurrence: null }],
      expected_hash: null,
      dry_run: null,
      show_diff: null,
      max_diff_lines: null,
      context_lines: null,
      line_endings: null
    },
    200,
    { changed: true }
  )
  await check(
    t,
    server,
    '/inspect',
    { path: 'src/app.ts', start_line: null, end_line: null, start_column: null, numbered: null, facts: null },
    200,
    { content: 'import x\n\nconst one = 1\nconst bar = 1\n' }
  )
})

t.test('compares hashes, by body or by header', async t => {
  const server = await startServer(t, { files })
  const {
    body: { file_hash: hash }
  } = await server.call('POST', '/inspect', { body: { path: 'src/app.ts' } })
  const other = '0123456789abcdef'
  const edit = { path: 'src/app.ts', old_text: 'foo', new_text: 'one', dry_run: true }
  await check(t, server, '/edit', { ...edit, expected_hash: other }, 409, {
    code: 'STALE_FILE',
    file_hash: hash,
    expected_hash: other,
    retry: 'after_read'
  })
  for (const [tags, status] of [
    [`"${hash}"`, 200],
    ['*', 200],
    [`"${other}"`, 412],
    [`"${other}", "${hash}"`, 400],
    [`W/"${hash}"`, 400],
    [String(hash), 400],
    ['"abc"', 400],
    [`"${hash}",`, 400]
  ] as const) {
    await check(
      t,
      server,
      '/edit',
      edit,
      status,
      status === 200 ? { changed: true } : { code: status === 412 ? 'STALE_FILE' : 'INVALID_REQUEST' },
      { 'if-match': tags }
    )
  }
  await check(t, server, '/edit', { ...edit, expected_hash: hash }, 200, {}, { 'if-match': `"${hash}"` })
  await check(
    t,
    server,
    '/edit',
    { ...edit, expected_hash: other },
    400,
    { code: 'INVALID_REQUEST', detail: /different hashes/ },
    { 'if-match': `"${hash}"` }
  )
  await check(
    t,
    server,
    '/edit',
    edit,
    400,
    { code: 'INVALID_REQUEST', detail: /is only for the operation that creates/ },
    { 'if-none-match': '*' }
  )
  await check(
    t,
    server,
    '/inspect',
    { path: 'src/app.ts' },
    400,
    { code: 'INVALID_REQUEST', detail: /is only for operations that edit/ },
    { 'if-match': '*' }
  )
  const strict = await startServer(t, { files, settings: { requireHash: true } })
  await check(t, strict, '/edit', edit, 428, {
    code: 'PRECONDITION_REQUIRED',
    file_hash: hash,
    suggested_fixes: [{ type: 'READ_FILE' }]
  })
  await check(t, strict, '/edit', { ...edit, expected_hash: hash }, 200, {})
})

t.test('warns of two line breaks that have become one', async t => {
  const server = await startServer(t, { files: { 'mixed.txt': 'a\rX\nb\n' } })
  const warnings = (would: boolean) => [
    would
      ? /^The edit would bring a carriage return .* would have 1 line fewer/
      : /^The edit brought a carriage return \(\\r\) and a line feed \(\\n\) together at the end of line 1\. .* has 1 line fewer/
  ]
  const edit = { path: 'mixed.txt', old_text: 'X', new_text: '' }
  await check(t, server, '/preview', { operation: 'edit', ...edit }, 200, { warnings: warnings(true) })
  await check(t, server, '/edit', edit, 200, { total_lines_before: 3, total_lines_after: 2, warnings: warnings(false) })
  t.equal(bytesOf(server, 'mixed.txt'), 'a\r\nb\n')
  await check(t, server, '/edit', { path: 'mixed.txt', old_text: 'a', new_text: 'c' }, 200, { warnings: [] })
  await check(t, server, '/create', { path: 'lines.txt', content: 'a\rb\n\nc\n' }, 200, { warnings: [] })
  await check(t, server, '/edit-lines', { path: 'lines.txt', start_line: 2, end_line: 2, new_text: '' }, 200, {
    total_lines_before: 4,
    total_lines_after: 2,
    warnings: warnings(false)
  })
})

t.test('warns of a byte-order mark that is put in where it is none', async t => {
  const server = await startServer(t)
  const warning =
    /^new_text begins with a byte-order mark \(U\+FEFF\), which was written literally: .* send an edit that removes it\.$/
  const cases: [name: string, file: string, route: string, edit: object, result: string, warned: boolean][] = [
    [
      'behind the mark of the file',
      '\ufeffa\n',
      '/edit',
      { old_text: 'a', new_text: '\ufeffb' },
      '\ufeff\ufeffb\n',
      true
    ],
    [
      'in a line that is replaced',
      '\ufeffa\n',
      '/edit-lines',
      { start_line: 1, end_line: 1, new_text: '\ufeffb' },
      '\ufeff\ufeffb\n',
      true
    ],
    [
      'in a line that is inserted',
      '\ufeffa\n',
      '/edit-lines',
      { start_line: 1, end_line: 0, new_text: '\ufeffb' },
      '\ufeff\ufeffb\na\n',
      true
    ],
    [
      'in the middle, at several places',
      'x a a\n',
      '/edit',
      { old_text: 'a', new_text: '\ufeffb', replace_all: true },
      'x \ufeffb \ufeffb\n',
      true
    ],
    ['at the start of a file without one', 'a\n', '/edit', { old_text: 'a', new_text: '\ufeffb' }, '\ufeffb\n', false],
    ['in place of the mark', '\ufeffa\n', '/edit', { old_text: '\ufeffa', new_text: '\ufeffb' }, '\ufeffb\n', false],
    ['in place of another', 'x\ufeffa\n', '/edit', { old_text: '\ufeffa', new_text: '\ufeffb' }, 'x\ufeffb\n', false]
  ]
  for (const [name, file, route, edit, result, warned] of cases) {
    writeFileSync(join(server.root, 'f.txt'), file)
    const { body } = await check(t, server, route, { path: 'f.txt', ...edit }, 200, {
      warnings: warned ? [warning] : []
    })
    t.equal((body.warnings as string[]).length, warned ? 1 : 0, name)
    t.equal(bytesOf(server, 'f.txt'), result, name)
  }
  await check(t, server, '/create', { path: 'new.txt', content: '\ufeffa\n' }, 200, { warnings: [] })
  await check(t, server, '/edit', { path: 'new.txt', old_text: 'a', new_text: '\ufeffa', dry_run: true }, 200, {
    warnings: [/which would be written literally: .* an invisible character\. Leave it out\.$/]
  })
})

t.test('says what can not be edited, and why', async t => {
  const server = await startServer(t, { files })
  const edit = { old_text: 'a', new_text: 'b' }
  writeFileSync(join(server.root, 'bin'), Buffer.from([0x61, 0, 0x62]))
  await check(t, server, '/inspect', { path: 'bin', start_line: 1 }, 200, {
    encoding: 'binary',
    file_size: 3,
    total_lines: undefined,
    content: undefined,
    message: "bin is a binary file (binary) of 3 bytes: it has no lines and can't be edited."
  })
  await check(t, server, '/edit', { path: 'bin', ...edit }, 415, { code: 'BINARY_FILE', file_hash: String })
  await check(t, server, '/edit', { path: 'src', ...edit }, 422, {
    code: 'NOT_A_FILE',
    detail: /src is a directory, not a file\. Send the path of a file in it; POST \/inspect {"path":"src"} lists them/
  })
  const asFolder = {
    code: 'NOT_A_FILE',
    path: 'src/app.ts',
    file_hash: String,
    did_you_mean: ['src/app.ts'],
    suggested_fixes: [{ type: 'FIX_PATH' }],
    detail:
      /^src\/app\.ts is a file, but the path ends in \/, \. or \.\., as only a directory's can\. Send src\/app\.ts\.$/
  }
  for (const [route, body] of Object.entries({
    '/edit': edit,
    '/edit-lines': { start_line: 1, end_line: 1, new_text: 'x' },
    '/edit-section': { action: 'append', symbol: 'foo', new_text: 'x' },
    '/create': { content: 'x' },
    '/preview': { operation: 'edit', ...edit },
    '/inspect': {}
  })) {
    for (const more of route === '/inspect' || route === '/preview' ? [{}] : [{}, { dry_run: true }]) {
      await check(t, server, route, { path: 'src/app.ts/', ...body, ...more }, 422, asFolder)
    }
  }
  await check(t, server, '/inspect', { path: 'src/' }, 200, { type: 'directory', path: 'src' })
  await check(t, server, '/edit', { path: 'src/ap.ts', ...edit }, 404, {
    code: 'FILE_NOT_FOUND',
    did_you_mean: ['src/app.ts']
  })
  await check(t, server, '/edit', { path: '../x', ...edit }, 403, { code: 'PATH_NOT_ALLOWED', did_you_mean: undefined })
  await check(t, server, '/edit', { path: '/workspace/src/app.ts', ...edit }, 403, {
    code: 'PATH_NOT_ALLOWED',
    did_you_mean: ['src/app.ts'],
    suggested_fixes: [{ type: 'FIX_PATH', example: 'POST /inspect {"path":"src/app.ts"}' }],
    detail:
      '/workspace/src/app.ts is outside the workspace. Paths are relative to the workspace root. ' +
      'Did you mean src/app.ts?'
  })
  for (const path of ['src\\app.ts', 'src/app', 'workspace/src/app.ts']) {
    await check(t, server, '/edit', { path, ...edit }, 404, { did_you_mean: ['src/app.ts'] })
  }
  await check(t, server, '/edit', { path: '.git/config', ...edit }, 403, { code: 'PROTECTED_PATH' })
  await check(t, server, '/inspect', { path: '.git/config' }, 403, { code: 'PROTECTED_PATH' })
  const strict = await startServer(t, {
    files,
    settings: { readOnly: true, allowExtensions: ['.ts'], maxFileSize: 50 }
  })
  await check(t, strict, '/edit', { path: 'src/app.ts', ...edit }, 403, { code: 'READ_ONLY' })
  await check(t, strict, '/inspect', { path: 'crlf.txt' }, 403, {
    code: 'PATH_NOT_ALLOWED',
    detail: /Allowed extensions are \.ts/
  })
  writeFileSync(join(strict.root, 'big.ts'), 'x'.repeat(51))
  await check(t, strict, '/inspect', { path: 'big.ts' }, 413, { code: 'FILE_TOO_LARGE', limit: 50, actual: 51 })
  const small = await startServer(t, { files, settings: { maxFileSize: 50 } })
  await check(t, small, '/edit', { path: 'src/app.ts', old_text: 'foo', new_text: 'x'.repeat(60) }, 422, {
    code: 'RESULT_TOO_LARGE',
    limit: 50
  })
})

t.test('follows links', async t => {
  const server = await startServer(t, { files })
  symlinkSync('src/app.ts', join(server.root, 'link'))
  await check(t, server, '/inspect', { path: 'link' }, 200, {
    path: 'link',
    resolved_path: 'src/app.ts',
    language: 'typescript'
  })
  await check(t, server, '/inspect', { path: 'link', start_line: 9 }, 422, {
    path: 'link',
    resolved_path: 'src/app.ts'
  })
  await check(t, server, '/edit', { path: 'link', old_text: 'foo', new_text: 'one' }, 200, {
    path: 'link',
    resolved_path: 'src/app.ts'
  })
})

t.test('keeps to the modes of files', async t => {
  const server = await startServer(t, { files })
  const edit = { old_text: 'a', new_text: 'b' }
  chmodSync(join(server.root, 'empty.txt'), 0o444)
  await check(t, server, '/edit', { path: 'empty.txt', ...edit }, 403, { code: 'PERMISSION_DENIED' })
})

t.test('takes an absolute path below the root', async t => {
  const server = await startServer(t, { files })
  const path = join(server.root, 'src/app.ts')
  await check(t, server, '/edit', { path, old_text: 'bar', new_text: 'baz' }, 200, { path: 'src/app.ts' })
})

t.test('distinguishes a file that is busy from one that changed', async t => {
  const server = await startServer(t, {
    files,
    replace: {
      edit: async ({ path }) => ({
        ok: false,
        failure: path === 'busy' ? { code: 'FILE_LOCKED', reason: 'timeout', retry_after: 2 } : { code: 'NO_SPACE' },
        path
      })
    }
  })
  const edit = { old_text: 'a', new_text: 'b' }
  t.equal(
    (
      await check(t, server, '/edit', { path: 'busy', ...edit }, 423, { code: 'FILE_LOCKED', retry: 'after_delay' })
    ).headers.get('retry-after'),
    '2'
  )
  await check(t, server, '/edit', { path: 'full', ...edit }, 507, { code: 'NO_SPACE' })
})

t.test('reports its capabilities', async t => {
  const server = await startServer(t, { settings: { maxEdits: 7, readOnly: true } })
  const { body } = await server.call('GET', '/capabilities')
  t.match(body, {
    name: 'editd',
    version: /^\d/,
    operations: [
      { name: 'edit_file', route: '/edit' },
      { name: 'edit_lines', route: '/edit-lines' },
      { name: 'edit_section', route: '/edit-section' },
      { name: 'preview_edit', route: '/preview' },
      { name: 'batch_edit', route: '/batch' },
      { name: 'replace_in_files', route: '/replace' },
      { name: 'create_file', route: '/create' },
      { name: 'delete_file', route: '/delete' },
      { name: 'move_file', route: '/move' },
      { name: 'inspect_file', route: '/inspect' }
    ],
    limits: {
      max_edits: 7,
      max_file_size: 100_000_000,
      max_lines: 2000,
      max_content_bytes: 65_536,
      max_entries: 500,
      max_matches: 200
    },
    root: { read_only: true, allowed_extensions: null }
  })
})

t.test('says in which encoding it wrote text that is not ASCII where a file is not UTF-8', async t => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1')
  const server = await startServer(t, {
    files: {
      'a.md': latin1('# Caf\xe9\n\n## Port\n\n80\n'),
      'b.md': latin1('# Caf\xe9\n\nport\n'),
      'c.md': latin1('# Caf\xe9\n\nport\n')
    }
  })
  const answer = {
    warnings: [/^The file is not UTF-8: it seems to be windows-1252, and so "é" w.* written in that encoding\./]
  }
  const plain = { warnings: [] }
  await check(t, server, '/edit', { path: 'b.md', old_text: 'port', new_text: 'é', dry_run: true }, 200, answer)
  await check(t, server, '/edit', { path: 'b.md', old_text: 'port', new_text: 'porté' }, 200, answer)
  t.equal(bytesOf(server, 'b.md'), latin1('# Caf\xe9\n\nport\xe9\n').toString())
  await check(t, server, '/edit', { path: 'b.md', old_text: 'porté', new_text: 'port' }, 200, plain)
  await check(t, server, '/edit-lines', { path: 'c.md', start_line: 3, end_line: 3, new_text: 'é' }, 200, answer)
  await check(t, server, '/edit-lines', { path: 'c.md', start_line: 3, end_line: 3, new_text: 'é' }, 200, {
    ...plain,
    changed: false
  })
  const section = { path: 'a.md', action: 'replace', heading: 'Port', new_text: 'é' }
  await check(t, server, '/edit-section', section, 200, answer)
})
