// POST /adapters/…: the calls of editors that models know from their vendors. Does not know any vendor.
import type { FastifyInstance } from 'fastify'
import type { Adapter } from '../src/http/adapters/adapter.ts'
import { adapterRoute } from '../src/http/adapter-route.ts'
import { adapterSchema } from '../src/http/openapi.ts'

export function adapters(app: FastifyInstance, all: readonly Adapter[]): void {
  for (const adapter of all) {
    app.route({
      method: 'POST',
      url: adapter.route,
      config: { published: () => adapterSchema(adapter) },
      ...adapterRoute(adapter)
    })
  }
}
