// An operation as a route: strict body in, success or problem out. Knows no operation by name.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Called, Operation } from '../operations/operation.ts'
import { inOwnWords, translate, type Taken } from './dialects.ts'
import type { Failure } from './failure.ts'
import { parseStrictJson, refuseMedia } from './json.ts'
import { dropNulls } from './nulls.ts'
import { toBody } from './outcome.ts'
import { readPreconditions } from './preconditions.ts'
import type { Context } from './problem.ts'
import { sendProblem } from './send.ts'
import { standIn } from './stand-in.ts'
import { refuseLongLists, toFailure } from './validation.ts'

/** What `call` needs of a request that passed the schema. */
interface Body { path: string, expected_hash?: string }

const pathIn = (body: unknown) => typeof body === 'object' && body !== null && 'path' in body && typeof body.path === 'string' ? { path: body.path } : {}

/** Hooks and handler of the route of an operation. */
export function operationRoute<Request extends Body> (operation: Operation<Request>) {
  const { chosen, faultsOf } = standIn(operation)
  const taken = new WeakMap<FastifyRequest, Taken>()
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
      const fields = chosen(parsed.value)
      const translated = translate(parsed.value, fields)
      if (!translated.ok) return sendProblem(reply, translated.failure, pathIn(parsed.value))
      taken.set(request, translated.value)
      dropNulls(parsed.value, fields.request, fields.items)
      const failure = refuseLongLists(parsed.value, fields)
      if (failure !== null) return sendProblem(reply, failure, pathIn(parsed.value))
      request.body = parsed.value
    },

    async handler (request: FastifyRequest, reply: FastifyReply) {
      const words = taken.get(request) ?? { warnings: [], own: new Map() }
      const problem = (failure: Failure, about: Partial<Context>) => sendProblem(reply, inOwnWords(failure, words), about)
      const errors = faultsOf(request)
      if (errors.length > 0) return problem(toFailure(errors, request.body, chosen(request.body)), pathIn(request.body))
      const body = request.body as Request
      const headers = readPreconditions(request.headers, chosen(body), body.expected_hash)
      if (!headers.ok) return problem(headers.failure, pathIn(body))
      const { expected_hash, ...conditions } = headers.value
      const done: Called = await operation.call(expected_hash === undefined ? body : { ...body, expected_hash }, conditions)
      if (!done.ok) {
        const { ok, failure, ...about } = done
        return problem(failure, { ...about, by_header: expected_hash !== undefined })
      }
      const { file_hash } = done.value.outcome
      if (file_hash !== undefined) reply.header('etag', `"${file_hash}"`)
      return reply.type('application/json; charset=utf-8').send(toBody(done.value, words.warnings))
    }
  }
}
