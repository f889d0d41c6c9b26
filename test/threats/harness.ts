// A row of docs/threats.md: a named test against the built server, and the line that its result makes. Does not know
// any attack.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { LONG, often } from '../often.ts'
import { start, type Answer, type Running } from '../running.ts'

export const DOCUMENT = fileURLToPath(new URL('../../docs/threats.md', import.meta.url))
/** As `test/running.ts` sets it. */
export const TOKEN = 'a-token-for-tests'

/** `--name N` of `npm run test:…`, or what CI takes; `npm test` takes `short` of it. */
export function many(name: string, usual: number, short = usual): number {
  const given = process.env[`LONG_${name.toUpperCase()}`]
  if (given === undefined) return often(usual, short)
  t.setTimeout(0)
  long = true
  return Number(given)
}
let long = false

const lines = new Map<number, string>()
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', '⏎')

export interface RowOptions {
  /** What is done in CI, and how often. */
  done: string
  /** Why it can't be done here, or false. */
  skip?: string | false
}

/** The test returns what came of it, as the table says it: nothing about this machine, and no time. */
export function row(
  number: number,
  attack: string,
  { done, skip = false }: RowOptions,
  work: (t: Test) => Promise<string>
): void {
  t.test(`row ${number}: ${attack}`, { skip }, async t => {
    const result = await work(t)
    lines.set(number, `| ${number} | ${cell(attack)} | ${cell(done)} | ${cell(result)} |`)
    t.comment(result)
  })
}

/** Where not all is done that CI does, only the words are compared. */
const comparable = (text: string) => (LONG ? text : text.replaceAll(/\d[\d,]*/g, '#'))

/** To be called last in a file: the document has the lines of its rows. */
export function told(): void {
  t.test('docs/threats.md says what came of each', { skip: long ? 'other numbers than CI’s' : false }, async t => {
    const text = readFileSync(DOCUMENT, 'utf8')
    const now = text
      .split('\n')
      .map(line => lines.get(numberOf(line)) ?? line)
      .join('\n')
    if (process.env.DOCS === 'write') writeFileSync(DOCUMENT, now)
    else t.equal(comparable(text), comparable(now))
  })
}

/** Of a line of the table; NaN for any other. */
export const numberOf = (line: string): number => Number(/^\| (\d+) \|/.exec(line)?.[1])

/** `3 × NO_MATCH, 1 × 200`: in the order in which they came first. */
export function tally(outcomes: readonly (string | number)[]): string {
  const counts = new Map<string | number, number>()
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return [...counts].map(([outcome, count]) => `${count} × \`${outcome}\``).join(', ')
}

/** The code of a problem; of a success its status. */
export const codeOf = ({ status, body }: Answer): string => String(body.code ?? status)

export { canMount, isRoot } from '../workspace/support/machine.ts'
export const hashOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16)

/** A folder of its own with `root` and, beside it, `state`. Gone after the test. */
export function place(
  t: Test,
  files: Record<string, string | Buffer> = {}
): { base: string; root: string; state: string } {
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

export interface Attacked extends Running {
  base: string
  root: string
  state: string
  text(path: string): string
}

/** The built server on a fresh place, or on one that is there. Ended, if need be by force, with the test. */
export async function attacked(
  t: Test,
  files: Record<string, string | Buffer> | { base: string; root: string; state: string } = {},
  ...flags: string[]
): Promise<Attacked> {
  const at =
    typeof files.base === 'string' && typeof files.state === 'string'
      ? (files as ReturnType<typeof place>)
      : place(t, files as Record<string, string>)
  const running = await start(at.root, at.state, ...flags)
  t.teardown(async () => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return
    const timer = setTimeout(() => running.child.kill('SIGKILL'), 12_000)
    running.child.kill('SIGCONT')
    await running.stop()
    clearTimeout(timer)
  })
  return { ...running, ...at, text: path => readFileSync(join(at.root, path), 'utf8') }
}

/** Names of temp files below a folder. */
export const tempFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => /\.[0-9a-f]{24}\.tmp$/.test(name))

/** What a process has open. */
export const descriptorsOf = (pid: number | undefined): number => readdirSync(`/proc/${pid}/fd`).length

/** Sends bytes as they are; all that came back until the server closed, or `ms` went by. */
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
  status: number
  code: string
  text: string
  headers: IncomingHttpHeaders
}
export type Send = (route: string, body: object) => Promise<Sent>

/**
 * Over at most `sockets` connections that are kept: fetch would cost more than the server. Status 0 where the
 * connection ended.
 */
export function sender(t: Test, url: string, sockets: number): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  t.teardown(() => {
    agent.destroy()
  })
  return (route, body) =>
    new Promise(resolve => {
      const sent = request(
        url + route,
        { method: 'POST', agent, headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' } },
        response => {
          let text = ''
          const done = (status: number) =>
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
            .on('error', () => done(0))
        }
      )
      sent.on('error', error =>
        resolve({ status: 0, code: String('code' in error ? error.code : error), text: '', headers: {} })
      )
      sent.end(JSON.stringify(body))
    })
}
