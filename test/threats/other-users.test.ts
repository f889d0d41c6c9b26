// What other users of the host can do to servers by way of the names that any process may take. Rows 59 and
// 60 of docs/threats.md.
import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { listClaims } from '../../src/folder/locks/server-names.ts'
import { SERVER } from '../running.ts'
import {
  codeOf,
  checkDocument,
  isRoot,
  makeFolders,
  row,
  startServer,
  tally,
  TOKEN,
  type TestServer
} from './harness.ts'

const foreigner = { uid: 12_345, gid: 12_345, cwd: '/' }
const asForeigner = (...args: string[]): [string, string[]] => ['env', ['-i', process.execPath, ...args]]
const canBeForeign =
  process.platform === 'linux' && isRoot && spawnSync(...asForeigner('-e', ''), foreigner).status === 0
const skip = canBeForeign ? false : 'needs root on Linux, and a Node that every user may run'

// Ends with its stdin, so with the test that started it.
const SQUAT = `
process.stdin.resume().on('end', () => process.exit())
require('node:net').createServer(socket => socket.on('error', () => {})).listen('\\0' + process.argv[1], () => console.log('had'))
`

/** Another user runs this; resolves when it has what it is after. */
async function asStranger(t: Test, program: string, argument: string): Promise<void> {
  const child = spawn(...asForeigner('-e', program, argument), { ...foreigner, stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [had] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
  if (String(had) !== 'had\n') throw new Error('it had nothing')
}

/** The socket of a file's lock, as /proc/net/unix shows it to everybody while it is held. */
const lockSocket = (state: string, path: string): string =>
  `editd-${createHmac('sha256', readFileSync(join(state, 'secret')))
    .update(path)
    .digest('hex')}`

row(
  59,
  'another user takes the socket of a file’s lock, and keeps it',
  {
    done: 'two servers; two with `--lock local`: 6 edits of the file, and 2 of another file',
    skip
  },
  async t => {
    const check = async (...flags: string[][]): Promise<string> => {
      const at = makeFolders(t, { f: 'x', g: 'x' })
      const servers: TestServer[] = []
      for (const each of flags) {
        servers.push(await startServer(t, at, '--durability', 'fast', '--lock-timeout', '2s', ...each))
      }
      await asStranger(t, SQUAT, lockSocket(at.state, 'f'))
      const codes: string[] = []
      const edit = async (path: string, i: number): Promise<void> => {
        const { post, text } = servers[i % servers.length]!
        const before = text(path)
        const answer = await post('/edit', { path, old_text: before, new_text: `${before}${i}` })
        codes.push(codeOf(answer))
      }
      for (let i = 0; i < 6; i++) await edit('f', i)
      for (let i = 0; i < 2; i++) await edit('g', i)
      for (const { log } of servers) t.match(log(), 'lock_socket_unproven')
      return tally(codes)
    }
    const shared = await check([], [])
    const local = await check(['--lock', 'local'], ['--lock', 'local'])
    return `${shared}; with \`--lock local\`, which has no other lock, ${local}, as SECURITY.md says; the log names the socket`
  }
)

// Keeps all connections that a server accepts or queues, and floods its port.
const OCCUPY = `
process.stdin.resume().on('end', () => process.exit())
const names = JSON.parse(process.argv[1])
const held = []
const more = () => {
  for (const name of names) {
    for (let i = 0; i < 20; i++) held.push(require('node:net').connect('\\0' + name).on('error', () => {}))
  }
  for (const socket of held.splice(0, held.length - 2000)) socket.destroy()
}
more()
setInterval(more, 20)
const socket = require('node:dgram').createSocket('udp4').on('error', () => {})
const ports = names.map(name => parseInt(name.split('.')[3].slice(0, 4), 16)).filter(port => port > 0)
const flood = () => {
  for (const port of ports) for (let i = 0; i < 50; i++) socket.send('x'.repeat(200), port, '127.0.0.1', () => {})
  setImmediate(flood)
}
flood()
setTimeout(() => console.log('had'), 500)
`

/** As another user again, who may write in the root; the exit code and the end of what it says, or `started`. */
async function startAs(t: Test, uid: number, root: string, state: string): Promise<string> {
  const args = [SERVER, root, '--state-dir', state, '--port', '0', '--token', TOKEN]
  const child = spawn(...asForeigner(...args), { uid, gid: uid, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    said += text
  })
  const started = once(child.stdout, 'data').then(() => 'started')
  const ended = once(child, 'close').then(([code]) => `${code} ${said}`)
  return Promise.race([started, ended])
}

row(
  60,
  'another user keeps a server from answering that it works on a root',
  {
    done: 'a server on a root that two users may write in; a third user keeps its connections, and floods the port where it can be asked; the second user starts a server with another state folder',
    skip:
      canBeForeign && spawnSync(...asForeigner(SERVER, '--help'), foreigner).status === 0
        ? false
        : skip || 'needs a built server that every user may read'
  },
  async t => {
    const at = makeFolders(t, { f: 'x' })
    for (const folder of [at.base, at.root]) chmodSync(folder, 0o777)
    const { child } = await startServer(t, at)
    const names = listClaims().flatMap(({ pid, name }) => (pid === child.pid ? [name] : []))
    t.ok(names.length > 0)
    await asStranger(t, OCCUPY, JSON.stringify(names))
    const outcome = await startAs(t, 12_346, at.root, join(at.base, 'other'))
    t.match(outcome, `1 editd: ${at.root} is already served by process ${child.pid} on`)
    return 'refused at start with exit status 1; process, host and state folder of the first are named'
  }
)

checkDocument()
