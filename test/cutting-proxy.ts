// An HTTP proxy that has requests carried out and then cuts some of their connections without an answer. Does not know
// any test.
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export interface CuttingProxy {
  endpoint: string
  /** How many answers were cut so far. */
  cut: number
  /** Is awaited before a request is carried out; replaced at any time. */
  before(request: { method: string; path: string }): unknown
  /** Whether the answer to this request is cut; asked before it is given. Replaced at any time. */
  cuts(request: { method: string; path: string }): boolean | Promise<boolean>
}

/** In front of `target`. `cuts`: as of CuttingProxy; none by default. */
export async function startCuttingProxy(
  t: Test,
  target: string,
  cuts: CuttingProxy['cuts'] = () => false
): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const agent = new Agent({ keepAlive: true })
  const proxy: CuttingProxy = { endpoint: '', cut: 0, before: () => {}, cuts }
  const forward = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = from
    await proxy.before({ method, path: url })
    const onward = request({ agent, hostname, port, method, path: url, headers })
    from.pipe(onward)
    const [answer] = (await once(onward, 'response')) as [IncomingMessage]
    const parts: Buffer[] = []
    for await (const part of answer) parts.push(part as Buffer)
    if (await proxy.cuts({ method, path: url })) {
      proxy.cut++
      from.socket.destroy()
      return
    }
    to.writeHead(answer.statusCode ?? 500, answer.headers)
    to.end(Buffer.concat(parts))
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
