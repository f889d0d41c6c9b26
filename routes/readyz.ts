// GET /readyz: whether the service accepts requests.
import type { FastifyInstance } from 'fastify'
import { Readiness } from '../schemas/health.ts'
import { factsRoute } from '../src/http/openapi.ts'
import { sendProblem } from '../src/http/send.ts'
import type { FileFailure } from '../src/workspace/failure.ts'
import type { Workspace } from '../src/workspace/api.ts'

const route = factsRoute({
  url: '/readyz',
  operationId: 'get_readiness',
  summary: 'Does the service accept requests?',
  description: 'Says also what cannot be used or written.',
  outcome: Readiness,
  access: 'open'
})

export function readyz(
  app: FastifyInstance,
  spaces: Pick<Workspace, 'degraded'> & {
    ready(): Promise<{ failure: FileFailure | null; isPartial: boolean }>
    audit: { failing: boolean } | null
  }
): void {
  app.route({
    ...route,
    async handler(_request, reply) {
      const { failure, isPartial } = await spaces.ready()
      if (failure !== null) return sendProblem(reply, failure)
      return {
        status: 'ready',
        ...(isPartial && { workspaces: 'degraded' }),
        ...(spaces.degraded() && { history: 'degraded' }),
        ...(spaces.audit?.failing === true && { audit: 'degraded' })
      }
    }
  })
}
