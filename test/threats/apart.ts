// Built servers that share nothing but the folders and the kernel, as containers on one machine do: each in network,
// pid
// and mount namespaces of its own. Does not know what is asked of them.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { SERVER } from '../running.ts'
import { canMount, has } from '../workspace/support/machine.ts'
import { TOKEN, type Send, type Sent } from './harness.ts'

const UNSHARE = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Why such servers can't be started here, or false. */
export const cannotBeApart =
  canMount && has('ip') && spawnSync('unshare', [...UNSHARE, 'true']).status === 0
    ? false
    : 'needs root on Linux, unshare and ip'

export interface Apart {
  send: Send
  /** Sends the server itself a signal. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** What it wrote on stderr so far. */
  log(): string
}

// A socket that has a name is found by it from every network namespace: by it the test reaches the server's address.
const RELAY = `
const { connect, createServer } = require('node:net')
createServer(from => {
  const to = connect(7333, '127.0.0.1')
  for (const [a, b] of [[from, to], [to, from]]) a.pipe(b).on('error', () => a.destroy()), a.on('error', () => b.destroy())
}).listen(process.argv[1])`

let count = 0

/** Started, and ready when this resolves; killed after the test. `env` is added to what it is started with. */
export async function startApart(
  t: Test,
  { base, root, state }: { base: string; root: string; state: string },
  env: Record<string, string> = {},
  ...flags: string[]
): Promise<Apart> {
  const socketPath = join(base, `relay-${count++}`)
  const script = 'ip link set lo up; node -e "$RELAY" "$SOCKET" & exec env LD_PRELOAD="$PRELOAD" node "$@"'
  const server = [SERVER, root, '--state-dir', state, '--token', TOKEN, '--port', '7333', ...flags]
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...bare } = process.env
  const child = spawn('unshare', [...UNSHARE, 'sh', '-c', script, 'sh', ...server], {
    env: { PRELOAD: '', ...bare, ...env, RELAY, SOCKET: socketPath },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    log += chunk
  })
  t.teardown(() => {
    child.kill('SIGKILL')
  })

  const agent = new Agent({ keepAlive: true, maxSockets: 50 })
  t.teardown(() => {
    agent.destroy()
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', host: '127.0.0.1' }
  const send: Send = (path, body) =>
    new Promise<Sent>(resolve => {
      const sent = request({ socketPath, path, method: 'POST', agent, headers }, response => {
        let text = ''
        const done = (status: number): void =>
          resolve({
            status,
            text,
            headers: response.headers,
            code: status === 200 ? '200' : (/"code":"(\w+)"/.exec(text)?.[1] ?? '')
          })
        response
          .setEncoding('utf8')
          .on('data', chunk => {
            text += chunk
          })
          .on('end', () => done(response.statusCode ?? 0))
        response.on('error', () => done(0))
      })
      sent.on('error', error =>
        resolve({ status: 0, code: String('code' in error ? error.code : error), text: '', headers: {} })
      )
      sent.end(JSON.stringify(body))
    })
  while ((await send('/inspect', { path: '.' })).status !== 200) {
    if (child.exitCode !== null) throw new Error(`ended: ${log}`)
    await sleep(20)
  }
  // The only child of unshare is the first process of the new pid namespace: the server.
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1'))
  return {
    send,
    signal: name => {
      process.kill(pid, name)
    },
    log: () => log
  }
}
