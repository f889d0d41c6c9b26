// POST /mcp: the tools over MCP (Streamable HTTP, stateless). Knows its call.
import { createMcpHandler, type Server } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { jsonOf, refuseUnfit } from '../src/http/operation-route.ts'
import { logBug, noteCode } from '../src/http/request-log.ts'
import { sendProblem } from '../src/http/send.ts'
import type { Exchange } from '../src/http/tools/mcp.ts'

export function mcp (app: FastifyInstance, serverFor: (exchange: Exchange) => Server, logger: Logger): void {
  app.post('/mcp', {
    schema: { hide: true },
    onRequest: refuseUnfit,
    async handler (request, reply) {
      const body = jsonOf(request)
      if (!body.ok) return sendProblem(reply, body.failure)
      const exchange: Exchange = { request_id: request.id, onProblem: code => { noteCode(reply.raw, code) }, onBug: error => { logBug(logger, request.id, error) } }
      // Nothing that it could tell of ever changes: nobody may listen.
      const handler = createMcpHandler(() => serverFor(exchange), { maxSubscriptions: 0, onerror: error => { logger.debug({ request_id: request.id, mcp: error.message }) } })
      const headers = Object.entries(request.headers).flatMap(([name, value]) => typeof value === 'string' && /^(accept|content-type|mcp-.*)$/.test(name) ? [[name, value] as [string, string]] : [])
      return reply.send(await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers }), { parsedBody: body.value }))
    }
  })
}
