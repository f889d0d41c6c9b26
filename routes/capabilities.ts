// GET /capabilities: what the server can do and what its workspace allows.
import type { FastifyInstance } from 'fastify'
import { CapabilitiesSchema, type Capabilities } from '../schemas/capabilities.ts'
import { factsSchema } from '../src/http/openapi.ts'

const schema = factsSchema(
  '/capabilities',
  'get_capabilities',
  'Limits, features, what the workspace allows',
  'Limits and features of this server, and what its workspace allows. Worth a look before large or unusual requests.',
  CapabilitiesSchema,
  'token'
)

export function capabilities(app: FastifyInstance, answer: Capabilities): void {
  app.get('/capabilities', { schema }, async () => answer)
}
