// Files that aren't UTF-8 over HTTP: read, changed, undone and told of as text, and not a byte outside of the change is
// another one.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import t from 'tap'
import { check, startServer, type TestServer } from './test-server.ts'

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')
const encoded = (text: string, encoding: string): Buffer =>
  encoding === 'utf-16le' ? utf16(text) : encoding === 'utf-16be' ? utf16(text).swap16() : iconv.encode(text, encoding)

/** For each encoding a text of three lines, a word of the second one, and its replacement. */
const TEXTS: Record<string, [text: string, old: string, now: string]> = {
  'windows-1252': ['# Größe\r\nname = "Müller"\r\nend\r\n', 'Müller', 'José – 5 €'],
  'windows-1250': ['# Zażółć\ngęślą jaźń\nend\n', 'gęślą', 'źdźbło'],
  'windows-1251': ['// Привет, мир\nимя = "Иван"\nend\n', 'Иван', 'Пётр'],
  'windows-1253': ['# Καλημέρα κόσμε\nόνομα\nend\n', 'όνομα', 'λόγος'],
  'windows-1256': ['# مرحبا بالعالم\nاسم\nend\n', 'اسم', 'سلام'],
  'koi8-r': ['// Привет, мир\nимя = "Иван"\nend\n', 'Иван', 'Пётр'],
  shift_jis: ['# 日本語のコメント\nタイトル = 表示\nend\n', '表示', '能力'],
  'euc-jp': ['# 日本語のコメント\nタイトル = 表示\nend\n', '表示', '能力'],
  'euc-kr': ['# 한국어 주석\n이름 = 값\nend\n', '이름', '제목'],
  gb18030: ['# 读取配置文件，失败则返回。\n名称 = 测试\nend\n', '测试', '示例😀'],
  big5: ['# 讀取設定檔，失敗時傳回錯誤。\n名稱 = 測試\nend\n', '測試', '範例'],
  'utf-16le': ['# a ≠ b\r\nname = "x"\r\nend\r\n', 'x', '😀é'],
  'utf-16be': ['# a ≠ b\nname = "x"\nend\n', 'x', '😀é']
}
const CERTAIN = ['utf-16le', 'utf-16be']
const nameOf = (encoding: string) => `${encoding}.txt`
const bytes = (server: TestServer, path: string): Buffer => readFileSync(join(server.root, path))

t.test('reads, edits, and takes back, in each encoding', async t => {
  const files = Object.fromEntries(Object.entries(TEXTS).map(([name, [text]]) => [nameOf(name), encoded(text, name)]))
  const server = await startServer(t, { files })
  for (const [encoding, [text, old_text, new_text]] of Object.entries(TEXTS)) {
    const path = nameOf(encoding)
    const second = text.split(/\r?\n/)[1]!
    const read = await check(t, server, '/inspect', { path }, 200, {
      encoding,
      content: text,
      total_lines: 3,
      bom: CERTAIN.includes(encoding),
      line_ending: text.includes('\r') ? 'crlf' : 'lf',
      file_size: files[path]!.length
    })
    await check(t, server, '/inspect', { path, search: old_text }, 200, {
      matches: [{ line_number: 2, column_start: second.indexOf(old_text) + 1, line_content: second }]
    })
    const edit = { path, old_text, new_text, expected_hash: read.body.file_hash }
    const answer = {
      warnings: CERTAIN.includes(encoding) ? [] : [/^The file is not UTF-8: it seems to be .* in that encoding\./],
      changes: [{ start_line: 2, end_line: 2, new_end_line: 2, context: { before_lines: [text.split(/\r?\n/)[0]!] } }],
      total_lines_after: 3
    }
    await check(t, server, '/edit', { ...edit, dry_run: true }, 200, answer)
    const made = await check(t, server, '/edit', { ...edit, show_diff: true }, 200, answer)
    t.match(String(made.body.diff), `+${second.replace(old_text, new_text)}`)
    t.strictSame(bytes(server, path), encoded(text.replace(old_text, new_text), encoding), encoding)
    await check(t, server, '/blame', { path }, 200, {
      lines: [{ text: text.split(/\r?\n/)[0]! }, { text: second.replace(old_text, new_text) }, { text: 'end' }]
    })
    await check(t, server, '/pending', { path }, 200, {
      hunks: [{ start_line: 2, lines: [{}, { text: second }, { text: second.replace(old_text, new_text) }] }]
    })
    await check(t, server, '/history', { path, show_diff: true }, 200, {
      edits: [
        {
          lines_added: 1,
          lines_removed: 1,
          changes: [{ start_line: 2, new_start_line: 2, lines_removed: 1, lines_added: 1 }],
          diff: made.body.diff
        }
      ]
    })
    await check(t, server, '/undo', { edit_id: made.body.edit_id }, 200, {})
    t.strictSame(bytes(server, path), files[path], `${encoding}: undone`)
    await check(t, server, '/redo', { edit_id: made.body.edit_id }, 200, {})
    t.strictSame(bytes(server, path), encoded(text.replace(old_text, new_text), encoding), `${encoding}: redone`)
  }
})

t.test('says what an encoding does not have, and writes nothing', async t => {
  const latin = encoded('caf\xe9\nport\n', 'windows-1252')
  const mixed = Buffer.from('\xe9 \xe8 \xc3\xa9 \x81\nport\n', 'latin1')
  const wide = utf16('a\n')
  const server = await startServer(t, { files: { 'a.md': latin, 'mixed.md': mixed, 'wide.txt': wide } })
  const refused = async (path: string, edit: object, detail: RegExp) =>
    check(t, server, '/edit', { path, ...edit }, 422, { code: 'UNENCODABLE_TEXT', detail, retry: 'change_request' })
  const edit = { old_text: 'port', new_text: 'é ✓ ✗' }
  await refused(
    'a.md',
    edit,
    /^a\.md seems to be windows-1252, which has no "✓"\. Nothing was written\. Write it in ASCII/
  )
  await refused('a.md', { ...edit, dry_run: true }, /has no "✓"/)
  await refused('mixed.md', edit, /^mixed\.md is not UTF-8, and its encoding is not known, so "é" can't be written/)
  await refused(
    'wide.txt',
    { old_text: '\ufeffa', new_text: 'b' },
    /^wide\.txt is UTF-16LE, which is known only by its byte-/
  )
  const lines = { path: 'a.md', start_line: 1, end_line: 1, expected_text: 'no such line', new_text: '' }
  for (const body of [lines, { ...lines, path: 'mixed.md' }]) {
    await check(t, server, '/edit-lines', body, 422, {
      code: 'EXPECTED_TEXT_MISMATCH',
      detail:
        /^(?:a\.md is not UTF-8, but most likely windows-1252|mixed\.md is not UTF-8, and its encoding is not known)\. /
    })
  }
  for (const [path, was] of Object.entries({ 'a.md': latin, 'mixed.md': mixed, 'wide.txt': wide })) {
    t.strictSame(bytes(server, path), was, path)
  }
  await check(t, server, '/edit', { path: 'mixed.md', old_text: 'port', new_text: 'p' }, 200, { warnings: [] })
  t.strictSame(bytes(server, 'mixed.md'), Buffer.from('\xe9 \xe8 \xc3\xa9 \x81\np\n', 'latin1'))
})

t.test('lets no edit begin a file with a mark of UTF-16', async t => {
  const latin = Buffer.from('one\xff\xfea\nb\n\n', 'latin1')
  const files = {
    'even.txt': latin,
    'odd.txt': latin.subarray(0, -1),
    'big.txt': Buffer.from('one\n\xfe\xffa\nb\n', 'latin1'),
    'mixed.txt': Buffer.concat([Buffer.from('x\xff\xfe', 'latin1'), Buffer.from('äöüäöüäöü\n')])
  }
  const server = await startServer(t, { files })
  const line = { start_line: 1, end_line: 1, new_text: '' }
  for (const [route, edit, encoding, as] of [
    [
      '/edit',
      { path: 'even.txt', old_text: 'one', new_text: '' },
      'windows-1252',
      'FF FE, which mark a file as UTF-16LE'
    ],
    [
      '/edit',
      { path: 'odd.txt', old_text: 'one', new_text: '' },
      'windows-1252',
      'FF FE, which mark a file as UTF-16LE'
    ],
    ['/edit-lines', { path: 'big.txt', ...line }, 'windows-1252', 'FE FF, which mark a file as UTF-16BE'],
    ['/edit', { path: 'mixed.txt', old_text: 'x', new_text: '' }, 'in an 8-bit encoding that is not known', 'FF FE']
  ] as const) {
    const { path } = edit
    for (const dry_run of [true, false]) {
      await check(t, server, route, { ...edit, dry_run }, 422, {
        code: 'UNENCODABLE_TEXT',
        detail: new RegExp(`^${path} is ${encoding}, and this edit would let it begin with the bytes ${as}`)
      })
    }
    t.strictSame(bytes(server, path), files[path as keyof typeof files], path)
  }
  const made = await check(t, server, '/edit', { path: 'even.txt', old_text: 'one', new_text: 'ü' }, 200, {})
  await check(t, server, '/undo', { edit_id: made.body.edit_id }, 200, {})
  t.strictSame(bytes(server, 'even.txt'), latin, 'others can be undone')
})

t.test('edits lines, sections and several files, also for tools and adapters', async t => {
  const text = '# Größe\n\nein Wort\n\n## Müll\n\nalt\n'
  const server = await startServer(t, { files: { 'a.md': encoded(text, 'windows-1252'), 'b.md': utf16(text) } })
  const now = (path: string, expected: string) =>
    t.strictSame(bytes(server, path), path === 'b.md' ? utf16(expected) : encoded(expected, 'windows-1252'), expected)
  for (const path of ['a.md', 'b.md']) {
    const section = { path, action: 'replace', heading: 'Müll', new_text: 'schön' }
    await check(t, server, '/edit-section', section, 200, {})
    now(path, text.replace('alt', 'schön'))
    await server.call('POST', '/inspect', { body: { path } })
    await check(t, server, '/tools/edit_lines', { path, start_line: 7, end_line: 7, new_text: 'süß' }, 200, {})
    now(path, text.replace('alt', 'süß'))
    await check(t, server, '/preview', { operation: 'edit', path, old_text: 'süß', new_text: 'fad é' }, 200, {
      changes: [{ old_content: 'süß', new_content: 'fad é' }]
    })
    const operations = [
      { operation: 'edit', path, old_text: 'süß', new_text: 'größer' },
      { operation: 'edit', path, old_text: 'größer', new_text: 'für' }
    ]
    await check(t, server, '/batch', { operations }, 200, {})
    now(path, text.replace('alt', 'für'))
    const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-für\n+über\n*** End Patch`
    await check(t, server, '/adapters/codex-apply-patch', { input: patch }, 200, {})
    now(path, text.replace('alt', 'über'))
  }
})

t.test('refuses what has the mark of UTF-16 and is no such text, and says what would help', async t => {
  const files = {
    'odd.txt': Buffer.concat([utf16('a'), Buffer.from('b')]),
    'half.txt': utf16('a\ud800'),
    'null.txt': utf16('a\0b'),
    'unmarked.txt': Buffer.from('a\n', 'utf16le')
  }
  const server = await startServer(t, { files })
  for (const path of Object.keys(files)) {
    await check(t, server, '/edit', { path, old_text: 'a', new_text: 'b' }, 415, {
      code: 'BINARY_FILE',
      retry: 'never',
      detail: /Nothing was written\. If it is meant to be text, convert it to UTF-8 with another tool\.$/
    })
    await check(t, server, '/inspect', { path }, 200, { total_lines: undefined })
  }
})

t.test('refuses an undo with what is there as text', async t => {
  const server = await startServer(t, { files: { 'a.txt': utf16('ä\nb\n') } })
  const { body } = await check(t, server, '/edit', { path: 'a.txt', old_text: 'ä', new_text: 'ö' }, 200, {})
  await check(t, server, '/edit', { path: 'a.txt', old_text: 'ö', new_text: 'ü' }, 200, {})
  await check(t, server, '/undo', { edit_id: body.edit_id }, 409, {
    code: 'UNDO_CONFLICT',
    conflicts: [{ start_line: 1, current_text: 'ü\n', would_restore: 'ä\n' }]
  })
})

t.test('takes back an edit by bytes where the file was in another encoding since', async t => {
  const was = utf16('ä\r\nb\r\n')
  const server = await startServer(t, { files: { 'a.txt': was } })
  const { body: read } = await check(t, server, '/inspect', { path: 'a.txt' }, 200, {})
  const whole = { path: 'a.txt', content: 'x\ny\n', overwrite: true, expected_hash: read.file_hash }
  const { body } = await check(t, server, '/create', whole, 200, {
    warnings: [/^The file was UTF-16LE, and is UTF-8 now: /]
  })
  t.strictSame(bytes(server, 'a.txt'), Buffer.from('x\r\ny\r\n'))
  await check(t, server, '/undo', { edit_id: body.edit_id }, 200, {})
  t.strictSame(bytes(server, 'a.txt'), was)
  await check(t, server, '/redo', { edit_id: body.edit_id }, 200, {})
  t.strictSame(bytes(server, 'a.txt'), Buffer.from('x\r\ny\r\n'))
})

t.test('replaces a whole file with its line breaks, and says that its encoding is another one', async t => {
  const server = await startServer(t, { files: {} })
  const replaced = async (was: Buffer, content: string, more: object, expected: string, warnings: RegExp[]) => {
    writeFileSync(join(server.root, 'a.txt'), was)
    const { body } = await check(t, server, '/inspect', { path: 'a.txt' }, 200, {})
    const request = { path: 'a.txt', content, overwrite: true, expected_hash: body.file_hash, ...more }
    await check(t, server, '/create', { ...request, dry_run: true }, 200, { file_size: Buffer.byteLength(expected) })
    await check(t, server, '/create', request, 200, { warnings })
    t.strictSame(bytes(server, 'a.txt').toString(), expected)
  }
  await replaced(Buffer.from('a\r\nb\r\n'), 'c\nd\n', {}, 'c\r\nd\r\n', [])
  await replaced(Buffer.from('a\r\nb\r\n'), 'c\nd\n', { line_endings: 'exact' }, 'c\nd\n', [])
  await replaced(Buffer.from('a\nb\n'), 'c\r\nd\r\n', {}, 'c\nd\n', [])
  await replaced(Buffer.from('a'), 'c\r\nd\n', {}, 'c\r\nd\n', [])
  const seems = (name: string) => [new RegExp(`^The file was ${name}, and is UTF-8 now: check`)]
  await replaced(encoded('# 日本語\r\n', 'shift_jis'), '# 日本\n', {}, '# 日本\r\n', seems('Shift_JIS'))
  await replaced(Buffer.from('caf\xe9\n', 'latin1'), 'café\n', {}, 'café\n', seems('windows-1252'))
  await replaced(
    Buffer.from('\xe9 \xe8 \xc3\xa9 \x81\n', 'latin1'),
    'é\n',
    {},
    'é\n',
    seems('in an 8-bit encoding that is not known')
  )
})

t.test('holds files to max_file_size by their own bytes, not by those of UTF-8', async t => {
  const files = { 'narrow.txt': utf16(`${'a'.repeat(43)}\n`), 'wide.txt': utf16(`${'名'.repeat(43)}\n`) }
  const server = await startServer(t, { files, settings: { maxFileSize: 100 } })
  const wide = { path: 'wide.txt', old_text: '名\n', new_text: '前名\n' }
  const made = await check(t, server, '/edit', wide, 200, { file_size: 92 })
  await check(t, server, '/undo', { edit_id: made.body.edit_id }, 200, { results: [{ file_size: 90 }] })
  const narrow = { path: 'narrow.txt', old_text: 'a\n', new_text: 'abcdefg\n' }
  const tooLarge = { code: 'RESULT_TOO_LARGE', limit: 100, actual: 102 }
  await check(t, server, '/edit', narrow, 422, tooLarge)
  const lines = { path: 'narrow.txt', start_line: 2, end_line: 1, new_text: 'abcde\n' }
  await check(t, server, '/edit-lines', lines, 422, tooLarge)
  t.strictSame(bytes(server, 'narrow.txt'), files['narrow.txt'])
})
