// GET /capabilities: what the server can do and what its workspace allows.
import type { FastifyInstance } from 'fastify'
import { CapabilitiesSchema } from '../schemas/capabilities.ts'
import { factsRoute } from '../src/http/openapi.ts'
import { viewOf } from '../src/http/view.ts'

const route = factsRoute({
  url: '/capabilities',
  operationId: 'get_capabilities',
  summary: 'Limits, features, what the workspace allows',
  description:
    'Limits and features of this server, and what its workspace allows. Worth a look before large or unusual requests.',
  outcome: CapabilitiesSchema,
  access: 'token'
})

export function capabilities(app: FastifyInstance): void {
  app.route({ ...route, handler: async request => viewOf(request).capabilities })
}
