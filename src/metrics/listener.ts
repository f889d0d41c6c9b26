// The listener of the metrics: GET /metrics, without a token, separate from the server. Does not know where metrics
// come from.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SUCCESS } from '../http/answers/problem.ts'
import { PROBLEMS } from '../http/answers/problems/table.ts'
import { exposition, type Family } from './registry.ts'

export interface MetricsListener {
  address: AddressInfo
  /** Answers with these metrics from now on; before that, it answers that it isn't ready. */
  serve(collect: () => readonly Family[]): void
}

/** Listens; the listener alone doesn't keep the process alive. Rejects with the system's error. */
export async function listenForMetrics(at: { host: string; port: number }): Promise<MetricsListener> {
  let collect: (() => readonly Family[]) | null = null
  const server = createServer((request, response) => {
    const end = (status: number, text: string) => {
      response.statusCode = status
      response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8')
      response.end(request.method === 'HEAD' ? undefined : text)
    }
    if (request.url?.split('?')[0] !== '/metrics') {
      end(PROBLEMS.ROUTE_NOT_FOUND.kind[0], 'The metrics are at /metrics.\n')
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      end(PROBLEMS.METHOD_NOT_ALLOWED.kind[0], 'Use GET.\n')
    } else if (collect === null) end(PROBLEMS.NOT_READY.kind[0], 'The server is starting.\n')
    else {
      try {
        end(SUCCESS, exposition(collect()))
      } catch (error) {
        end(PROBLEMS.INTERNAL_ERROR.kind[0], `${String(error)}\n`)
      }
    }
  })
  server.listen(at)
  await once(server, 'listening')
  server.unref()
  return {
    address: server.address() as AddressInfo,
    serve(from) {
      collect = from
    }
  }
}
