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
  description: 'The service accepts requests. Says also whether history or audit cannot be written.',
  outcome: Readiness,
  access: 'open'
})

export function readyz(
  app: FastifyInstance,
  spaces: Pick<Workspace, 'ready' | 'degraded'> & { audit: { failing: boolean } | null }
): void {
  app.route({
    ...route,
    async handler(_request, reply) {
      const failure = await spaces.ready()
      if (failure !== null) return sendProblem(reply, failure)
      return {
        status: 'ready',
        ...(spaces.degraded() && { history: 'degraded' }),
        ...(spaces.audit?.failing === true && { audit: 'degraded' })
      }
    }
  })
}
