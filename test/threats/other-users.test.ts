// What other users of the host can do to servers by way of the names that any process may take. Row 59 of
// docs/threats.md.
import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { codeOf, checkDocument, isRoot, makeFolders, row, startServer, tally, type TestServer } from './harness.ts'

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

/** Another user takes an abstract socket; resolves when it is had. */
async function squat(t: Test, name: string): Promise<void> {
  const child = spawn(...asForeigner('-e', SQUAT, name), {
    ...foreigner,
    stdio: ['pipe', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [had] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
  if (String(had) !== 'had\n') throw new Error('the socket was not had')
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
    done: 'two servers; one of two processes (`--processes 2`); two with `--lock local`: 6 edits of the file, and 2 of another file',
    skip
  },
  async t => {
    const check = async (...flags: string[][]): Promise<string> => {
      const at = makeFolders(t, { f: 'x', g: 'x' })
      const servers: TestServer[] = []
      for (const each of flags) {
        servers.push(await startServer(t, at, '--durability', 'fast', '--lock-timeout', '2s', ...each))
      }
      await squat(t, lockSocket(at.state, 'f'))
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
    const processes = await check(['--processes', '2'])
    const local = await check(['--lock', 'local'], ['--lock', 'local'])
    return `${shared}; ${processes}; with \`--lock local\`, which has no other lock, ${local}, as SECURITY.md says; the log names the socket`
  }
)

checkDocument()
