// Every operation of the table, at its route.
import type { FastifyInstance } from 'fastify'
import { operationSchema } from '../src/http/openapi.ts'
import { operationRoute } from '../src/http/operation-route.ts'
import { operationsIn, type Operations } from '../src/operations.ts'

export function operations(app: FastifyInstance, table: Operations): void {
  for (const operation of operationsIn(table)) {
    app.route({
      method: 'POST',
      url: operation.route,
      config: { published: () => operationSchema(operation) },
      ...operationRoute(operation.id)
    })
  }
}
