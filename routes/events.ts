// GET /events: changes as server-sent events. Does not know their content.
import type { FastifyInstance } from 'fastify'
import { acceptsEvents } from '../src/http/requests/accept.ts'
import type { EventStreams } from '../src/http/event-streams.ts'
import { eventsSchema } from '../src/http/openapi.ts'
import { invalidRequest } from '../src/http/request-failure.ts'
import { sendProblem } from '../src/http/send.ts'
import { viewOf } from '../src/http/view.ts'

const QUERY = invalidRequest('the URL has a query, which is not used')
const ACCEPT = invalidRequest('the header Accept must allow text/event-stream')
const CURSOR = invalidRequest('the header Last-Event-ID is not the id of an event of this service')

export function events(app: FastifyInstance, streams: EventStreams): void {
  app.route({
    method: 'GET',
    url: '/events',
    exposeHeadRoute: false,
    config: { published: eventsSchema },
    async handler(request, reply) {
      const { accept, 'last-event-id': last } = request.headers
      if (request.url.includes('?')) return sendProblem(reply, QUERY)
      if (!acceptsEvents(accept)) return sendProblem(reply, ACCEPT)
      // Read before the await: the token may become invalid while we wait.
      const { ends } = streams
      const following = await viewOf(request).workspace.follow(last?.toString())
      if (!following.ok) {
        return sendProblem(reply, following.failure.code === 'INVALID_CURSOR' ? CURSOR : following.failure)
      }
      reply.hijack()
      reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-store')
      // Proxies must not buffer the stream.
      reply.header('x-accel-buffering', 'no')
      for (const [name, value] of Object.entries(reply.getHeaders())) reply.raw.setHeader(name, value ?? '')
      await streams.run(reply.raw, following.value, { ends, expires: request.grant?.expires })
      return reply
    }
  })
}
