// GET /openapi.json: the published document.
import type { FastifyInstance } from 'fastify'

export function openapiJson(app: FastifyInstance): void {
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
