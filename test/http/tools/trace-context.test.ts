// Trace context: which values are taken, and how that of an MCP message reaches the call.
import type { IncomingHttpHeaders } from 'node:http'
import t from 'tap'
import { components } from '../../../src/http/openapi.ts'
import { mcpOverHttp, mcpServers } from '../../../src/http/tools/mcp.ts'
import { isTraceparent } from '../../../src/http/requests/traceparent.ts'
import { componentsById } from '../../../src/http/tools/schema.ts'
import { toolbox, type Toolbox } from '../../../src/http/tools/tool.ts'
import { makeOperations } from '../../../src/operations.ts'
import { Workers } from '../../../src/workers/workers.ts'
import { startServer } from '../test-server.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const RIGHT = `00-${TRACE}-${SPAN}-01`
const WRONG = [
  ...['', 'x', ` ${RIGHT}`, `${RIGHT} `, `${RIGHT}\n`, RIGHT.toUpperCase(), RIGHT.slice(0, -1), `${RIGHT}-more`],
  ...[`ff-${TRACE}-${SPAN}-01`, `00-${'0'.repeat(32)}-${SPAN}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`],
  ...[`01-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`, `01-${TRACE}-${SPAN}-01-a\nb`, `0-${TRACE}-${SPAN}-01`]
]

t.test('takes what names a trace and a span, of this version or a later one', async t => {
  for (const value of [RIGHT, `00-${TRACE}-${SPAN}-00`, `01-${TRACE}-${SPAN}-01`, `cc-${TRACE}-${SPAN}-01-more`]) {
    t.equal(isTraceparent(value), true, value)
  }
  for (const value of [...WRONG, 1, null, undefined, [RIGHT]]) t.equal(isTraceparent(value), false, String(value))
})

t.test('gives a call over MCP the trace context of its message, otherwise that of the request', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const workers = new Workers()
  t.teardown(() => workers.close())
  const operations = makeOperations(server.workspace, { max_edits: 10, max_file_size: 1e6 }, workers)
  const box = toolbox(operations, { readOnly: false, tools: null, deletes: true })
  const given: IncomingHttpHeaders[] = []
  const find: Toolbox['find'] = name => {
    const tool = box.find(name)
    if (tool === undefined) return undefined
    return {
      ...tool,
      call(call) {
        given.push(call.headers)
        return tool.call(call)
      }
    }
  }
  const answer = mcpOverHttp(
    mcpServers({ ...box, find }, componentsById(components(operations)), { version: '0', output_schema: false })
  )
  /** The headers of the call that a message with this _meta makes. */
  const headersOf = async (meta: object, headers: IncomingHttpHeaders = {}) => {
    const params = { name: 'inspect_file', arguments: { path: 'a.txt' }, _meta: meta }
    const response = await answer({
      request_id: '1',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      onAnswer() {},
      onBug: error => t.fail(String(error)),
      onError: error => t.fail(String(error))
    })
    t.equal(response.status, 200)
    t.match(await response.text(), /a\.txt/)
    return given.pop()
  }
  const other = `00-${'1'.repeat(32)}-${SPAN}-00`
  t.strictSame(await headersOf({ traceparent: RIGHT, tracestate: 'a=1' }), { traceparent: RIGHT, tracestate: 'a=1' })
  t.strictSame(await headersOf({ traceparent: RIGHT, tracestate: 'x'.repeat(600) }), { traceparent: RIGHT })
  t.strictSame(await headersOf({ traceparent: RIGHT, tracestate: 1 }), { traceparent: RIGHT })
  t.strictSame(await headersOf({}, { traceparent: other, tracestate: 'b=2' }), {
    traceparent: other,
    tracestate: 'b=2'
  })
  t.strictSame(await headersOf({ traceparent: RIGHT }, { traceparent: other, tracestate: 'b=2' }), {
    traceparent: RIGHT
  })
  t.strictSame(await headersOf({ tracestate: 'a=1' }), {})
  for (const traceparent of WRONG) t.strictSame(await headersOf({ traceparent }), {}, traceparent)
})
