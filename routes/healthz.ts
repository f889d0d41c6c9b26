// GET /healthz: answers while the process runs.
import type { FastifyInstance } from 'fastify'
import { Health } from '../schemas/health.ts'
import { factsRoute } from '../src/http/openapi.ts'

const route = factsRoute({
  url: '/healthz',
  operationId: 'get_health',
  summary: 'Is the process running?',
  description: 'The process is running. Says nothing else.',
  outcome: Health,
  access: 'open'
})

export function healthz(app: FastifyInstance): void {
  app.route({ ...route, handler: async () => ({ status: 'ok' }) })
}
