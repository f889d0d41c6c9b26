// The rows of docs/threats.md: each is a test against the built server whose result is its line in the table. Does not
// know any attack.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { Agent, request, type IncomingHttpHeaders, type RequestOptions } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { LONG, often, ONLY_CI } from '../often.ts'
import { start, type Answer, type Running } from '../running.ts'

export const DOCUMENT = fileURLToPath(new URL('../../docs/threats.md', import.meta.url))
/** As `test/running.ts` sets it. */
export const TOKEN = 'a-token-for-tests'

/** The number that `npm run test:… -- --name N` passes; without it `usual` in CI and `short` in `npm test`. */
export function many(name: string, usual: number, short = usual): number {
  const requested = process.env[`LONG_${name.toUpperCase()}`]
  if (requested === undefined) return often(usual, short)
  t.setTimeout(0)
  hasCustomCounts = true
  return Number(requested)
}
let hasCustomCounts = false

const lines = new Map<number, string>()
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', '⏎')

export interface RowOptions {
  /** What CI does, and how often. */
  done: string
  /** Why it can't be done here, or false. */
  skip?: string | false
}

/** Adds a test. `work` returns its result for the table, without times or facts about this machine. */
export function row(
  number: number,
  attack: string,
  { done, skip = false }: RowOptions,
  work: (t: Test) => Promise<string>
): void {
  t.test(`row ${number}: ${attack}`, { skip: ONLY_CI || skip }, async t => {
    const result = await work(t)
    lines.set(number, `| ${number} | ${cell(attack)} | ${cell(done)} | ${cell(result)} |`)
    t.comment(result)
  })
}

/** Without CI's counts, only the words are compared. */
const comparable = (text: string) => (LONG ? text : text.replaceAll(/\d[\d,]*/g, '#'))

/** Tests that the document has the lines of this file's rows, or writes them; call it after all rows. */
export function checkDocument(): void {
  const skip = hasCustomCounts ? 'other numbers than CI’s' : false
  t.test('docs/threats.md says what came of each', { skip }, async t => {
    const text = readFileSync(DOCUMENT, 'utf8')
    const now = text
      .split('\n')
      .map(line => lines.get(numberOf(line)) ?? line)
      .join('\n')
    if (process.env.DOCS === 'write') writeFileSync(DOCUMENT, now)
    else t.equal(comparable(text), comparable(now))
  })
}

/** The number of a row, from its line in the table; NaN for any other line. */
export const numberOf = (line: string): number => Number(/^\| (\d+) \|/.exec(line)?.[1])

/** Such as `3 × NO_MATCH, 1 × 200`, in order of first occurrence. */
export function tally(outcomes: readonly (string | number)[]): string {
  const counts = new Map<string | number, number>()
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return [...counts].map(([outcome, count]) => `${count} × \`${outcome}\``).join(', ')
}

/** The code of a problem, or the status of a success. */
export const codeOf = ({ status, body }: Answer): string => String(body.code ?? status)

export { canMount, isRoot } from '../folder/support/machine.ts'
export const hashOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

/** Paths; `root` and `state` lie in `base`. The server makes `state`. */
export interface Folders {
  base: string
  root: string
  state: string
}

/** Makes a temporary folder with a root that holds these files; removes it after the test. */
export function makeFolders(t: Test, files: Record<string, string | Buffer> = {}): Folders {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'editd-threat-')))
  const root = join(base, 'root')
  mkdirSync(root)
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), bytes)
  }
  return { base, root, state: join(base, 'state') }
}

export interface TestServer extends Running, Folders {
  /** The content of a file below the root. */
  text(path: string): string
}

/** Starts the built server; after the test it is stopped, by SIGKILL if SIGTERM doesn't end it within 12 s. */
export async function startServer(t: Test, folders: Folders, ...flags: string[]): Promise<TestServer> {
  const running = await start(folders.root, folders.state, ...flags)
  t.teardown(async () => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return
    const timer = setTimeout(() => running.child.kill('SIGKILL'), 12_000)
    running.child.kill('SIGCONT')
    await running.stop()
    clearTimeout(timer)
  })
  return { ...running, ...folders, text: path => readFileSync(join(folders.root, path), 'utf8') }
}

/**
 * The paths of temp files below a folder. Not with a recursive `readdir`, which follows links: one of them leads to a
 * place where other tests make and remove folders.
 */
export const tempFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return tempFiles(path)
    return /\.[0-9a-f]{24}\.tmp$/.test(entry.name) ? [path] : []
  })

/** How many descriptors a process has open. */
export const descriptorsOf = (pid: number | undefined): number => readdirSync(`/proc/${pid}/fd`).length

/** Sends bytes as they are; resolves with all bytes received until the server closes, or within `ms`. */
export function raw(url: string, bytes: string | Buffer, ms = 20_000): Promise<string> {
  return new Promise(resolve => {
    let received = ''
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes)
    })
    const timer = setTimeout(() => {
      socket.destroy()
    }, ms)
    socket.on('data', data => {
      received += String(data)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(received)
    })
  })
}

export interface Sent {
  /** 0 where the connection failed or ended before the answer was complete. */
  status: number
  /** `200`, the code of a problem, or the code of the error where the connection failed. */
  code: string
  text: string
  headers: IncomingHttpHeaders
}
export type Send = (route: string, body: object) => Promise<Sent>

/** Sends to a server over at most `sockets` kept-alive connections: fetch would take more CPU than the server. */
export function sender(t: Test, url: string, sockets: number): Send {
  const { hostname, port } = new URL(url)
  return senderTo(t, { host: hostname, port }, sockets)
}

/** As `sender`; `address` as in Node's `request`: a host and port, or a socket's path. */
export function senderTo(t: Test, address: RequestOptions, sockets: number): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  t.teardown(() => {
    agent.destroy()
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...address.headers }
  return (path, body) =>
    new Promise(resolve => {
      const sent = request({ ...address, path, method: 'POST', agent, headers }, response => {
        let text = ''
        const done = (status: number) => {
          const code = status === 200 ? '200' : (/"code":"(\w+)"/.exec(text)?.[1] ?? '')
          resolve({ status, text, headers: response.headers, code })
        }
        response
          .setEncoding('utf8')
          .on('data', chunk => {
            text += chunk
          })
          .on('end', () => done(response.statusCode ?? 0))
          .on('error', () => done(0))
      })
      sent.on('error', error =>
        resolve({ status: 0, code: String('code' in error ? error.code : error), text: '', headers: {} })
      )
      sent.end(JSON.stringify(body))
    })
}
