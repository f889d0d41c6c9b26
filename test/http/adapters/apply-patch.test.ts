// The apply_patch of OpenAI and of codex over HTTP: patches as a model sends them, on real files.
import { chmodSync, existsSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bytesOf, startServer, TOKEN, type TestServer } from '../test-server.ts'

const OPENAI = '/adapters/openai-apply-patch'
const CODEX = '/adapters/codex-apply-patch'

const FILES = {
  'a.py': 'def f():\n    a = 1\n\ndef g():\n    a = 1\n',
  'b.py': 'x = 1\ny = 2\n',
  'crlf.txt': 'one\r\ntwo\r\n'
}

interface Expected {
  status?: number
  output: string | RegExp
  code?: string
  /** The files afterwards; null: it isn't there. */
  files?: Record<string, string | null>
}

const patchOf = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

/** The body is answered with this output, and leaves these files. */
async function check(
  t: Test,
  server: TestServer,
  route: string,
  body: object,
  { status = 200, output, code, files = {} }: Expected
): Promise<Record<string, unknown>> {
  const reply = await server.call('POST', route, { body })
  const name = JSON.stringify(body).slice(0, 300)
  t.equal(reply.status, status, name)
  if (typeof output === 'string') t.equal(reply.body.output, output, name)
  else t.match(reply.body.output, output, name)
  t.equal((reply.body.problem as { code?: string } | undefined)?.code, code, name)
  for (const [path, content] of Object.entries(files)) {
    if (content === null) t.notOk(existsSync(join(server.root, path)), name)
    else t.equal(bytesOf(server, path), content, name)
  }
  return reply.body
}

const call = (operation: object, call_id = 'call_1') => ({
  type: 'apply_patch_call',
  id: 'apc_1',
  call_id,
  status: 'completed',
  operation
})

t.test("carries out OpenAI's calls", async t => {
  const server = await startServer(t, { files: FILES, settings: { allowDelete: true } })
  const done = (operation: object, expected: Expected) => check(t, server, OPENAI, call(operation), expected)
  const answer = await done(
    { type: 'update_file', path: 'a.py', diff: '@@ def g():\n-    a = 1\n+    a = 2\n' },
    { output: /a\.py/, files: { 'a.py': 'def f():\n    a = 1\n\ndef g():\n    a = 2\n' } }
  )
  t.match(answer, { call_id: 'call_1', status: 'completed', result: { results: [{ path: 'a.py', edit_id: String }] } })
  await done(
    { type: 'create_file', path: 'new/c.txt', diff: '+one\n+two' },
    { output: /new\/c\.txt/, files: { 'new/c.txt': 'one\ntwo\n' } }
  )
  await done(
    { type: 'delete_file', path: 'new/c.txt', diff: null },
    { output: /new\/c\.txt/, files: { 'new/c.txt': null } }
  )
})

t.test('refuses with a diff that then applies', async t => {
  const server = await startServer(t, { files: FILES })
  const refuse = (operation: object, status: number, code: string, output: RegExp) =>
    check(t, server, OPENAI, call(operation), { status, code, output, files: FILES })
  const missed = await refuse(
    { type: 'update_file', path: 'a.py', diff: '@@ def g():\n-  a = 1\n+  a = 2\n' },
    422,
    'NO_MATCH',
    /a\.py[^]*\n@@/
  )
  const twice = await refuse(
    { type: 'update_file', path: 'a.py', diff: '@@\n-    a = 1\n+    a = 3\n' },
    422,
    'WRONG_COUNT',
    /\n@@/
  )
  t.equal(missed.call_id, 'call_1')
  const [{ diff }] = (missed.problem as { suggested_fixes: { diff: string }[] }).suggested_fixes as [{ diff: string }]
  t.match(missed.output, diff.trimEnd())
  t.match((twice.problem as { suggested_fixes: { diff: string }[] }).suggested_fixes, [
    { diff: String },
    { diff: String }
  ])
  await refuse({ type: 'update_file', path: 'a.py', diff: 'text' }, 400, 'INVALID_REQUEST', /\/operation\/diff/)
  await refuse({ type: 'update_file', path: 'a.py' }, 400, 'INVALID_REQUEST', /\/operation\/diff is missing/)
  await refuse(
    { type: 'delete_file', path: 'a.py', diff: '-x' },
    400,
    'INVALID_REQUEST',
    /\/operation\/diff is not used by delete_file/
  )
  await refuse({ type: 'delete_file', path: 'a.py' }, 403, 'DELETE_NOT_ALLOWED', /--allow-delete/)
  await refuse({ type: 'create_file', path: 'a.py', diff: '+x' }, 409, 'ALREADY_EXISTS', /a\.py already exists/)
  await refuse(
    { type: 'update_file', path: 'none.py', diff: '@@\n-x\n+y' },
    404,
    'FILE_NOT_FOUND',
    /none\.py was not found/
  )
  await refuse(
    { type: 'update_file', path: '../x', diff: '@@\n-x\n+y' },
    403,
    'PATH_NOT_ALLOWED',
    /outside the workspace/
  )
  await refuse({ type: 'rename_file', path: 'a.py' }, 400, 'INVALID_REQUEST', /\/operation\/type must be "create_file"/)
  await check(
    t,
    server,
    OPENAI,
    { call_id: 'x' },
    { status: 400, code: 'INVALID_REQUEST', output: /\/operation is missing/ }
  )
  await check(t, server, OPENAI, { operation: '\ud800' }, { status: 400, code: 'INVALID_UNICODE', output: /./ })
  await check(t, server, OPENAI, call({ type: 'update_file', path: 'a.py', diff }), {
    output: /a\.py/,
    files: { 'a.py': 'def f():\n    a = 1\n\ndef g():\n    a = 2\n' }
  })
})

t.test('shows the lines that were meant where no diff can be sent', async t => {
  const server = await startServer(t, { files: FILES })
  await check(t, server, OPENAI, call({ type: 'update_file', path: 'b.py', diff: '@@\n-y = 3\n+y = 4\n' }), {
    status: 422,
    code: 'NO_MATCH',
    output: /exactly:\n1\tx = 1\n2\ty = 2$/,
    files: FILES
  })
})

t.test("applies codex's patches, all files or none", async t => {
  const server = await startServer(t, { files: FILES, settings: { allowDelete: true } })
  const input = patchOf(
    '*** Update File: a.py',
    '@@ def f():',
    '-    a = 1',
    '+    a = 2',
    '*** Add File: c.py',
    '+z = 3',
    '*** Update File: b.py',
    '*** Move to: lib/b.py',
    '@@',
    '-x = 1',
    '+x = 2'
  )
  chmodSync(join(server.root, 'b.py'), 0o640)
  const answer = await check(
    t,
    server,
    CODEX,
    { input },
    {
      output: 'Success. Updated the following files:\nM a.py\nA c.py\nM lib/b.py',
      files: {
        'a.py': 'def f():\n    a = 2\n\ndef g():\n    a = 1\n',
        'c.py': 'z = 3\n',
        'lib/b.py': 'x = 2\ny = 2\n',
        'b.py': null
      }
    }
  )
  t.equal(statSync(join(server.root, 'lib/b.py')).mode & 0o777, 0o640)
  const { batch_id } = answer.result as { batch_id: string }
  const undone = await server.call('POST', '/undo', { body: { batch_id } })
  t.equal(undone.status, 200)
  for (const [path, content] of Object.entries(FILES)) t.equal(bytesOf(server, path), content)
  t.equal(statSync(join(server.root, 'b.py')).mode & 0o777, 0o640)
  t.notOk(existsSync(join(server.root, 'c.py')))

  const half = patchOf(
    '*** Update File: b.py',
    '@@',
    '-x = 1',
    '+x = 2',
    '*** Delete File: a.py',
    '*** Update File: crlf.txt',
    '@@',
    '-three',
    '+3'
  )
  await check(t, server, CODEX, { input: half }, { status: 422, code: 'NO_MATCH', output: /crlf\.txt/, files: FILES })

  const ofNoFile = (path: string) =>
    patchOf(
      '*** Update File: a.py',
      '@@ def f():',
      '-    a = 1',
      '+    a = 2',
      `*** Update File: ${path}`,
      '@@',
      '-x',
      '+y'
    )
  for (const [path, status, code, why] of [
    ['bb.py', 404, 'FILE_NOT_FOUND', 'was not found'],
    ['/repo/b.py', 403, 'PATH_NOT_ALLOWED', 'is outside the workspace']
  ] as const) {
    const output = `Update of ${path}: ${path} ${why}; did you mean b.py? [${code}]\nNothing was changed in any file.`
    await check(t, server, CODEX, { input: ofNoFile(path) }, { status, code, output, files: FILES })
  }
})

t.test('logs the file of a patch of one', async t => {
  const server = await startServer(t, { files: FILES })
  await check(
    t,
    server,
    CODEX,
    { input: patchOf('*** Update File: b.py', '@@', '-x = 1', '+x = 2') },
    { output: /M b/ }
  )
  t.match(
    server.log.filter(({ route }) => route === CODEX),
    [{ operation: 'apply_patch', path: 'b.py', hash_before: String, hash_after: String, status: 200 }]
  )
})

t.test('says so where the files are as the patch has them', async t => {
  const server = await startServer(t, { files: FILES })
  const same = ['*** Update File: b.py', '@@', '-x = 1', '+x = 1']
  const one = { output: 'The file already has exactly this content; nothing was written.', files: FILES }
  await check(t, server, CODEX, { input: patchOf(...same) }, one)
  await check(
    t,
    server,
    CODEX,
    { input: patchOf(...same, '*** Update File: a.py', '@@', '-def f():', '+def f():') },
    { output: 'The files already have exactly this content; nothing was written.', files: FILES }
  )
  await check(
    t,
    server,
    CODEX,
    { input: patchOf(...same, '*** Update File: a.py', '@@', '-def f():', '+def h():') },
    { output: 'Success. Updated the following files:\nM a.py' }
  )
})

t.test('takes a patch as text, in a heredoc, and with other line breaks', async t => {
  const server = await startServer(t, { files: FILES })
  const patch = patchOf('*** Update File: crlf.txt', '@@', ' one', '-two', '+2')
  const reply = await fetch(`${server.url}${CODEX}`, {
    method: 'POST',
    body: `apply_patch <<'EOF'\n${patch}EOF\n`,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain; charset=utf-8' }
  })
  t.equal(reply.status, 200)
  t.equal(bytesOf(server, 'crlf.txt'), 'one\r\n2\r\n')
  await check(
    t,
    server,
    CODEX,
    { input: patchOf('*** Update File: b.py', '@@', '-x = 1', '+x = 9').replaceAll('\n', '\r\n') },
    {
      output: /M b\.py$/,
      files: { 'b.py': 'x = 9\ny = 2\n' }
    }
  )
  const bad = await fetch(`${server.url}${CODEX}`, {
    method: 'POST',
    body: Buffer.from([0xff]),
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain' }
  })
  t.equal(bad.status, 400)
  t.match(await bad.json(), { status: 'failed', problem: { code: 'INVALID_UNICODE' } })
})

t.test('reads other forms of a patch, and says so', async t => {
  const server = await startServer(t, { files: FILES })
  const lines = ['*** Update File: b.py', '@@', '-x = 1', '+x = 2', '*** Add File: c.py', '+c']
  const sent = patchOf(...lines)
  const files = { 'b.py': 'x = 2\ny = 2\n', 'c.py': 'c\n' }
  const back = patchOf('*** Update File: b.py', '-x = 2', '+x = 1')
  const forms: [input: string, warning: RegExp | null][] = [
    [sent.replace('*** End', ' *** End'), null],
    [sent.replaceAll(/^/gm, '    '), /All lines were indented/],
    [sent.trimEnd().replaceAll('\n', '\\n'), /had "\\n" for its line breaks/],
    [patchOf(...lines.slice(0, 4)) + patchOf(...lines.slice(4)), /Several patches were sent as one/],
    [
      patchOf('*** Update File: b.py', '--- a/b.py', '+++ b/b.py', ...lines.slice(1)),
      /The lines of git before the first @@ were left out/
    ]
  ]
  for (const [input, warning] of forms) {
    const { result } = await check(t, server, CODEX, { input }, { output: warning ?? /M b\.py\nA c\.py$/, files })
    t.equal((result as { warnings?: string[] }).warnings?.length, warning === null ? undefined : 1)
    await check(t, server, CODEX, { input: back }, { output: /M b\.py/ })
    rmSync(join(server.root, 'c.py'))
  }
  const update = (diff: string) => call({ type: 'update_file', path: 'b.py', diff })
  for (const [diff, warning] of [
    ['  @@\n  -x = 1\n  +x = 2\n', /All lines were indented/],
    ['@@\\n-x = 1\\n+x = 2', /had "\\n" for its line breaks/],
    ['--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x = 1\n+x = 2', /The lines of git/]
  ] as const) {
    await check(t, server, OPENAI, update(diff), { output: warning, files: { 'b.py': files['b.py'] } })
    await check(t, server, CODEX, { input: back }, { output: /M b\.py/ })
  }
  const faults = [
    ['--- a/b.py\n+++ b/b.py\n@@\n-x = 1\nx = 2\n', /line 5 \("x = 2"\)/],
    ['--- a/other.py\n+++ b/other.py\n@@\n-x = 1\n', /line 2 .* is a header of git/]
  ] as const
  for (const [diff, output] of faults) {
    await check(t, server, OPENAI, update(diff), { status: 400, code: 'INVALID_REQUEST', output, files: FILES })
  }
})

t.test('ends the lines of a new or empty file as the diff does, and the last as the vendor does', async t => {
  const server = await startServer(t, { files: { 'empty.txt': '' } })
  const create = (diff: string, content: string) =>
    check(t, server, OPENAI, call({ type: 'create_file', path: 'new.txt', diff }), {
      output: /Created new\.txt/,
      files: { 'new.txt': content }
    }).then(() => rmSync(join(server.root, 'new.txt')))
  await create('+a\n+b\n+', 'a\nb\n')
  await create('+a\n+\n+\n', 'a\n\n')
  await create('+a\r\n+b\r\n+', 'a\r\nb\r\n')
  await create('+', '')
  await create('+a\n++', 'a\n+\n')
  await create('--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+a\n', 'a\n')
  const update = { type: 'update_file', path: 'empty.txt', diff: '@@\r\n+a\r\n+b' }
  await check(t, server, OPENAI, call(update), { output: /empty/, files: { 'empty.txt': 'a\r\nb\r\n' } })
  // codex ends each line of a new file.
  await check(
    t,
    server,
    CODEX,
    { input: patchOf('*** Add File: new.txt', '+a', '+') },
    {
      output: /A new\.txt/,
      files: { 'new.txt': 'a\n\n' }
    }
  )
})

t.test('says that a new path is the old one, however it is spelled', async t => {
  const server = await startServer(t, { files: FILES, settings: { allowDelete: true } })
  symlinkSync('.', join(server.root, 'here'))
  for (const to of ['b.py', './b.py', 'none/../b.py', join(server.root, 'b.py'), 'here/b.py']) {
    const move = ['*** Update File: b.py', `*** Move to: ${to}`]
    const other = ['*** Update File: a.py', '@@ def f():', '-    a = 1', '+    a = 2']
    for (const input of [patchOf(...move), patchOf(...move, '@@', '-x = 1', '+x = 2'), patchOf(...other, ...move)]) {
      const output = /the path that the file has already; (?:send another one|leave it out, or name another one)/
      await check(t, server, CODEX, { input }, { status: 400, code: 'INVALID_REQUEST', output, files: FILES })
    }
    if (to === 'b.py') continue
    const batch = [{ operation: 'move', path: 'b.py', to }]
    const { status, body } = await server.call('POST', '/batch', { body: { operations: batch } })
    t.equal(status, 400)
    t.match(body.detail, /the path that the file has already; send another one/)
    t.match((await server.call('POST', '/move', { body: { path: 'b.py', to } })).body.detail, /has already/)
  }
})

t.test('says which path is meant by one of Windows', async t => {
  const server = await startServer(t, { files: FILES, settings: { allowDelete: true } })
  const refused = { status: 400, code: 'INVALID_PATH', files: FILES }
  const output =
    /^(?:Create of src\\new\.md: )?"src\\\\new\.md" can't be created: .* Send it again with the path "src\/new\.md"\./
  await check(t, server, OPENAI, call({ type: 'create_file', path: 'src\\new.md', diff: '+x' }), { ...refused, output })
  const add = ['*** Add File: src\\new.md', '+x']
  await check(t, server, CODEX, { input: patchOf(...add) }, { ...refused, output })
  const move = patchOf('*** Update File: b.py', '*** Move to: src\\new.md')
  await check(t, server, CODEX, { input: move }, { ...refused, output })
  await check(
    t,
    server,
    CODEX,
    { input: patchOf('*** Delete File: b.py', ...add) },
    { ...refused, output: /Send it again with the path "src\/new\.md"/ }
  )
})

t.test('says where a patch is none', async t => {
  const server = await startServer(t, { files: FILES })
  const refuse = (input: unknown, output: RegExp, code = 'INVALID_REQUEST', status = 400) =>
    check(t, server, CODEX, { input }, { status, code, output, files: FILES })
  await refuse('hello', /\/input.*\*\*\* Begin Patch/)
  await refuse(patchOf(), /\/input/)
  await refuse(patchOf('*** Update File: a.py', '@@', 'no marker'), /line 4/)
  await refuse(patchOf('*** Update File: a.py', '*** Delete File: b.py'), /line 2 .* neither a diff nor/)
  await refuse(7, /\/input must be a string/)
  await refuse(patchOf('*** Update File: ../x', '@@', '-a', '+b'), /outside the workspace/, 'PATH_NOT_ALLOWED', 403)
  await refuse(patchOf('*** Delete File: a.py'), /--allow-delete/, 'DELETE_NOT_ALLOWED', 403)
  await refuse(
    patchOf('*** Update File: a.py', '*** Move to: c.py', '@@ def f():', '-    a = 1', '+    a = 2'),
    /--allow-delete/,
    'DELETE_NOT_ALLOWED',
    403
  )
  const missed = await refuse(
    patchOf(
      '*** Update File: b.py',
      '@@',
      '-x = 1',
      '+x = 2',
      '*** Update File: a.py',
      '@@ def g():',
      '-  a = 1',
      '+  a = 2'
    ),
    /\n\*\*\* Begin Patch\n/,
    'NO_MATCH',
    422
  )
  const output = String(missed.output)
  await check(
    t,
    server,
    CODEX,
    { input: /^\*\*\* Begin Patch\n[^]*?^\*\*\* End Patch$/m.exec(output)![0] },
    {
      output: 'Success. Updated the following files:\nM b.py\nM a.py',
      files: { 'b.py': 'x = 2\ny = 2\n', 'a.py': 'def f():\n    a = 1\n\ndef g():\n    a = 2\n' }
    }
  )
})
