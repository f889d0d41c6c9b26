// GET /readyz: the service takes requests.
import type { FastifyInstance } from 'fastify'
import { Readiness } from '../schemas/health.ts'
import { factsSchema } from '../src/http/openapi.ts'
import { sendProblem } from '../src/http/send.ts'
import type { Workspace } from '../src/workspace/workspace.ts'

const schema = factsSchema(
  '/readyz',
  'get_readiness',
  'Does the service accept requests?',
  'The service accepts requests. Says nothing else.',
  Readiness,
  'open'
)

export function readyz(app: FastifyInstance, workspace: Workspace): void {
  app.get('/readyz', { schema }, async (_request, reply) => {
    const failure = workspace.ready()
    return failure === null ? { status: 'ready' } : sendProblem(reply, failure)
  })
}
