// Makes a route of an operation: takes the bytes of a body, sends the call's answer. Does not know any operation by
// name.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../operations/operation.ts'
import type { Client } from '../workspace/api.ts'
import { caller, type Call, type CallSummary, type EndedCall } from './call.ts'
import { invalidField, invalidRequest } from './request-failure.ts'
import { JSON_TYPE, parseStrictJson, refuseMedia } from './requests/json.ts'
import { noteCall, pathOf } from './request-log.ts'
import { sendAnswer, sendProblem } from './send.ts'
import { viewOf } from './view.ts'

/** A hook that runs before the body is read: refuses other media types than these, and a query in the URL. */
export const refuseAllBut =
  (...media: readonly string[]) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    // A question mark with nothing after it is no query.
    const hasQuery = request.url.length > pathOf(request.url).length + 1
    const failure = hasQuery
      ? invalidRequest('the URL has a query, which is not used; put every field into the body')
      : refuseMedia(request.headers, media)
    if (failure !== null) sendProblem(reply, failure)
    else done()
  }

/** Refuses everything but strict JSON, and a query in the URL. */
export const refuseUnfit = refuseAllBut(JSON_TYPE)

/** Parses a request's body as strict JSON. */
export const jsonOf = (request: FastifyRequest) =>
  parseStrictJson(request.body instanceof Buffer ? request.body : Buffer.alloc(0))

/**
 * Parses a request's body as one JSON-RPC message. Refuses an array of messages: they would count as one request with
 * one log line, and MCP has had no such arrays since 2025-06-18.
 */
export function messageOf(request: FastifyRequest): ReturnType<typeof jsonOf> {
  const body = jsonOf(request)
  if (!body.ok || !Array.isArray(body.value)) return body
  return invalidField('', 'the body has to be one JSON-RPC message, not an array of them; send each by itself')
}

/** The `onAnswer` of a request's call: passes the outcome to the log line and to the server's observer. */
export const hearing =
  (request: FastifyRequest) =>
  (summary: CallSummary, made?: EndedCall): void => {
    noteCall(request, summary)
    request.server.observer?.called(request.subject, summary, made)
  }

/** A response closes when it has been sent, or when the client has left. */
const clientOf = (request: FastifyRequest, { raw }: FastifyReply): Client => ({
  // A request that waits behind others on its connection can only tell by the socket.
  isGone: () => request.raw.socket.destroyed,
  onGone: end => (raw.destroyed ? end() : raw.once('close', end))
})

/** The call that a request makes with this body. */
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

/** The hook and handler of an operation's route, by the operation's id. */
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
