// /find over HTTP: by text, expression, definition and name; what it answers where nothing is found; columns as rg has
// them.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ripgrepPath } from '../../src/folder/find/ripgrep.ts'
import { makeOperations } from '../../src/operations.ts'
import { Workers } from '../../src/workers/workers.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { check, startServer, type Reply } from './test-server.ts'

const PARSER = 'export class Parser {\n  parse(text) {\n    return parse(text)\n  }\n}\n'
const PARSE = 'export function parse(text) {\n  return text\n}\n\nexport const LIMIT = 9\n'
const files = {
  src: { 'parser.ts': PARSER, 'parse.ts': PARSE, lib: { 'use.py': 'print(parse)\n' } },
  docs: { 'guide.md': '# parse\n\nHow to Parse.\n' },
  'build.log': 'parse\n',
  '.gitignore': '*.log\n'
}
const NONE_SKIPPED = { binary: 0, too_large: 0, unreadable: 0 }
const HASH = /^[0-9a-f]{16}$/

interface Found {
  files: { path: string; file_hash: string; count: number; matches?: object[]; definitions?: object[] }[]
}
const pathsIn = ({ body }: Reply): string[] => (body as unknown as Found).files.map(({ path }) => path)

t.test('finds a text with its lines', async t => {
  const server = await startServer(t, { files })
  const found = await check(t, server, '/find', { text: 'parse(' }, 200, {
    path: '.',
    message: '"parse(" was found 3 times in 2 files.',
    files: [
      {
        path: 'src/parse.ts',
        file_hash: HASH,
        file_size: PARSE.length,
        modified_at: /^\d{4}-.*Z$/,
        count: 1,
        matches: [{ line_number: 1, column_start: 17, column_end: 23, line_content: 'export function parse(text) {' }]
      },
      { path: 'src/parser.ts', count: 2, matches: [{ line_number: 2 }, { line_number: 3, column_start: 12 }] }
    ],
    total_files: 2,
    total_matches: 3,
    searched_files: 5,
    truncated: undefined,
    next_after: undefined,
    skipped: NONE_SKIPPED
  })
  const [{ path, file_hash }] = (found.body as unknown as Found).files as [Found['files'][0]]
  await check(t, server, '/edit', { path, expected_hash: file_hash, old_text: 'LIMIT', new_text: 'MOST' }, 200, {})
  const cases: [body: object, paths: string[], expected?: Record<string, unknown>][] = [
    [{ text: 'parse', ignore_case: true, include: '*.md' }, ['docs/guide.md'], { total_matches: 2 }],
    [{ text: 'pars', whole_word: true }, []],
    [{ text: 'parse', whole_word: true, exclude: ['*.ts', 'docs/**'] }, ['src/lib/use.py']],
    [{ regex: '^export (class|function)' }, ['src/parse.ts', 'src/parser.ts']],
    [{ text: '}\n\nexport' }, ['src/parse.ts'], { files: [{ matches: [{ line_number: 3, line_content: '}' }] }] }],
    [{ text: 'parse', ignored: true, path: 'build.log' }, ['build.log'], { path: 'build.log' }],
    [{ text: 'parse', include: ['*.log'], ignored: true }, ['build.log']],
    [{ text: 'parse', path: 'src/lib' }, ['src/lib/use.py'], { path: 'src/lib' }],
    [{ text: 'parse', after: 'src/parse.ts' }, ['src/parser.ts']],
    [{ text: 'parse', after: 'zzz' }, [], { message: 'There is nothing more after "zzz".' }],
    [
      { text: 'parse', show: 'files', include: '*.py' },
      ['src/lib/use.py'],
      { files: [{ count: 1, matches: undefined }] }
    ],
    [{ include: '*.{md,py}' }, ['docs/guide.md', 'src/lib/use.py'], { message: 'Found 2 files.', total_matches: 0 }]
  ]
  for (const [body, paths, expected = {}] of cases) {
    t.strictSame(pathsIn(await check(t, server, '/find', body, 200, expected)), paths, JSON.stringify(body))
  }
  await check(t, server, '/find', { text: 'return', context_lines: 1, include: 'parse.ts' }, 200, {
    files: [{ matches: [{ context_before: ['export function parse(text) {'], context_after: ['}'] }] }]
  })
})

t.test('finds files by name, newest first if asked', async t => {
  const server = await startServer(t, { files })
  utimesSync(join(server.root, 'src/parser.ts'), 1e9, 1e9)
  const byName = await check(t, server, '/find', { include: '*.ts' }, 200, { files: [{ count: undefined }] })
  t.strictSame(pathsIn(byName), ['src/parse.ts', 'src/parser.ts'])
  t.strictSame(
    pathsIn(await check(t, server, '/find', { path: 'src', sort: 'modified' }, 200, {})).at(-1),
    'src/parser.ts'
  )
})

t.test('finds definitions in every language with an outline', async t => {
  const server = await startServer(t, { files })
  await check(t, server, '/find', { symbol: 'parse' }, 200, {
    message: 'There are 2 definitions of "parse" in 2 files.',
    files: [
      {
        path: 'src/parse.ts',
        count: 1,
        definitions: [
          { kind: 'function', symbol: 'parse', start_line: 1, end_line: 3, line_content: PARSE.split('\n')[0] }
        ]
      },
      {
        path: 'src/parser.ts',
        count: 1,
        definitions: [
          { kind: 'method', symbol: 'Parser.parse', start_line: 2, end_line: 4, line_content: '  parse(text) {' }
        ]
      }
    ],
    total_matches: 2,
    skipped: { ...NONE_SKIPPED, unparsed: 0 }
  })
  t.strictSame(pathsIn(await check(t, server, '/find', { symbol: 'Parser::parse' }, 200, {})), ['src/parser.ts'])
  await check(t, server, '/find', { symbol: 'parse', show: 'counts' }, 200, {
    files: [{ count: 1, definitions: undefined }]
  })
  await check(t, server, '/find', { symbol: 'parse', max_lines: 1 }, 200, {
    files: [{ path: 'src/parse.ts' }],
    truncated: 'limit',
    next_after: 'src/parse.ts'
  })
  await check(t, server, '/find', { symbol: 'Lexer.parse' }, 200, {
    message:
      'No definition of "Lexer.parse" was found. 5 files were searched; what .gitignore excludes was left out. ' +
      'With text: "parse": found 5 times in 4 files. With symbol: "parse": found 2 times in 2 files.'
  })
})

t.test('says which files could not be parsed, and waits for no parser', async t => {
  const server = await startServer(t, { files })
  const workers = new Workers()
  t.teardown(() => workers.close())
  const { find } = makeOperations(server.opened, { max_edits: 1, max_file_size: 1e6 }, workers)
  for (const [full, failure, expected] of [
    [
      false,
      { reason: 'too_large', limit: 1, actual: 2 },
      { ok: true, value: { outcome: { skipped: { unparsed: 3 } } } }
    ],
    [
      true,
      { reason: 'too_large', limit: 1, actual: 2 },
      { ok: false, failure: { code: 'NOT_READY', reason: 'parsing' } }
    ]
  ] as const) {
    Object.defineProperty(workers.outliner, 'full', { value: full, configurable: true })
    workers.outliner.definitions = async () => ({ ok: false, failure })
    t.match(await find.call({ symbol: 'parse' } as never), expected)
  }
  const { body } = await check(t, server, '/find', { symbol: 'parse' }, 200, {})
  t.ok(body)
})

t.test('cuts the answer at its limits, and says how to go on', async t => {
  const many = Object.fromEntries(['a', 'b', 'c'].map(name => [`${name}.txt`, 'x x\nx\n']))
  const server = await startServer(t, { files: many })
  await check(t, server, '/find', { text: 'x', max_lines: 4 }, 200, {
    message:
      '"x" was found 9 times in 3 files. 1 of 3 matches in "b.txt" is listed; ' +
      'to get all, send path "b.txt" and max_lines 3. 2 files are listed: continue with after "b.txt".',
    files: [{ matches: { length: 3 } }, { count: 3, matches: { length: 1 } }],
    truncated: 'limit',
    next_after: 'b.txt'
  })
  await check(t, server, '/find', { text: 'x', after: 'b.txt', max_lines: 1 }, 200, {
    files: [{ path: 'c.txt', count: 3 }],
    truncated: 'limit',
    next_after: undefined
  })
  await check(t, server, '/find', { text: 'x', show: 'counts', max_files: 1 }, 200, {
    message: '"x" was found 9 times in 3 files. 1 file is listed: continue with after "a.txt".',
    files: [{ path: 'a.txt', count: 3 }],
    next_after: 'a.txt'
  })
  writeFileSync(join(server.root, 'a.txt'), 'z\n'.repeat(200))
  writeFileSync(join(server.root, 'b.txt'), 'z\n'.repeat(30))
  writeFileSync(join(server.root, 'c.txt'), 'z\n'.repeat(3))
  for (const [max_lines, lengths] of [
    [undefined, [67, 30, 3]],
    [40, [18, 18, 3]],
    [12, [10, 2]]
  ] as const) {
    const wanted = { text: 'z', ...(max_lines !== undefined && { max_lines }) }
    await check(t, server, '/find', wanted, 200, { files: lengths.map(length => ({ matches: { length } })) })
  }
  writeFileSync(join(server.root, 'e.bin'), 'beta\0')
  await check(t, server, '/find', { text: 'beta', path: 'e.bin' }, 200, {
    message: 'There is no text file to search in e.bin. Not listed: 1 binary file.',
    searched_files: 0
  })
  writeFileSync(join(server.root, 'd.txt'), 'y'.repeat(2000))
  for (const [wanted, how] of [
    [{ text: 'y' }, 'to find fewer, send a longer text'],
    [{ regex: '[y]' }, 'to find fewer, send a longer text']
  ] as const) {
    const { body } = await check(t, server, '/find', wanted, 200, {})
    t.match(body.message, `100 of 2000 matches in "d.txt" are listed; ${how}.`)
  }
})

t.test('says what would find something', async t => {
  const server = await startServer(t, { files })
  const left = '5 files were searched; what .gitignore excludes was left out.'
  for (const [body, message] of [
    [{ text: 'PARSER' }, `"PARSER" was not found. ${left} With ignore_case: true: found 1 time in 1 file.`],
    [
      { text: 'parser', path: 'src', ignored: true, ignore_case: true, include: 'nope' },
      'There is no file in src for include "nope". Without include and exclude: found 1 time in 1 file.'
    ],
    [{ text: 'arse', whole_word: true }, `"arse" was not found. ${left} Without whole_word: found 7 times in 4 files.`],
    [
      { regex: 'parse(text)' },
      `"parse(text)" was not found. ${left} With text: "parse(text)": found 3 times in 2 files.`
    ],
    [
      { text: 'LIMIT', path: 'docs' },
      '"LIMIT" was not found in docs. 1 file was searched; what .gitignore excludes was left out. Without path: found 1 time in 1 file.'
    ],
    [
      { include: '**/*.l*', exclude: 'x', path: 'src' },
      'There is no file in src for include "**/*.l*" and exclude "x". What .gitignore excludes was left out. Without path: found 1 file.'
    ],
    [
      { include: 'lib/*.py' },
      'There is no file for include "lib/*.py". What .gitignore excludes was left out. With include: "**/lib/*.py": found 1 file.'
    ],
    [
      { include: ['lib/*.py', 'x'], exclude: 'y' },
      'There is no file for include "lib/*.py, x" and exclude "y". What .gitignore excludes was left out. With include: ["**/lib/*.py","x"]: found 1 file.'
    ],
    ...(
      [
        ['lib', '["**/lib/**"]', 1],
        ['lib/', '["**/lib/**"]', 1],
        ['./src/*.ts', '["src/*.ts"]', 2],
        ['*.py, *.md', '["*.py","*.md"]', 2],
        ['Parse.TS', '["[pP][aA][rR][sS][eE].[tT][sS]"]', 1]
      ] as const
    ).map(([include, meant, count]) => {
      const one = meant.includes('","') ? meant : meant.slice(1, -1)
      return [
        { include },
        `There is no file for include "${include}". What .gitignore excludes was left out. ` +
          `With include: ${one}: found ${count} file${count === 1 ? '' : 's'}.`
      ] as [object, string]
    }),
    [{ text: 'nothing at all', ignored: true }, '"nothing at all" was not found. 6 files were searched.'],
    [
      { regex: '(?s)parse.*zzz', ignored: true },
      /^"\(\?s\)parse\.\*zzz" was not found\. 6 files were searched\. An expression only matches within one line/
    ]
  ] as [object, string | RegExp][]) {
    await check(t, server, '/find', body, 200, { message, files: [], total_files: 0 })
  }
})

t.test('refuses fields that say nothing, or too much', async t => {
  const server = await startServer(t, { files })
  const one = "can't be combined with"
  for (const [body, pointer, message] of [
    [{ text: '' }, '/text', 'must not be empty'],
    [{ text: 'a', regex: 'b' }, '/regex', `${one} text; send one of them`],
    [{ regex: 'a', symbol: 'b' }, '/symbol', `${one} regex; send one of them`],
    [{ ignore_case: true }, '/ignore_case', 'can only be used together with text or regex, which is missing'],
    [
      { whole_word: true, include: '*' },
      '/whole_word',
      'can only be used together with text or regex, which is missing'
    ],
    [{ context_lines: 2 }, '/context_lines', 'can only be used together with text or regex, which is missing'],
    [{ show: 'counts' }, '/show', 'can only be used together with text or regex, which is missing'],
    [{ symbol: 'a', ignore_case: true }, '/ignore_case', `${one} symbol; send one of them`],
    [{ symbol: 'a', sort: 'modified' }, '/sort', `${one} symbol; send one of them`],
    [{ text: 'a', sort: 'modified' }, '/sort', `${one} text; send one of them`],
    [
      { symbol: 'Parser.' },
      '/symbol',
      'has no name at its end; send the name of a symbol, or a path such as Parser.parse'
    ],
    [{ text: 'a', context_lines: 11 }, '/context_lines', 'must be at most 10'],
    [{ text: 'a', max_lines: 0 }, '/max_lines', 'must be at least 1'],
    [{ text: 'a', after: '' }, '/after', 'must not be empty'],
    [{ text: 'a', show: 'all' }, '/show', 'must be "lines", "files" or "counts"'],
    [{ include: 7 }, '/include', 'must be a string or a list'],
    [{ regex: 'a(' }, '/regex', /^is not a regular expression in RE2 syntax \(.*missing closing \)/],
    [
      { regex: 'a\\nb' },
      '/regex',
      'has a line break, but matches within one line only; to find text over several lines, send it as text'
    ],
    [{ include: '[a' }, '/include', /^is not a glob \(.+\)$/],
    [{ include: ['*', '{a'] }, '/include/1', /^is not a glob \(.+\)$/],
    [{ exclude: '[a' }, '/exclude', /^is not a glob \(.+\)$/]
  ] as [object, string, string | RegExp][]) {
    await check(t, server, '/find', body, 400, { code: 'INVALID_REQUEST', errors: [{ pointer, message }] })
  }
  // What only ripgrep refuses.
  await check(t, server, '/find', { regex: '(?P<n>a)(?P<m>b)\\p{Letter}{9999}' }, 400, { code: 'INVALID_REQUEST' })
  for (const [path, status, code] of [
    ['nowhere', 404, 'FILE_NOT_FOUND'],
    ['../x', 403, 'PATH_NOT_ALLOWED'],
    ['.git/config', 403, 'PROTECTED_PATH'],
    ['', 400, 'INVALID_PATH']
  ] as const) {
    await check(t, server, '/find', { text: 'a', path }, status, { code })
  }
})

t.test('says what it can not do on this system', async t => {
  const server = await startServer(t, {
    files,
    replace: { canFind: false, find: async () => ({ ok: false, failure: { code: 'FIND_NOT_SUPPORTED' }, path: '.' }) }
  })
  const offers = async ({ call }: typeof server) =>
    ((await call('GET', '/capabilities')).body as { features: string[] }).features.includes('find')
  t.notOk(await offers(server))
  t.ok(await offers(await startServer(t, { files })))
  await check(t, server, '/find', { text: 'a' }, 501, {
    code: 'FIND_NOT_SUPPORTED',
    detail:
      "This server can't search across files: no ripgrep is installed for its system. " +
      'Use /inspect instead: it lists a directory, and finds text in one file (search).'
  })
})

t.test('says why looking was stopped, and what could not be listed', async t => {
  const none = { path: '.', files: [], total_files: 0, total_matches: 0, searched_files: 3, skipped: NONE_SKIPPED }
  const one = { path: 'a.txt', file_hash: '0'.repeat(64), file_size: 1, modified_at: new Date(0), count: 1, value: {} }
  for (const [found, message] of [
    [
      { ...none, truncated: 'time' },
      /^"x" was not found so far\. 3 files were searched; .* Looking was stopped after ten seconds, so there may be more\.$/
    ],
    [
      { ...none, files: [one], total_files: 1, total_matches: 1, truncated: 'size', next_after: 'a.txt' },
      /^"x" was found at least 1 time in 1 file\. There was too much to read for one request, so there may be more: continue with after "a\.txt"\.$/
    ],
    [
      { ...none, skipped: { binary: 2, too_large: 1, unreadable: 1 } },
      /Not listed: 2 binary files, 1 file over the size limit and 1 file that could not be read\.$/
    ]
  ] as const) {
    const server = await startServer(t, { files, replace: { find: async () => ({ ok: true, value: found as never }) } })
    await check(t, server, '/find', { text: 'x', show: 'files' }, 200, { message })
  }
})

t.test('shows names that are not UTF-8, and goes on after them', async t => {
  const server = await startServer(t, { files: {} })
  for (const byte of [0x80, 0x81]) writeFileSync(Buffer.from([...Buffer.from(`${server.root}/n`), byte]), 'x\n')
  const first = await check(t, server, '/find', { text: 'x', max_lines: 1 }, 200, {
    files: [{ path: 'n\ufffd', lossy: true, after: String }],
    next_after: 'n\ufffd/6e80'
  })
  await check(t, server, '/find', { text: 'x', max_lines: 1, after: first.body.next_after }, 200, {
    files: [{ path: 'n\ufffd', after: 'n\ufffd/6e81' }],
    next_after: undefined
  })
})

t.test('searches a folder by /inspect as by /find', async t => {
  const server = await startServer(t, { files })
  const warnings = ['src is a directory, so all files below it were searched, as by /find, which has more fields.']
  const { body } = await check(t, server, '/inspect', { path: 'src', search: 'parse(' }, 200, {
    type: 'directory',
    total_files: 2,
    total_matches: 3,
    truncated: false,
    entries: undefined,
    warnings
  })
  const found = await check(t, server, '/find', { path: 'src', text: 'parse(' }, 200, {})
  t.strictSame(body.files, found.body.files)
  await check(
    t,
    server,
    '/inspect',
    { path: 'src', search: 'PARSE', regex: true, ignore_case: true, context_lines: 1, after: 'src/parse.ts' },
    200,
    {
      files: [{ path: 'src/parser.ts', matches: [{ context_after: ['  parse(text) {'] }] }],
      warnings
    }
  )
  await check(t, server, '/inspect', { path: 'src', search: 'a', start_line: 1 }, 400, {
    errors: [{ pointer: '/start_line' }]
  })
  await check(t, server, '/inspect', { path: 'src', context_lines: 1 }, 400, {
    errors: [{ pointer: '/context_lines' }]
  })
  await check(t, server, '/inspect', { path: 'src/parse.ts', search: 'return', context_lines: 1 }, 200, {
    matches: [{ line_number: 2, context_before: ['export function parse(text) {'], context_after: ['}'] }]
  })
  await check(t, server, '/inspect', { path: 'src/parse.ts', search: 're.urn', regex: true, context_lines: 9 }, 200, {
    matches: [{ context_after: ['}', '', 'export const LIMIT = 9'] }]
  })
  const refused = await startServer(t, {
    files,
    replace: {
      find: async () => ({ ok: false, failure: { code: 'BAD_REGEX', message: 'x\nerror: too big' }, path: '.' })
    }
  })
  await check(t, refused, '/inspect', { path: 'src', search: 'a', regex: true }, 400, {
    errors: [{ pointer: '/search', message: 'is not a regular expression in RE2 syntax (too big)' }]
  })
})

t.test('tells a token nothing of what it may not read', async t => {
  const server = await startServer(t, { files })
  const limited = server.opened.limitedTo(['docs/**'])
  const { find } = makeOperations(limited, { max_edits: 1, max_file_size: 1e6 }, new Workers())
  t.match(await find.call({ text: 'parse' } as never), {
    value: { outcome: { files: [{ path: 'docs/guide.md' }], total_files: 1, total_matches: 1, searched_files: 1 } }
  })
  t.match(await find.call({ text: 'LIMIT' } as never), {
    value: { outcome: { total_files: 0 }, sought: { otherwise: [] } }
  })
  t.match(await find.call({ text: 'x', path: 'src' } as never), { failure: { code: 'PATH_NOT_ALLOWED' } })
})

const FILES = often(2000, 60, 25)

/** What rg says of a file, in UTF-16 columns. */
function byRipgrep(program: string, root: string, pattern: string): Map<string, object[]> {
  const args = ['--no-config', '--json', '--fixed-strings', '--', pattern, '.']
  const { stdout } = spawnSync(program, args, { cwd: root, encoding: 'utf8' })
  const found = new Map<string, object[]>()
  for (const line of stdout.split('\n').filter(text => text.includes('"type":"match"'))) {
    const { path, lines, line_number, submatches } = JSON.parse(line).data
    const bytes = Buffer.from(lines.text)
    const mark = lines.text.startsWith('\ufeff') ? 1 : 0
    const column = (end: number) => bytes.subarray(0, end).toString().length - mark + 1
    const name = path.text.slice(2)
    for (const { start, end } of submatches) {
      const line_content = lines.text.slice(mark).replace(/\r?\n$/, '')
      const match = { line_number, column_start: column(start), column_end: column(end), line_content }
      found.set(name, [...(found.get(name) ?? []), match])
    }
  }
  return found
}

t.test('has the lines and columns of rg', async t => {
  const server = await startServer(t, { files: {} })
  const program = await ripgrepPath()
  const random = new Random(SEED)
  const letters = ['a', 'b', 'é', '字', '😀', ' ', '\t']
  const written: [name: string, text: string][] = []
  for (let i = 0; i < FILES; i++) {
    const ending = random.pick(['\n', '\r\n'])
    const text =
      Array.from({ length: random.int(8) }, () => random.text(letters, 12)).join(ending) + random.pick(['', ending])
    const [mark, encoding] = random.pick([
      ['', 'utf8'],
      ['\ufeff', 'utf8'],
      ['\ufeff', 'utf16le']
    ] as const)
    const name = `f${String(i).padStart(4, '0')}`
    writeFileSync(join(server.root, name), Buffer.from(mark + text, encoding))
    written.push([name, text])
  }
  for (const text of ['a', 'aé', '字', '😀', 'b ', '😀a']) {
    const { body } = await server.call('POST', '/find', { body: { text, max_lines: 1000, max_files: 1000 } })
    const found = new Map((body as unknown as Found).files.map(({ path, matches }) => [path, matches]))
    const expected = byRipgrep(program!, server.root, text)
    // The last file may be cut.
    const last = [...found.keys()].at(-1)
    for (const [name, content] of written) {
      if (body.truncated !== undefined && name >= last!) break
      const about = `seed ${SEED}, ${name}, ${JSON.stringify(text)}: ${JSON.stringify(content)}`
      t.strictSame(found.get(name) ?? [], expected.get(name) ?? [], about)
    }
  }
})

t.test('skips what can not be read or is binary', async t => {
  const server = await startServer(t, { files: { 'a.bin': 'parse\0', 'b.txt': 'parse' } })
  mkdirSync(join(server.root, 'c'))
  chmodSync(join(server.root, 'c'), 0o700)
  await check(t, server, '/find', { text: 'parse' }, 200, { files: [{ path: 'b.txt' }], skipped: { binary: 1 } })
})
