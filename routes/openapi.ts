// GET /openapi.json and /openapi.yaml: the published document.
import type { FastifyInstance } from 'fastify'

export function openapi(app: FastifyInstance): void {
  const schema = { hide: true }
  app.get('/openapi.json', { schema }, async () => app.swagger())
  app.get('/openapi.yaml', { schema }, async (_request, reply) =>
    reply.type('application/yaml').send(app.swagger({ yaml: true }))
  )
}
