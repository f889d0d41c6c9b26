// An operation as a route: strict body in, success or problem out. Knows no operation by name.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Failed, Operation, Outcome } from '../operations.ts'
import { parseStrictJson, refuseMedia } from './json.ts'
import { dropNulls } from './nulls.ts'
import { toBody } from './outcome.ts'
import { readPreconditions } from './preconditions.ts'
import { sendProblem } from './send.ts'
import { refuseLongLists, toFailure, type SchemaError } from './validation.ts'

/** What `call` needs of a request that passed the schema. */
interface Body { path: string, expected_hash?: string }

const pathIn = (body: unknown) => typeof body === 'object' && body !== null && 'path' in body && typeof body.path === 'string' ? { path: body.path } : {}

/** Hooks and handler of the route of an operation. */
export function operationRoute<Request extends Body> (operation: Operation<Request>) {
  return {
    attachValidation: true,

    /** Before the body is read. */
    async onRequest (request: FastifyRequest, reply: FastifyReply) {
      const query = request.url.split('?')[1]
      if (query) return sendProblem(reply, { code: 'INVALID_REQUEST', errors: [{ pointer: '', message: 'the URL has a query, which nothing reads; put every field into the body' }] })
      const failure = refuseMedia(request.headers)
      if (failure !== null) return sendProblem(reply, failure)
    },

    async preValidation (request: FastifyRequest, reply: FastifyReply) {
      const parsed = parseStrictJson(request.body instanceof Buffer ? request.body : Buffer.alloc(0))
      if (!parsed.ok) return sendProblem(reply, parsed.failure)
      dropNulls(parsed.value, operation.request, operation.items)
      const failure = refuseLongLists(parsed.value, operation)
      if (failure !== null) return sendProblem(reply, failure, pathIn(parsed.value))
      request.body = parsed.value
    },

    async handler (request: FastifyRequest, reply: FastifyReply) {
      const invalid = request.validationError?.validation
      if (invalid !== undefined) return sendProblem(reply, toFailure(invalid as SchemaError[], request.body, operation), pathIn(request.body))
      const body = request.body as Request
      const hashes = readPreconditions(request.headers, operation.precondition, body.expected_hash)
      if (!hashes.ok) return sendProblem(reply, hashes.failure, pathIn(body))
      return answer(reply, await operation.call(body, hashes.value), hashes.value.length > 0)
    }
  }
}

function answer (reply: FastifyReply, result: { ok: true, value: Outcome } | Failed, by_header: boolean): FastifyReply {
  if (!result.ok) {
    const { ok, failure, ...about } = result
    return sendProblem(reply, failure, { ...about, by_header })
  }
  return reply.header('etag', `"${result.value.outcome.file_hash}"`).type('application/json; charset=utf-8').send(toBody(result.value))
}
