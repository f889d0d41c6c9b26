// The process: what it prints, how it refuses to start, how it stops.
// runs alone: three of its tests at once, which mostly wait for other processes.
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { ONLY_CI } from './often.ts'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { createServer, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { helpText, VERSION } from '../src/config/config.ts'
import { folderIds, namesOf } from '../src/folder/locks/server-names.ts'
import { answerWith } from '../src/folder/locks/server-identity.ts'
import { testFolder } from './folder.ts'
import { COMMAND } from './running.ts'

const [PROGRAM = '', ...SERVER] = COMMAND
const TOKEN = 'process-token'

// Most of the time of a test here is a process that starts, or waits. So none may hold this process up: another test
// here may answer as a server.
t.jobs = 3

interface Running {
  child: ChildProcess
  url: string
  out: () => string
  err: () => string
  exit: Promise<number | null>
}

/** Runs the server, until `ready` is on stdout, or its end. */
async function run(
  t: Test,
  args: string[],
  env: NodeJS.ProcessEnv = {},
  ready = /listening on (http:\S+) /,
  command?: string
): Promise<Running> {
  const home = t.testdirName
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(EDITD_|XDG_STATE_HOME)/.test(name))
  )
  const [program, all] = command === undefined ? [PROGRAM, [...SERVER, ...args]] : [command, args]
  const child = spawn(program, all, { env: { ...clean, HOME: home, ...env }, cwd: home })
  let [out, err] = ['', '']
  const exit = new Promise<number | null>(resolve => {
    child.once('close', resolve)
  })
  const started = new Promise<void>(resolve => {
    child.stdout.on('data', data => {
      out += data
      if (ready.test(out)) resolve()
    })
    child.stderr.on('data', data => {
      err += data
    })
  })
  t.teardown(() => {
    child.kill('SIGKILL')
  })
  await Promise.race([started, exit])
  await sleep(20)
  return { child, url: ready.exec(out)?.[1] ?? '', out: () => out, err: () => err, exit }
}

const get = (url: string, path: string, headers: Record<string, string> = {}) =>
  fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}`, connection: 'close', ...headers } })

/** What a line of shell prints. */
const printedBy = (line: string) =>
  new Promise<string>(resolve => {
    execFile('sh', ['-c', line], (_error, stdout) => {
      resolve(stdout)
    })
  })

t.test('prints where it listens, and how to call it', async t => {
  const dir = testFolder(t)
  // What a shell has in which the server was used before, and a variable that is nobody's.
  const server = await run(t, ["ro'ot", '--port=0'], { EDITD_URL: 'http://127.0.0.1:7333', EDITD_LOKC: 'local' })
  t.match(
    server.out(),
    new RegExp(
      `^editd listening on http://127\\.0\\.0\\.1:\\d+ root=${dir}/ro'ot\\n` +
        'token \\(for this run\\): [A-Za-z0-9_-]{43}\\nreview: http://127\\.0\\.0\\.1:\\d+/#token=[A-Za-z0-9_-]{43}\\n' +
        'docs: http://127\\.0\\.0\\.1:\\d+/docs\\ntry: curl '
    )
  )
  t.notMatch(server.url, ':0 ')
  const curl = /try: (curl .*)\n/.exec(server.out())?.[1] ?? ''
  t.match(JSON.parse(await printedBy(curl)), { path: '.', type: 'directory', entries: [] })
  t.ok(existsSync(join(dir, "ro'ot")), 'the root is made')
  server.child.kill('SIGTERM')
  t.equal(await server.exit, 0)
  t.match(server.err(), '"route":"/inspect"', 'the log is on stderr')
  t.match(server.err(), /^[^\n]*"event":"unknown_variable","msg":"Unknown environment variable EDITD_LOKC /)
  t.notMatch(server.err(), /EDITD_URL|"level":[56]0/)
})

t.test('prints how to call it through a unix socket', { skip: ONLY_CI }, async t => {
  const dir = testFolder(t)
  // Of a socket the system takes short paths only.
  const home = mkdtempSync(join(tmpdir(), 'editd-'))
  t.teardown(() => rmSync(home, { recursive: true }))
  const path = join(home, "editd's.sock")
  const server = await run(t, ['root', '--listen', `unix:${path}`], {}, /try: .*\n/)
  const [first, token, call, ...rest] = server.out().split('\n')
  t.equal(first, `editd listening on unix:${path} root=${dir}/root`)
  t.match(token, /^token \(for this run\): [A-Za-z0-9_-]{43}$/)
  t.match(call, `try: curl -sS --unix-socket '${home}/editd'\\''s.sock' -H 'Authorization: Bearer `)
  t.strictSame(rest, [''], 'a browser has no address for it')
  t.match(JSON.parse(await printedBy(call!.slice('try: '.length))), { path: '.', type: 'directory', entries: [] })
  server.child.kill('SIGTERM')
  t.equal(await server.exit, 0)
  t.notOk(existsSync(path), 'the socket is removed')
})

const hasScript = spawnSync('script', ['--version']).status === 0

t.test(
  'prints the token in the address of the review page, on a terminal',
  {
    skip: ONLY_CI || (hasScript ? false : 'needs script (util-linux)')
  },
  async t => {
    const dir = testFolder(t)
    /** What is printed below the line that says where the server listens. */
    const check = async (flags: string[], env: NodeJS.ProcessEnv, ...lines: RegExp[]) => {
      const words = [...COMMAND, `${dir}/root`, '--port=0', `--state-dir=${dir}/state`, ...flags]
      const command = `exec ${words.map(word => `'${word}'`).join(' ')}`
      const server = await run(t, ['-qfec', command, '/dev/null'], env, /try: .*\r\n/, 'script')
      const printed = server.out().split('\r\n').slice(1)
      lines.forEach((line, index) => t.match(printed[index], line, flags.join(' ')))
      // Ctrl-C.
      server.child.stdin!.write('\x03')
      t.equal(await server.exit, 0)
      return printed
    }
    const page = 'http://127\\.0\\.0\\.1:\\d+'
    const [token = '', review = ''] = await check([], {}, /^token \(for this run\): /, new RegExp(`^review: ${page}/#`))
    t.match(review, /#token=[A-Za-z0-9_-]{43}$/)
    t.equal(review.split('#token=')[1], token.split(': ')[1])
    const without = new RegExp(`^review: ${page}/$`)
    await check([], { EDITD_TOKEN: TOKEN }, without, /^docs: /, /^try: /)
    await check(['--no-auth'], {}, without, /^docs: /, /^try: /)
    await check(['--no-auth', '--history=off'], {}, /^docs: /, /^try: /)
    await check(['--no-auth', '--no-docs'], {}, /^try: /)
  }
)

t.test('prints one line where a token is configured, and IPv6 in brackets', { skip: ONLY_CI }, async t => {
  testFolder(t)
  const server = await run(t, ['--host', '::1'], { EDITD_TOKEN: TOKEN, EDITD_PORT: '0', EDITD_LOG_LEVEL: 'silent' })
  t.match(server.out(), /^editd listening on http:\/\/\[::1\]:\d+ root=\/.*workspace\n$/)
  t.equal((await get(server.url, '/capabilities')).status, 200)
  server.child.kill('SIGINT')
  server.child.kill('SIGINT')
  t.equal(await server.exit, 0)
  t.equal(server.err(), '')
})

t.test('reports every fault, and exits with 2', async t => {
  testFolder(t)
  const server = await run(t, ['--port', 'x', '--nope'], { EDITD_HOST: '0.0.0.0' })
  t.equal(await server.exit, 2)
  t.match(server.err().split('\n'), [
    /^editd: Unknown flag --nope: /,
    /^editd: --port "x" is invalid: expected /,
    /^editd: EDITD_HOST "0\.0\.0\.0" can be reached/,
    ''
  ])
  t.equal(server.out(), '')
})

t.test("says in one sentence why it can't listen or open its root", { skip: ONLY_CI }, async t => {
  const dir = testFolder(t, { file: '' })
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => {
    other.once('listening', resolve)
  })
  t.teardown(() => {
    other.close()
  })
  const { port } = other.address() as { port: number }
  const cases: [string[], RegExp][] = [
    [
      ['--port', String(port)],
      new RegExp(
        `^editd: port ${port} of 127\\.0\\.0\\.1 is already in use: choose another with --port, or 0 for any free port\\.\\n$`
      )
    ],
    [
      ['--state-dir', join(dir, 'file')],
      /^editd: the state folder \/.*\/file can't be used \(EEXIST: .*\): name another with --state-dir\.\n$/
    ]
  ]
  await Promise.all(
    cases.map(async ([args, sentence]) => {
      const server = await run(t, args, args.includes('--port') ? {} : { EDITD_PORT: '0' })
      t.equal(await server.exit, 1)
      t.match(server.err(), sentence)
    })
  )
})

t.test(
  'names the server that is there already, and what can be done',
  { skip: ONLY_CI || (process.platform === 'linux' ? false : 'needs Linux') },
  async t => {
    const dir = realpathSync(testFolder(t, { root: { sub: {} }, beside: {} }))
    const root = join(dir, 'root')
    const ids = (folder: string) => folderIds(Buffer.from(folder))
    const name = (port: number, folders: [string, ...string[]]) =>
      namesOf({ state: '0123456789abcdef', pid: process.pid, port, serial: '0000', folders })[0]!
    const there = await answerWith({ hostname: 'a\x1b[2Jhost', root, stateDir: '/a state\n\u202e' })
    await there.listenBy(name(there.port, [ids(root)[0]]))
    const silent = createServer(() => {}).listen(`\0${name(0, [ids(join(dir, 'beside'))[0]])}`)
    await new Promise(resolve => {
      silent.once('listening', resolve)
    })
    t.teardown(() => {
      there.close()
      silent.close()
    })
    const cases: [string[], string][] = [
      [
        [root],
        `${root} is already served by process ${process.pid} on a\\u{1b}[2Jhost ` +
          `with another state folder (--state-dir /a state\\u{a}\\u{202e}), ` +
          `so they could overwrite each other's edits: start this one with --state-dir /a state\\u{a}\\u{202e}, or stop the other.`
      ],
      [['mcp', root], `${root} is already served by process ${process.pid} on`],
      [
        [join(root, 'sub')],
        `${root}/sub lies in the root of another server, process ${process.pid} on a\\u{1b}[2Jhost ` +
          `(root ${root}, --state-dir /a state\\u{a}\\u{202e}), ` +
          `so they could overwrite each other's edits: use that server, choose a root that doesn't overlap, or stop the other.`
      ],
      [
        [join(dir, 'beside')],
        `${dir}/beside is already served by process ${process.pid} ` +
          `with another state folder (it is stopped or busy and didn't say which), ` +
          `so they could overwrite each other's edits: start this one with the same --state-dir, or stop the other.`
      ]
    ]
    await Promise.all(
      cases.map(async ([args, sentence]) => {
        const server = await run(t, args, { EDITD_PORT: '0' })
        t.equal(await server.exit, 1)
        t.equal(server.err().slice(0, `editd: ${sentence}`.length), `editd: ${sentence}`)
        t.equal(server.err().split('\n').length, 2)
      })
    )
  }
)

const top = join(import.meta.dirname, '..')

/** Makes an installation of its own in a folder, from which a test can take parts away. */
async function install(folder: string): Promise<void> {
  for (const part of ['dist', 'package.json']) await cp(join(top, part), join(folder, part), { recursive: true })
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'))
}

const runInstalled = (t: Test, folder: string, args: string[]) =>
  run(t, [join(folder, 'dist/src/server.js'), ...args], {}, undefined, process.execPath)

t.test('gives back what it holds where the app can not be built', { skip: ONLY_CI }, async t => {
  const home = testFolder(t, { root: {}, copy: {} })
  const copy = join(home, 'copy')
  await install(copy)
  rmSync(join(copy, 'dist/routes'), { recursive: true })
  const state = join(home, 'state')
  const server = await runInstalled(t, copy, [join(home, 'root'), '--state-dir', state, '--port', '0'])
  t.equal(await server.exit, 1)
  t.match(server.err(), /^editd: can't start on .*routes/)
  for (const part of ['intents', 'live']) t.strictSame(readdirSync(join(state, part)), [], part)
})

t.test('answers 500 where what is loaded late is not there, and goes on when it is', { skip: ONLY_CI }, async t => {
  const home = testFolder(t, { root: {}, copy: {} })
  const copy = join(home, 'copy')
  await install(copy)
  const args = ['--token', TOKEN, '--state-dir', join(home, 'state'), '--port', '0']
  const server = await runInstalled(t, copy, [join(home, 'root'), ...args])
  const paths = ['/docs', '/openapi.json', '/', '/review', '/page/main.js', '/readyz']
  const accept = 'text/html'
  const statuses = () => Promise.all(paths.map(async path => (await get(server.url, path, { accept })).status))
  t.strictSame(await statuses(), [500, 200, 500, 500, 500, 200])
  symlinkSync(join(top, 'page'), join(copy, 'page'))
  t.strictSame(await statuses(), [200, 200, 200, 200, 200, 200])
  server.child.kill('SIGTERM')
  t.equal(await server.exit, 0)
  t.match(server.err(), /"error_code":"ENOENT"/)
})

t.test("is not ready while its root can't be written to, unless it only reads", { skip: ONLY_CI }, async t => {
  const dir = testFolder(t, { root: {} })
  const root = join(dir, 'root')
  // Root may write everywhere, but for a process that has given up this capability.
  const isRoot = process.geteuid?.() === 0
  const [command = '', ...before] = isRoot
    ? ['setpriv', '--bounding-set=-dac_override', '--inh-caps=-dac_override']
    : ['env']
  const state = mkdtempSync(join(tmpdir(), 'editd-state-'))
  t.teardown(() => rmSync(state, { recursive: true }))
  for (const [flags, status] of [
    [[], 503],
    [['--read-only'], 200]
  ] as const) {
    chmodSync(root, 0o755)
    const args = [...before, PROGRAM, ...SERVER, root, '--port=0', '--token', TOKEN, '--state-dir', state, ...flags]
    const server = await run(t, args, {}, undefined, command)
    t.equal((await get(server.url, '/readyz')).status, 200, server.err())
    chmodSync(root, 0o555)
    t.equal((await get(server.url, '/readyz')).status, status, flags.join())
    server.child.kill('SIGTERM')
    await server.exit
  }
})

t.test('finishes what runs when it is told to stop, and takes nothing new', async t => {
  const dir = testFolder(t, { root: { 'a.txt': 'one\n' } })
  const server = await run(t, [join(dir, 'root'), '--port=0', '--token', TOKEN])
  const body = JSON.stringify({ path: 'a.txt', old_text: 'one', new_text: 'two' })
  const { port } = new URL(server.url)
  const received = new Promise<string>(resolve => {
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', async () => {
      socket.write(
        `POST /edit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`
      )
      await sleep(200)
      server.child.kill('SIGTERM')
      await sleep(200)
      const late = await get(server.url, '/capabilities')
      t.equal(late.status, 503)
      t.match(await late.json(), { code: 'NOT_READY' })
      t.equal((await get(server.url, '/readyz')).status, 503)
      server.child.kill('SIGTERM')
      socket.write(body.slice(9))
    })
    socket.on('data', data => {
      text += data
    })
    socket.on('close', () => {
      resolve(text)
    })
    socket.on('error', () => {})
  })
  t.match(await received, /^HTTP\/1.1 200 /)
  t.equal(await server.exit, 0)
  t.equal(readFileSync(join(dir, 'root/a.txt'), 'utf8'), 'two\n')
  t.match(server.err(), /"event":"stopping"[^]*"event":"stopped"/)
})

t.test(
  'lives on when nobody reads what it prints, and cuts off a client that never ends',
  { skip: ONLY_CI },
  async t => {
    const dir = testFolder(t)
    const probe = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => {
      probe.once('listening', resolve)
    })
    const { port } = probe.address() as { port: number }
    await new Promise(resolve => {
      probe.close(resolve)
    })
    const child = spawn(PROGRAM, [...SERVER, '--host', 'localhost', '--port', String(port), '--token', TOKEN], {
      env: { ...process.env, HOME: dir },
      cwd: dir,
      stdio: ['ignore', 'pipe', 'pipe']
    })
    t.teardown(() => {
      child.kill('SIGKILL')
    })
    child.stdout.destroy()
    child.stderr.destroy()
    const url = `http://127.0.0.1:${port}`
    let status = 0
    // A start takes as long as it takes where everything else is busy; the test has its own limit.
    while (status === 0 && child.exitCode === null) {
      await sleep(100)
      status = await get(url, '/healthz').then(
        response => response.status,
        () => 0
      )
    }
    for (let i = 0; i < 3; i++) t.equal((await get(url, '/capabilities')).status, 200)
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST /edit HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n{'
      )
    })
    socket.on('error', () => {})
    // The server has begun with the request.
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 100 /)
    child.kill('SIGTERM')
    t.equal(
      await new Promise(resolve => {
        child.once('exit', resolve)
      }),
      0
    )
  }
)

t.test('takes requests for a while after the signal, and says that it stops', { skip: ONLY_CI }, async t => {
  const dir = testFolder(t, { root: { 'a.txt': 'one\n' } })
  const server = await run(t, [join(dir, 'root'), '--port=0', '--token', TOKEN, '--stop-delay', '2s'])
  server.child.kill('SIGTERM')
  while ((await get(server.url, '/readyz')).status === 200) await sleep(10)
  t.match(await (await get(server.url, '/readyz')).json(), { code: 'NOT_READY' })
  const { status, headers } = await fetch(`${server.url}/capabilities`, {
    headers: { authorization: `Bearer ${TOKEN}` }
  })
  t.strictSame([status, headers.get('connection')], [200, 'close'])
  t.equal(await server.exit, 0)
})

t.test('ends with the npx that has started it', { skip: ONLY_CI }, async t => {
  const home = testFolder(t)
  // npx starts a shell, which starts the server; `; :` keeps the shell from becoming it.
  const line = `${COMMAND.join(' ')} ${join(home, 'root')} --port 0 --token ${TOKEN}; :`
  const launcher = `require('child_process').spawn('sh', ['-c', process.argv[1]], { stdio: 'inherit' })`
  const started = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'editd'" }
  const killed = [
    ['the shell is killed', 'sh', ['-c', line]],
    ['what has started the shell is killed', process.execPath, ['-e', launcher, line]]
  ] as const
  for (const [what, command, args] of process.platform === 'linux' ? killed : killed.slice(0, 1)) {
    const server = await run(t, [...args], started, undefined, command)
    t.equal((await get(server.url, '/healthz')).status, 200, what)
    server.child.kill('SIGKILL')
    // Closed when nobody has its stdout any more.
    t.equal(await server.exit, null)
    t.match(server.err(), /"event":"stopping","reason":"npx has ended"[^]*"event":"stopped"/, what)
  }
})

t.test('tells its version and its settings', { skip: ONLY_CI }, async t => {
  testFolder(t)
  for (const [flag, output] of [
    ['--version', `${VERSION}\n`],
    ['-v', `${VERSION}\n`],
    ['--help', helpText()],
    ['-h', helpText()]
  ] as const) {
    const asked = await run(t, [flag])
    t.equal(await asked.exit, 0, flag)
    t.equal(asked.out(), output, flag)
  }
})

t.test(
  'removes what the history keeps of a file, and says what is wrong with the command',
  { skip: ONLY_CI },
  async t => {
    const folder = testFolder(t, { root: { 'a.txt': 'one\n', link: t.fixture('symlink', 'a.txt') } })
    const [root, state] = [join(folder, 'root'), join(folder, 'state')]
    const server = await run(t, [root, '--state-dir', state, '--token', TOKEN, '--port', '0'])
    const edited = await fetch(`${server.url}/edit`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'a.txt', old_text: 'one', new_text: 'two' })
    })
    t.equal(edited.status, 200)
    const check = async (args: string[], status: number, said: string) => {
      const command = await run(t, ['forget', ...args], {}, /removed/)
      t.equal(await command.exit, status)
      t.match(command.out() + command.err(), said)
    }
    const flags = [root, '--state-dir', state]
    await check(['link', ...flags], 0, 'removed the texts of 1 change of link from the history\n')
    await check(['a.txt', ...flags], 0, 'removed the texts of 0 changes of a.txt from the history\n')
    await check([], 2, 'name a file: editd forget PATH [root] [flags].')
    await check(['../x', ...flags], 2, '../x is not a path in')
    await check(['a.txt', '--port', '1'], 2, '--port is only for the HTTP server, and editd forget does not listen')
    await check(['a.txt', join(folder, 'none'), '--state-dir', state], 1, "can't start on")
    // As with an access file, where each workspace has a folder of its own in this one.
    await check(
      ['a.txt', root, '--state-dir', folder],
      1,
      `the state folder ${folder} can't be used (no server has used it): name another with --state-dir.`
    )
    t.strictSame(readdirSync(folder).sort(), ['root', 'state'])
    server.child.kill()
    await server.exit
  }
)
