// Reads server-sent events over a bare socket, as slowly as the test wants. Does not know any test.
import { connect, type Socket } from 'node:net'

export interface SentEvent {
  event: string
  id: string
  data: Record<string, unknown>
}

export interface EventReader {
  socket: Socket
  /** The answer's head with the status line; '' until it arrives. */
  head(): string
  events: SentEvent[]
  /** How many comments have arrived: they are heartbeats. */
  comments(): number
  /** Resolves when the answer is whole: the server has ended it. Rejects if the connection is closed before. */
  ended(): Promise<void>
  /** Resolves when either side has closed the connection. */
  closed: Promise<void>
  /** Resolves when `count` events have arrived; rejects if the connection is closed before. */
  until(count: number): Promise<void>
}

/** Connects and asks for /events. */
export function readEvents(
  url: string,
  token: string,
  { after, reads = true, headers = {} }: { after?: string; reads?: boolean; headers?: Record<string, string> } = {}
): EventReader {
  const { hostname, port } = new URL(url)
  const fields = {
    host: `${hostname}:${port}`,
    authorization: `Bearer ${token}`,
    ...(after !== undefined && { 'last-event-id': after }),
    ...headers
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname, () => socket.write(`GET /events HTTP/1.1\r\n${lines.join('')}\r\n`))
  let [head, raw, body, comments] = ['', Buffer.alloc(0), '', 0]
  const events: SentEvent[] = []
  const waiting = new Set<() => void>()
  let [isEnded, isClosed] = [false, false]
  const take = () => {
    const end = raw.indexOf('\r\n\r\n')
    if (head === '' && end >= 0) {
      head = raw.toString('latin1', 0, end)
      raw = raw.subarray(end + 4)
    }
    if (head === '') return
    // Chunked transfer encoding.
    for (;;) {
      const line = raw.indexOf('\r\n')
      const size = line < 0 ? Number.NaN : Number.parseInt(raw.toString('latin1', 0, line), 16)
      if (Number.isNaN(size) || raw.length < line + 4 + size) break
      if (size === 0) isEnded = true
      body += raw.toString('utf8', line + 2, line + 2 + size)
      raw = raw.subarray(line + 4 + size)
    }
    const parts = body.split('\n\n')
    body = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith(':')) comments++
      else {
        const fields = new Map(
          part.split('\n').map(one => [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 2)])
        )
        const [event = '', id = '', data = '{}'] = [fields.get('event'), fields.get('id'), fields.get('data')]
        events.push({ event, id, data: JSON.parse(data) })
      }
    }
  }
  if (reads) {
    socket.on('data', data => {
      raw = Buffer.concat([raw, data])
      take()
      for (const wake of waiting) wake()
    })
  }
  socket.on('error', () => {})
  const closed = new Promise<void>(resolve => {
    socket.on('close', () => {
      isClosed = true
      resolve()
      for (const wake of waiting) wake()
    })
  })
  const untilTrue = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const wake = () => {
        if (isSo()) resolve()
        else if (isClosed) reject(new Error(`closed after ${events.length} events: ${head}`))
        else return
        waiting.delete(wake)
      }
      waiting.add(wake)
      wake()
    })
  return {
    socket,
    head: () => head,
    events,
    comments: () => comments,
    closed,
    ended: () => untilTrue(() => isEnded),
    until: count => untilTrue(() => events.length >= count)
  }
}
