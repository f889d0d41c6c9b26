// POST /inspect. Knows its schema and its call.
import type { FastifyInstance } from 'fastify'
import { operationSchema } from '../src/http/openapi.ts'
import { operationRoute } from '../src/http/operation-route.ts'
import type { Operations } from '../src/operations.ts'

export function inspect(app: FastifyInstance, operations: Operations): void {
  app.route({
    method: 'POST',
    url: '/inspect',
    schema: operationSchema('inspect', operations),
    ...operationRoute(operations.inspect)
  })
}
