// Paths that lead out of the root, and files that are not regular or may not be changed. Rows 1 to 5, 10 to 19, 42, 50
// and 55 of docs/threats.md.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from '../often.ts'
import {
  startServer,
  canMount,
  codeOf,
  DOCUMENT,
  hashOf,
  isRoot,
  numberOf,
  makeFolders,
  raw,
  row,
  sender,
  tally,
  tempFiles,
  TOKEN,
  checkDocument,
  type TestServer
} from './harness.ts'

/** A request to each route that takes a path; it would change, make or show the file. */
const ROUTES: Record<string, (path: string) => object> = {
  '/edit': path => ({ path, old_text: 'secret', new_text: 'x' }),
  '/edit-lines': path => ({ path, start_line: 1, end_line: 1, new_text: 'x' }),
  '/create': path => ({ path, content: 'x' }),
  '/preview': path => ({ operation: 'edit', path, old_text: 'secret', new_text: 'x' }),
  '/inspect': path => ({ path, start_line: 1 })
}

/** Sends a request with each path to each route. */
async function sendEach(
  paths: readonly string[],
  routes = Object.keys(ROUTES)
): Promise<{ route: string; path: string; code: string; body: Record<string, unknown> }[]> {
  const answers = []
  for (const path of paths) {
    for (const route of routes) {
      const answer = await server.post(route, ROUTES[route]!(path))
      answers.push({ route, path, code: codeOf(answer), body: answer.body })
    }
  }
  return answers
}
const codes = (answers: { code: string }[]) => tally(answers.map(({ code }) => code))

/** Checks that all of them are refused with this code. */
async function checkRefused(t: Test, paths: readonly string[], code: string, routes?: string[]): Promise<string> {
  const answers = await sendEach(paths, routes)
  for (const answer of answers) t.equal(answer.code, code, `${answer.route} ${answer.path.slice(0, 80)}`)
  return codes(answers)
}

const SECRET = 'secret\n'

/** For all rows: each uses names of its own. Skipped rows read nothing of it. */
const server: TestServer = ONLY_CI
  ? ({ ...makeFolders(t), url: 'http://localhost' } as TestServer)
  : await startServer(t, makeFolders(t), '--log-level', 'trace')
const { base, root } = server
const put = (files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
}

row(
  1,
  '`../` escape, `%2e%2e`, `\\`',
  { done: '5 routes × 6 escaping paths, and 2 names that only look like it' },
  async t => {
    mkdirSync(join(root, 'd'))
    put({ 'd/f': 'text\n' })
    writeFileSync(join(base, 'x'), SECRET)
    const escaping = await checkRefused(
      t,
      ['../x', 'd/../../x', 'd/./../../x', '../root/../x', '/etc/passwd', `${root}/../x`],
      'PATH_NOT_ALLOWED'
    )
    const literal = await checkRefused(t, ['%2e%2e/x', '..\\x'], 'FILE_NOT_FOUND', [
      '/edit',
      '/edit-lines',
      '/preview',
      '/inspect'
    ])
    t.strictSame(readdirSync(base).sort(), ['root', 'state', 'x'])
    t.equal(readFileSync(join(base, 'x'), 'utf8'), SECRET)
    return `${escaping}; as literal names ${literal}; nothing outside touched`
  }
)

row(
  2,
  'a sibling whose name begins with the root’s name (CVE-2025-53110)',
  { done: '5 routes × relative and absolute path of `root-evil/x`' },
  async t => {
    mkdirSync(join(base, 'root-evil'))
    writeFileSync(join(base, 'root-evil/x'), SECRET)
    const answers = await checkRefused(
      t,
      ['../root-evil/x', join(base, 'root-evil/x'), join(base, 'root-evil')],
      'PATH_NOT_ALLOWED'
    )
    t.equal(readFileSync(join(base, 'root-evil/x'), 'utf8'), SECRET)
    return answers
  }
)

row(
  3,
  'symlink that leads outside: file, directory, chain, absolute',
  { done: '5 routes × 5 links, each with and without an existing target' },
  async t => {
    mkdirSync(join(base, 'outside'))
    symlinkSync('../outside/f', join(root, 'file'))
    symlinkSync('../outside', join(root, 'folder'))
    symlinkSync('file', join(root, 'chain'))
    symlinkSync(join(base, 'outside/f'), join(root, 'absolute'))
    symlinkSync('../folder', join(root, 'd/up'))
    const paths = ['file', 'folder/f', 'chain', 'absolute', 'd/up/f']
    const without = await sendEach(paths)
    writeFileSync(join(base, 'outside/f'), SECRET)
    const withTarget = await sendEach(paths)
    for (const { code, path, route } of [...without, ...withTarget]) {
      t.equal(code, 'PATH_NOT_ALLOWED', `${route} ${path}`)
    }
    const details = (answers: typeof without) => answers.map(({ body }) => body.detail)
    t.strictSame(details(without), details(withTarget), 'does not show whether the target exists')
    t.strictSame(readdirSync(join(base, 'outside')), ['f'])
    t.equal(readFileSync(join(base, 'outside/f'), 'utf8'), SECRET)
    return `${codes([...without, ...withTarget])}; the same text whether it exists or not`
  }
)

row(
  4,
  'dangling symlink, and create (CVE-2026-55668)',
  { done: '/create through 4 dangling links, with and without overwrite' },
  async t => {
    mkdirSync(join(base, 'empty'))
    symlinkSync('../empty/new', join(root, 'to-leaf'))
    symlinkSync(join(base, 'empty/new'), join(root, 'to-absolute'))
    symlinkSync('../empty/no/such', join(root, 'to-folder'))
    symlinkSync('to-leaf', join(root, 'to-chain'))
    const outcomes = []
    for (const path of ['to-leaf', 'to-absolute', 'to-folder/f', 'to-chain']) {
      for (const more of [{}, { overwrite: true, expected_hash: hashOf('') }]) {
        const answer = await server.post('/create', { path, content: 'mine', ...more })
        outcomes.push(codeOf(answer))
        t.equal(codeOf(answer), 'PATH_NOT_ALLOWED', path)
      }
    }
    t.strictSame(readdirSync(join(base, 'empty')), [])
    return `${tally(outcomes)}; nothing created outside`
  }
)

row(
  5,
  'symlink inside the root',
  { done: 'an edit through the link; then 2 × 40 edits at once, by link and by name' },
  async t => {
    mkdirSync(join(root, 'lib'))
    put({ 'lib/x.ts': 'n = 0\n' })
    symlinkSync('lib/x.ts', join(root, 'link.ts'))
    const { body } = await server.post('/edit', { path: 'link.ts', old_text: 'n = 0', new_text: 'n = 0;' })
    t.match(body, { changed: true, path: 'link.ts', resolved_path: 'lib/x.ts' })
    t.ok(lstatSync(join(root, 'link.ts')).isSymbolicLink())
    const all = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        server.post('/edit', { path: i % 2 === 0 ? 'link.ts' : 'lib/x.ts', old_text: ';', new_text: `;${i},` })
      )
    )
    t.ok(all.every(({ status }) => status === 200))
    for (let i = 0; i < 80; i++) t.match(server.text('lib/x.ts'), new RegExp(`[;,]${i},`))
    return 'the target changes, the link stays, `resolved_path` names the target; all 80 are in the file'
  }
)

row(
  10,
  'FIFO, socket, device, link into `/proc`',
  { done: '5 routes × 10 requests for each of 6', skip: process.platform === 'linux' ? false : 'needs Linux' },
  async t => {
    put({ 'f.txt': 'one\n' })
    execFileSync('mkfifo', [join(root, 'fifo')])
    const socket = createServer().listen(join(root, 'socket'))
    t.teardown(() => {
      socket.close()
    })
    const links = { zero: '/dev/zero', environ: '/proc/self/environ', fd: '/proc/self/fd/0', cwd: '/proc/self/cwd' }
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
    const paths = ['fifo', 'socket', ...Object.keys(links)]
    const answers = (await Promise.all(Array.from({ length: 10 }, () => sendEach(paths)))).flat()
    for (const { path, route, code } of answers) {
      t.equal(code, path === 'fifo' || path === 'socket' ? 'NOT_A_FILE' : 'PATH_NOT_ALLOWED', `${route} ${path}`)
    }
    t.equal(codeOf(await server.post('/edit', { path: 'f.txt', old_text: 'one', new_text: 'two' })), '200')
    return `${codes(answers.sort((a, b) => (a.code < b.code ? -1 : 1)))}; an edit of a file goes on`
  }
)

row(11, 'hard link to a file outside', { done: 'one edit, one dry run' }, async t => {
  writeFileSync(join(base, 'linked'), 'out\n')
  linkSync(join(base, 'linked'), join(root, 'h'))
  const edit = { path: 'h', old_text: 'out', new_text: 'in' }
  for (const more of [{ dry_run: true }, {}]) {
    t.match((await server.post('/edit', { ...edit, ...more })).body, { changed: true, warnings: [/hard links/] })
  }
  t.equal(readFileSync(join(base, 'linked'), 'utf8'), 'out\n')
  t.equal(server.text('h'), 'in\n')
  return (
    'the outside file stays as it was; a warning says that the hard link is broken. Where the file can’t be renamed, ' +
    '`PERMISSION_DENIED`: `test/folder/commit/commit.test.ts`'
  )
})

row(
  12,
  'mount point; single bind-mounted file',
  { done: 'tmpfs below the root, `mount --bind` of a file', skip: canMount ? false : 'needs to mount' },
  async t => {
    put({ bound: '' })
    mkdirSync(join(root, 'tmpfs'))
    writeFileSync(join(base, 'mounted'), 'one\n')
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', join(root, 'tmpfs')])
    t.teardown(() => spawnSync('umount', ['-l', join(root, 'tmpfs')]))
    execFileSync('mount', ['--bind', join(base, 'mounted'), join(root, 'bound')])
    t.teardown(() => spawnSync('umount', ['-l', join(root, 'bound')]))
    t.match((await server.post('/create', { path: 'tmpfs/a/f', content: 'one\n' })).body, { created: true })
    const inFolder = await server.post('/edit', { path: 'tmpfs/a/f', old_text: 'one', new_text: 'two' })
    t.match(inFolder.body, { changed: true })
    t.notOk(inFolder.body.write_strategy)
    const bound = await server.post('/edit', { path: 'bound', old_text: 'one', new_text: 'two' })
    t.match(bound.body, { changed: true, write_strategy: 'in_place' })
    t.equal(readFileSync(join(base, 'mounted'), 'utf8'), 'two\n')
    t.equal(readFileSync(join(root, 'tmpfs/a/f'), 'utf8'), 'two\n')
    return (
      'in the mounted directory, as anywhere else; the bound file is written in place with the journal, and ' +
      '`write_strategy` says so'
    )
  }
)

row(13, 'NUL, empty, a name of 256 bytes, a path of 6,000; lone surrogate', { done: '5 routes × 5 paths' }, async t => {
  const bad = await checkRefused(t, ['', 'a\0b', 'x'.repeat(256), 'd/'.repeat(3000)], 'INVALID_PATH', [
    '/edit',
    '/edit-lines',
    '/create',
    '/inspect',
    '/preview'
  ])
  const answers = []
  for (const [route, body] of Object.entries(ROUTES)) {
    const text = JSON.stringify(body('PATH')).replace('PATH', '\\ud800')
    const answer = await raw(
      server.url,
      [
        `POST ${route} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${TOKEN}`,
        'Content-Type: application/json',
        'Connection: close',
        `Content-Length: ${text.length}`,
        '',
        text
      ].join('\r\n')
    )
    answers.push(/"code":"(\w+)"/.exec(answer)?.[1] ?? '')
  }
  for (const code of answers) t.equal(code, 'INVALID_UNICODE')
  t.strictSame(
    readdirSync(root).filter(name => name.length > 99),
    []
  )
  return `${bad}, ${tally(answers)}`
})

row(
  14,
  'names that differ in NFC and NFD or in case, names that aren’t UTF-8, newline in a name',
  {
    done: 'each of a pair edited, each listed',
    skip: process.platform === 'linux' ? false : 'needs a file system that keeps bytes'
  },
  async t => {
    const names = ['caf\u00e9', 'cafe\u0301', 'Case', 'case', 'two\nlines']
    put(Object.fromEntries(names.map(name => [name, 'one\n'])))
    writeFileSync(Buffer.concat([Buffer.from(root + '/'), Buffer.from([0x62, 0xff])]), 'bytes\n')
    for (const path of names) {
      t.match((await server.post('/edit', { path, old_text: 'one', new_text: `this is ${path}` })).body, {
        changed: true,
        path
      })
      for (const other of names) {
        t.equal(
          server.text(other).startsWith('this is'),
          names.indexOf(other) <= names.indexOf(path),
          `${path}: ${other}`
        )
      }
    }
    t.equal(codeOf(await server.post('/edit', { path: 'b\ufffd', old_text: 'bytes', new_text: 'x' })), 'FILE_NOT_FOUND')
    const missed = await server.post('/edit', { path: 'CASE', old_text: 'one', new_text: 'x' })
    t.equal(codeOf(missed), 'FILE_NOT_FOUND')
    for (const near of (missed.body.did_you_mean ?? []) as string[]) t.ok(existsSync(join(root, near)), near)
    t.equal(codeOf(await server.post('/inspect', { path: '.' })), '200')
    return '5 × the file with exactly these bytes in its name, and no other; a name in other bytes is `FILE_NOT_FOUND`'
  }
)

row(
  15,
  'Windows’ forms: `C:x`, `x::$DATA`, `NUL`, trailing dot',
  { done: '8 names created, edited, read back', skip: process.platform === 'linux' ? false : 'literal on Linux only' },
  async t => {
    put({ x: 'mine\n' })
    const names = ['C:x', 'x::$DATA', 'NUL', 'x.', 'x ', 'con.txt', 'a<b', 'C:\\x']
    for (const path of names) {
      t.equal(codeOf(await server.post('/create', { path, content: 'one\n', literal_path: true })), '200', path)
      t.equal(codeOf(await server.post('/edit', { path, old_text: 'one', new_text: 'two' })), '200', path)
      t.equal(server.text(path), 'two\n')
    }
    t.equal(server.text('x'), 'mine\n')
    return 'literal names on Linux; refused on Windows (`test/folder/look.test.ts`)'
  }
)

const PROTECTED = [
  '.git/config',
  '.git',
  'sub/.git/hooks/x',
  '.hg/x',
  '.svn/x',
  '.vscode/tasks.json',
  '.idea/x',
  '.cursor/rules',
  '.claude/settings.json',
  '.mcp.json',
  'deep/er/.mcp.json',
  '.husky/pre-commit',
  '.envrc'
]
const CHANGING = ['/edit', '/edit-lines', '/create', '/preview']

row(
  16,
  'protected paths',
  {
    done: '4 routes × 13 paths, existing or not, in 3 letter cases, by symlink and hidden code point; a worktree’s `.git` file; a `.git` that is a symlink'
  },
  async t => {
    const outcomes: string[] = []
    const asked = async (paths: string[]) => {
      for (const { code, path, route } of await sendEach(paths, CHANGING)) {
        outcomes.push(code)
        t.equal(code, 'PROTECTED_PATH', `${route} ${path}`)
      }
    }
    await asked(PROTECTED)
    await asked(PROTECTED.map(path => path.toUpperCase()))
    await asked([
      '.Git/config',
      '.g\u200cit/config',
      '.g\u00adit/config',
      '.g\u{e0100}it/config',
      '.ENVrc',
      'x/../.git/config'
    ])
    mkdirSync(join(root, '.git/hooks'), { recursive: true })
    writeFileSync(join(root, '.git/config'), 'secret\n')
    mkdirSync(join(root, 'tree'))
    writeFileSync(join(root, 'tree/.git'), 'gitdir: secret\n')
    symlinkSync('.git', join(root, 'innocent'))
    symlinkSync('.git/config', join(root, 'config'))
    for (const name of ['linked', 'elsewhere']) mkdirSync(join(root, name))
    put({ 'elsewhere/config': 'secret\n' })
    symlinkSync('../elsewhere', join(root, 'linked/.git'))
    await asked(['.git/config', 'innocent/config', 'innocent/hooks/new', 'config', 'tree/.git'])
    await asked(['linked/.git/config', 'linked/.git/hooks/new'])
    t.equal(readFileSync(join(root, '.git/config'), 'utf8'), 'secret\n')
    t.strictSame(readdirSync(join(root, '.git/hooks')), [])
    t.strictSame(readdirSync(join(root, 'elsewhere')), ['config'])
    return `${tally(outcomes)}; judged on the real path, and on the name that a link has`
  }
)

row(
  17,
  'secrets in answers and logs',
  {
    done: 'wrong texts sent for a protected file; canaries sent through every route, valid and invalid, then the log searched'
  },
  async t => {
    mkdirSync(join(root, 'repository/.git'), { recursive: true })
    put({ 'repository/.git/config': 'SECRETINGIT token=1\n', 'a.txt': 'CANARYFILE\n' })
    symlinkSync('repository/.git/config', join(root, 'link'))
    const state = readdirSync(server.state).map(name => join(server.state, name))
    let shown = 0
    for (const path of ['repository/.git/config', 'link', 'repository/.git', ...state.slice(0, 2)]) {
      for (const [route, body] of [
        ...Object.entries(ROUTES),
        ['/edit', (path: string) => ({ path, old_text: 'SECRETINGI token=2', new_text: 'x' })],
        ['/inspect', (path: string) => ({ path, search: 'SECRET' })]
      ] as const) {
        const answer = await server.post(route, body(path))
        t.not(answer.status, 200, `${route} ${path}`)
        if (/SECRETINGIT|token=1/.test(JSON.stringify(answer.body))) shown++
      }
    }
    t.equal(shown, 0)
    const bodies: [string, object][] = [
      ['/edit', { path: 'a.txt', old_text: 'CANARYOLD', new_text: 'CANARYNEW' }],
      ['/edit', { path: 'a.txt', old_text: 'CANARYFILE', new_text: 'CANARYNEW', show_diff: true }],
      ['/edit', { path: 'a.txt', CANARYFIELD: 1 }],
      ['/edit-lines', { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'CANARYNEW', expected_text: 'CANARYOLD' }],
      ['/edit-lines', { path: 'a.txt', start_line: 1, end_line: 1, new_text: 'CANARYNEW\n' }],
      ['/preview', { operation: 'create', path: 'b.txt', content: 'CANARYNEW' }],
      ['/create', { path: 'b.txt', content: 'CANARYNEW' }],
      ['/create', { path: 'b.txt', content: 'CANARYNEW' }],
      ['/inspect', { path: 'a.txt', search: 'CANARYSEARCH' }],
      ['/inspect', { path: 'a.txt', start_line: 1 }],
      ['/tools/edit_file', { path: 'a.txt', old_text: 'CANARYOLD', new_text: 'CANARYNEW' }],
      [
        '/mcp',
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'edit_file', arguments: { path: 'a.txt', old_text: 'CANARYOLD', new_text: 'CANARYNEW' } }
        }
      ]
    ]
    for (const [route, body] of bodies) {
      await fetch(server.url + route, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream'
        },
        body: JSON.stringify(body)
      }).then(answer => answer.text())
    }
    await fetch(`${server.url}/edit?CANARYQUERY`, {
      method: 'POST',
      headers: { authorization: 'Bearer CANARYTOKEN', cookie: 'CANARYCOOKIE' },
      body: 'CANARYBODY'
    })
    while (!server.log().includes('/mcp')) await sleep(10)
    await sleep(50)
    const log = server.log()
    t.ok(log.split('\n').length > bodies.length, 'every request is logged')
    for (const secret of ['CANARY', TOKEN, 'SECRETINGIT']) t.notOk(log.includes(secret), `${secret} is in the log`)
    return 'nothing from a protected file in any answer; no text, search, query or token in the log, even at level `trace`'
  }
)

row(
  18,
  'setuid and setgid files',
  { done: 'mode 4755, 2755 and 6755, edited as root', skip: isRoot ? false : 'needs root' },
  async t => {
    put({ f: 'one\n' })
    for (const mode of [0o4755, 0o2755, 0o6755]) {
      chmodSync(join(root, 'f'), mode)
      t.match((await server.post('/edit', { path: 'f', old_text: 'one', new_text: 'one' })).body, { changed: false })
      t.match((await server.post('/edit', { path: 'f', old_text: '\n', new_text: '.\n', occurrence: 1 })).body, {
        changed: true,
        warnings: [/set-user-id/]
      })
      t.equal(statSync(join(root, 'f')).mode & 0o7777, 0o755)
    }
    return '3 × bits dropped, with a warning'
  }
)

row(
  19,
  'read-only file, read-only directory, other owner, immutable',
  { done: 'as root: chmod 444, chown, chattr +i', skip: isRoot ? false : 'needs root' },
  async t => {
    put({ mode: 'one\n', owner: 'one\n', fixed: 'one\n' })
    const edit = (path: string) => server.post('/edit', { path, old_text: 'one', new_text: 'two' })
    chmodSync(join(root, 'mode'), 0o444)
    t.equal(codeOf(await edit('mode')), 'PERMISSION_DENIED', 'for root too')
    chownSync(join(root, 'owner'), 1234, 2345)
    t.match((await edit('owner')).body, { changed: true })
    t.match(statSync(join(root, 'owner')), { uid: 1234, gid: 2345 })
    const immutable = spawnSync('chattr', ['+i', join(root, 'fixed')]).status === 0
    if (immutable) {
      t.teardown(() => spawnSync('chattr', ['-i', join(root, 'fixed')]))
      t.equal(codeOf(await edit('fixed')), 'PERMISSION_DENIED')
      spawnSync('chattr', ['-i', join(root, 'fixed')])
    }
    t.equal(server.text('mode') + server.text('fixed'), 'one\none\n')
    t.strictSame(tempFiles(root), [])
    return (
      '`PERMISSION_DENIED` and the old bytes where there is no write bit or the file is immutable, for root too; the ' +
      'owner is kept. As another user, in place: `test/folder/commit/commit.test.ts`'
    )
  }
)

row(
  42,
  'supply chain',
  { done: 'the lockfile is read; which packages, under which licences: `test/dependencies.test.ts`' },
  async t => {
    const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')) as {
      packages: Record<string, { integrity?: string; dev?: boolean; hasInstallScript?: boolean }>
    }
    const installed = Object.entries(packages).filter(([name, { dev }]) => name !== '' && dev !== true)
    for (const [name, { integrity, hasInstallScript }] of installed) {
      t.match(integrity, /^sha512-/, name)
      if (hasInstallScript === true) t.comment(`${name} runs a script when it is installed`)
    }
    return 'every package that it needs to run is pinned by a SHA-512'
  }
)

t.test(
  'runs in the sandbox of SECURITY.md',
  {
    skip:
      ONLY_CI ||
      (!process.execPath.startsWith('/usr/')
        ? 'needs Node below /usr, which the recipe shows to the sandbox'
        : spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0
          ? false
          : 'needs bubblewrap, and to make namespaces')
  },
  async t => {
    const here = makeFolders(t, { f: 'one\n' })
    mkdirSync(here.state)
    writeFileSync(join(here.base, 'outside'), SECRET)
    symlinkSync(join(here.base, 'outside'), join(here.root, 'link'))
    const home = join(import.meta.dirname, '../..')
    const recipe = /<!-- bubblewrap -->\n```sh\n([^]*?)```/.exec(readFileSync(join(home, 'SECURITY.md'), 'utf8'))![1]!
    const child = spawn(
      'sh',
      [
        '-c',
        recipe
          .replace(/\s*$/, ' --port 0')
          .replace(/ node \//, ` ${process.execPath} /`)
          .replace(/^bwrap/, `exec bwrap --ro-bind-try ${dirname(process.execPath)} ${dirname(process.execPath)}`)
      ],
      {
        env: { PATH: process.env.PATH, EDITD: home, WORKSPACE: here.root, STATE: here.state, EDITD_TOKEN: TOKEN },
        stdio: ['ignore', 'pipe', 'pipe']
      }
    )
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', data => {
        said += data
      })
    }
    const ended = once(child, 'close')
    t.teardown(() => {
      child.kill('SIGKILL')
    })
    while (!/listening on \S+/.test(said) && child.exitCode === null) await sleep(20)
    const url = /listening on (\S+) root=\/workspace/.exec(said)?.[1]
    if (url === undefined) return t.fail(said)
    const send = sender(t, url, 1)
    t.equal((await send('/edit', { path: 'f', old_text: 'one', new_text: 'two' })).code, '200')
    t.equal(readFileSync(join(here.root, 'f'), 'utf8'), 'two\n')
    t.equal((await send('/inspect', { path: 'link' })).code, 'PATH_NOT_ALLOWED')
    child.kill('SIGTERM')
    await ended
  }
)

row(
  50,
  'the file system of the root is unmounted lazily, and a folder made in its place',
  { done: 'a tmpfs, `umount -l`; then /inspect, /edit, /create', skip: canMount ? false : 'needs to mount' },
  async t => {
    const here = makeFolders(t)
    const mounted = join(here.base, 'mounted')
    // As nothing else is called, so that once it is detached its path leads nowhere.
    const [root, there] = [join(mounted, 'detached-root'), { 'f.txt': 'one\n' }]
    mkdirSync(mounted)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', mounted])
    t.teardown(() => spawnSync('umount', ['-l', mounted]))
    const fill = (): void => {
      mkdirSync(root)
      for (const [name, text] of Object.entries(there)) writeFileSync(join(root, name), text)
    }
    fill()
    const detached = await startServer(t, { ...here, root })
    const edit = { path: 'f.txt', old_text: 'one', new_text: 'one' }
    t.equal(codeOf(await detached.post('/edit', edit)), '200')
    execFileSync('umount', ['-l', mounted])
    fill()
    const answers = [
      await detached.post('/inspect', { path: 'f.txt' }),
      await detached.post('/edit', { ...edit, new_text: 'two' }),
      await detached.post('/create', { path: 'g.txt', content: 'one\n' })
    ]
    for (const { body } of answers) t.match(body, { code: 'NOT_READY', detail: /directory is missing/ })
    t.strictSame(readdirSync(root), ['f.txt'])
    t.equal(readFileSync(join(root, 'f.txt'), 'utf8'), 'one\n')
    return tally(answers.map(codeOf))
  }
)

row(
  55,
  'a folder that keeps every name (chattr +a)',
  { done: '/edit, /create and /batch of both in it, as root', skip: isRoot ? false : 'needs root' },
  async t => {
    const here = makeFolders(t, { 'log/f.txt': 'one\n' })
    const folder = join(here.root, 'log')
    execFileSync('chattr', ['+a', folder])
    t.teardown(() => spawnSync('chattr', ['-a', folder]))
    const own = await startServer(t, here)
    const edit = { path: 'log/f.txt', old_text: 'one', new_text: 'two' }
    const create = { path: 'log/new.txt', content: 'x' }
    const edited = await own.post('/edit', edit)
    t.match(edited, { status: 200, body: { write_strategy: 'in_place' } })
    const operations = [
      { operation: 'edit', ...edit, old_text: 'two', new_text: 'six' },
      { operation: 'create', ...create }
    ]
    const refused = [await own.post('/create', create), await own.post('/batch', { operations })]
    for (const { body } of refused) t.match(body, { detail: /chattr/ })
    t.strictSame(readdirSync(folder), ['f.txt'])
    t.equal(own.text('log/f.txt'), 'two\n')
    return `the edit is made in place; ${tally(refused.map(codeOf))}; no temp file is left`
  }
)

t.test('every row of the threats has its line and its test', async t => {
  const numbers = readFileSync(DOCUMENT, 'utf8')
    .split('\n')
    .map(numberOf)
    .filter(number => !Number.isNaN(number))
  t.strictSame(
    numbers,
    numbers.map((_, i) => i + 1)
  )
  const sources = readdirSync(import.meta.dirname)
    .filter(name => name.endsWith('.test.ts'))
    .map(name => readFileSync(join(import.meta.dirname, name), 'utf8'))
    .join('')
  const tested = [...sources.matchAll(/^row\(\s*(\d+),/gm)].map(([, number]) => Number(number)).sort((a, b) => a - b)
  t.strictSame(tested, numbers)
})

checkDocument()
