// /inspect over HTTP: facts, windows, matches and directories.
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeOperations } from '../../src/operations.ts'
import { Workers } from '../../src/workers/workers.ts'
import { check, startServer } from './test-server.ts'

const APP = 'import x\n\nconst foo = 1\nconst bar = 1\n'
const files = { src: { 'app.ts': APP }, 'empty.txt': '', 'crlf.txt': 'a\r\nb\r\n' }

t.test('shows windows of lines', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/inspect', { path: 'src/app.ts', start_line: 3, end_line: 99 }, 200, {
    content: 'const foo = 1\nconst bar = 1\n',
    start_line: 3,
    end_line: 4,
    truncated: false,
    message: /content is lines 3 to 4\.$/
  })
  await check(t, server, '/inspect', { path: 'src/app.ts', numbered: true, end_line: 1 }, 200, {
    content: '1\timport x\n'
  })
  await check(t, server, '/inspect', { path: 'src/app.ts', start_line: 3, end_line: 3, start_column: 7 }, 200, {
    content: 'foo = 1\n',
    start_column: 7
  })
  await check(t, server, '/inspect', { path: 'src/app.ts', start_line: 9 }, 422, {
    code: 'LINE_OUT_OF_RANGE',
    total_lines: 4,
    file_hash: String
  })
  await check(t, server, '/inspect', { path: 'src/app.ts', start_line: 2, end_line: 0 }, 422, {
    code: 'LINE_OUT_OF_RANGE'
  })
  await check(t, server, '/inspect', { path: 'src/app.ts', start_line: 0 }, 400, { code: 'INVALID_REQUEST' })
  await check(t, server, '/inspect', { path: 'empty.txt', start_line: 1 }, 200, {
    content: '',
    total_lines: 0,
    line_ending: 'none'
  })
  writeFileSync(join(server.root, 'long.txt'), 'x'.repeat(200_000))
  const first = await check(t, server, '/inspect', { path: 'long.txt', start_line: 1 }, 200, {
    truncated: true,
    next_line: 1,
    next_column: 16_385
  })
  await check(t, server, '/inspect', { path: 'long.txt', start_line: 1, start_column: first.body.next_column }, 200, {
    start_column: 16_385
  })
  await check(t, server, '/inspect', { path: 'long.txt', end_line: 1 }, 200, { next_line: 1, next_column: 65_537 })
  await check(t, server, '/inspect', { path: 'long.txt', start_line: 1, start_column: 300_000 }, 422, {
    code: 'LINE_OUT_OF_RANGE',
    detail: /no column 300000/
  })
  writeFileSync(join(server.root, 'mixed.txt'), 'a\r\nb\nc\x81\n', 'latin1')
  await check(t, server, '/inspect', { path: 'mixed.txt', start_line: 1 }, 200, {
    line_ending: 'mixed',
    encoding: 'unknown-8bit',
    lossy: true,
    content: 'a\r\nb\nc\ufffd\n'
  })
})

t.test('reports the facts of a file', async t => {
  const server = await startServer(t, { files })
  const write = (path: string, bytes: string | Buffer) => {
    writeFileSync(join(server.root, path), bytes)
  }
  write('tabs.py', '\ufeffif x:\r\n\tpass\r\n\tpass\n')
  await check(t, server, '/inspect', { path: 'tabs.py' }, 200, {
    type: 'file',
    total_lines: 3,
    file_size: 23,
    file_hash: /^[0-9a-f]{16}$/,
    encoding: 'utf-8',
    bom: true,
    line_ending: 'mixed',
    line_ending_counts: { lf: 1, crlf: 2, cr: 0 },
    ends_with_newline: true,
    indentation: { style: 'tabs' },
    language: 'python',
    modified_at: /^\d{4}-\d\d-\d\dT.*Z$/,
    message: 'tabs.py has 3 lines (23 bytes, utf-8); content is lines 1 to 3.',
    content: 'if x:\r\n\tpass\r\n\tpass\n',
    start_line: 1,
    end_line: 3,
    truncated: false
  })
  await check(t, server, '/inspect', { path: 'tabs.py', facts: true }, 200, {
    total_lines: 3,
    message: 'tabs.py has 3 lines (23 bytes, utf-8).',
    content: undefined,
    truncated: undefined
  })
  await check(t, server, '/inspect', { path: 'tabs.py', facts: true, search: 'pass' }, 200, {
    total_matches: 2,
    content: undefined
  })
  await check(t, server, '/inspect', { path: 'src', facts: true }, 200, { type: 'directory' })
  await check(t, server, '/inspect', { path: 'tabs.py', facts: true, end_line: 2, numbered: true }, 400, {
    path: 'tabs.py',
    errors: [
      {
        pointer: '/end_line',
        message: "can't be combined with facts: true, which leaves the content out; send one of them"
      },
      { pointer: '/numbered' }
    ]
  })
  write('wide', Buffer.from('\ufeffa\n', 'utf16le'))
  await check(t, server, '/inspect', { path: 'wide', search: 'a', start_line: 1 }, 200, {
    encoding: 'utf-16le',
    content: 'a\n',
    matches: [{ line_number: 1, column_start: 1, column_end: 2 }],
    total_lines: 1
  })
  await check(t, server, '/inspect', { path: 'src/App.ts' }, 404, {
    code: 'FILE_NOT_FOUND',
    did_you_mean: ['src/app.ts']
  })
  await check(t, server, '/inspect', { path: 'zzz' }, 404, {
    code: 'FILE_NOT_FOUND',
    detail: /POST \/inspect \{"path":"\."\} lists what is there\.$/
  })
  await check(t, server, '/inspect', { path: 'src/gone/zzz' }, 404, {
    code: 'FILE_NOT_FOUND',
    detail: /POST \/inspect \{"path":"src"\} lists what is there\.$/
  })
})

t.test('reports the facts of what a link leads to', async t => {
  const server = await startServer(t, { files })
  writeFileSync(join(server.root, 'run'), '#!/usr/bin/env node\n')
  symlinkSync('run', join(server.root, 'link.py'))
  await check(t, server, '/inspect', { path: 'link.py' }, 200, {
    path: 'link.py',
    resolved_path: 'run',
    language: 'javascript'
  })
  await check(t, server, '/inspect', { path: 'link.py', search: 'node' }, 200, {
    language: 'javascript',
    total_matches: 1
  })
})

t.test('reads a file from its start, as much as a host passes on', async t => {
  const server = await startServer(t, { files })
  writeFileSync(join(server.root, 'lines.txt'), `${'x'.repeat(99)}\n`.repeat(1000))
  const first = await check(t, server, '/inspect', { path: 'lines.txt' }, 200, {
    start_line: 1,
    end_line: 163,
    truncated: true,
    next_line: 164,
    message: /content is lines 1 to 163\. It was cut at the limit: continue with start_line 164\.$/
  })
  await check(t, server, '/inspect', { path: 'lines.txt', start_line: first.body.next_line }, 200, { next_line: 327 })
  await check(t, server, '/inspect', { path: 'lines.txt', end_line: 1000 }, 200, { next_line: 656 })
  await check(t, server, '/inspect', { path: 'empty.txt' }, 200, { content: '', start_line: 1, end_line: 0 })
  await check(t, server, '/inspect', { path: 'lines.txt', numbered: true }, 200, { content: /^1\tx/ })
})

t.test('reads a window of a large file', async t => {
  const server = await startServer(t, { files })
  const path = join(server.root, 'large.txt')
  writeFileSync(path, 'line\n'.repeat(400_000))
  await check(t, server, '/inspect', { path: 'large.txt', start_line: 399_999 }, 200, {
    content: 'line\nline\n',
    total_lines: 400_000,
    truncated: false
  })
  await check(t, server, '/inspect', { path: 'large.txt', start_line: 1 }, 200, {
    start_line: 1,
    end_line: 2000,
    truncated: true,
    next_line: 2001,
    message: /content is lines 1 to 2000\. It was cut at the limit: continue with start_line 2001\.$/
  })
  truncateSync(path, 3_000_000)
  await check(t, server, '/inspect', { path: 'large.txt' }, 200, { encoding: 'binary', total_lines: undefined })
})

t.test('finds text', async t => {
  const server = await startServer(t, { files })
  const finds = (request: object, message: RegExp, expected: object) =>
    check(t, server, '/inspect', { path: 'src/app.ts', ...request }, 200, { ...expected, message })
  await finds({ search: 'const ' }, /"const " was found 2 times, at lines 3 and 4\.$/, {
    matches: [{ line_number: 3, column_start: 1, column_end: 7, line_content: 'const foo = 1' }, { line_number: 4 }],
    total_matches: 2,
    truncated: false,
    content: undefined
  })
  await finds({ search: 'CONST', ignore_case: true }, /found 2 times/, { total_matches: 2 })
  await finds({ search: 'CONST' }, /"CONST" was not found in it\.$/, {
    matches: [],
    total_matches: 0,
    truncated: false
  })
  await finds({ search: '(foo|bar) = \\d', regex: true }, /found 2 times, at lines 3 and 4/, {
    matches: [{ column_start: 7, column_end: 14 }, {}]
  })
  await finds({ search: '.', regex: false }, /was not found/, { total_matches: 0 })
  const within =
    ' An expression only matches within one line; to find text that spans lines, search for it without regex.'
  const lines = { search: 'foo = 1\\nconst', regex: true }
  await finds(lines, new RegExp(`was not found in it\\.${within}$`), { total_matches: 0 })
  await finds({ ...lines, search: 'foo\\n?' }, new RegExp(`found 1 time, at line 3\\.${within}$`), {})
  await finds({ search: 'foo = 1\nconst' }, /was found 1 time, at line 3\.$/, {})
  const brief = await server.call('POST', '/tools/inspect_file', {
    body: { path: 'src/app.ts', ...lines },
    headers: { Accept: 'text/plain' }
  })
  t.match(brief.text, `was not found.${within}`)
  await finds({ search: 'import', start_line: 4 }, /content is line 4\. "import" was found 1 time, at line 1\.$/, {
    content: 'const bar = 1\n',
    total_matches: 1,
    truncated: false
  })
  const invalid = (request: object, pointer: string, message: string | RegExp) =>
    check(t, server, '/inspect', { path: 'src/app.ts', ...request }, 400, {
      code: 'INVALID_REQUEST',
      path: 'src/app.ts',
      errors: [{ pointer, message }]
    })
  await invalid({ search: '(', regex: true }, '/search', /^is not a regular expression in RE2 syntax \(.+\)$/)
  await invalid({ search: '(?=x)', regex: true }, '/search', /RE2/)
  await invalid({ search: '' }, '/search', 'must not be empty')
  await invalid({ serch: 'x' }, '/serch', 'is an unknown field (did you mean search?)')
  await invalid(
    { pattern: 'x' },
    '/pattern',
    /^is an unknown field \(known fields: path, start_line, .*, search, regex, /
  )
  await invalid({ regex: true, ignore_case: true }, '/regex', 'can only be used together with search, which is missing')
  writeFileSync(join(server.root, 'many.txt'), 'x\n'.repeat(300))
  await check(t, server, '/inspect', { path: 'many.txt', search: 'x' }, 200, {
    total_matches: 300,
    truncated: true,
    message: /Only the first 200 are listed: search for a longer text, or read the lines after 200\.$/,
    matches: { length: 200 }
  })
  writeFileSync(join(server.root, 'wide.txt'), `${'x'.repeat(300)}\n`)
  await check(t, server, '/inspect', { path: 'wide.txt', search: 'x' }, 200, {
    message: /Only the first 200 are listed: search for a longer text\.$/
  })
  const before = Date.now()
  writeFileSync(join(server.root, 'evil.txt'), `${'a'.repeat(100_000)}!\n`)
  await check(t, server, '/inspect', { path: 'evil.txt', search: '(a+)+$', regex: true }, 200, { total_matches: 0 })
  t.ok(Date.now() - before < 5000, 'in linear time')
})

t.test('lists directories, a page at a time', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/inspect', { path: '.' }, 200, {
    path: '.',
    type: 'directory',
    entries: [
      { name: 'crlf.txt', type: 'file', file_size: 6 },
      { name: 'empty.txt', type: 'file', file_size: 0 },
      { name: 'src', type: 'directory' }
    ],
    truncated: false,
    next_entry: undefined,
    file_hash: undefined,
    message: '. is a directory; 3 entries listed: crlf.txt, empty.txt and src.'
  })
  await check(t, server, '/inspect', { path: '.', after: 'empty.txt' }, 200, { entries: [{ name: 'src' }] })
  await check(t, server, '/inspect', { path: '.', after: 'z' }, 200, {
    entries: [],
    message: '. is a directory; there are no entries to list.'
  })
  mkdirSync(join(server.root, 'many'))
  for (let i = 0; i < 501; i++) writeFileSync(join(server.root, 'many', `f${String(i).padStart(3, '0')}`), '')
  const page = await check(t, server, '/inspect', { path: 'many' }, 200, {
    truncated: true,
    next_entry: 'f499',
    message: 'many is a directory; 500 of its entries are listed, and there are more: continue with after "f499".',
    entries: { length: 500 }
  })
  await check(t, server, '/inspect', { path: 'many', after: page.body.next_entry }, 200, {
    truncated: false,
    entries: [{ name: 'f500' }],
    message: 'many is a directory; 1 entry listed: f500.'
  })
  await check(t, server, '/inspect', { path: 'src', start_line: 1, numbered: true, search: 'x' }, 400, {
    code: 'INVALID_REQUEST',
    path: 'src',
    errors: [
      {
        pointer: '/start_line',
        message: 'can only be used with files, but the path is a directory; leave it out to list the directory'
      },
      { pointer: '/numbered' }
    ]
  })
  await check(t, server, '/inspect', { path: 'src', numbered: false, ignore_case: false }, 200, { type: 'directory' })
  await check(t, server, '/inspect', { path: 'crlf.txt', after: 'a' }, 400, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/after', message: 'can only be used with directories, but the path is a file; leave it out' }]
  })
})

t.test('lists links as what they are', async t => {
  const server = await startServer(t, { files })
  symlinkSync('crlf.txt', join(server.root, 'link'))
  const entries = [{ name: 'crlf.txt' }, { name: 'empty.txt' }, { name: 'link', type: 'symlink' }, { name: 'src' }]
  await check(t, server, '/inspect', { path: '.' }, 200, { entries })
})

t.test('reads no file to search or outline while as many as may wait already do', async t => {
  const server = await startServer(t, { files })
  const workers = new Workers()
  const { inspect } = makeOperations(server.workspace, { max_edits: 1, max_file_size: 1000 }, workers)
  const text = Buffer.from('x')
  // A thread takes its first job only after this turn of the event loop.
  const waiting = Array.from({ length: 16 }, () => [
    workers.searcher.search(Buffer.from(text), { text: 'x', regex: true, ignore_case: false }),
    workers.outliner.items(text, 'markdown', { start: 0, end: 1 })
  ])
  const calls = {
    searching: inspect.call({ path: 'src/app.ts', search: 'foo' }),
    parsing: inspect.call({ path: 'src/app.ts', structure: true })
  }
  for (const [reason, call] of Object.entries(calls)) {
    t.strictSame(await call, {
      ok: false,
      failure: { code: 'NOT_READY', reason, retry_after: 1 },
      path: 'src/app.ts'
    })
  }
  t.match(await inspect.call({ path: 'src/app.ts' }), { ok: true }, 'what needs neither is answered')
  await Promise.all(waiting.flat())
  t.match(await inspect.call({ path: 'src/app.ts', search: 'foo' }), { ok: true }, 'and so is all when they are done')
  await workers.close()
})
