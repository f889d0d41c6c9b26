// GET /readyz: the service takes requests.
import type { FastifyInstance } from 'fastify'
import { Readiness } from '../schemas/health.ts'
import { factsRoute } from '../src/http/openapi.ts'
import { sendProblem } from '../src/http/send.ts'
import type { Workspace } from '../src/workspace/workspace.ts'

const route = factsRoute({
  url: '/readyz',
  operationId: 'get_readiness',
  summary: 'Does the service accept requests?',
  description: 'The service accepts requests. Says also whether the history cannot be written.',
  outcome: Readiness,
  access: 'open'
})

export function readyz(app: FastifyInstance, workspace: Pick<Workspace, 'ready' | 'degraded'>): void {
  app.route({
    ...route,
    async handler(_request, reply) {
      const failure = workspace.ready()
      if (failure !== null) return sendProblem(reply, failure)
      return { status: 'ready', ...(workspace.degraded() && { history: 'degraded' }) }
    }
  })
}
