// GET /tools: the operations as tool definitions for a host. Does not know any tool or host.
import type { FastifyInstance } from 'fastify'
import { TOOL_FORMATS, ToolDefinitions, ToolsQuery } from '../schemas/tools.ts'
import { factsRoute } from '../src/http/openapi.ts'
import { queryReader } from '../src/http/requests/query.ts'
import { sendProblem } from '../src/http/send.ts'
import { definitions } from '../src/http/tools/definitions.ts'
import type { Components } from '../src/http/tools/schema.ts'
import { viewOf } from '../src/http/view.ts'

const route = factsRoute({
  tags: ['tools'],
  querystring: ToolsQuery,
  url: '/tools',
  operationId: 'get_tools',
  summary: 'The operations as tool definitions',
  description:
    'The operations as tool definitions, ready to paste. Send the arguments of a tool call to POST /tools/{name}.',
  outcome: ToolDefinitions,
  access: 'token'
})

/** `output_schema`: whether the MCP form includes the schema of a tool's answer. */
export function tools(app: FastifyInstance, components: Components, output_schema: boolean): void {
  const queryOf = queryReader(ToolsQuery)
  app.route({
    ...route,
    async handler(request, reply) {
      const query = queryOf(request.url)
      if (!query.ok) return sendProblem(reply, query.failure)
      const { format = TOOL_FORMATS[0], strict, names } = query.value
      const chosen = viewOf(request).box.chosen(names)
      if (!chosen.ok) return sendProblem(reply, chosen.failure)
      const made = definitions(chosen.value, components, { format, strict: strict === 'true', output_schema })
      return made.ok ? made.value : sendProblem(reply, made.failure)
    }
  })
}
