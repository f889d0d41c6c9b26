// GET /healthz: the process runs.
import type { FastifyInstance } from 'fastify'
import { Health } from '../schemas/health.ts'
import { factsSchema } from '../src/http/openapi.ts'

const schema = factsSchema(
  '/healthz',
  'get_health',
  'Is the process running?',
  'The process is running. Says nothing else.',
  Health,
  'open'
)

export function healthz(app: FastifyInstance): void {
  app.get('/healthz', { schema }, async () => ({ status: 'ok' }))
}
