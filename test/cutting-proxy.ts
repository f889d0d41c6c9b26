// An HTTP proxy that forwards requests and then cuts some connections without an answer, or answers some requests
// itself. Does not know any test.
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

type Cut = boolean | 'half'

export interface CuttingProxy {
  endpoint: string
  /** How many answers were cut so far. */
  cut: number
  /** Awaited before a request is forwarded. May be replaced at any time, as the next two. */
  before(request: { method: string; path: string }): unknown
  /** Whether the request is refused for good instead of forwarded. */
  refuses(request: { method: string; path: string }): boolean
  /** Whether the answer to this request is cut: all of it, or in the middle. */
  cuts(request: { method: string; path: string }): Cut | Promise<Cut>
}

const REFUSAL = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>'

/** Starts a proxy in front of `target`. `cuts`: see CuttingProxy; by default it cuts nothing. */
export async function startCuttingProxy(
  t: Test,
  target: string,
  cuts: CuttingProxy['cuts'] = () => false
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const agent = new Agent({ keepAlive: true })
  const proxy: CuttingProxy = { endpoint: '', cut: 0, before: () => {}, refuses: () => false, cuts }
  const forward = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = from
    await proxy.before({ method, path: url })
    if (proxy.refuses({ method, path: url })) {
      from.resume()
      to.writeHead(403, { 'content-type': 'application/xml' }).end(REFUSAL)
      return
    }
    const onward = request({ agent, hostname, port, method, path: url, headers })
    from.pipe(onward)
    const [answer] = (await once(onward, 'response')) as [IncomingMessage]
    const parts: Buffer[] = []
    for await (const part of answer) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const cut = await proxy.cuts({ method, path: url })
    if (cut !== false) proxy.cut++
    if (cut === true) {
      from.socket.destroy()
      return
    }
    to.writeHead(answer.statusCode ?? 500, answer.headers)
    if (cut === false) to.end(body)
    else to.write(body.subarray(0, Math.floor(body.length / 2)), () => from.socket.destroy())
  }
  const server = createServer((from, to) => {
    forward(from, to).catch(() => from.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })
  proxy.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}
