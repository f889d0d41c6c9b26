// POST /mcp: the tools over MCP (Streamable HTTP, stateless). Does not know any tool.
import type { FastifyInstance, RouteShorthandOptionsWithHandler } from 'fastify'
import type { Logger } from 'pino'
import { hearing, messageOf, refuseUnfit } from '../src/http/operation-route.ts'
import { logBug, pathOf } from '../src/http/request-log.ts'
import type { Answer } from '../src/http/answers/problem.ts'
import { sendAnswer, sendProblem } from '../src/http/send.ts'
import type { McpRequest } from '../src/http/tools/mcp.ts'
import { viewOf } from '../src/http/view.ts'

export function mcp(app: FastifyInstance, logger: Logger): void {
  const route: RouteShorthandOptionsWithHandler = {
    onRequest: refuseUnfit,
    async handler(request, reply) {
      const body = messageOf(request)
      if (!body.ok) return sendProblem(reply, body.failure)
      const answer = await viewOf(request).mcp()
      const beyond: Answer[] = []
      const message = {
        request_id: request.id,
        instance: pathOf(request.originalUrl),
        address: request.ip,
        subject: request.subject,
        onAnswer: hearing(request),
        onBeyondScope: problem => beyond.push(problem),
        onBug: error => logBug(logger, { request_id: request.id }, error),
        onError: error => logger.debug({ request_id: request.id, mcp: error.message }),
        headers: request.headers,
        body: body.value
      } satisfies McpRequest
      const answered = await answer(message)
      const [problem] = beyond
      // A client whose token comes from an issuer can get one with a wider scope. It does so when it sees this status.
      return problem !== undefined && request.grant?.byIssuer !== undefined
        ? sendAnswer(reply, problem)
        : reply.send(answered)
    }
  }
  for (const path of ['/mcp', '/mcp/']) app.post(path, route)
}
