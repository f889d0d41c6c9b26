// An HTTP client that costs almost nothing: one kept-alive connection, ready-made requests, one answer at a time, read
// into one buffer. Knows only as much HTTP as the measured servers send.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Client, Turn } from './client.ts'

export const requestOf = (body: object, token: string): Buffer => {
  const json = JSON.stringify(body)
  const head = [
    'POST /edit HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(json)}`
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${json}`)
}

export class HttpClient implements Client {
  readonly #port: number
  readonly #requests: Record<Turn, Uint8Array>
  #socket: Socket | null = null
  #head = ''
  /** Bytes of the answer that are still missing; 0 before its head is complete. */
  #left = 0
  /** The server takes no further request on this connection: it has reached its maximum. */
  #isLast = false
  #answered: ((problem: Error | null) => void) | null = null

  constructor(port: number, requests: Record<Turn, Uint8Array>) {
    this.#port = port
    this.#requests = requests
  }

  async ready(): Promise<void> {
    if (this.#socket !== null) return
    const buffer = Buffer.allocUnsafe(65_536)
    const callback = (length: number): boolean => {
      this.#take(buffer, length)
      return true
    }
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
    await once(socket, 'connect')
    const ended = (problem: Error): void => {
      if (this.#socket !== socket) return
      this.#socket = null
      this.#end(problem)
    }
    socket.on('error', ended)
    socket.on('close', () => ended(new Error('the server closed the connection')))
    this.#socket = socket
  }

  send(turn: Turn, answered: (problem: Error | null) => void): void {
    this.#answered = answered
    if (this.#socket !== null) this.#socket.write(this.#requests[turn])
    else if (!this.#isLast) this.#end(new Error('the server closed the connection'))
    else {
      this.ready().then(
        () => this.#socket?.write(this.#requests[turn]),
        (problem: Error) => this.#end(problem)
      )
    }
  }

  close(): void {
    this.#answered = null
    this.#hangUp()
  }

  #hangUp(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  #take(buffer: Buffer, length: number): void {
    if (this.#left > 0) this.#left -= length
    else {
      this.#head += buffer.toString('latin1', 0, length)
      const end = this.#head.indexOf('\r\n\r\n')
      if (end === -1) return
      if (!this.#head.startsWith('HTTP/1.1 200')) return this.#end(new Error(this.#head))
      const size = /content-length: (\d+)/i.exec(this.#head)?.[1]
      if (size === undefined) return this.#end(new Error(`an answer without its length: ${this.#head}`))
      this.#left = end + 4 + Number(size) - this.#head.length
      this.#isLast = /\r\nconnection: close\r\n/i.test(this.#head)
      this.#head = ''
    }
    if (this.#left > 0) return
    if (this.#isLast) this.#hangUp()
    this.#end(null)
  }

  #end(problem: Error | null): void {
    const answered = this.#answered
    this.#answered = null
    answered?.(problem)
  }
}
