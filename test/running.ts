// The built server as a process of its own, for tests. Does not know any test.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Also where this file itself was built, for the benchmark. */
export const SERVER = fileURLToPath(
  new URL(import.meta.url.endsWith('.js') ? '../src/server.js' : '../dist/src/server.js', import.meta.url)
)

export interface Answer {
  status: number
  body: Record<string, unknown>
  headers: Headers
}

export interface Running {
  url: string
  child: ChildProcess
  /** What it printed on stdout so far. */
  printed: string[]
  /** What it wrote on stderr so far. */
  log(): string
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

/**
 * The command of a Node without what tap loads into every one that a test starts, which makes a start take twice as
 * long.
 */
const BARE = ['env', '-u', 'NODE_OPTIONS', process.execPath]
const counts = process.env._TAPJS_PROCESSINFO_COVERAGE_ === '1'

/**
 * The command of the built server. Where tap counts what is covered, what it runs of dist/ counts, if it ends by itself
 * or by SIGTERM.
 */
export const COMMAND: string[] = [
  ...BARE,
  ...(counts ? ['--import', new URL('coverage.js', import.meta.url).href] : []),
  SERVER
]

/**
 * Starts it on a free port with a token of its own; resolves when it listens, rejects with its stderr if it ends
 * before.
 */
export const start = (root: string, stateDir: string, ...flags: string[]): Promise<Running> =>
  run(COMMAND, root, stateDir, flags)

/** As `start`, but nothing that it runs counts as covered. */
export const startBare = (root: string, stateDir: string, ...flags: string[]): Promise<Running> =>
  run([...BARE, SERVER], root, stateDir, flags)

async function run(
  [command = '', ...args]: string[],
  root: string,
  stateDir: string,
  flags: string[]
): Promise<Running> {
  const token = 'a-token-for-tests'
  const child = spawn(command, [...args, root, '--port', '0', '--state-dir', stateDir, '--token', token, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  const printed: string[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => printed.push(line))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const url = await Promise.race([
    once(lines, 'line').then(([line]) => String(line).match(/http:\S+/)![0]),
    exited.then(code => {
      throw new Error(`ended with ${code}: ${stderr}`)
    })
  ])
  return {
    url,
    child,
    printed,
    log: () => stderr,
    post: async (path, body, headers = {}) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body)
      })
      return {
        status: response.status,
        body: (await response.json()) as Record<string, unknown>,
        headers: response.headers
      }
    },
    stop: () => {
      child.kill('SIGTERM')
      return exited
    }
  }
}
