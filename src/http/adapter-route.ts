// Makes a route of an adapter: takes the bytes of a body, sends what to give back to the model. Does not know any
// vendor.
import { isUtf8 } from 'node:buffer'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BY_ROUTE } from './answers/call-names.ts'
import type { RequestFailure } from './request-failure.ts'
import { callOf, jsonOf, refuseAllBut, refuseUnfit } from './operation-route.ts'
import { JSON_TYPE, mediaTypeOf } from './requests/json.ts'
import { noteCode } from './request-log.ts'
import { fail, ok, type Result } from '../result.ts'
import { viewOf } from './view.ts'
import { type Adapter, type AdapterAnswer, failed, refusedCall, TEXT_TYPE } from './adapters/adapter.ts'

/** A request's body; plain text is turned into a call if the adapter supports that. */
function bodyOf(request: FastifyRequest, { bodyOfText }: Adapter): Result<unknown, RequestFailure> {
  if (bodyOfText === undefined || mediaTypeOf(request.headers) !== TEXT_TYPE) return jsonOf(request)
  const bytes = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
  return isUtf8(bytes) ? ok(bodyOfText(bytes.toString())) : fail({ code: 'INVALID_UNICODE' })
}

/** The hook and handler of an adapter's route. */
export function adapterRoute({ route, bodyOfText }: Adapter) {
  return {
    onRequest: bodyOfText === undefined ? refuseUnfit : refuseAllBut(JSON_TYPE, TEXT_TYPE),
    async handler(request: FastifyRequest, reply: FastifyReply) {
      const { body: _, ...context } = callOf(request, reply, null)
      const adapter = viewOf(request).adapters.get(route)!
      const body = bodyOf(request, adapter)
      if (body.ok) return send(reply, await adapter.answer(body.value, context))
      const answer = refusedCall(body.failure, BY_ROUTE, context)
      return send(reply, failed(answer, answer.text()))
    }
  }
}

function send(reply: FastifyReply, { status, headers, body, code }: AdapterAnswer): FastifyReply {
  if (code !== undefined) noteCode(reply.request, code)
  return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body)
}
