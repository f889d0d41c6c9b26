// GET /tools: the operations as tool definitions of a host. Knows its schema and its call.
import type { FastifyInstance } from 'fastify'
import { TOOL_FORMATS, ToolDefinitions, ToolsQuery } from '../schemas/tools.ts'
import { factsSchema } from '../src/http/openapi.ts'
import { queryReader } from '../src/http/requests/query.ts'
import { sendProblem } from '../src/http/send.ts'
import { definitions } from '../src/http/tools/definitions.ts'
import type { Components } from '../src/http/tools/schema.ts'
import type { Toolbox } from '../src/http/tools/tool.ts'

const schema = {
  ...factsSchema(
    '/tools',
    'get_tools',
    'The operations as tool definitions',
    'The operations as tool definitions for OpenAI, Anthropic or MCP, ready to paste. Send the arguments of a tool call to POST /tools/{name}.',
    ToolDefinitions,
    'token'
  ),
  tags: ['tools'],
  querystring: ToolsQuery
}

export function tools(app: FastifyInstance, box: Toolbox, components: Components): void {
  const queryOf = queryReader(ToolsQuery)
  app.get('/tools', { schema }, async (request, reply) => {
    const query = queryOf(request.url)
    if (!query.ok) return sendProblem(reply, query.failure)
    return definitions(box.offered, components, query.value.format ?? TOOL_FORMATS[0], query.value.strict === 'true')
  })
}
