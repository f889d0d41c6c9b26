// GET /openapi.tools.json: the document for tool hosts. Does not know what is in it.
import type { FastifyInstance } from 'fastify'
import { baseOf } from '../src/http/workspace-url.ts'
import type { Components } from '../src/http/tools/schema.ts'
import { toolsDocument } from '../src/http/tools/openapi-tools.ts'
import type { Toolbox } from '../src/http/tools/tool.ts'

export function openapiToolsJson(app: FastifyInstance, box: Toolbox, components: Components, version: string): void {
  app.get('/openapi.tools.json', async request => {
    // Hosts want an absolute URL; a proxy in front of the server may use TLS.
    const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
    return toolsDocument(
      box.offered,
      components,
      version,
      `${scheme}://${request.headers.host}${baseOf(request.originalUrl)}`
    )
  })
}
