// /edit-section and the structure of /inspect over HTTP: what is answered, what is refused and how, and that nothing
// waits for a parser.
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ONLY_CI } from '../often.ts'
import { OUTLINED } from '../../src/engine/outline/outlined.ts'
import { bytesOf, check, startServer } from './test-server.ts'

const GUIDE = '# Guide\n\n## Setup\n\nRun it.\n\n```sh\nnpm ci\n```\n\n## Use\n\nText.\n'
const CODE = [
  '/** Reads. */',
  'export class Parser {',
  '  /** Parses. */',
  '  parse (text: string): void {}',
  '',
  '  reset (): void {}',
  '}',
  '',
  'export const LIMIT = 3',
  ''
].join('\n')
const files = {
  'guide.md': GUIDE,
  'app.ts': CODE,
  'data.json': '{}\n',
  'broken.py': 'def f():\n    return 1\n\ndef g(:\n    pass\n',
  'empty.md': '',
  nameless: 'x\n'
}

// One server: each has a thread of its own that has to start.
const server = await startServer(t, { files })
const restore = () => {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(server.root, path), text)
}
t.beforeEach(restore)

t.test('edits sections, code blocks and symbols, and says where', async t => {
  const cases: [path: keyof typeof files, edit: object, result: string, message: string, change: object][] = [
    [
      'guide.md',
      { action: 'append', heading: 'Setup', new_text: 'Then look.' },
      GUIDE.replace('```\n\n##', '```\n\nThen look.\n\n##'),
      'Inserted lines 10 to 11 into guide.md, before what was line 10. guide.md now has 15 lines. Target: the section "Setup".',
      { operation: 'insert', start_line: 10, end_line: 9 }
    ],
    [
      'guide.md',
      { action: 'replace', code_block: { language: 'sh' }, new_text: 'npm i\n' },
      GUIDE.replace('npm ci', 'npm i'),
      'Replaced line 8 of guide.md; it is now line 8. guide.md now has 13 lines. Target: the "sh" code block.',
      { operation: 'replace', start_line: 8, end_line: 8 }
    ],
    [
      'guide.md',
      { action: 'delete', heading: 'Guide > Setup' },
      GUIDE.replace(/## Setup[^]*(?=## Use)/, ''),
      'Deleted lines 3 to 10 of guide.md. guide.md now has 5 lines. Target: the section "Setup".',
      { operation: 'delete', start_line: 3, end_line: 10 }
    ],
    [
      'app.ts',
      { action: 'insert_after', symbol: 'Parser.parse', new_text: 'next () {\n  return 1\n}\n' },
      CODE.replace('{}\n\n  reset', '{}\n\n  next () {\n    return 1\n  }\n\n  reset'),
      'Inserted lines 5 to 8 into app.ts, before what was line 5. app.ts now has 13 lines. Target: the method "Parser.parse".',
      {}
    ],
    [
      'app.ts',
      { action: 'replace', symbol: 'LIMIT', new_text: 'export const LIMIT = 4' },
      CODE.replace('3', '4'),
      'Replaced line 9 of app.ts; it is now line 9. app.ts now has 9 lines. Target: the constant "LIMIT".',
      {}
    ]
  ]
  for (const [path, edit, result, message, change] of cases) {
    restore()
    const {
      body: { message: would, new_hash, changes }
    } = await check(t, server, '/preview', { operation: 'edit_section', path, ...edit }, 200, {
      changed: true,
      dry_run: true,
      diff: /^--- a/
    })
    t.match(would, /^Would .*; nothing was written\. Target: .*\.$/)
    t.equal(bytesOf(server, path), files[path])
    t.match(changes, [{ new_content: String }])
    await check(t, server, '/edit-section', { path, ...edit, show_diff: true }, 200, {
      message,
      changes: [change],
      file_hash: new_hash,
      diff: /^--- a/,
      warnings: [],
      edits_applied: undefined
    })
    t.equal(bytesOf(server, path), result, message)
  }
})

t.test('says what is already so', async t => {
  await check(
    t,
    server,
    '/edit-section',
    { path: 'guide.md', action: 'replace', heading: 'Use', new_text: 'Text.' },
    200,
    { changed: false, message: 'The file already has exactly this content; nothing was written.' }
  )
})

t.test('follows links to documents', async t => {
  symlinkSync('guide.md', join(server.root, 'link.txt'))
  await check(
    t,
    server,
    '/edit-section',
    { path: 'link.txt', action: 'replace', heading: 'Use', new_text: 'New.' },
    200,
    { changed: true, path: 'link.txt', resolved_path: 'guide.md' }
  )
  await check(t, server, '/inspect', { path: 'link.txt', structure: true }, 200, {
    structure: [{ name: 'Guide' }],
    resolved_path: 'guide.md'
  })
})

t.test('reports the structure of a file', async t => {
  await check(t, server, '/inspect', { path: 'guide.md', structure: true }, 200, {
    message: 'guide.md has 13 lines (60 bytes, ascii). Its structure has 4 items.',
    total_items: 4,
    truncated: undefined,
    structure: [
      { kind: 'heading', name: 'Guide', level: 1, start_line: 1, end_line: 13 },
      { kind: 'heading', name: 'Setup', level: 2, parent: 'Guide', start_line: 3, end_line: 10 },
      { kind: 'code_block', language: 'sh', parent: 'Guide > Setup', start_line: 7, end_line: 9 },
      { name: 'Use' }
    ]
  })
  await check(
    t,
    server,
    '/inspect',
    { path: 'app.ts', structure: true, search: 'reset', start_line: 1, end_line: 1 },
    200,
    {
      total_matches: 1,
      content: '/** Reads. */\n',
      truncated: false,
      structure: [
        { kind: 'class', name: 'Parser', start_line: 2, end_line: 7, comment_start_line: 1 },
        { kind: 'method', parent: 'Parser', name: 'parse', comment_start_line: 3 },
        { name: 'reset' },
        { kind: 'constant' }
      ]
    }
  )
  await check(t, server, '/inspect', { path: 'broken.py', structure: true }, 200, {
    message: /It has syntax errors \(line 4\)/,
    syntax_error_lines: [4],
    structure: [{ name: 'f' }]
  })
  await check(t, server, '/inspect', { path: 'empty.md', structure: true }, 200, {
    message: /no headings, code blocks or symbols/,
    structure: [],
    total_items: 0
  })
  await check(t, server, '/inspect', { path: 'data.json', structure: true }, 422, {
    code: 'UNSUPPORTED_TARGET',
    detail:
      /^data\.json is a json file, so its structure is not supported\. Supported languages are bash, .*\. Leave structure out to read the file, or send search to find text in it\.$/,
    file_hash: String
  })
  await check(t, server, '/inspect', { path: '.', structure: true }, 400, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/structure' }]
  })
  writeFileSync(join(server.root, 'bin.md'), 'a\0b')
  await check(t, server, '/inspect', { path: 'bin.md', structure: true }, 200, {
    encoding: 'binary',
    structure: undefined
  })
  writeFileSync(join(server.root, 'many.md'), '# x\n'.repeat(2500))
  await check(t, server, '/inspect', { path: 'many.md', structure: true }, 200, {
    structure: { length: 200 },
    total_items: 2500,
    next_item: 201,
    truncated: true,
    content: undefined,
    message: /has 2500 items; structure lists 1 to 200: continue with start_item 201\.$/
  })
  await check(t, server, '/inspect', { path: 'many.md', structure: true, max_items: 2000 }, 200, {
    structure: { length: 2000 },
    next_item: 2001
  })
  await check(t, server, '/inspect', { path: 'many.md', structure: true, start_item: 2401 }, 200, {
    structure: { 0: { start_line: 2401 }, length: 100 },
    next_item: undefined,
    truncated: undefined,
    message: /has 2500 items; structure lists 2401 to 2500\.$/
  })
  await check(t, server, '/inspect', { path: 'many.md', structure: true, start_item: 9999 }, 200, {
    structure: [],
    message: /has 2500 items, and none from start_item 9999 on\.$/
  })
  await check(t, server, '/inspect', { path: 'many.md', structure: true, max_items: 2001 }, 400, {
    errors: [{ pointer: '/max_items', message: 'must be at most 2000' }]
  })
  await check(t, server, '/inspect', { path: 'many.md', start_item: 2, max_items: 2 }, 400, {
    path: 'many.md',
    errors: [
      { pointer: '/start_item', message: 'can only be used together with structure: true, which is missing' },
      { pointer: '/max_items' }
    ]
  })
  const { body } = await server.call('GET', '/capabilities')
  t.match(body, {
    languages: OUTLINED,
    features: { length: Number },
    limits: { max_items: 2000, max_parsed_size: 8 * 1024 * 1024 }
  })
})

t.test('refuses what is no one target', async t => {
  const refuses = (path: string, edit: object, status: number, expected: Record<string, unknown>) =>
    check(t, server, '/edit-section', { path, action: 'replace', new_text: 'x', ...edit }, status, expected)
  const invalid = (edit: object, pointer: string, message: string | RegExp) =>
    refuses('guide.md', edit, 400, { code: 'INVALID_REQUEST', errors: [{ pointer, message }] })
  await invalid({}, '', 'the request has no target; send one of heading, code_block and symbol')
  await invalid(
    { heading: 'Use', symbol: 'x' },
    '/symbol',
    'is a second target beside heading; send only one of heading, code_block and symbol'
  )
  await invalid({ code_block: {} }, '/code_block', /^is empty/)
  await invalid({ code_block: { index: null } }, '/code_block', /^is empty/)
  await invalid(
    { code_block: { lang: 'sh' } },
    '/code_block/lang',
    'is an unknown field (known fields: index, language, under_heading)'
  )
  await invalid({ code_block: 'sh' }, '/code_block', /^must be/)
  await invalid({ heading: 'Use', new_text: null }, '/new_text', 'is missing')
  await invalid({ heading: 'Use', action: 'delete' }, '/new_text', /^is not used with action delete/)
  await invalid(
    { heading: 'Use', action: 'append', include_heading: true },
    '/include_heading',
    /^can only be used with action replace of/
  )
  await invalid(
    { heading: 'Use', include_comment: true },
    '/include_comment',
    /^can only be used with action replace or delete/
  )
  await invalid(
    { code_block: { index: 1 }, include_comment: true },
    '/include_comment',
    'can only be used with action replace or delete of a symbol; leave it out'
  )
  await invalid(
    { symbol: 'x', include_heading: true },
    '/include_heading',
    'can only be used with action replace of a heading or code_block; leave it out'
  )
  await invalid(
    { symbol: 'x', action: 'append', include_comment: true },
    '/include_comment',
    /^can only be used with action replace or delete/
  )
  await invalid({ heading: 'Use', action: 'remove' }, '/action', /^must be "replace", "delete", .* or "insert_after"$/)
  await invalid(
    { code_block: { index: 1 }, new_text: '```\n' },
    '/new_text',
    /^has a line that would close the fence of the code block at line 7; leave the fences out/
  )
  await invalid(
    { heading: 'Setup', new_text: '```\n' },
    '/new_text',
    /^would remove the heading "Use" at line 11 from the outline/
  )
  await refuses('guide.md', { heading: 'setup' }, 422, {
    code: 'TARGET_NOT_FOUND',
    did_you_mean: ['Guide > Setup'],
    outline: { length: 4 },
    detail: 'The heading "setup" was not found in guide.md. Did you mean "Guide > Setup"? Nothing was written.',
    suggested_fixes: [{ type: 'READ_FILE', example: 'POST /inspect {"path":"guide.md","structure":true}' }],
    file_hash: String
  })
  await refuses('guide.md', { heading: 'Setu' }, 422, { did_you_mean: ['Guide > Setup'] })
  await refuses('app.ts', { symbol: 'Parser.clear', action: 'delete', new_text: '' }, 422, {
    detail: 'The symbol "Parser.clear" was not found in app.ts. Name one of the items in outline. Nothing was written.',
    did_you_mean: undefined
  })
  await refuses('guide.md', { heading: 'Nothing of the kind' }, 422, {
    detail: /Name one of the items in outline\./,
    did_you_mean: undefined
  })
  await refuses('guide.md', { heading: 'Use', at_line: 1 }, 422, {
    code: 'TARGET_NOT_FOUND',
    detail: /not found at line 1 in guide\.md: it is at lines 11 to 13\. Correct at_line/,
    targets: [{ name: 'Use' }]
  })
  await refuses('guide.md', { code_block: { index: 2, language: 'sh', under_heading: 'Setup' } }, 422, {
    detail: /^The "sh" code block 2 under the heading "Setup" was not found/
  })
  await refuses('empty.md', { heading: 'x' }, 422, {
    detail: /which has no headings, code blocks or symbols\. Use \/edit\./
  })
  await refuses('broken.py', { symbol: 'h' }, 422, {
    code: 'TARGET_NOT_FOUND',
    syntax_error_lines: [4],
    detail: /The file has syntax errors \(line 4\)/
  })
  await refuses('app.ts', { heading: 'x' }, 422, {
    code: 'UNSUPPORTED_TARGET',
    detail: /^app\.ts is a typescript file, and only Markdown .* has headings .*\. Name a symbol, or use \/edit\./
  })
  await refuses('nameless', { heading: 'x' }, 422, {
    detail: /^The language of nameless is not known from its name, and only .* blocks\. Use \/edit\./
  })
  await refuses('guide.md', { symbol: 'x' }, 422, {
    detail: /^guide\.md is a markdown file, which has no symbols\. Name a heading or a code_block\./
  })
  await refuses('data.json', { symbol: 'x' }, 422, {
    code: 'UNSUPPORTED_TARGET',
    detail: /its structure is not supported/
  })
  await refuses('app.ts', { symbol: 'LIMIT', action: 'append' }, 422, {
    code: 'UNSUPPORTED_TARGET',
    detail: /^The constant "LIMIT" at line 9 of app\.ts has no body to add text to\./
  })
  writeFileSync(join(server.root, 'twice.md'), '# A\n\n## B\n\n# C\n\n## B\n\n```\nx\n')
  await refuses('twice.md', { heading: 'B' }, 422, {
    code: 'AMBIGUOUS_TARGET',
    detail: /^The heading "B" matches 2 places in twice\.md, at lines 3 and 7\. Send at_line .* targets lists them\./,
    targets: [
      { start_line: 3, parent: 'A' },
      { start_line: 7, parent: 'C' }
    ],
    outline: { length: 5 }
  })
  await refuses('twice.md', { heading: 'B', at_line: 7, new_text: 'x' }, 200, {})
  writeFileSync(join(server.root, 'open.md'), '# A\n\n```\nx\n')
  await refuses('open.md', { code_block: { index: 1 }, action: 'insert_after' }, 422, {
    detail: /never closed: anything after it would become part of it/
  })
  writeFileSync(
    join(server.root, 'one.js'),
    'const a = 1; const b = 2\nclass A { x () {} }\nfunction f () {}\nfunction f () {}\n'
  )
  await refuses('one.js', { symbol: 'b' }, 422, {
    code: 'UNSUPPORTED_TARGET',
    detail: /^The constant "b" shares line 1 of one\.js with other code\. Use \/edit/
  })
  await refuses('one.js', { symbol: 'A', action: 'append' }, 422, {
    detail: /^The body of the class "A" at line 2 of one\.js shares its lines/
  })
  await refuses('one.js', { symbol: 'f' }, 422, {
    code: 'AMBIGUOUS_TARGET',
    targets: [{ start_line: 3 }, { start_line: 4 }]
  })
  await refuses('guide.md', { heading: 'Use', expected_hash: '0123456789abcdef' }, 409, { code: 'STALE_FILE' })
  const small = await startServer(t, { files, settings: { maxFileSize: 100 } })
  await check(
    t,
    small,
    '/edit-section',
    { path: 'guide.md', action: 'append', heading: 'Use', new_text: 'x'.repeat(100) },
    422,
    { code: 'RESULT_TOO_LARGE' }
  )
})

t.test('says why an edit of a file that has changed fails, unless its fields are wrong', async t => {
  const stale = { path: 'guide.md', action: 'replace', new_text: 'x', expected_hash: '0123456789abcdef' }
  await check(t, server, '/edit-section', { ...stale, heading: 'setup' }, 409, {
    code: 'STALE_FILE',
    detail:
      /Your edit would fail on the current file too: The heading "setup" was not found in guide\.md\. Did you mean/,
    did_you_mean: ['Guide > Setup']
  })
  await check(t, server, '/edit-section', { ...stale, heading: 'Setup', new_text: '```\n' }, 400, {
    code: 'INVALID_REQUEST',
    errors: [{ pointer: '/new_text', message: /^would remove the heading "Use"/ }]
  })
})

t.test('reads the structure of the result too, up to the same size', async t => {
  // Of long lines, as planning millions of short ones takes seconds.
  const new_text = `${'x'.repeat(1023)}\n`.repeat(8 * 1024)
  const large = { path: 'guide.md', action: 'append', heading: 'Use', new_text }
  await check(t, server, '/edit-section', { ...large, dry_run: true }, 422, {
    code: 'UNSUPPORTED_TARGET',
    limit: 8 * 1024 * 1024,
    detail: /^guide\.md has \d+ bytes, and structure is only read from files of up to 8388608\./
  })
})

t.test('says that a decorator is removed with the symbol that it belongs to', async t => {
  writeFileSync(join(server.root, 'web.py'), '@app.route("/")\ndef home():\n    return 1\n')
  const replace = { path: 'web.py', action: 'replace', symbol: 'home', new_text: 'def home():\n    return 2\n' }
  await check(t, server, '/edit-section', { ...replace, dry_run: true }, 200, {
    warnings: [/^The function "home" began with "@app\.route", which new_text leaves out, so it would be removed: /]
  })
  await check(t, server, '/edit-section', { ...replace, new_text: `@app.get("/")\n${replace.new_text}` }, 200, {
    warnings: []
  })
  await check(t, server, '/edit-section', replace, 200, {
    warnings: [/ so it was removed: decorators and attributes belong to a symbol\. If it should stay, put it back\.$/]
  })
  t.equal(bytesOf(server, 'web.py'), replace.new_text)
})

t.test('replaces what new_text repeats, and says so', async t => {
  const cases: [path: keyof typeof files, edit: object, field: string, result: string, warning: RegExp][] = [
    [
      'guide.md',
      { heading: 'Use', new_text: '## Use\n\nMore.' },
      'include_heading',
      GUIDE.replace('Text.', 'More.'),
      /^new_text begins with the heading line, which was replaced too, as with include_heading: true\. If it /
    ],
    [
      'guide.md',
      { code_block: { language: 'sh' }, new_text: '```sh\nnpm i\n```\n' },
      'include_heading',
      GUIDE.replace('npm ci', 'npm i'),
      /^new_text begins with the fences of the code block, which were replaced too, as with include_heading: true\./
    ],
    [
      'app.ts',
      { symbol: 'Parser.parse', new_text: '/** Parses all. */\nparse (): void {}' },
      'include_comment',
      CODE.replace('Parses', 'Parses all').replace('text: string', ''),
      /^new_text begins with the doc comment, which was replaced too, as with include_comment: true\. If it should /
    ]
  ]
  for (const [path, edit, field, result, warning] of cases) {
    const replace = { path, action: 'replace', ...edit }
    await check(t, server, '/edit-section', { ...replace, dry_run: true }, 200, {
      warnings: [/, which would be replaced too, as with include_/]
    })
    const twice = await server.call('POST', '/edit-section', { body: { ...replace, [field]: false, dry_run: true } })
    t.notMatch(twice.text, 'new_text begins with', 'not where it is said to stay')
    const { body } = await check(t, server, '/edit-section', { ...replace, [field]: null }, 200, {
      warnings: [warning]
    })
    t.equal((body.warnings as string[]).length, 1)
    t.equal(bytesOf(server, path), result)
    await check(t, server, '/edit-section', replace, 200, { changed: false, warnings: [] })
    restore()
    await check(t, server, '/edit-section', { ...replace, [field]: true }, 200, { changed: true })
    t.equal(bytesOf(server, path), result, 'the same as with the field')
    restore()
  }
})

t.test('replaces a line comment that new_text writes again, in each language that has them', async t => {
  const cases: [path: string, original: string, symbol: string, new_text: string][] = [
    [
      'sum.go',
      'package a\n\n// Add adds.\n// It returns the sum.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n',
      'Add',
      '// Add adds all.\nfunc Add(xs ...int) int {\n\treturn sum(xs)\n}\n'
    ],
    [
      'sum.ts',
      'export {}\n\n// Adds.\nfunction add(a: number) {}\n',
      'add',
      '// Adds all.\nfunction add(...all: number[]) {}\n'
    ],
    ['sum.py', 'import os\n\n\n# Adds.\ndef add(a):\n    pass\n', 'add', '# Adds all.\ndef add(*all):\n    pass\n'],
    [
      'sum.c',
      'int x;\n\n/* Adds. */\nint add(int a) { return a; }\n',
      'add',
      '/* Adds all. */\nint add(void) { return 1; }\n'
    ]
  ]
  for (const [path, original, symbol, new_text] of cases) {
    for (const eol of ['\n', '\r\n']) {
      writeFileSync(join(server.root, path), original.replaceAll('\n', eol))
      await check(t, server, '/edit-section', { path, action: 'replace', symbol, new_text }, 200, {
        warnings: [/^new_text begins with the doc comment, which was replaced too, as with include_comment: true\./]
      })
      const kept = original.slice(0, original.indexOf('\n\n') + (path.endsWith('py') ? 3 : 2))
      t.equal(bytesOf(server, path), `${kept}${new_text}`.replaceAll('\n', eol))
    }
  }
})

t.test('says that the heading line stays above a new_text that begins with another heading', async t => {
  const replace = { path: 'guide.md', action: 'replace', heading: 'Use', new_text: '## Usage\n\nMore.' }
  await check(t, server, '/edit-section', { ...replace, dry_run: true }, 200, {
    warnings: [
      'replace keeps the heading line, and new_text begins with another heading: the section "Use" at line 11 would be ' +
        'empty. If new_text should replace its heading too, send include_heading: true.'
    ]
  })
  for (const edit of [
    { include_heading: false },
    { include_heading: true },
    { new_text: '### By hand\n\nMore.' },
    { new_text: 'More.\n\n## Usage\n' },
    { new_text: '\n' },
    { action: 'append' },
    { heading: 'Setup', new_text: '```sh\n# make\n```' }
  ]) {
    await check(t, server, '/edit-section', { ...replace, ...edit, dry_run: true }, 200, { warnings: [] })
  }
  await check(t, server, '/edit-section', replace, 200, {
    warnings: [
      'replace keeps the heading line, and new_text begins with another heading: the section "Use" at line 11 is empty ' +
        'now. If new_text should have replaced its heading too, delete that section.'
    ]
  })
  t.equal(bytesOf(server, 'guide.md'), GUIDE.replace('Text.', '## Usage\n\nMore.'))
  await check(t, server, '/edit-section', { path: 'guide.md', action: 'delete', heading: 'Use' }, 200, {})
  t.equal(bytesOf(server, 'guide.md'), GUIDE.replace('## Use\n\nText.', '## Usage\n\nMore.'))
  writeFileSync(join(server.root, 'quote.md'), '> # A\n>\n> Text.\n\nMore.\n')
  const quoted = { path: 'quote.md', action: 'replace', heading: 'A' }
  await check(t, server, '/edit-section', { ...quoted, new_text: '# B\nText.', dry_run: true }, 200, {
    warnings: [/the section "A" at line 1 would be empty/]
  })
  await check(t, server, '/edit-section', { ...quoted, new_text: '## B\nText.', dry_run: true }, 200, { warnings: [] })
})

t.test('says which heading is there twice, and which subsections a replacement lacks', async t => {
  const text = '# A\n\n## B\n\nx\n\n### C\n\ny\n\n### E\n\n## D\n\nz\n\n# F\n'
  const cases: [edit: object, warnings: RegExp[]][] = [
    [
      { action: 'insert_after', heading: 'B', new_text: '## D\n\nagain' },
      [/^The section "D" at line 13 is a second one/]
    ],
    [{ action: 'append', heading: 'B', new_text: '### C' }, [/^The section "C" at line 13 is a second one/]],
    [{ action: 'append', heading: 'F', new_text: '## D' }, []],
    [{ action: 'append', heading: 'B', new_text: 'text' }, []],
    [
      { action: 'replace', heading: 'B', new_text: 'x' },
      [/: the section "C" \(lines 7 to 10 before\) and the section "E" \(lines 11 to 12 before\) were removed\./]
    ],
    [
      { action: 'replace', heading: 'B', new_text: '## B2\n\n### C\n\ny', include_heading: true },
      [/the section "E" .* was removed\./]
    ],
    [{ action: 'replace', heading: 'B', new_text: '### C2\n\n### E\n', dry_run: true }, []],
    [{ action: 'replace', heading: 'B', new_text: '', dry_run: true }, [/would be removed/]],
    [{ action: 'delete', heading: 'B' }, []]
  ]
  for (const [edit, warnings] of cases) {
    writeFileSync(join(server.root, 'guide.md'), text)
    const { body } = await check(t, server, '/edit-section', { path: 'guide.md', ...edit }, 200, {})
    t.equal(
      (body.warnings as string[] | undefined)?.length ?? 0,
      warnings.length,
      JSON.stringify([edit, body.warnings])
    )
    t.match(body.warnings ?? [], warnings)
  }
})

t.test('deletes a symbol with its doc comment, unless that is to stay', async t => {
  const remove = { path: 'app.ts', action: 'delete', symbol: 'Parser.parse' }
  await check(t, server, '/edit-section', remove, 200, {
    message:
      'Deleted lines 3 to 5 of app.ts. app.ts now has 6 lines. Target: the method "Parser.parse", with its doc comment.',
    warnings: []
  })
  t.equal(bytesOf(server, 'app.ts'), CODE.replace(/ {2}\/\*\* Parses.*\n.*\n\n/, ''))
  restore()
  await check(t, server, '/edit-section', { ...remove, include_comment: false }, 200, {
    message: /Target: the method "Parser\.parse"\.$/
  })
  t.match(bytesOf(server, 'app.ts'), '/** Parses. */')
  await check(t, server, '/edit-section', { ...remove, symbol: 'LIMIT' }, 200, { message: /constant "LIMIT"\.$/ })
})

t.test('warns of syntax errors, and of symbols that are gone', async t => {
  await check(
    t,
    server,
    '/edit-section',
    { path: 'app.ts', action: 'replace', symbol: 'Parser.parse', new_text: 'parse () {{{\n', dry_run: true },
    200,
    {
      warnings: [
        /^After this edit the file would have a syntax error that it did not have before, /,
        /^More of the structure changed than the target: /
      ]
    }
  )
  await check(
    t,
    server,
    '/edit-section',
    { path: 'broken.py', action: 'replace', symbol: 'f', new_text: 'def f():\n    return 2' },
    200,
    { warnings: [/^The file already had syntax errors \(line 4\)/] }
  )
  writeFileSync(join(server.root, 'two.js'), 'function f () {}\n\nfunction g () {}\n')
  const replace = { path: 'two.js', action: 'replace', symbol: 'f' }
  await check(t, server, '/edit-section', { ...replace, new_text: 'function f () {{{\n' }, 200, {
    warnings: { 0: /^After this edit the file has a syntax error that it did not have before, / }
  })
})

t.test('answers others while a document is parsed, and bounds hostile ones', async t => {
  const hostile: [string, string][] = [
    ['quotes.md', '>'.repeat(200_000)],
    ['quote-lines.md', '> '.repeat(100).concat('\n').repeat(2000)],
    ['brackets.md', '['.repeat(200_000)],
    ['braces.ts', 'class A {'.repeat(5000)],
    ['nested.css', 'a {'.repeat(20_000)]
  ]
  for (const [name, text] of hostile) {
    writeFileSync(join(server.root, name), text)
    let longest = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    const since = performance.now()
    const reply = await server.call('POST', '/inspect', { body: { path: name, structure: true } })
    clearInterval(timer)
    t.ok(reply.status === 200 || reply.body.code === 'UNSUPPORTED_TARGET', `${name}: ${reply.text.slice(0, 200)}`)
    t.comment(
      `${name}: ${(performance.now() - since).toFixed(0)} ms, event loop stalled for ${longest.toFixed(0)} ms at most`
    )
  }
  const slow = server.call('POST', '/inspect', { body: { path: 'quote-lines.md', structure: true } })
  t.equal((await server.call('GET', '/healthz')).status, 200)
  t.equal((await slow).status, 200)
  writeFileSync(join(server.root, 'large.md'), Buffer.alloc(9 * 1024 * 1024, 'x\n'))
  await check(t, server, '/inspect', { path: 'large.md', structure: true }, 422, {
    code: 'UNSUPPORTED_TARGET',
    limit: 8 * 1024 * 1024,
    actual: 9 * 1024 * 1024,
    detail: /^large\.md has 9437184 bytes, and structure is only read from files of up to 8388608\./
  })
})

t.test('refuses more files than may wait', { skip: ONLY_CI }, async t => {
  writeFileSync(
    join(server.root, 'long.md'),
    `# A\n\n${readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8').repeat(40)}`
  )
  const asked = (route: string, body: object) => server.call('POST', route, { body: { path: 'long.md', ...body } })
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      i % 2 === 0
        ? asked('/inspect', { structure: true })
        : asked('/edit-section', { action: 'append', heading: 'A', new_text: 'x', dry_run: true })
    )
  )
  const statuses = new Set(replies.map(({ status }) => status))
  t.ok(
    [...statuses].every(status => status === 200 || status === 503),
    [...statuses].join()
  )
  for (const { body } of replies.filter(({ status }) => status === 503)) {
    t.match(body, { code: 'NOT_READY', detail: /busy parsing too many files/ })
  }
  await later()
})

const later = () => check(t, server, '/inspect', { path: 'guide.md', structure: true }, 200, { total_items: 4 })

t.test('finds its grammars where it is built', async t => {
  t.ok(existsSync(join(import.meta.dirname, '../../dist/src/workers/parse-worker.js')))
})
