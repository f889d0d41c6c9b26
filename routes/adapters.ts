// POST /adapters/…: the calls of editors that models know from their vendors. Does not know any vendor.
import type { FastifyInstance } from 'fastify'
import type { Adapter } from '../src/http/adapters/adapter.ts'
import { adapterRoute } from '../src/http/adapter-route.ts'
import { adapterSchema } from '../src/http/openapi.ts'
import type { Operations } from '../src/operations.ts'

export function adapters(app: FastifyInstance, all: readonly Adapter[], operations: Operations): void {
  for (const adapter of all) {
    app.route({
      method: 'POST',
      url: adapter.route,
      config: { published: () => adapterSchema(adapter, operations) },
      ...adapterRoute(adapter)
    })
  }
}
