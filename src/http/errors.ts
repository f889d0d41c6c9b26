// Errors before or outside a handler: Fastify's, unknown routes, bad HTTP. Does not know any operation.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { BODY_DROPPED } from './body-memory.ts'
import { invalidRequest, type Failure, type RequestFailure } from './request-failure.ts'
import { toProblem } from './answers/problem.ts'
import { logBug, pathOf } from './request-log.ts'
import { rawProblem, sendProblem } from './send.ts'

/** The most bytes that a request's headers may have. */
export const HEADER_BYTES = 16_384

/**
 * The failure for an error that Fastify raised because of the client; null: the error is ours. Wrong media types never
 * get here: they are refused before Fastify looks at them. Node refuses a body whose length differs from its
 * Content-Length.
 */
function failureOf(error: Partial<FastifyError>, bodyLimit: number): Failure | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { code: 'REQUEST_TOO_LARGE', limit: bodyLimit }
    case BODY_DROPPED:
      return { code: 'NOT_READY', reason: 'bodies', retry_after: 2 }
    case 'FST_ERR_BAD_URL':
      return invalidRequest('the URL is not valid: it has a malformed % escape')
    case 'ECONNRESET':
      return invalidRequest('the connection ended before the body was complete')
    default:
      return null
  }
}

/** Answers an error that a handler threw. */
export const makeErrorHandler =
  (logger: Logger, bodyLimit: number) => (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const failure = failureOf(error, bodyLimit)
    if (failure === null) logBug(logger, { request_id: request.id }, error)
    // Fastify would close the connection while the client still sends its body. That resets it, and the reset can
    // overtake the answer, so a proxy would answer 502. Instead the rest of the body is read and dropped, as for any
    // request that is refused before its body is read.
    if (failure?.code === 'REQUEST_TOO_LARGE') reply.removeHeader('connection')
    return sendProblem(reply, failure ?? { code: 'INTERNAL_ERROR' })
  }

/** A pattern for the paths that match a route's URL: `*` at the end is anything, `:name` one segment. */
const patternOf = (url: string) =>
  new RegExp(`^${url.replace(/[.]/g, '\\.').replace(/\/\*$/, '/.*').replace(/:\w+/, '[^/]+')}$`)

export interface Routes {
  /** The failure for a method and path without a route. */
  missing(method: string, path: string): RequestFailure
  /** The failure for a path that no route has at all. */
  unknown(method: string): RequestFailure
}

/** Collects the routes, to answer requests to unknown ones. Call it before adding any route. */
export function collectRoutes(app: FastifyInstance): Routes {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    // The catch-all route that CORS adds.
    if (url === '*') return
    methods.set(url, new Set([...(methods.get(url) ?? []), ...[method].flat()]))
  })
  const methodsAt = (path: string) => {
    const exact = methods.get(path)
    if (exact !== undefined) return [...exact]
    return [...methods].flatMap(([url, list]) => (patternOf(url).test(path) ? [...list] : []))
  }
  const unknown: Routes['unknown'] = method => {
    const routes = [...methods]
      .filter(([url]) => !/^\/(docs|page|\.well-known)\/|.\/$/.test(url))
      .map(([url, list]) => `${list.has('POST') ? 'POST' : 'GET'} ${url.replace(/:(\w+)/, '{$1}')}`)
    return { code: 'ROUTE_NOT_FOUND', method, routes: [...new Set(routes)] }
  }
  return {
    unknown,
    missing(method, path) {
      const allow = methodsAt(path)
      return allow.length > 0 ? { code: 'METHOD_NOT_ALLOWED', method, allow: allow.sort() } : unknown(method)
    }
  }
}

interface Sockets {
  /** The last request on each socket, with its response. */
  last: WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>
  /** Sockets on which a request was refused before anything was done. */
  refused: WeakSet<Socket>
}

/** Keeps what `makeClientErrorHandler` needs to know about a server's sockets. */
export function followSockets(server: Server): Sockets {
  const last: Sockets['last'] = new WeakMap()
  server.prependListener('request', (request, response) => {
    last.set(request.socket, { request, response })
  })
  return { last, refused: new WeakSet() }
}

/** Answers what is not HTTP, too slow or too large on the bare socket, then closes the socket. */
export const makeClientErrorHandler =
  (logger: Logger, sockets: () => Sockets) => (error: Error & { code?: string }, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const { last, refused } = sockets()
    const { request, response } = last.get(socket) ?? {}
    if (request?.complete && response?.writableEnded === false) {
      // The fault is in the request after this one. An answer written now would be read as the answer to this one.
      socket.pause()
      response.shouldKeepAlive = false
      response.once('finish', () => {
        socket.destroySoon()
      })
      return
    }
    const failure: RequestFailure =
      error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? { code: 'REQUEST_TIMEOUT' }
        : error.code === 'HPE_HEADER_OVERFLOW'
          ? { code: 'HEADERS_TOO_LARGE', limit: HEADER_BYTES }
          : invalidRequest(`it is not valid HTTP (${error.code ?? 'unknown'})`)
    // Keep reading the socket: closing it with unread bytes would reset it, which can overtake the answer. So a slow
    // request may still arrive in full.
    refused.add(socket)
    refuse(logger, socket, failure)
  }

/** Answers an `Expect` other than `100-continue`. */
export const makeExpectationHandler =
  (logger: Logger) =>
  ({ url = '' }: IncomingMessage, { socket }: ServerResponse) => {
    refuse(logger, socket, invalidRequest('the header Expect may only be 100-continue'), pathOf(url))
  }

/** Answers `CONNECT`, for which Node emits a separate event. */
export const makeConnectHandler = (logger: Logger) => (_: IncomingMessage, socket: Duplex) => {
  refuse(logger, socket, invalidRequest('the method CONNECT is not supported: this server is not a proxy'))
}

/** Answers on the bare socket, then closes it. */
function refuse(logger: Logger, socket: Duplex | null, failure: RequestFailure, instance = ''): void {
  const answer = toProblem(failure, { instance, request_id: randomUUID() })
  logger.info({ request_id: answer.body.request_id, status: answer.body.status, code: answer.body.code })
  socket?.end(rawProblem(answer))
}
