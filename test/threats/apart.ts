// Starts built servers in network, pid and mount namespaces of their own: they share only the folders and the kernel,
// as containers on one machine do. Does not know what they are used for.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { SERVER } from '../running.ts'
import { canMount, has } from '../folder/support/machine.ts'
import { senderTo, TOKEN, type Folders, type Send } from './harness.ts'

const UNSHARE = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Why such servers can't be started here, or false. */
export const cannotBeApart =
  canMount && has('ip') && spawnSync('unshare', [...UNSHARE, 'true']).status === 0
    ? false
    : 'needs root on Linux, unshare and ip'

export interface Apart {
  send: Send
  /** Sends a signal to the server, not to the programs around it. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** Resolves when it has ended by itself, as on SIGTERM. */
  end(): Promise<void>
  /** What it has written on stderr so far. */
  log(): string
}

// A unix socket can be reached from every network namespace: through it the test reaches the server's port.
const RELAY = `
const { connect, createServer } = require('node:net')
createServer(from => {
  const to = connect(7333, '127.0.0.1')
  for (const [a, b] of [[from, to], [to, from]]) a.pipe(b).on('error', () => a.destroy()), a.on('error', () => b.destroy())
}).listen(process.argv[1])`

let count = 0

/** Starts a server with `env` added to its environment; resolves when it answers. It is killed after the test. */
export async function startApart(
  t: Test,
  { base, root, state }: Folders,
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

  const send = senderTo(t, { socketPath, headers: { host: '127.0.0.1' } }, 50)
  while ((await send('/inspect', { path: '.' })).status !== 200) {
    if (child.exitCode !== null) throw new Error(`ended: ${log}`)
    await sleep(20)
  }
  // The only child of unshare is the first process in the new pid namespace: the server.
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1'))
  return {
    send,
    signal: name => {
      process.kill(pid, name)
    },
    end: async () => {
      const ended = once(child, 'close')
      process.kill(pid, 'SIGTERM')
      await ended
    },
    log: () => log
  }
}
