// Unix sockets that the server creates, and sockets passed to it.
// runs alone: it changes the umask of its process
import Fastify from 'fastify'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ONLY_CI } from './often.ts'
import { CantListen, clearSocketPath, listen } from '../src/listen.ts'
import { COMMAND, start } from './running.ts'

const TOKEN = 'a-token-for-tests'
const onLinux = { skip: ONLY_CI || (process.platform === 'linux' ? false : 'needs Linux') }

/** A folder of a short path that others may look into, with a root. */
function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'editd-'))
  chmodSync(path, 0o755)
  mkdirSync(join(path, 'root'))
  writeFileSync(join(path, 'root/a.txt'), 'end\n')
  t.teardown(() => rmSync(path, { recursive: true }))
  return path
}

/** The status of an answer through a socket, or the code of the error. */
const ask = (socketPath: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  new Promise<number | string | undefined>(resolve => {
    const authorization = `Bearer ${TOKEN}`
    const options = { socketPath, path, method: body === undefined ? 'GET' : 'POST', agent: false as const }
    const sent = request({ ...options, headers: { authorization, 'content-type': 'application/json', ...headers } })
    sent.on('response', response => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', error => resolve('code' in error ? String(error.code) : error.message))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
const edit = (path: string, word: string) =>
  ask(path, '/edit', { path: 'a.txt', old_text: 'end', new_text: `${word} end` })

/** A socket on which nobody listens any more. */
function leaveSocket(path: string): void {
  const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', program], { env: {} })
}

async function serveAt(t: Test, path: string) {
  const server = createServer(socket => socket.end()).listen(path)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
  })
}

/** An app that listens, with this umask. */
async function listening(t: Test, path: string, umask: number) {
  const app = Fastify()
  const before = process.umask(umask)
  t.teardown(() => app.close())
  try {
    t.equal(await listen(app, { listen: { path }, host: '', port: 0 }), `unix:${path}`)
    t.equal(process.umask(), umask, 'the umask is as it was')
  } finally {
    process.umask(before)
  }
}

t.test('lets only its user connect, and by the umask its group', { skip: ONLY_CI }, async t => {
  const dir = folder(t)
  for (const [umask, mode] of [
    [0o022, 0o750],
    [0o007, 0o770],
    [0o000, 0o770],
    [0o077, 0o700]
  ] as const) {
    const path = join(dir, `${umask}.sock`)
    await listening(t, path, umask)
    t.equal(statSync(path).mode & 0o777, mode)
  }
})

t.test(
  'lets no other user connect',
  { skip: ONLY_CI || (process.geteuid?.() === 0 ? false : 'needs root, to be another user') },
  async t => {
    const dir = folder(t)
    /** How curl ends as another user: 0, or 7 where it can't connect. */
    const check = async (umask: number, gid: number, status: number) => {
      const path = join(dir, `${umask}-${gid}.sock`)
      await listening(t, path, umask)
      const curl = ['curl', '-sS', '--unix-socket', path, 'http://localhost/']
      const child = spawn('setpriv', ['--reuid=1000', `--regid=${gid}`, '--clear-groups', ...curl], { stdio: 'ignore' })
      t.strictSame((await once(child, 'close'))[0], status, path)
    }
    await check(0o000, 1000, 7)
    await check(0o022, 0, 7)
    await check(0o007, 0, 0)
  }
)

t.test('replaces a socket on which nobody listens', { skip: ONLY_CI }, async t => {
  const dir = folder(t)
  const path = join(dir, 'left.sock')
  await clearSocketPath(path)
  leaveSocket(path)
  t.ok(statSync(path).isSocket())
  await clearSocketPath(path)
  t.notOk(existsSync(path))
  leaveSocket(path)
  const cleared = clearSocketPath(path)
  rmSync(path)
  await serveAt(t, path)
  await cleared
  t.ok(existsSync(path), 'and not the one of a server that was faster')
})

t.test('refuses to listen where anything else is', { skip: ONLY_CI }, async t => {
  const dir = folder(t)
  const at = (name: string) => join(dir, name)
  await serveAt(t, at('served'))
  writeFileSync(at('file'), 'kept')
  leaveSocket(at('left'))
  symlinkSync('left', at('link'))
  const refuses = (action: Promise<unknown>, sentence: string) => t.rejects(action, new CantListen(sentence))
  const inUse = `another server listens on unix:${at('served')}: name another path with --listen, or stop it.`
  await refuses(clearSocketPath(at('served')), inUse)
  for (const name of ['file', 'link', 'root']) {
    const sentence = `${at(name)} is there already, and is not a socket: name another path with --listen.`
    await refuses(clearSocketPath(at(name)), sentence)
  }
  t.equal(readFileSync(at('file'), 'utf8'), 'kept')
  const listenAt = (path: string) => listen(Fastify(), { listen: { path }, host: '', port: 0 })
  await refuses(listenAt(at('served')), inUse)
  await refuses(
    listenAt(at('none/x.sock')),
    `can't make the socket unix:${at('none/x.sock')} (EACCES): ` +
      'its folder has to exist, and this user needs the right to write there.'
  )
})

const hasPython = spawnSync('python3', ['--version']).status === 0
t.test('refuses a socket of another kind', { skip: hasPython ? false : 'needs python3' }, async t => {
  const path = join(folder(t), 'datagrams')
  const program =
    'import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); print(flush=True); input()'
  const child = spawn('python3', ['-c', program, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  await t.rejects(clearSocketPath(path), {
    message:
      `there is a socket at ${path} already, and it can't be seen whether anybody listens on it (EPROTOTYPE): ` +
      'name another path with --listen, or remove it.'
  })
  child.stdin.end('\n')
  await once(child, 'close')
})

t.test('serves on a unix socket, also after it was killed', onLinux, async t => {
  const dir = folder(t)
  const path = join(dir, 'editd.sock')
  const flags = ['--listen', `unix:${path}`]
  const run = () => start(join(dir, 'root'), join(dir, 'state'), ...flags)
  const killed = await run()
  t.equal(killed.url, `unix:${path}`)
  t.equal(statSync(path).mode & 0o777, 0o770 & ~process.umask())
  t.equal(await edit(path, 'one'), 200)
  // Host and Origin are judged as they are at an address.
  t.equal(await ask(path, '/capabilities', undefined, { host: 'evil.example' }), 403)
  t.equal(await ask(path, '/capabilities', undefined, { authorization: 'Bearer wrong' }), 401)
  await t.rejects(run(), /another server listens on unix:\S+editd\.sock: name another path/)
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  while (!['ECONNREFUSED', 'ENOENT'].includes(String(await ask(path, '/healthz')))) await sleep(20)
  const server = await run()
  t.equal(await edit(path, 'two'), 200)
  t.equal(readFileSync(join(dir, 'root/a.txt'), 'utf8'), 'one two end\n')
  t.equal(await server.stop(), 0)
  t.notOk(existsSync(path), 'it takes its socket away')
})

t.test('makes files by the umask that it was given', onLinux, async t => {
  const dir = folder(t)
  const path = join(dir, 'editd.sock')
  const before = process.umask(0o002)
  const server = await start(join(dir, 'root'), join(dir, 'state'), '--listen', `unix:${path}`)
  process.umask(before)
  t.equal(await ask(path, '/create', { path: 'b.txt', content: 'b\n' }), 200)
  t.equal(statSync(join(dir, 'root/b.txt')).mode & 0o777, 0o664)
  await server.stop()
})

const hasActivate = spawnSync('systemd-socket-activate', ['--version']).status === 0
const activated = { skip: ONLY_CI || (hasActivate ? false : 'needs systemd-socket-activate (systemd)') }

/**
 * A server that systemd-socket-activate starts at the first connection, with these sockets. `said` waits for a text on
 * stdout or stderr.
 */
function activate(t: Test, dir: string, sockets: string[], ...flags: string[]) {
  const given = sockets.flatMap(address => ['-l', address])
  const variables = Object.keys(process.env).flatMap(name => ['-E', name])
  const server = [...COMMAND, join(dir, 'root'), '--state-dir', join(dir, 'state'), '--token', TOKEN, ...flags]
  const child = spawn('systemd-socket-activate', [...given, ...variables, '--', ...server])
  t.teardown(() => {
    child.kill('SIGKILL')
  })
  let all = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', chunk => {
      all += chunk
    })
  }
  const exit = once(child, 'close').then(([code]) => code as number | null)
  const said = async (words: string) => {
    while (!all.includes(words) && child.exitCode === null) await sleep(20)
    return all
  }
  return { child, exit, said }
}

t.test('serves on a unix socket that it is handed, and leaves it there', activated, async t => {
  const dir = folder(t)
  const [first, second] = [join(dir, 'first.sock'), join(dir, 'second.sock')]
  const server = activate(t, dir, [first, second], '--listen', 'fd:4')
  await server.said(`Listening on ${second} as 4.`)
  // It makes systemd start the server, which doesn't listen there.
  connect(first).on('error', () => {})
  t.equal(await edit(second, 'two'), 200, 'who came before it listened is served too')
  t.match(await server.said('root='), `editd listening on fd:4 root=${join(dir, 'root')}\n`)
  server.child.kill('SIGTERM')
  t.equal(await server.exit, 0)
  t.ok(existsSync(second), 'whoever made it removes it')
})

t.test('serves at an address that it is handed', activated, async t => {
  const dir = folder(t)
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  free.close()
  await once(free, 'close')
  const server = activate(t, dir, [`127.0.0.1:${port}`], '--listen=fd:3')
  await server.said('as 3.')
  t.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  t.match(await server.said('root='), `editd listening on http://127.0.0.1:${port} root=`)
  server.child.kill('SIGTERM')
  t.equal(await server.exit, 0)
})

t.test('refuses what was handed over and is no socket', { skip: ONLY_CI }, async t => {
  const dir = folder(t)
  const program = 'export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@" 3</dev/null'
  const flags = ['--listen=fd:3', '--state-dir', join(dir, 'state'), '--token', TOKEN]
  const child = spawn('sh', ['-c', program, 'sh', ...COMMAND, join(dir, 'root'), ...flags])
  const said = text(child.stderr)
  t.strictSame((await once(child, 'close'))[0], 1)
  t.equal(await said, "editd: can't listen on fd:3 (EINVAL): it has to be a stream socket, not a connection.\n")
})
