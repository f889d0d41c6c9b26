// A server in a process of its own, over files of its own: started, driven, its CPU time read, stopped.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Connection, requestOf } from './connection.ts'
import type { Case } from './corpora.ts'
import { cpuOf } from './machine.ts'
import { naiveReplace } from './naive.ts'
import type { Mode } from './product.ts'

const TOKEN = 'a-token-for-the-benchmark'
/** So many that none is edited again within 20 ms. */
const FILES = 120

export type Served = { floor: 'fast' | 'full' } | { product: Mode }

export class Server {
  readonly #process: ChildProcess
  readonly #connections: Connection[]
  readonly #requests: { there: Buffer; back: Buffer }[]
  readonly #root: string
  readonly #port: number
  #sent = 0

  private constructor(
    process: ChildProcess,
    root: string,
    port: number,
    connections: Connection[],
    requests: { there: Buffer; back: Buffer }[]
  ) {
    this.#root = root
    this.#port = port
    this.#process = process
    this.#connections = connections
    this.#requests = requests
  }

  /** Checks that it makes the same bytes as the naive variant before it answers. */
  static async start(root: string, served: Served, it: Case, connections: number): Promise<Server> {
    mkdirSync(root)
    const names = Array.from({ length: FILES }, (_, i) => `file${i}.ts`)
    for (const name of names) writeFileSync(join(root, name), it.bytes)
    const script = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
    const args =
      'floor' in served
        ? [script('./floor-server.js'), root, served.floor]
        : [
            script('../src/server.js'),
            root,
            '--port',
            '0',
            '--state-dir',
            `${root}-state`,
            '--durability',
            served.product.durability,
            '--lock',
            served.product.lock
          ]
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, EDITD_TOKEN: TOKEN }
    })
    const port = await portOf(child)
    const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
    const body = (path: string, edits: Case['there']): Buffer =>
      requestOf(edits.length === 1 ? { path, ...edits[0] } : { path, edits }, TOKEN)
    const server = new Server(
      child,
      root,
      port,
      open,
      names.map(name => ({ there: body(name, it.there), back: body(name, it.back) }))
    )
    const after = Buffer.from(naiveReplace(it.bytes.toString(), it.there))
    for (const expected of [after, it.bytes]) {
      await server.drive(FILES)
      if (!names.every(name => readFileSync(join(root, name)).equals(expected))) {
        throw new Error(`${args.join(' ')} makes other bytes than the naive variant`)
      }
    }
    return server
  }

  /** Sends so many edits over all connections; returns how long each took, in ms. */
  async drive(count: number): Promise<number[]> {
    const end = this.#sent + count
    const took: number[] = []
    await Promise.all(
      this.#connections.map(async connection => {
        while (this.#sent < end) {
          const number = this.#sent++
          const request = this.#requests[number % FILES]!
          const start = performance.now()
          await connection.send(Math.floor(number / FILES) % 2 === 0 ? request.there : request.back)
          took.push(performance.now() - start)
        }
      })
    )
    return took
  }

  /** Edits another file over and over, on a connection of its own, until `others` is done; how often that was. */
  async during(others: Promise<unknown>, { bytes, there, back }: Case): Promise<number> {
    writeFileSync(join(this.#root, 'other.ts'), bytes)
    const connection = await Connection.open(this.#port)
    const requests = [there, back].map(edits => requestOf({ path: 'other.ts', edits }, TOKEN))
    const ended = new AbortController()
    others.finally(() => {
      ended.abort()
    })
    let count = 0
    while (!ended.signal.aborted) await connection.send(requests[count++ % 2]!)
    connection.close()
    return count
  }

  /** ms of CPU time that all its threads have used; NaN where the system doesn't say. */
  cpu(): number {
    return cpuOf(this.#process.pid)
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.close()
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await ended
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const port = / listening on http:\/\/[^ ]*:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return Number(port)
  }
  throw new Error('the server ended before it listened')
}
