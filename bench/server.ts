// A server in its own process: starts it, reads its CPU time and memory, stops it. Does not know what it serves.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { cpuOf } from './machine.ts'

export const TOKEN = 'a-token-for-the-benchmark'

export class Server {
  readonly #process: ChildProcess
  readonly port: number

  private constructor(child: ChildProcess, port: number) {
    this.#process = child
    this.port = port
  }

  /** Runs a Node script, and waits until it prints where it listens. `under`: the program that runs Node itself. */
  static async start(
    args: readonly string[],
    env: Record<string, string> = {},
    under: readonly string[] = []
  ): Promise<Server> {
    const [program, ...others] = [...under, process.execPath, ...args] as [string, ...string[]]
    const child = spawn(program, others, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, EDITD_TOKEN: TOKEN, ...env }
    })
    return new Server(child, await portOf(child))
  }

  get pid(): number {
    return this.#process.pid!
  }

  /** CPU time in ms that all its threads have used; NaN if the system doesn't say. */
  cpu(): number {
    return cpuOf(this.pid)
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await ended
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) {
    const port = / listening on http:\/\/[^ ]*:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return Number(port)
  }
  throw new Error('the server ended before it listened')
}
