// MCP's stdio transport: one JSON-RPC message per line, in strict JSON. Does not know any tool.
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type Transport
} from '@modelcontextprotocol/server'
import type { RequestFailure } from '../request-failure.ts'
import { parseStrictJson } from '../requests/json.ts'
import { toProblem } from '../answers/problem.ts'
import { withoutNullArguments } from './mcp.ts'

const LINE_FEED = 0x0a

/** Unlike the SDK's transport, finishes running calls when the input ends, and refuses a field that is sent twice. */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #input: Readable
  readonly #output: Writable
  readonly #limit: number
  /** The parts of the current line; if the line is too long, only its beginning and end. */
  #line: Buffer[] = []
  #length = 0
  readonly #running = new Set<string | number>()
  #ended = false
  #finish: () => void = () => {}
  /** Resolves when the input has ended and everything is answered. */
  readonly closed = new Promise<void>(resolve => {
    this.#finish = resolve
  })

  /** `limit`: the most bytes in a line. */
  constructor(input: Readable, output: Writable, limit: number) {
    this.#input = input
    this.#output = output
    this.#limit = limit
  }

  async start(): Promise<void> {
    // The reader has left: nothing can be answered any more.
    this.#output.on('error', () => {
      this.#running.clear()
      this.#end()
    })
    this.#input.on('data', (chunk: Buffer) => {
      this.#read(chunk)
    })
    for (const event of ['end', 'close', 'error']) {
      this.#input.on(event, () => {
        // The last line may lack its line break. If it was cut off, it isn't valid JSON, since no message ends before
        // its `}`.
        this.#endLine()
        this.#end()
      })
    }
  }

  #read(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0;) {
      const end = rest.indexOf(LINE_FEED)
      const piece = end < 0 ? rest : rest.subarray(0, end)
      this.#length += piece.length
      if (this.#length <= this.#limit) this.#line.push(piece)
      else this.#line = endsOf(this.#line, piece, this.#length - piece.length <= this.#limit)
      if (end < 0) return
      this.#endLine()
      rest = rest.subarray(end + 1)
    }
  }

  #endLine(): void {
    const tooLong = this.#length > this.#limit
    const parts = this.#line
    this.#line = []
    this.#length = 0
    if (tooLong) this.#refuse({ code: 'REQUEST_TOO_LARGE', limit: this.#limit }, { id: idAtEnds(parts) })
    else this.#take(Buffer.concat(parts))
  }

  #take(line: Buffer): void {
    if (line.toString('latin1').trim() === '') return
    const parsed = parseStrictJson(line)
    if (!parsed.ok) {
      const { failure } = parsed
      const isOfId = 'key' in failure && failure.key === 'id' && failure.pointer === ''
      this.#refuse(failure, { id: isOfId ? null : idIn(line) })
      return
    }
    let message: JSONRPCMessage
    try {
      message = parseJSONRPCMessage(withoutNullArguments(parsed.value))
    } catch {
      this.#refuse(
        { code: 'INVALID_REQUEST', errors: [{ pointer: '', message: 'the line is not a JSON-RPC message' }] },
        { code: ProtocolErrorCode.InvalidRequest, id: idIn(line) }
      )
      return
    }
    if (isJSONRPCRequest(message)) this.#running.add(message.id)
    // A cancelled request is not answered.
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      this.#running.delete(message.params?.requestId as string | number)
    }
    this.onmessage?.(message)
  }

  /** `id`: the request's id, so that its client doesn't wait for another answer; null: unknown. */
  #refuse(
    failure: RequestFailure,
    { code = ProtocolErrorCode.ParseError, id = null }: { code?: number; id?: string | number | null } = {}
  ): void {
    const { detail } = toProblem(failure, { instance: '/mcp', request_id: '' }).body
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: detail } })}\n`)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) await this.#drained()
    if ('id' in message && message.id !== undefined && !('method' in message)) this.#running.delete(message.id)
    if (this.#ended) this.#end()
  }

  /** Resolves when a slow reader has drained the output, or has left. */
  async #drained(): Promise<void> {
    const done = new AbortController()
    const events = ['drain', 'close'].map(event => once(this.#output, event, { signal: done.signal }))
    // Otherwise each slow answer would leave a listener for the other event.
    await Promise.race(events).finally(() => done.abort())
  }

  /** Stops reading; running calls are still answered. */
  #end(): void {
    this.#ended = true
    if (this.#running.size === 0) this.#finish()
  }

  async close(): Promise<void> {
    this.#input.pause()
    this.onclose?.()
  }
}

/** Bytes kept of each end of a line that is too long. */
const END = 1024

/**
 * The first and the last bytes of a line. `isFirst`: `parts` are everything before `piece`; otherwise they are the
 * line's two ends.
 */
function endsOf(parts: readonly Buffer[], piece: Buffer, isFirst: boolean): Buffer[] {
  const line = Buffer.concat(isFirst ? [...parts, piece] : [parts[1]!, piece])
  // Copies, since a part of a buffer would keep the whole buffer in memory.
  return [isFirst ? Buffer.from(line.subarray(0, END)) : parts[0]!, Buffer.from(line.subarray(-END))]
}

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"\s*,\s*`
const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)\s*`
/**
 * A message's id is only recognized before its params or as its last field; elsewhere it could be part of the params.
 */
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION})?(?:"method"\s*:\s*"[\w/]*"\s*,\s*)?${ID},`)
const ID_LAST = new RegExp(String.raw`\}\s*,\s*(?:${VERSION})?${ID}\}\s*$`)

/** The id of a message that is known only by its ends; null if it isn't in them. */
function idAtEnds([head, tail]: readonly Buffer[]): string | number | null {
  const [, id] = ID_FIRST.exec(head!.toString()) ?? ID_LAST.exec(tail!.toString()) ?? []
  return id === undefined ? null : idIn(Buffer.from(`{"id":${id}}`))
}

/** The id of a refused message; null if it can't be read. */
function idIn(line: Buffer): string | number | null {
  try {
    const { id } = JSON.parse(line.toString().replace(/^\ufeff/, '')) as { id?: unknown }
    return typeof id === 'string' || typeof id === 'number' ? id : null
  } catch {
    return null
  }
}
