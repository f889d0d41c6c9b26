// A proxy for tests that serves another server below a path, and strips that path. Does not know what is served.
import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Starts the proxy, which adds `headers` to each request. Resolves with the server's URL through it. */
export async function strippingProxy(
  t: Test,
  target: string,
  prefix: string,
  headers: Record<string, string> = {}
): Promise<string> {
  const proxy = createServer((request, response) => {
    const { url = '', method } = request
    if (!url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end('not below the path')
      return
    }
    const passed = send(
      `${target}${url.slice(prefix.length)}`,
      { method: method!, headers: { ...request.headers, ...headers }, agent: false },
      answer => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      }
    )
    request.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`
}
