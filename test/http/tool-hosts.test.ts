// /openapi.tools.json, as tool hosts read it: by what each of them is known to keep of a document.
import t from 'tap'
import type { JsonSchema } from '../../src/http/requests/json-schema.ts'
import { TOOL_NAMES } from '../../schemas/tools.ts'
import { startServer, validator } from './test-server.ts'
import { faultsOf, parts, type Defined } from './tool-rules.ts'

const files = { 'a.txt': 'one\ntwo\n' }

interface Described {
  operationId?: string
  summary?: string
  description?: string
  parameters?: unknown[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>
  'x-openai-isConsequential'?: boolean
}
interface Document {
  servers: { url: string }[]
  info: { description: string }
  paths: Record<string, Record<string, Described>>
  components: Record<string, unknown>
}

const POST_ONLY = ['/edit', '/edit-lines', '/edit-section', '/create', '/inspect', '/find', '/undo']

/**
 * What Open WebUI makes of a document: backend/open_webui/utils/tools.py, convert_openapi_to_tool_payload (read
 * 2026-11-22).
 */
const openWebUi = ({ paths }: Document) =>
  Object.values(paths)
    .flatMap(methods => Object.values(methods))
    .flatMap(({ operationId, description, summary, requestBody }) => {
      if (!operationId) return []
      const schema = requestBody?.content['application/json']?.schema
      // Without properties at the root of the body, a tool has no parameters.
      return [
        {
          name: operationId,
          description: description ?? summary ?? 'No description available.',
          schema: {
            type: 'object',
            properties: { ...schema?.properties },
            required: [...(schema?.required ?? [])]
          } as JsonSchema,
          strict: false
        }
      ]
    })

/**
 * What LangChain keeps: langchain_community/agent_toolkits/openapi/spec.py, reduce_openapi_spec (read 2026-11-22, and
 * version 0.4.2 run on this document). It drops every parameter that isn't required, and all answers but 200.
 */
const langChain = ({ servers, info, paths }: Document) => ({
  servers,
  description: info.description,
  endpoints: Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, { description, requestBody, responses }]) => ({
      name: `${method.toUpperCase()} ${route}`,
      description,
      requestBody,
      responses: responses['200']
    }))
  )
})

t.test('describes the operations so that hosts lose nothing', async t => {
  const server = await startServer(t, { files })
  const document = (await server.call('GET', '/openapi.tools.json', { headers: { authorization: '' } }))
    .body as unknown as Document
  t.strictSame(Object.keys(document.paths), POST_ONLY)
  t.strictSame(Object.keys(document.components), ['securitySchemes'])
  t.notMatch(JSON.stringify(document), /"\$ref"|"\$id"|"anyOf"|"oneOf"|"allOf"|"parameters"|"headers"/)
  t.match(document.servers, [{ url: server.url }])
  const tools = (await server.call('GET', '/tools?format=anthropic')).body as unknown as {
    name: string
    input_schema: JsonSchema
  }[]
  const kept = openWebUi(document)
  for (const [
    i,
    {
      name,
      input_schema: { properties = {}, required = [] }
    }
  ] of tools.entries()) {
    t.match(kept[i], { name, schema: { required } }, 'Open WebUI keeps the name and what is required')
    t.strictSame(Object.keys(kept[i]!.schema.properties!), Object.keys(properties), 'and every field')
    t.ok(
      Object.values(kept[i]!.schema.properties!).every(({ description }) => description),
      'with what it is'
    )
  }
  const { endpoints, servers } = langChain(document)
  t.match(servers[0]!.url, /^http:\/\/127\.0\.0\.1:\d+$/, 'LangChain needs a whole address')
  t.strictSame(
    endpoints.map(({ name }) => name),
    POST_ONLY.map(route => `POST ${route}`)
  )
  for (const { description, requestBody, responses } of endpoints) {
    t.ok(
      description &&
        requestBody?.content['application/json']?.schema.properties?.path &&
        responses?.content?.['application/json']?.schema.properties?.message
    )
  }
  const actions: Defined[] = Object.values(document.paths).map(({ post }) => ({
    name: post!.operationId!,
    description: post!.description!,
    schema: post!.requestBody!.content['application/json']!.schema,
    strict: false
  }))
  t.strictSame(faultsOf('gpt-actions', actions), [])
  t.strictSame(
    Object.values(document.paths).map(({ post }) => post!['x-openai-isConsequential']),
    [true, true, true, true, false, false, true]
  )
  for (const { schema } of actions) {
    for (const part of parts(schema)) if (part.schema.properties) t.equal(part.schema.additionalProperties, false)
  }
})

t.test('can be called as it says', async t => {
  const server = await startServer(t, { files, settings: { tools: [...TOOL_NAMES] } })
  const document = (await server.call('GET', '/openapi.tools.json')).body as unknown as Document
  const valid = (path: string, part: JsonSchema, body: unknown) =>
    t.strictSame(validator({ components: { schemas: { part } }, paths: {} })('part', body), [], path)
  for (const [path, body] of [
    ['/inspect', { path: 'a.txt', start_line: 1, search: 'one' }],
    ['/preview', { operation: 'edit', path: 'a.txt', old_text: 'o', new_text: '0', occurrence: '1' }],
    ['/edit', { path: 'a.txt', old_text: 'o', new_text: '0', occurrence: '2' }],
    ['/edit-lines', { path: 'a.txt', edits: [{ start_line: 1, end_line: 1, new_text: 'x' }] }],
    ['/create', { path: 'b.txt', content: 'b' }]
  ] as const) {
    const { requestBody, responses } = document.paths[path]!.post!
    valid(path, requestBody!.content['application/json']!.schema, body)
    const reply = await server.call('POST', path, { body })
    t.equal(reply.status, 200, reply.text.slice(0, 300))
    valid(path, responses['200']!.content!['application/json']!.schema, reply.body)
  }
})

t.test('names its address as the caller knows it, and what a reader can do', async t => {
  const server = await startServer(t, { files, settings: { readOnly: true } })
  const document = (await server.call('GET', '/openapi.tools.json', { headers: { 'x-forwarded-proto': 'https' } }))
    .body as unknown as Document
  t.strictSame(document.servers, [{ url: server.url.replace('http:', 'https:') }])
  t.strictSame(Object.keys(document.paths), ['/inspect', '/find'])
})
