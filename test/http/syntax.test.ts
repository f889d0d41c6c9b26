// The syntax guard over HTTP: what it says of an edit that breaks a file in each language, when it refuses, and when it
// says nothing.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CHECKED_SIZE, SYNTAX_LANGUAGES } from '../../src/engine/syntax/languages.ts'
import { SyntaxChecker } from '../../src/workers/syntax.ts'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { bytesOf, check, startServer } from './test-server.ts'

/** In each language a file, a text in it, what may stand there instead, and what breaks it, with the place. */
const LANGUAGES: Record<string, [path: string, text: string, old: string, good: string, bad: string, place: string]> = {
  bash: ['a.bash', 'f() {\n  echo "$1"\n}\n', '"$1"', '"$2"', '"$1', 'line 1, column 2, to line 3: "f() {"'],
  c: ['a.c', 'int f(void) {\n  return 0;\n}\n', '0;', '1;', '0', 'line 2, column 11: "return 0" (; is missing)'],
  cpp: ['a.cpp', 'class A {\n  int b();\n};\n', 'b()', 'c()', 'b(', 'line 2, column 9: "int b(;" () is missing)'],
  csharp: ['a.cs', 'class A {\n  int B() { return 1; }\n}\n', '1; }', '2; }', '1;', 'line 1, column 1, to line 3'],
  css: ['a.css', 'a {\n  color: red;\n}\n', 'red;\n}', 'blue;\n}', 'red;\n', 'line 2, column 14: "color: red;"'],
  go: ['a.go', 'package a\n\nfunc B() {\n}\n', '{\n}', '{ }', '{\n', 'line 3, column 10: "func B() {"'],
  java: ['a.java', 'class A {\n  int b = 1;\n}\n', '1;', '2;', '1', 'line 2, column 12: "int b = 1" (; is missing)'],
  javascript: ['a.js', 'const a = [1, 2]\nf(a)\n', '2]', '3]', '2', 'line 1, column 1, to line 2: "const a = [1, 2"'],
  jsx: ['a.jsx', 'const a = <b>x</b>\n', 'x</b>', 'y</b>', 'x</b', 'line 1, column 1: "const a = <b>x</b"'],
  json: ['a.json', '{\n  "a": 1\n}\n', '1', '2', '1,', 'line 3, column 1: "}" (property name expected)'],
  json5: ['a.json5', "{\n  a: 'b',\n  c: 1\n}\n", "'b',", "'d',", "'b'", 'line 3, column 3: "c: 1" (invalid character'],
  jsonc: ['a.jsonc', '{ // b\n  "a": 1,\n}\n', ': 1', ': 2', ' 1', 'line 2, column 7: "\\"a\\" 1," (colon expected)'],
  php: ['a.php', '<?php\nfunction a() {\n}\n', '{\n}', '{ }', '{\n', 'line 2, column 1: "function a() {"'],
  python: ['a.py', 'def a():\n    return [1]\n', '[1]', '[2]', '[1', 'line 2, column 5: "return [1"'],
  ruby: ['a.rb', 'def a\n  1\nend\n', '1\nend', '2\nend', '1\n', 'line 1, column 1, to line 2: "def a"'],
  rust: ['a.rs', 'fn a() -> u8 {\n    1\n}\n', '1\n}', '2\n}', '1\n', 'line 1, column 1, to line 3: "fn a() -> u8 {"'],
  shell: ['a.sh', 'if b; then\n  c\nfi\n', 'c\nfi', 'd\nfi', 'c\n', 'line 4, column 1 (fi is missing)'],
  toml: ['a.toml', '[a]\nb = 1\n', '1', '2', '', 'line 2, column 5: "b ="'],
  tsx: ['a.tsx', 'const a: X = <b>x</b>\n', 'x</b>', 'y</b>', 'x</b', 'line 1, column 1: "const a: X = <b>x</b"'],
  typescript: ['a.ts', 'interface A {\n  b: c\n}\n', 'c\n}', 'd\n}', 'c\n', 'line 2, column 7: "b: c" (} is missing)'],
  yaml: ['a.yaml', 'a:\n  b: 1\n  c: 2\n', '  c', '  d', ' c', 'line 3, column 1: "c: 2" (All mapping items']
}
const files = Object.fromEntries(Object.values(LANGUAGES).map(([path, text]) => [path, text]))
const MORE = {
  'app.ts': 'export function f() {\n  return 1\n}\n\nexport function g() {\n  return 2\n}\n',
  'broken.py': 'def f(:\n    pass\n',
  'notes.txt': 'a\n',
  'chart.yaml': 'a: "{{ b }}"\n',
  'guide.md': '# A\n\nText.\n',
  'large.json': `[\n${'1,\n'.repeat(CHECKED_SIZE / 3)}1]\n`
}
// One server: its thread has to start.
const server = await startServer(t, { files: { ...files, ...MORE } })
t.beforeEach(() => {
  for (const [path, text] of Object.entries({ ...files, ...MORE })) writeFileSync(join(server.root, path), text)
})

t.test('lists the languages', async t => {
  const { body } = await server.call('GET', '/capabilities')
  t.match(body, { syntax_languages: SYNTAX_LANGUAGES, limits: { max_checked_size: CHECKED_SIZE } })
  t.strictSame(Object.keys(LANGUAGES).sort(), SYNTAX_LANGUAGES)
})

t.test('warns a tool of an edit that breaks a file, in each language, and refuses it if asked to', async t => {
  for (const [language, [path, text, old_text, good, bad, place]] of Object.entries(LANGUAGES)) {
    const edit = { path, old_text, new_text: bad }
    const refused = await check(t, server, '/tools/edit_file', { ...edit, syntax: 'refuse' }, 422, {
      code: 'SYNTAX_ERROR',
      retry: 'change_request',
      syntax_error_lines: [Number]
    })
    const detail = String(refused.body.detail)
    t.ok(detail.includes(place), `${language}: ${detail}`)
    t.ok(detail.startsWith(`This edit would leave ${path} with a syntax error that it does not have now, `), detail)
    t.ok(
      detail.endsWith(
        'Nothing was written. Correct the text that you put in, or send syntax "warn" to write it anyway.'
      )
    )
    t.equal(bytesOf(server, path), text, `${language}: the file is as it was`)
    for (const syntax of ['warn', 'refuse']) {
      const kept = { ...edit, new_text: good, syntax, dry_run: true }
      await check(t, server, '/tools/edit_file', kept, 200, { changed: true, warnings: [] })
    }
    await check(t, server, '/edit', { ...edit, dry_run: true }, 200, { warnings: [] })
    const { body } = await check(t, server, '/tools/edit_file', edit, 200, { changed: true, dry_run: false })
    const [warning = '', ...others] = body.warnings as string[]
    t.strictSame(others, [], language)
    t.ok(
      warning.startsWith('After this edit the file has a syntax error that it did not have before, ') &&
        warning.includes(place) &&
        warning.endsWith(
          `. Check new_text. To take the edit back, call undo_edit with {"edit_ids":["${String(body.edit_id)}"]}.`
        ),
      `${language}: ${warning}`
    )
    t.not(bytesOf(server, path), text, `${language}: it was written`)
  }
})

t.test('says that a block of Python holds no statement any more, which its parser takes', async t => {
  const path = 'a.py'
  const only = 'class A:\n    def only(self):\n        return 1  # one\n\nx = 1\n'
  writeFileSync(join(server.root, path), only)
  const place =
    /, at line (1, column 9: "class A:"|2, column 20: "def only\(self\):") \(the indented block is missing\)\./
  await check(t, server, '/tools/edit_section', { path, action: 'delete', symbol: 'A.only', dry_run: true }, 200, {
    warnings: [place]
  })
  const body = { path, old_text: '        return 1  # one\n', new_text: '' }
  await check(t, server, '/tools/edit_file', { ...body, dry_run: true }, 200, { warnings: [place] })
  const comment = { ...body, new_text: '        # one\n', dry_run: true }
  await check(t, server, '/tools/edit_file', comment, 200, { warnings: [place] })
  await check(t, server, '/edit', { ...body, syntax: 'refuse' }, 422, { code: 'SYNTAX_ERROR', syntax_error_lines: [2] })
  t.equal(bytesOf(server, path), only)
  for (const new_text of ['        ...\n', '        """Doc."""\n', '        # one\n\n        pass\n']) {
    await check(t, server, '/edit', { ...body, new_text, syntax: 'refuse', dry_run: true }, 200, { warnings: [] })
  }
})

t.test('looks at every kind of change, and at what it would do', async t => {
  const broken = 'export function f() {\n  return (1\n}\n'
  const warns = [/ syntax error .* line 2, column 3: "return \(1"/]
  const cases: [route: string, body: Record<string, unknown>][] = [
    ['/edit', { old_text: 'return 1', new_text: 'return (1' }],
    ['/edit-lines', { start_line: 2, end_line: 2, new_text: '  return (1' }],
    ['/edit-section', { action: 'replace', symbol: 'f', new_text: broken }]
  ]
  for (const [route, fields] of cases) {
    const body = { path: 'app.ts', ...fields }
    const operation = route.slice(1).replace('-', '_')
    await check(t, server, route, { ...body, syntax: 'refuse' }, 422, { code: 'SYNTAX_ERROR' })
    await check(t, server, route, { ...body, syntax: 'refuse', dry_run: true }, 422, { code: 'SYNTAX_ERROR' })
    await check(t, server, route, { ...body, syntax: 'ignore', dry_run: true }, 200, { warnings: [] })
    await check(t, server, '/preview', { operation, ...body, syntax: 'refuse' }, 422, { code: 'SYNTAX_ERROR' })
    t.equal(bytesOf(server, 'app.ts'), MORE['app.ts'])
    await check(t, server, '/preview', { operation, ...body, syntax: 'warn' }, 200, {
      warnings: [/^After this edit the file would have a syntax error that it did not have before, /]
    })
    await check(t, server, route, { ...body, syntax: 'warn' }, 200, { warnings: warns })
    writeFileSync(join(server.root, 'app.ts'), MORE['app.ts'])
  }
  // It is parsed anyway.
  const section = { path: 'app.ts', action: 'replace', symbol: 'f', new_text: broken }
  await check(t, server, '/edit-section', section, 200, { warnings: warns })
})

t.test('takes a new file as if it had parsed before', async t => {
  const create = { path: 'new.json', content: '{ "a": 1, }' }
  await check(t, server, '/tools/create_file', { ...create, syntax: 'refuse' }, 422, {
    code: 'SYNTAX_ERROR',
    detail:
      'new.json would have a syntax error at line 1, column 11: "{ \\"a\\": 1, }" (property name expected). ' +
      'Nothing was written. Correct the text that you put in, or send syntax "warn" to write it anyway.'
  })
  t.throws(() => readFileSync(join(server.root, 'new.json')), { code: 'ENOENT' })
  const warning = 'syntax error at line 1, column 11: "{ \\"a\\": 1, }" (property name expected). Check content.'
  await check(t, server, '/tools/create_file', { ...create, dry_run: true }, 200, {
    warnings: [`The file would have a ${warning}`]
  })
  const { body } = await check(t, server, '/tools/create_file', create, 200, {
    warnings: [/ Check content\. To take the edit back, call undo_edit with \{"edit_ids":\["\w{26}"\]\}\.$/]
  })
  const again = { ...create, overwrite: true, expected_hash: body.file_hash, content: '{ "a": 2, }' }
  await check(t, server, '/tools/create_file', again, 200, { warnings: [] })
  await check(t, server, '/create', { path: 'other.json', content: '{' }, 200, { warnings: [] })
  await check(t, server, '/tools/create_file', { path: 'new.h', content: 'FOO(int bar\n' }, 200, { warnings: [] })
})

t.test('stops nothing where it can not check, and says why to who asked for refuse', async t => {
  const cases: [path: string, old_text: string, new_text: string, why: string][] = [
    ['notes.txt', 'a', 'b', 'there is no check for such a file'],
    ['guide.md', 'Text', '```', 'there is no check for such a file'],
    ['broken.py', 'pass', 'return (', 'the file had syntax errors already'],
    ['chart.yaml', '"{{ b }}"', '{{ b }}-{{ c }}', 'the file looks like a template'],
    ['large.json', '\n1]', '\n', 'the file is larger than 1 MiB']
  ]
  for (const [path, old_text, new_text, why] of cases) {
    const edit = { path, old_text, new_text }
    await check(t, server, '/tools/edit_file', { ...edit, dry_run: true }, 200, { warnings: [] })
    const { body } = await check(t, server, '/edit', { ...edit, syntax: 'refuse' }, 200, { changed: true })
    t.strictSame(body.warnings, [`The syntax was not checked: ${why}.`], path)
  }
  const deep = { path: 'a.json', start_line: 1, end_line: 3, new_text: '['.repeat(500_000), syntax: 'refuse' }
  await check(t, server, '/edit-lines', deep, 200, { warnings: ['The syntax was not checked: the parser failed.'] })
  const bugs = server.log.filter(({ msg }) => msg === 'bug')
  t.match(bugs, [{ event: 'parser_failed', error: 'RangeError', stack: [/^at /] }], 'the log says why')
  t.equal(bugs.length, 1)
  await check(t, server, '/tools/edit_file', { path: 'a.ts', old_text: 'c\n}', new_text: 'c' }, 200, {
    warnings: [/ syntax error /]
  })
})

t.test('checks nothing where nothing changes', async t => {
  const same = { path: 'notes.txt', start_line: 1, end_line: 1, new_text: 'a', syntax: 'refuse' }
  await check(t, server, '/edit-lines', same, 200, { changed: false, warnings: [] })
})

t.test('gives up a check that takes too long, or for which too many wait', async t => {
  const text = Buffer.from('a: [1, 2]\n'.repeat(10_000))
  const slow = new SyntaxChecker({ time: 1 })
  t.strictSame(await slow.check(text, null, 'yaml'), { found: 'too_slow' })
  await slow.close()
  const checker = new SyntaxChecker()
  const all = await Promise.all(Array.from({ length: 12 }, () => checker.check(Buffer.from('{'), null, 'json')))
  const found = all.map(checked => checked.found)
  t.strictSame(found, [...Array<string>(8).fill('fault'), ...Array<string>(4).fill('busy')])
  t.strictSame(await checker.check(Buffer.alloc(CHECKED_SIZE + 1, 32), null, 'json'), { found: 'too_large' })
  await checker.close()
})

t.test('law: never calls what was broken before broken by an edit, and shows a place of the text', async t => {
  const checker = new SyntaxChecker({ time: 100_000 })
  const languages = Object.entries(LANGUAGES)
  const parts = ['{', '}', '(', ')', '"', "'", ';', '\n', ' ', 'a', '=', '<', '/', ':', 'end', '#', '\r\n', 'é']
  for (let round = 0; round < often(2000, 200, 40); round++) {
    const random = new Random(SEED * 70_007 + round)
    const [language, [, text]] = random.pick(languages)
    const at = random.int(text.length + 1)
    const after = Buffer.from(text.slice(0, at) + random.text(parts, 3) + text.slice(at + random.int(4)))
    const checked = await checker.check(after, Buffer.from(text), language)
    const again = await checker.check(Buffer.concat([after, Buffer.from('\n')]), after, language)
    const about = `${SEED} ${round} ${language} ${JSON.stringify(String(after))}`
    if (checked.found === 'nothing') {
      if ((await checker.check(after, null, language)).found !== 'nothing') t.fail(`${about} depends on before`)
    } else if (checked.found === 'fault') {
      const { line, column, end_line = line, text: shown } = checked.fault
      const lines = String(after).split('\n')
      const found = lines[line - 1]!
      const isPlace = found.trim() === shown && column >= 1 && column <= found.length + 1
      if (!isPlace || end_line < line || end_line > lines.length) t.fail(`${about} ${JSON.stringify(checked)}`)
      if (again.found === 'fault') t.fail(`${about} is new twice`)
    } else if (checked.found !== 'template') t.fail(`${about} ${checked.found}`)
  }
  await checker.close()
})
