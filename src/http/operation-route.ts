// An operation as a route: the bytes of a body in, the answer of the call out. Does not know any operation by name.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../operations/operation.ts'
import type { Client } from '../workspace/api.ts'
import { caller, type Call, type CallSummary, type Made } from './call.ts'
import { invalidField, invalidRequest } from './request-failure.ts'
import { JSON_TYPE, parseStrictJson, refuseMedia } from './requests/json.ts'
import { noteCall, pathOf } from './request-log.ts'
import { sendAnswer, sendProblem } from './send.ts'
import { viewOf } from './view.ts'

/** Before a body is read: a POST of one of these media types, with nothing in the URL. */
export const refuseAllBut =
  (...media: readonly string[]) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // A question mark with nothing behind it is none.
    const hasQuery = request.url.length > pathOf(request.url).length + 1
    const failure = hasQuery
      ? invalidRequest('the URL has a query, which is not used; put every field into the body')
      : refuseMedia(request.headers, media)
    if (failure !== null) sendProblem(reply, failure)
    else done()
  }

/** The same of strict JSON. */
export const refuseUnfit = refuseAllBut(JSON_TYPE)

/** The strict JSON of a request's body. */
export const jsonOf = (request: FastifyRequest) =>
  parseStrictJson(request.body instanceof Buffer ? request.body : Buffer.alloc(0))

/**
 * The same, where it is one message. Several would count as one request, and have one line in the log; MCP has had no
 * such arrays since 2025-06-18.
 */
export function messageOf(request: FastifyRequest): ReturnType<typeof jsonOf> {
  const body = jsonOf(request)
  if (!body.ok || !Array.isArray(body.value)) return body
  return invalidField('', 'the body has to be one JSON-RPC message, not an array of them; send each by itself')
}

/** Hears what came of a call that a request has made: for its log line, and for who observes the server. */
export const hearing =
  (request: FastifyRequest) =>
  (summary: CallSummary, made?: Made): void => {
    noteCall(request, summary)
    request.server.observer?.called(request.subject, summary, made)
  }

/** A response is closed when it has been sent, or its client has gone. */
const clientOf = (request: FastifyRequest, { raw }: FastifyReply): Client => ({
  // Of requests that wait behind others of their connection, only the socket tells.
  isGone: () => request.raw.socket.destroyed,
  onGone: end => (raw.destroyed ? end() : raw.once('close', end))
})

/** A call as its request has it, of this body. */
export const callOf = (request: FastifyRequest, reply: FastifyReply, body: unknown): Call => ({
  body,
  headers: request.headers,
  instance: pathOf(request.originalUrl),
  subject: request.subject,
  address: request.ip,
  request_id: request.id,
  onAnswer: hearing(request),
  client: clientOf(request, reply)
})

/** Hook and handler of the route of an operation, by its id. */
export function operationRoute(id: Operation['id']) {
  return {
    onRequest: refuseUnfit,
    async handler(request: FastifyRequest, reply: FastifyReply) {
      const body = jsonOf(request)
      const call = caller(viewOf(request).routed.get(id)!)
      return body.ok
        ? sendAnswer(reply, await call(callOf(request, reply, body.value)))
        : sendProblem(reply, body.failure)
    }
  }
}
