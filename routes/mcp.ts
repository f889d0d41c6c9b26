// POST /mcp: the tools over MCP (Streamable HTTP, stateless). Does not know any tool.
import type { Server } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { jsonOf, refuseUnfit } from '../src/http/operation-route.ts'
import { logBug, noteCall } from '../src/http/request-log.ts'
import { sendProblem } from '../src/http/send.ts'
import { answerMcp, type Exchange } from '../src/http/tools/mcp.ts'

export function mcp(app: FastifyInstance, serverFor: (exchange: Exchange) => Server, logger: Logger): void {
  app.post('/mcp', {
    onRequest: refuseUnfit,
    async handler(request, reply) {
      const body = jsonOf(request)
      if (!body.ok) return sendProblem(reply, body.failure)
      const server = serverFor({
        request_id: request.id,
        onAnswer: summary => noteCall(request.raw, summary),
        onBug: error => logBug(logger, { request_id: request.id }, error)
      })
      const onError = (error: Error): void => logger.debug({ request_id: request.id, mcp: error.message })
      return reply.send(await answerMcp(() => server, request.headers, body.value, onError))
    }
  })
}
