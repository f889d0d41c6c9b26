// GET /openapi.tools.json: the document for tool hosts.
import type { FastifyInstance } from 'fastify'
import { ADDRESSED_BY, publicUrl } from '../src/http/workspace-url.ts'
import { sendFile, textFileBy } from '../src/http/static-file.ts'
import type { Components } from '../src/http/tools/schema.ts'
import { toolsDocument } from '../src/http/tools/openapi-tools.ts'
import type { Toolbox } from '../src/http/tools/tool.ts'

export function openapiToolsJson(app: FastifyInstance, box: Toolbox, components: Components, version: string): void {
  // Hosts need an absolute URL.
  const fileFor = textFileBy('application/json; charset=utf-8', url =>
    JSON.stringify(toolsDocument(box.offered, components, version, url))
  )
  app.get('/openapi.tools.json', async (request, reply) =>
    sendFile(request, reply, await fileFor(publicUrl(request)), ADDRESSED_BY)
  )
}
