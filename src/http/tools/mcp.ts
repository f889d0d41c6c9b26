// The tools as an MCP server: answers tools/list and tools/call. Does not know transports, or any operation by name.
import type { IncomingHttpHeaders } from 'node:http'
import {
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
  type CallToolResult
} from '@modelcontextprotocol/server'
import { acceptedOfMcp } from '../requests/accept.ts'
import { JSON_TYPE } from '../requests/json.ts'
import { toProblem, type Answer } from '../answers/problem.ts'
import type { Call, CallSummary, EndedCall } from '../call.ts'
import { CALL_HEADERS } from '../requests/call-fields.ts'
import { isTraceparent, TRACESTATE_MAX } from '../requests/traceparent.ts'
import { mcpTool } from './definitions.ts'
import type { Components } from './schema.ts'
import type { Tool, Toolbox } from './tool.ts'
import type { Client } from '../../workspace/api.ts'

const INSTRUCTIONS =
  'Edits text files exactly as asked, or not at all. ' +
  'Read a file before you edit it, and pass its file_hash on as expected_hash; prefer edits by exact text; ' +
  'check the changes in the answer. ' +
  'A failed call wrote nothing, and its answer says what to do next.'

/** What identifies a call in the log, and the callbacks for its answer and for bugs. */
interface Exchange {
  request_id: string
  /** The request's path. */
  instance?: string
  /** See `Call`. */
  subject?: Call['subject']
  /** The caller's address; see `Call`. */
  address?: string
  /** The request's headers; only over HTTP. */
  headers?: IncomingHttpHeaders
  onAnswer(summary: CallSummary, made?: EndedCall): void
  /** Called before the answer to a call that needs a wider scope than its token has. */
  onBeyondScope?(problem: Answer): void
  onBug(error: unknown): void
}

/** Request headers that are passed on to each call; the others belong to the protocol or to the request alone. */
const PASSED = [
  ...Object.values(CALL_HEADERS).map(name => name.toLowerCase()),
  'user-agent',
  'traceparent',
  'tracestate'
]

/** The most characters of a client's name and version: the limit of the field `agent`. */
const AGENT_MAX = 200

/** In ms: how long a client may cache the list of tools, which changes only when the server restarts. */
const LIST_KEPT = 3_600_000

/**
 * Makes the server of one request or connection; `exchangeOf` gives the exchange of each call. The list of tools is
 * made once for all. `output_schema`: whether tools declare what they answer; if so, they also answer it as
 * structuredContent.
 */
export function mcpServers(
  box: Toolbox,
  components: Components,
  { version, output_schema }: { version: string; output_schema: boolean }
): (exchangeOf: () => Exchange) => Server {
  const tools = box.offered.map(({ operation }) => mcpTool(operation, components, { output_schema }))
  return exchangeOf => {
    const server = new Server(
      { name: 'editd', title: 'editd', version },
      {
        capabilities: { tools: {} },
        instructions: INSTRUCTIONS,
        cacheHints: { 'tools/list': { ttlMs: LIST_KEPT, cacheScope: 'private' } }
      }
    )
    // The SDK's type of a schema is narrower than JSON Schema.
    server.setRequestHandler('tools/list', async () => ({ tools: tools as never }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const exchange = exchangeOf()
      const tool = box.find(params.name)
      if (tool !== undefined) {
        const { headers, ...context } = contextOf(exchange)
        const traced = { ...context, headers: withTrace(headers, mcpReq._meta) }
        const called = { ...traced, client: clientOf(mcpReq.signal), ...agentOf(server, mcpReq.envelope) }
        return call(tool, params.arguments ?? {}, called, { ...exchange, output_schema })
      }
      const { body } = toProblem(box.missing(params.name), contextOf(exchange))
      exchange.onAnswer({ code: body.code })
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, body.detail, body)
    })
    return server
  }
}

/** One message over HTTP. `body` is its parsed JSON. */
export interface McpRequest extends Exchange {
  headers: IncomingHttpHeaders
  body: unknown
  onError(error: Error): void
}

/** Answers messages over HTTP, each with a new server. */
export const mcpOverHttp =
  (serverFor: ReturnType<typeof mcpServers>) =>
  (request: McpRequest): Promise<Response> =>
    answer(
      serverFor(() => request),
      request
    )

async function answer(server: Server, { headers, body, onError }: McpRequest): Promise<Response> {
  // The server's tools never change, so there is nothing to subscribe to.
  const handler = createMcpHandler(() => server, { maxSubscriptions: 0, onerror: onError })
  const passed = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && /^(accept|content-type|mcp-.*)$/.test(name)) passed.set(name, value)
  }
  const accepted = acceptedOfMcp(headers.accept)
  if (accepted.json || accepted.events) passed.set('accept', `${JSON_TYPE}, ${EVENTS_TYPE}`)
  const request = new Request('http://localhost/mcp', { method: 'POST', headers: passed })
  const response = await handler.fetch(request, { parsedBody: withoutNullArguments(body) })
  if (response.status !== 200) return response
  const isEvents = response.headers.get('content-type')?.startsWith(EVENTS_TYPE) === true
  if (isEvents && !accepted.events) return inType(JSON_TYPE, lastMessageIn(await response.text()))
  return isEvents || accepted.json
    ? response
    : inType(EVENTS_TYPE, `event: message\ndata: ${await response.text()}\n\n`)
}

/** The SDK asks each client to accept both. A client that accepts one gets that. */
const EVENTS_TYPE = 'text/event-stream'

const inType = (type: string, text: string): Response => new Response(text, { headers: { 'content-type': type } })

/** The last message of a stream: the result. */
const lastMessageIn = (stream: string): string =>
  stream
    .split('\n')
    .findLast(line => line.startsWith('data: {'))!
    .slice('data: '.length)

/** A message with no arguments in place of null, which some clients send and the SDK refuses. */
export function withoutNullArguments(message: unknown): unknown {
  const { params } = (message ?? {}) as { params?: { arguments?: unknown } }
  return params?.arguments === null ? { ...(message as object), params: { ...params, arguments: {} } } : message
}

/** An MCP client waits until it cancels its request; closing the connection means nothing in MCP. */
const clientOf = (signal: AbortSignal): Client => ({
  isGone: () => signal.aborted,
  onGone: end => (signal.aborted ? end() : signal.addEventListener('abort', end))
})

/** The parts of a call that come from its exchange. */
const contextOf = ({ request_id, instance = '/mcp', subject, address, headers = {}, onAnswer }: Exchange) => ({
  instance,
  subject,
  address,
  request_id,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => PASSED.includes(name))),
  onAnswer
})

/**
 * The name and version that a request's client states: in the request, or at initialization. A 2025-11-25 client states
 * them only at initialization, which over HTTP is another exchange.
 */
function agentOf(server: Server, envelope: object = {}): { agent?: string } {
  const clientInfo = new Map<string, unknown>(Object.entries(envelope)).get(CLIENT_INFO_META_KEY)
  const { name, version } = { ...(clientInfo ?? server.getClientVersion()) } as { name?: unknown; version?: unknown }
  const text = [name, version].filter(part => typeof part === 'string' && part !== '').join('/')
  return text === '' ? {} : { agent: [...text].slice(0, AGENT_MAX).join('') }
}

/** Replaces the headers' trace context with that of a message (SEP-414); ignores a malformed one. */
function withTrace(headers: IncomingHttpHeaders, meta: Record<string, unknown> = {}): IncomingHttpHeaders {
  const { [TRACEPARENT_META_KEY]: traceparent, [TRACESTATE_META_KEY]: tracestate } = meta
  if (!isTraceparent(traceparent)) return headers
  const others = Object.entries(headers).filter(([name]) => name !== 'tracestate')
  const isState = typeof tracestate === 'string' && tracestate.length <= TRACESTATE_MAX
  return { ...Object.fromEntries(others), traceparent, ...(isState && { tracestate }) }
}

async function call(
  { call }: Tool,
  body: unknown,
  context: Omit<Call, 'body'>,
  { output_schema, onBug, onBeyondScope }: Pick<Exchange, 'onBug' | 'onBeyondScope'> & { output_schema: boolean }
): Promise<CallToolResult> {
  const answer = await call({ body, ...context }).catch((error: unknown) => {
    onBug(error)
    return toProblem({ code: 'INTERNAL_ERROR' }, context)
  })
  const content = [{ type: 'text' as const, text: answer.text() }]
  if (!('code' in answer.body)) return { content, ...(output_schema && { structuredContent: { ...answer.body } }) }
  if (answer.body.code === 'FORBIDDEN_SCOPE') onBeyondScope?.(answer as Answer)
  // No structuredContent: clients refuse one that doesn't match outputSchema, and a problem doesn't.
  return { isError: true, content }
}
