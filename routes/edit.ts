// POST /edit. Knows its schema and its call.
import type { FastifyInstance } from 'fastify'
import { operationSchema } from '../src/http/openapi.ts'
import { operationRoute } from '../src/http/operation-route.ts'
import type { Operations } from '../src/operations.ts'

export function edit(app: FastifyInstance, operations: Operations): void {
  app.route({
    method: 'POST',
    url: '/edit',
    schema: operationSchema('edit', operations),
    ...operationRoute(operations.edit)
  })
}
