// POST /edit-section. Knows its schema and its call.
import type { FastifyInstance } from 'fastify'
import { operationSchema } from '../src/http/openapi.ts'
import { operationRoute } from '../src/http/operation-route.ts'
import type { Operations } from '../src/operations.ts'

export function editSection(app: FastifyInstance, operations: Operations): void {
  app.route({
    method: 'POST',
    url: '/edit-section',
    schema: operationSchema('edit_section', operations),
    ...operationRoute(operations.edit_section)
  })
}
