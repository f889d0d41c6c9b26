// A server that speaks MCP on stdin and stdout, and clients that share it, each with one call at a time. JSON-RPC by
// hand: an SDK would cost more than the servers do. Does not know any tool.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Client, Turn } from './client.ts'

interface Answer {
  id?: number
  error?: unknown
  result?: { isError?: boolean }
}

export class McpServer {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #rest = ''
  #calls = 0

  private constructor(child: ChildProcess) {
    this.#process = child
    child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    child.on('exit', () => {
      for (const answer of this.#waiting.values()) answer({ error: 'the server ended' })
      this.#waiting.clear()
    })
  }

  /** Resolves once it is initialised. */
  static async start(args: readonly string[], env: Record<string, string>): Promise<McpServer> {
    const child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...env }
    })
    const server = new McpServer(child)
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
    const answer = await new Promise<Answer>(resolve => server.request('initialize', JSON.stringify(params), resolve))
    if (answer.result === undefined) {
      await server.stop()
      throw new Error(`${args.join(' ')}: ${JSON.stringify(answer)}`)
    }
    child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    return server
  }

  get pid(): number {
    return this.#process.pid!
  }

  /** `params` is JSON. */
  request(method: string, params: string, answered: (answer: Answer) => void): void {
    const id = this.#calls++
    this.#waiting.set(id, answered)
    this.#process.stdin!.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`)
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGTERM')
    await ended
  }

  #take(text: string): void {
    this.#rest += text
    for (let end; (end = this.#rest.indexOf('\n')) !== -1; this.#rest = this.#rest.slice(end + 1)) {
      const answer = JSON.parse(this.#rest.slice(0, end)) as Answer
      if (answer.id === undefined) continue
      const answered = this.#waiting.get(answer.id)
      this.#waiting.delete(answer.id)
      answered?.(answer)
    }
  }
}

export class McpClient implements Client {
  readonly #server: McpServer
  readonly #calls: Record<Turn, string>

  /** `calls`: the parameters of tools/call, as JSON. */
  constructor(server: McpServer, calls: Record<Turn, string>) {
    this.#server = server
    this.#calls = calls
  }

  async ready(): Promise<void> {}

  send(turn: Turn, answered: (problem: Error | null) => void): void {
    this.#server.request('tools/call', this.#calls[turn], answer => {
      const done = answer.result !== undefined && answer.result.isError !== true
      answered(done ? null : new Error(JSON.stringify(answer).slice(0, 1000)))
    })
  }

  close(): void {}
}
