// GET /openapi.json and /openapi.yaml: the published document.
import type { FastifyInstance } from 'fastify'
import type { Documentation } from '../src/http/documentation.ts'

export function openapi(app: FastifyInstance, { document, yaml }: Documentation): void {
  app.get('/openapi.json', document)
  app.get('/openapi.yaml', async (_request, reply) => reply.type('application/yaml').send(await yaml()))
}
