// Anthropic's text editor and memory tools over HTTP: each command, on real files, as a model sends it.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bytesOf, startServer, type Reply, type TestServer } from '../test-server.ts'

const EDITOR = '/adapters/anthropic-text-editor'
const MEMORY = '/adapters/anthropic-memory'

interface Expected {
  status?: number
  output: string | RegExp
  code?: string
  /** The files afterwards. */
  files?: Record<string, string>
}

/** The command is answered with this output, and leaves these files. */
async function check(
  t: Test,
  server: TestServer,
  route: string,
  command: unknown,
  { status = 200, output, code, files = {} }: Expected
): Promise<Reply> {
  const reply = await server.call('POST', route, { body: command })
  const name = JSON.stringify(command).slice(0, 200)
  t.equal(reply.status, status, name)
  t.equal(reply.body.is_error, status >= 400, name)
  if (typeof output === 'string') t.equal(reply.body.output, output, name)
  else t.match(reply.body.output, output, name)
  t.equal((reply.body.problem as { code?: string } | undefined)?.code, code, name)
  for (const [path, content] of Object.entries(files)) t.equal(bytesOf(server, path), content, name)
  return reply
}

const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'crlf.txt': 'one\r\ntwo\r\n',
  'empty.txt': '',
  'bad.txt': Buffer.from('caf\x81\n', 'latin1'),
  'nul.bin': 'a\0b',
  '.hidden': 'x',
  node_modules: { 'x.js': '' },
  sub: { 'b.js': 'x'.repeat(1536), deep: { 'c.js': 'y', deeper: { 'd.js': '' } } }
}

t.test('goes on within a line that is too long to be shown whole', async t => {
  const line = Array.from({ length: 20_000 }, (_, i) => `word${i} `).join('')
  const server = await startServer(t, { files: { 'wide.txt': `one\n${line}\nthree\n` } })
  let sent: object = { command: 'view', path: 'wide.txt', view_range: [2, 2] }
  let seen = ''
  for (let isCut = true; isCut;) {
    const { body } = await check(t, server, EDITOR, sent, { output: /^.*\n {5}2\t/ })
    const [, shown, , call] = String(body.output).split('\n')
    seen += shown!.slice(7)
    isCut = call !== undefined
    if (isCut) {
      t.match(String(body.output), /\nTo go on with line 3, send:\n\{.*"view_range":\[3,-1\]\}$/)
      sent = JSON.parse(call!) as object
      t.match(sent, { command: 'view', path: 'wide.txt', view_range: [2, 2, seen.length + 1] })
    }
  }
  t.equal(seen, line)
  await check(
    t,
    server,
    EDITOR,
    { command: 'view', path: 'wide.txt', view_range: [2, 2, 0] },
    { status: 400, code: 'INVALID_REQUEST', output: /\/view_range\/2 must be at least 1/ }
  )
})

t.test('shows files and directories', async t => {
  const long = `${'x'.repeat(80)}\n`.repeat(2500)
  const server = await startServer(t, { files: { ...FILES, 'long.txt': long, 'wide.txt': 'w'.repeat(100_000) } })
  const view = (path: string, expected: Expected, view_range?: [number, number]) =>
    check(t, server, EDITOR, { command: 'view', path, ...(view_range && { view_range }) }, expected)
  const head = "Here's the content of a.txt with line numbers:\n"
  await view('a.txt', { output: `${head}     1\tone\n     2\ttwo\n     3\tthree` })
  await view('a.txt', { output: `${head}     2\ttwo\n     3\tthree` }, [2, -1])
  await view('a.txt', { output: `${head}     2\ttwo` }, [2, 2])
  await view('a.txt', { output: `${head}     3\tthree` }, [3, 400])
  await view('empty.txt', { output: 'empty.txt is empty.' })
  await view('bad.txt', { output: /\n {5}1\tcaf\ufffd\nBytes that are not UTF-8 are shown as \ufffd\.$/ })
  await view('nul.bin', { output: "nul.bin is a binary file: it has no lines and can't be edited." })
  await view(
    'a.txt',
    { status: 422, code: 'LINE_OUT_OF_RANGE', output: /^a\.txt has no line 9: it has 3 lines\./ },
    [9, -1]
  )
  await view('a.txt', { status: 400, code: 'INVALID_REQUEST', output: /\/view_range\/0 must be at least 1/ }, [0, 2])
  const ofFolder = /^The request is not valid: \/view_range can only be used with files, [^/]* \[INVALID_REQUEST\]$/
  await view('.', { status: 400, code: 'INVALID_REQUEST', output: ofFolder }, [1, 2])
  await view('nothing/like/it', { status: 404, code: 'FILE_NOT_FOUND', output: /\n\{"command":"view","path":"\."\}$/ })
  const { body } = await view('long.txt', { output: /\nThese are lines 1 to \d+ of 2500\. To go on, send:\n\{.*\}$/ })
  const next = JSON.parse(String(body.output).split('\n').at(-1)!) as { view_range: [number, number] }
  t.match(String(body.output), new RegExp(`\\n *${next.view_range[0] - 1}\\tx+\\nThese`))
  await check(t, server, EDITOR, next, { output: new RegExp(`^.*\\n *${next.view_range[0]}\\t`) })
  await view('wide.txt', {
    output: /w\nLine 1 is cut here: it is too long to be shown whole\. To go on within it, send:\n/
  })
  const list = "Here're the files and directories up to 2 levels deep in X, excluding hidden items and node_modules:\n"
  await view('sub', {
    output: `${list.replace('X', 'sub')}-\tsub\n1.5K\tsub/b.js\n-\tsub/deep/\n1B\tsub/deep/c.js\n-\tsub/deep/deeper/`
  })
  await view('.', { output: /^.* in \., .*:\n-\t\.\n14B\t\.\/a\.txt\n[^]*\n-\t\.\/sub\/deep\/\n/ })
})

t.test('lists no more than a thousand lines of a directory, and reads no further', async t => {
  const many = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`f${i}`, '']))
  const server = await startServer(t, { files: { many } })
  const { body } = await check(t, server, EDITOR, { command: 'view', path: 'many' }, { output: /^Here're/ })
  const lines = String(body.output).split('\n')
  t.equal(lines.length, 2 + 1000 + 1)
  t.equal(lines.at(-1), 'Only the first 1000 are listed; view a directory below this one for its own list.')
})

t.test('changes files', async t => {
  const server = await startServer(t, { files: FILES })
  const edit = (command: object, expected: Expected) => check(t, server, EDITOR, command, expected)
  const edited = (path: string, lines: string) =>
    `The file ${path} has been edited. Here is the snippet showing the change (with line numbers):\n${lines}`
  const { body } = await edit(
    { command: 'str_replace', path: 'a.txt', old_str: 'two', new_str: '2' },
    { output: edited('a.txt', '     1\tone\n     2\t2\n     3\tthree'), files: { 'a.txt': 'one\n2\nthree\n' } }
  )
  t.match(body.result, { changed: true, edit_id: String, file_hash: String })
  await edit(
    { command: 'str_replace', path: 'crlf.txt', old_str: 'one\ntwo', new_str: '1\n2' },
    { output: /edited/, files: { 'crlf.txt': '1\r\n2\r\n' } }
  )
  await edit(
    { command: 'str_replace', path: 'a.txt', old_str: '2\n', new_str: '' },
    { output: /edited/, files: { 'a.txt': 'one\nthree\n' } }
  )
  await edit(
    { command: 'insert', path: 'a.txt', insert_line: 1, insert_text: 'two' },
    { output: edited('a.txt', '     1\tone\n     2\ttwo\n     3\tthree'), files: { 'a.txt': 'one\ntwo\nthree\n' } }
  )
  await edit(
    { command: 'insert', path: 'a.txt', insert_line: 2, insert_text: '' },
    { output: /edited/, files: { 'a.txt': 'one\ntwo\n\nthree\n' } }
  )
  await edit({ command: 'undo_edit', path: 'a.txt' }, { output: /undone/, files: { 'a.txt': 'one\ntwo\nthree\n' } })
  await edit(
    { command: 'insert', path: 'a.txt', insert_line: 0, new_str: 'zero\n' },
    { output: /edited/, files: { 'a.txt': 'zero\none\ntwo\nthree\n' } }
  )
  await edit(
    { command: 'undo_edit', path: 'a.txt' },
    { output: /^The last edit of a\.txt was undone\./, files: { 'a.txt': 'one\ntwo\nthree\n' } }
  )
  await edit(
    { command: 'create', path: 'new/c.py', file_text: 'def f():\n  return (\n' },
    {
      output: /^File created successfully at: new\/c\.py\nWarning: .*syntax/,
      files: { 'new/c.py': 'def f():\n  return (\n' }
    }
  )
  await edit(
    { command: 'str_replace', path: 'a.txt', old_str: 'two', new_str: 'two' },
    { output: /^a\.txt already has exactly this content|already/, files: { 'a.txt': 'one\ntwo\nthree\n' } }
  )
})

t.test('refuses in the words of the tool, with a command that works', async t => {
  const server = await startServer(t, { files: FILES })
  const refuse = (command: object, status: number, code: string, output: RegExp) =>
    check(t, server, EDITOR, command, { status, code, output, files: { 'a.txt': 'one\ntwo\nthree\n' } })
  const missed = await refuse(
    { command: 'str_replace', path: 'a.txt', old_str: 'one \ntwo', new_str: 'ONE\ntwo' },
    422,
    'NO_MATCH',
    new RegExp(
      '^old_str was not found in a\\.txt[^]*\\nIf so, send:\\n' +
        '\\{"command":"str_replace","path":"a\\.txt","old_str":"one\\\\ntwo","new_str":"ONE\\\\ntwo"\\}$'
    )
  )
  const fix = JSON.parse(String(missed.body.output).split('\n').at(-1)!) as object
  await refuse(
    { command: 'str_replace', path: 'a.txt', old_str: 't', new_str: 'T' },
    422,
    'WRONG_COUNT',
    new RegExp(
      '^old_str appears 2 times in a\\.txt, at lines 2 and 3[^]*\\n' +
        '\\{"command":"str_replace","path":"a\\.txt","old_str":"two","new_str":"Two"\\}\\n'
    )
  )
  await refuse(
    { command: 'str_replace', path: 'a.txt', old_str: '', new_str: 'T' },
    400,
    'EMPTY_OLD_TEXT',
    /^old_str is empty/
  )
  await refuse(
    { command: 'create', path: 'a.txt', file_text: '' },
    409,
    'ALREADY_EXISTS',
    /^a\.txt already exists.*str_replace/
  )
  await refuse(
    { command: 'insert', path: 'a.txt', insert_line: 9, insert_text: 'x' },
    422,
    'LINE_OUT_OF_RANGE',
    /3 lines/
  )
  await refuse(
    { command: 'insert', path: 'a.txt', insert_line: -1, insert_text: 'x' },
    422,
    'LINE_OUT_OF_RANGE',
    /3 lines/
  )
  await refuse({ command: 'insert', path: 'a.txt', insert_line: 1 }, 400, 'INVALID_REQUEST', /\/insert_text is missing/)
  await refuse(
    { command: 'insert', path: 'a.txt', insert_line: 1, insert_text: 'x', new_str: 'y' },
    400,
    'INVALID_REQUEST',
    /\/new_str means insert_text, which is given too/
  )
  await refuse(
    { command: 'str_replace', path: 'a.txt', old_str: 'two' },
    400,
    'INVALID_REQUEST',
    /\/new_str is missing; send "" to delete old_str/
  )
  await refuse({ command: 'view', path: '../secret' }, 403, 'PATH_NOT_ALLOWED', /outside the workspace/)
  await refuse(
    { command: 'str_replace', path: '.git/config', old_str: 'a', new_str: 'b' },
    403,
    'PROTECTED_PATH',
    /protected/
  )
  await refuse({ command: 'undo_edit', path: 'a.txt' }, 422, 'NOTHING_TO_UNDO', /./)
  await refuse(
    { command: 'delete', path: 'a.txt' },
    400,
    'INVALID_REQUEST',
    /\/command must be "view", "create", "str_replace", "insert" or "undo_edit"/
  )
  await refuse({ command: 'view', path: 'a.txt', oldd: 1 }, 400, 'INVALID_REQUEST', /\/oldd is an unknown field/)
  await refuse({ command: 'view', path: 7 }, 400, 'INVALID_REQUEST', /\/path must be a string/)
  await refuse({ path: 'a.txt' }, 400, 'INVALID_REQUEST', /\/command is missing/)
  await refuse({ command: 'str_replace', path: 'a.txt', old_str: '\ud800', new_str: '' }, 400, 'INVALID_UNICODE', /./)
  for (const output of [missed.body.output]) t.notMatch(output, /old_text|file_hash|expected_hash|\/edit/)
  await check(t, server, EDITOR, fix, { output: /edited/, files: { 'a.txt': 'ONE\ntwo\nthree\n' } })
})

t.test('says of an undo by which a file is gone where it was, and takes a whole move back', async t => {
  const server = await startServer(t, { files: FILES, settings: { allowDelete: true } })
  const undo = (path: string, output: string) =>
    check(t, server, EDITOR, { command: 'undo_edit', path }, { output, files: { 'a.txt': 'one\ntwo\nthree\n' } })
  const input = '*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n*** End Patch'
  for (const path of ['b.txt', 'a.txt']) {
    await server.call('POST', '/adapters/codex-apply-patch', { body: { input } })
    t.ok(existsSync(join(server.root, 'b.txt')))
    await undo(path, `The last edit of ${path} was undone: b.txt is removed, and a.txt is there again.`)
    t.notOk(existsSync(join(server.root, 'b.txt')))
  }
  await server.call('POST', EDITOR, { body: { command: 'create', path: 'c.txt', file_text: 'x' } })
  await undo('c.txt', 'The last edit of c.txt was undone: c.txt is removed.')
  t.notOk(existsSync(join(server.root, 'c.txt')))
})

t.test('carries a command out once under one key', async t => {
  const server = await startServer(t, { files: FILES })
  const send = () =>
    server.call('POST', EDITOR, {
      body: { command: 'insert', path: 'a.txt', insert_line: 0, insert_text: 'zero' },
      headers: { 'idempotency-key': 'k1', 'editd-agent': 'claude' }
    })
  const first = await send()
  const again = await send()
  t.equal(again.status, 200)
  t.equal(again.body.output, first.body.output)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(bytesOf(server, 'a.txt'), 'zero\none\ntwo\nthree\n')
  const { body } = await server.call('POST', '/history', { body: { path: 'a.txt' } })
  t.match(body.edits, [{ agent: 'claude', operation: 'edit_lines' }])
  t.equal((body.edits as object[]).length, 1)
})

t.test('takes null for a field that a command does not have', async t => {
  const server = await startServer(t, { files: FILES })
  await check(t, server, EDITOR, { command: 'view', path: 'a.txt', view_range: null, old_str: null }, { output: /one/ })
})

t.test('answers a body that is no JSON for the model, and what comes before it for the host', async t => {
  const server = await startServer(t, { files: FILES })
  const post = (body: string, type: string) =>
    fetch(`${server.url}${EDITOR}`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, authorization: 'Bearer test-token' }
    })
  const bad = await post('{', 'application/json')
  t.equal(bad.status, 400)
  t.match(await bad.json(), { status: 'failed', output: /JSON/, problem: { code: 'INVALID_JSON' } })
  const text = await post('{}', 'text/plain')
  t.equal(text.status, 415)
  t.match(await text.json(), { code: 'UNSUPPORTED_MEDIA_TYPE' })
})

t.test('keeps memories in a folder of the workspace', async t => {
  const server = await startServer(t, { files: { 'outside.txt': 'x\n' }, settings: { allowDelete: true } })
  const memory = (command: object, expected: Expected) => check(t, server, MEMORY, command, expected)
  const head =
    "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n-\t/memories"
  await memory({ command: 'view', path: '/memories' }, { output: head })
  await memory(
    { command: 'create', path: '/memories/a.md', file_text: 'x\ny\nz\n' },
    { output: 'File created successfully at: /memories/a.md', files: { 'memories/a.md': 'x\ny\nz\n' } }
  )
  await memory({ command: 'view', path: '/memories/' }, { output: `${head}\n6B\t/memories/a.md` })
  await memory(
    { command: 'view', path: '/memories/a.md' },
    { output: "Here's the content of /memories/a.md with line numbers:\n     1\tx\n     2\ty\n     3\tz" }
  )
  await memory(
    { command: 'str_replace', path: '/memories/a.md', old_str: 'x\ny', new_str: 'X\nY' },
    {
      output:
        'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tX\n     2\tY\n     3\tz',
      files: { 'memories/a.md': 'X\nY\nz\n' }
    }
  )
  await memory(
    { command: 'insert', path: '/memories/a.md', insert_line: 3, insert_text: 'end' },
    { output: 'The file /memories/a.md has been edited.', files: { 'memories/a.md': 'X\nY\nz\nend\n' } }
  )
  await memory(
    { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/sub/b.md' },
    {
      output: 'Successfully renamed /memories/a.md to /memories/sub/b.md',
      files: { 'memories/sub/b.md': 'X\nY\nz\nend\n' }
    }
  )
  t.notOk(existsSync(join(server.root, 'memories/a.md')))
  await memory({ command: 'delete', path: '/memories/sub/b.md' }, { output: 'Successfully deleted /memories/sub/b.md' })
  t.notOk(existsSync(join(server.root, 'memories/sub/b.md')))
  const undone = await server.call('POST', '/undo', { body: { path: 'memories/sub/b.md' } })
  t.equal(undone.status, 200)
  t.equal(bytesOf(server, 'memories/sub/b.md'), 'X\nY\nz\nend\n')
})

t.test('deletes and renames folders of memories, which an undo brings back', async t => {
  const memories = { old: { 'a.md': 'a\n', sub: { 'b.md': 'b\n' } }, 'c.md': 'c\n', empty: { more: {} } }
  const server = await startServer(t, { files: { memories }, settings: { allowDelete: true } })
  const memory = (command: object, expected: Parameters<typeof check>[4]) => check(t, server, MEMORY, command, expected)
  const old = join(server.root, 'memories/old')
  await memory(
    { command: 'rename', old_path: '/memories/old', new_path: '/memories/new/place' },
    {
      output: 'Successfully renamed /memories/old to /memories/new/place',
      files: { 'memories/new/place/a.md': 'a\n', 'memories/new/place/sub/b.md': 'b\n' }
    }
  )
  t.notOk(existsSync(old))
  await memory({ command: 'delete', path: '/memories/new' }, { output: 'Successfully deleted /memories/new' })
  t.notOk(existsSync(join(server.root, 'memories/new')))
  await memory({ command: 'delete', path: '/memories/empty' }, { output: 'Successfully deleted /memories/empty' })
  t.notOk(existsSync(join(server.root, 'memories/empty')))
  for (const path of ['/memories', '/memories/']) {
    const output = /^Cannot delete the \/memories directory itself\n/
    await memory({ command: 'delete', path }, { status: 400, code: 'INVALID_REQUEST', output })
    const renamed = /^Cannot rename the \/memories directory itself\n/
    const rename = { command: 'rename', old_path: path, new_path: '/memories/x' }
    await memory(rename, { status: 400, code: 'INVALID_REQUEST', output: renamed })
  }
  await server.call('POST', '/undo', { body: {} })
  await server.call('POST', '/undo', { body: {} })
  t.equal(bytesOf(server, 'memories/old/a.md'), 'a\n')
  t.equal(bytesOf(server, 'memories/old/sub/b.md'), 'b\n')
})

t.test("refuses in the sentences of the vendor's memory tool", async t => {
  const server = await startServer(t, {
    files: { 'outside.txt': 'x\n', memories: { 'a.md': 'k k\n', 'b.md': 'b\n', d: {} } },
    settings: { allowDelete: true }
  })
  const refuse = (command: object, status: number, code: string, output: RegExp) =>
    check(t, server, MEMORY, command, {
      status,
      code,
      output,
      files: { 'memories/a.md': 'k k\n', 'outside.txt': 'x\n' }
    })
  const a = '/memories/a.md'
  await refuse(
    { command: 'str_replace', path: a, old_str: 'K', new_str: 'X' },
    422,
    'NO_MATCH',
    /^No replacement was performed, old_str `K` did not appear verbatim in \/memories\/a\.md\.\nold_str was not found in \/memories\/a\.md/
  )
  await refuse(
    { command: 'str_replace', path: a, old_str: 'k', new_str: 'X' },
    422,
    'WRONG_COUNT',
    new RegExp(
      '^No replacement was performed\\. Multiple occurrences of old_str `k` in lines: 1\\. Please ensure it is unique\\n' +
        '[^]*\\{"command":"str_replace","path":"/memories/a\\.md","old_str":"k k","new_str":"X k"\\}'
    )
  )
  await refuse(
    { command: 'view', path: '/memories/none.md' },
    404,
    'FILE_NOT_FOUND',
    /^The path \/memories\/none\.md does not exist\. Please provide a valid path\.\n/
  )
  await refuse(
    { command: 'delete', path: '/memories/none.md' },
    404,
    'FILE_NOT_FOUND',
    /^The path \/memories\/none\.md does not exist\n/
  )
  await refuse(
    { command: 'rename', old_path: '/memories/none.md', new_path: '/memories/c.md' },
    404,
    'FILE_NOT_FOUND',
    /^The path \/memories\/none\.md does not exist\n/
  )
  await refuse(
    { command: 'rename', old_path: a, new_path: a },
    400,
    'INVALID_REQUEST',
    /\/new_path is the path that the file has already; send another one/
  )
  await refuse(
    { command: 'rename', old_path: a, new_path: '/memories/b.md' },
    409,
    'ALREADY_EXISTS',
    /^The destination \/memories\/b\.md already exists\n/
  )
  await refuse(
    { command: 'rename', old_path: a, new_path: '/memories/d' },
    422,
    'NOT_A_FILE',
    /^The destination \/memories\/d already exists\n\/memories\/d is a directory that already exists\./
  )
  await refuse(
    { command: 'create', path: a, file_text: '' },
    409,
    'ALREADY_EXISTS',
    /^File \/memories\/a\.md already exists\n/
  )
  await refuse(
    { command: 'str_replace', path: '/memories/d', old_str: 'a', new_str: '' },
    422,
    'NOT_A_FILE',
    /^The path \/memories\/d is not a file\.\n/
  )
  await refuse(
    { command: 'insert', path: a, insert_line: 5, insert_text: '' },
    422,
    'LINE_OUT_OF_RANGE',
    /^Invalid `insert_line` parameter: 5\. It should be within the range of lines of the file: \[0, 1\]\n/
  )
  await refuse(
    { command: 'view', path: a, view_range: [5, 6] },
    422,
    'LINE_OUT_OF_RANGE',
    /^\/memories\/a\.md has no line 5/
  )
  for (const path of ['/memories/../outside.txt', '/memories/d/../../outside.txt']) {
    await refuse({ command: 'view', path }, 400, 'INVALID_REQUEST', /must not contain "\.\."/)
  }
  for (const path of ['/memories_evil/x', 'memories/a.md', '/', 'outside.txt']) {
    await refuse(
      { command: 'view', path },
      400,
      'INVALID_REQUEST',
      /\/path must be \/memories or begin with \/memories\//
    )
  }
  await refuse(
    { command: 'rename', old_path: a, new_path: '/x' },
    400,
    'INVALID_REQUEST',
    /\/new_path must be \/memories or begin with \/memories\//
  )
  await refuse({ command: 'create', path: '/memories/.git/x', file_text: '' }, 403, 'PROTECTED_PATH', /\.git/)
  await refuse(
    { command: 'str_replace', path: a, old_str: 'k' },
    400,
    'INVALID_REQUEST',
    /\/new_str is missing; send "" to delete old_str/
  )
})

t.test('removes folders with their last memory, and an undo brings all back', async t => {
  const files = { notes: { 'top.md': 't', d: { e: { 'a.md': 'a' }, f: { 'b.md': 'b', g: { 'c.md': 'c' } } } } }
  const settings = { allowDelete: true, memoryRoot: 'notes' }
  const server = await startServer(t, { files, settings })
  symlinkSync('top.md', join(server.root, 'notes/l.md'))
  symlinkSync('../outside.md', join(server.root, 'notes/o.md'))
  writeFileSync(join(server.root, 'outside.md'), 'o')
  const has = (path: string) => existsSync(join(server.root, 'notes', path))
  const memory = (command: object, output: string | RegExp, refusal: Partial<Expected> = {}) =>
    check(t, server, MEMORY, command, { output, ...refusal })
  await memory({ command: 'delete', path: '/memories/d/e/a.md' }, 'Successfully deleted /memories/d/e/a.md')
  t.notOk(has('d/e'))
  t.ok(has('d/f/b.md'))
  await memory({ command: 'delete', path: '/memories/d/f/g' }, 'Successfully deleted /memories/d/f/g')
  t.ok(has('d/f/b.md'))
  await memory(
    { command: 'rename', old_path: '/memories/d/f/b.md', new_path: '/memories/b.md' },
    /^Successfully renamed/
  )
  t.notOk(has('d'))
  const listed = '-\t/memories/l.md (link)\n-\t/memories/o.md (link)\n1B\t/memories/top.md'
  const { output } = (await memory({ command: 'view', path: '/memories' }, /./)).body as { output: string }
  t.equal(output.split('\n').slice(2).join('\n'), `1B\t/memories/b.md\n${listed}`)
  for (const path of ['notes/b.md', 'notes/d/e/a.md', 'notes/d/f/g/c.md']) {
    t.equal((await server.call('POST', '/undo', { body: { path } })).status, 200, path)
  }
  t.ok(['d/e/a.md', 'd/f/b.md', 'd/f/g/c.md'].every(has))
  // The workspace's own operations leave folders.
  await server.call('POST', '/delete', { body: { path: 'notes/d/e/a.md' } })
  t.ok(has('d/e'))
  const linked = { status: 422, code: 'NOT_A_FILE' }
  await memory(
    { command: 'delete', path: '/memories/l.md' },
    /Send the path that it leads to: \/memories\/top\.md\.$/,
    linked
  )
  await memory({ command: 'delete', path: '/memories/o.md' }, /leads to a path that this tool cannot name\.$/, linked)
})

t.test('says which path is meant by one of Windows', async t => {
  const server = await startServer(t, {
    files: { memories: { 'a.md': 'x' }, 'a.md': 'x' },
    settings: { allowDelete: true }
  })
  const refused = { status: 400, code: 'INVALID_REQUEST' }
  for (const [path, meant] of [
    ['\\memories\\a.md', '/memories/a.md'],
    ['/memories\\a.md', '/memories/a.md'],
    ['C:\\memories\\a.md', '/memories/a.md'],
    ['c:/memories', '/memories'],
    ['memories/a.md', '/memories/a.md'],
    ['./memories/a.md', '/memories/a.md']
  ] as const) {
    const output = new RegExp(`begin with /memories/; send "${meant}"\\. \\[`)
    await check(t, server, MEMORY, { command: 'view', path }, { ...refused, output })
    await check(t, server, MEMORY, { command: 'view', path: meant }, { output: /./ })
  }
  for (const path of ['C:\\a.md', '/memory/a.md']) {
    await check(t, server, MEMORY, { command: 'view', path }, { ...refused, output: /begin with \/memories\/\. \[/ })
  }
  const invalid = { status: 400, code: 'INVALID_PATH' }
  const create = (route: string, path: string, call: object) =>
    check(
      t,
      server,
      route,
      { command: 'create', path, file_text: 'x' },
      {
        ...invalid,
        output: new RegExp(`send:\n${JSON.stringify(call).replaceAll(/[{}.]/g, '\\$&')}$`)
      }
    )
  await create(EDITOR, 'src\\n.md', { command: 'create', path: 'src/n.md', file_text: 'x' })
  await create(EDITOR, 'C:\\n.md', { command: 'create', path: 'n.md', file_text: 'x' })
  await create(MEMORY, '/memories/src\\n.md', { command: 'create', path: '/memories/src/n.md', file_text: 'x' })
  const rename = { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/d\\a.md' }
  await check(t, server, MEMORY, rename, { ...refused, output: /send "\/memories\/d\/a\.md"/ })
})

t.test('says first that a file is not UTF-8, in every adapter', async t => {
  const latin = Buffer.from('# r\xe9sum\xe9 fran\xe7ais\nname = "caf\xe9"\nport = 80\n', 'latin1')
  const server = await startServer(t, {
    files: { 'l.ini': latin, memories: { 'l.ini': latin }, 'u.ini': Buffer.from('\ufeffport = 80\n', 'utf16le') }
  })
  const diff = '@@\n-name = "cafe"\n+name = "x"\n'
  const editing = (path: string) => ({
    command: 'str_replace',
    path,
    old_str: 'name = "cafe"\nport = 80',
    new_str: 'p'
  })
  const said = (name: string) => new RegExp(`^${name} is not UTF-8, but most likely windows-1252\\. [^]*café`)
  const openai = { type: 'apply_patch_call', call_id: 'c', operation: { type: 'update_file', path: 'l.ini', diff } }
  const codex = { input: `*** Begin Patch\n*** Update File: l.ini\n${diff}*** End Patch` }
  const misses: [route: string, body: object, output: RegExp][] = [
    [EDITOR, editing('l.ini'), said('l\\.ini')],
    [
      MEMORY,
      editing('/memories/l.ini'),
      /\.\n\/memories\/l\.ini is not UTF-8, but most likely windows-1252\. [^]*café/
    ],
    ['/adapters/openai-apply-patch', openai, said('l\\.ini')],
    ['/adapters/codex-apply-patch', codex, said('l\\.ini')],
    ['/tools/edit_file', { path: 'l.ini', old_text: 'name = "cafe"\nport = 80', new_text: 'p' }, said('l\\.ini')],
    ['/edit', { path: 'l.ini', old_text: 'name = "cafe"\nport = 80', new_text: 'p' }, said('l\\.ini')],
    ['/edit', { path: 'u.ini', old_text: 'port = 8080', new_text: 'p' }, /^u\.ini is not UTF-8, but most likely UTF-16/]
  ]
  for (const [route, body, output] of misses) {
    const { body: answer, text } = await server.call('POST', route, { body })
    t.match((answer.output ?? answer.detail ?? text) as string, output, route)
  }
  writeFileSync(join(server.root, 'b.ini'), Buffer.from('a\x81\xff\xfe\xa5\nport = 80\n', 'latin1'))
  const { body: unknown } = await server.call('POST', '/edit', {
    body: { path: 'b.ini', old_text: 'port = 8080', new_text: 'p' }
  })
  t.match(unknown.detail, /^b\.ini is not UTF-8, and its encoding is not known\. /)
  // What is shown can be copied and is found.
  await check(
    t,
    server,
    EDITOR,
    { command: 'str_replace', path: 'l.ini', old_str: 'name = "café"', new_str: 'name = "thé"' },
    {
      output: /name = "thé"/,
      files: { 'l.ini': Buffer.from(latin.toString('latin1').replace('café', 'thé'), 'latin1').toString() }
    }
  )
})

t.test('keeps all of 50 edits of one memory at the same time', async t => {
  const lines = Array.from({ length: 50 }, (_, i) => `l${i};`)
  const server = await startServer(t, {
    files: { store: { 'c.md': lines.join('\n') } },
    settings: { memoryRoot: 'store' }
  })
  const replies = await Promise.all(
    lines.map((line, i) =>
      server.call('POST', MEMORY, {
        body: { command: 'str_replace', path: '/memories/c.md', old_str: line, new_str: `L${i};` }
      })
    )
  )
  t.strictSame(
    replies.map(({ status }) => status),
    lines.map(() => 200)
  )
  t.equal(bytesOf(server, 'store/c.md'), lines.join('\n').toUpperCase())
})
