// Starts the built server as a separate process. Does not know any test.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const measuresCoverage = process.env.NODE_V8_COVERAGE !== undefined

// The benchmark uses a built copy of this file.
const built = (name: string) =>
  fileURLToPath(new URL(import.meta.url.endsWith('.js') ? `../${name}` : `../dist/${name}`, import.meta.url))
/** The path of the server that users start. */
const BUNDLED = built('server.js')
/** As `BUNDLED`; where coverage is measured, unbundled, so that each line maps to its source. */
export const SERVER = measuresCoverage ? built('src/server.js') : BUNDLED

/** `body` is empty if the answer isn't JSON. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  text: string
  headers: Headers
}

export interface Running {
  /** Where it listens, as it printed it. */
  url: string
  child: ChildProcess
  /** The lines that it has printed on stdout so far. */
  printed: string[]
  /** What it has written on stderr so far. */
  log(): string
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

/** Put before a command, turns coverage off: it takes time, and doesn't find the sources of bundled code. */
export const UNCOUNTED: readonly [string, ...string[]] = ['env', '-u', 'NODE_V8_COVERAGE']
const BARE = [...UNCOUNTED, process.execPath]
/** The command and arguments that run this without coverage. */
export const uncounted = (command: string, args: readonly string[]): [command: string, args: string[]] => {
  const [env, ...flags] = UNCOUNTED
  return [env, [...flags, command, ...args]]
}
/** The command of the built server, without coverage. */
export const BARE_COMMAND: readonly string[] = [...BARE, BUNDLED]
/** As `BARE_COMMAND`, with a file for each module. */
export const UNBUNDLED_COMMAND: readonly string[] = [...BARE, built('src/server.js')]

/** The command of the built server. Coverage counts a process that ends by itself or by SIGTERM. */
export const COMMAND: string[] = [process.execPath, SERVER]

/**
 * Starts the server, on a free port unless the flags say where; with an access file, without a root. Resolves when it
 * listens; rejects with its stderr if it ends before.
 */
export const start = (root: string, stateDir: string | null, ...flags: string[]): Promise<Running> =>
  run(COMMAND, root, stateDir, flags)

/** As `start`, without coverage. */
export const startBare = (root: string, stateDir: string, ...flags: string[]): Promise<Running> =>
  run(BARE_COMMAND, root, stateDir, flags)

/** As `start`, by another command. */
export async function run(
  [command = '', ...args]: readonly string[],
  root: string,
  stateDir: string | null,
  flags: string[]
): Promise<Running> {
  const token = 'a-token-for-tests'
  const port = flags.includes('--port') || flags.includes('--listen') ? [] : ['--port', '0']
  const state = stateDir === null ? [] : ['--state-dir', stateDir]
  const auth = flags.includes('--token-file') ? [] : ['--token', token]
  const served = flags.includes('--access') ? [] : [root, ...auth]
  const child = spawn(command, [...args, ...served, ...port, ...state, ...flags], {
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
    once(lines, 'line').then(([line]) => / listening on (\S+)/.exec(String(line))![1]!),
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
      const text = await response.text()
      const isJson = /json/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, body: isJson ? JSON.parse(text) : {}, text, headers: response.headers }
    },
    stop: () => {
      child.kill('SIGTERM')
      return exited
    }
  }
}
