// GET /openapi.yaml: the published document.
import type { FastifyInstance } from 'fastify'

export function openapiYaml(app: FastifyInstance): void {
  app.get('/openapi.yaml', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/yaml').send(app.swagger({ yaml: true }))
  )
}
