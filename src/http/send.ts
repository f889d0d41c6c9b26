// Sends answers: through Fastify, or a problem on a bare socket. Does not know any failure by name.
import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { jsonShown } from './answers/invisible.ts'
import { prefersJson } from './requests/accept.ts'
import type { CallAnswer } from './call.ts'
import type { Failure } from './request-failure.ts'
import { toProblem, type Answer, type Context } from './answers/problem.ts'
import { noteCode, noteReason, pathOf } from './request-log.ts'
import type { Grant } from './access/grant.ts'
import type { Scope } from '../../schemas/access.ts'

const MEDIA = 'application/problem+json; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'

declare module 'fastify' {
  interface FastifyRequest {
    /** The URL where clients learn how to get a token; null if there are no issuers. */
    resourceMetadata: string | null
  }
  interface FastifyContextConfig {
    /** Answers go to a model: as text, unless the request asks for JSON. */
    forModels?: true
  }
}

/** Answers with the problem of a failure; `about`: what is known about the file. */
export function sendProblem(reply: FastifyReply, failure: Failure, about: Partial<Context> = {}): FastifyReply {
  noteReason(reply.request, failure)
  return sendAnswer(
    reply,
    toProblem(failure, { instance: pathOf(reply.request.originalUrl), request_id: reply.request.id, ...about })
  )
}

/** A challenge with the scope in the words of the issuer who can grant it. */
const withGrantedScope = (challenge: string, grant: Grant | null | undefined): string =>
  challenge.replace(/(?<= scope=")\w+/, scope => grant?.byIssuer?.[scope as Scope] ?? scope)

/** Sends a call's answer; as text if the route serves models and the request doesn't ask for JSON. */
export function sendAnswer(reply: FastifyReply, answer: Answer | CallAnswer): FastifyReply {
  const { body, headers } = answer
  closeWhenRead(reply)
  const isProblem = 'code' in body
  if (isProblem) noteCode(reply.code(body.status).request, body.code)
  reply.headers(headers)
  const { routeOptions, headers: requestHeaders, resourceMetadata } = reply.request
  const challenge = headers['www-authenticate']
  if (challenge !== undefined && resourceMetadata !== null) {
    const separator = challenge.includes(' ') ? ',' : ''
    reply.header(
      'www-authenticate',
      `${withGrantedScope(challenge, reply.request.grant)}${separator} resource_metadata="${resourceMetadata}"`
    )
  }
  if (routeOptions.config.forModels === true) {
    reply.header('vary', 'accept')
    if (!prefersJson(requestHeaders.accept)) return reply.type(TEXT).send(answer.text())
  }
  // A model may read the calls in a problem's JSON, so no character in it is invisible.
  if (isProblem) return reply.type(MEDIA).send(jsonShown(body))
  return reply.type('application/json; charset=utf-8').send(body)
}

/**
 * Closes the connection after its last request if that is answered before its body has arrived. Waits until the rest
 * was read and dropped: closing with unread bytes is a reset, which can overtake the answer.
 */
function closeWhenRead(reply: FastifyReply): void {
  const { raw: response } = reply
  const { raw: request } = reply.request
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  if (response.shouldKeepAlive || request.complete || (length === '0' && coding === undefined)) return
  // With `Connection: close`, Node would destroy the socket. Without the header, it closes the connection only if
  // shouldKeepAlive is false.
  reply.removeHeader('connection')
  response.removeHeader('connection')
  response.shouldKeepAlive = true
  const close = () => request.socket.destroySoon()
  response.once('finish', () => (request.complete ? close() : request.once('end', close)))
}

/** The complete HTTP message of a problem, after which the connection closes. */
export function rawProblem({ body, headers }: Answer): string {
  const json = jsonShown(body)
  const lines = Object.entries({
    ...headers,
    'x-request-id': body.request_id,
    'content-type': MEDIA,
    'content-length': String(Buffer.byteLength(json)),
    connection: 'close'
  })
  return [
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    '',
    json
  ].join('\r\n')
}
