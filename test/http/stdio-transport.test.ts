// The stdio transport of MCP by itself, with a reader whose pace the test sets.
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { StdioTransport } from '../../src/http/tools/stdio-transport.ts'

const answer = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} })

async function opened() {
  const input = new PassThrough()
  // Any message is more than it keeps, so that each write waits for the reader.
  const output = new PassThrough({ highWaterMark: 1 })
  const transport = new StdioTransport(input, output, 1000)
  await transport.start()
  return { input, output, transport }
}

t.test('waits until a slow reader has taken an answer, and leaves no listeners behind', async t => {
  const { output, transport } = await opened()
  const before = ['drain', 'close', 'error'].map(event => output.listenerCount(event))
  for (let id = 0; id < 20; id++) {
    let isSent = false
    const sending = transport.send(answer(id)).then(() => {
      isSent = true
    })
    await turn()
    t.notOk(isSent, 'before anything is read')
    t.strictSame(JSON.parse(String(output.read())), answer(id))
    await sending
  }
  t.strictSame(
    ['drain', 'close', 'error'].map(event => output.listenerCount(event)),
    before
  )
})

t.test('waits for no reader that is gone', async t => {
  const { input, output, transport } = await opened()
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`)
  await turn()
  input.end()
  const sending = transport.send(answer(1))
  await turn()
  output.destroy()
  await sending
  await transport.closed
  t.pass('the answer is given up, and the transport is done')
})

const LONG = 'x'.repeat(5000)

t.test('answers what it refuses by the id of the request, where that can be read', async t => {
  const { input, output } = await opened()
  const lines = [
    ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":1,"a":2}}', 7, -32700, /"a" is given twice/],
    ['{"jsonrpc":"2.0","id":"x","method":1}', 'x', -32600, /is not a JSON-RPC message/],
    ['{"jsonrpc":"2.0","id":{},"method":1}', null, -32600, /is not a JSON-RPC message/],
    ['null', null, -32600, /is not a JSON-RPC message/],
    ['{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', null, -32700, /"id" is given twice/],
    ['{"id":7', null, -32700, /is not valid JSON/],
    ['\ufeff{"jsonrpc":"2.0","id":9,"method":"ping"}', 9, -32700, /byte-order mark/],
    ['"x"'.repeat(1000), null, -32700, /./],
    [`{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"${LONG}"}}`, 5, -32700, /larger than 1000 bytes/],
    [`{"method":"tools/call","id":"a\\"b","params":{"a":"${LONG}"}}`, 'a"b', -32700, /larger than/],
    [`{"method":"x","params":{"a":"${LONG}","id":1},"jsonrpc":"2.0","id":6}`, 6, -32700, /larger than/],
    [`{"method":"x","params":{"id":1,"a":"${LONG}"}}`, null, -32700, /larger than/],
    [`{"method":"x","params":{"a":"${LONG}","b":{},"id":1}}`, null, -32700, /larger than/]
  ] as const
  for (const [line, id, code, message] of lines) {
    for (const size of [1, 700, Infinity]) {
      for (let at = 0; at < line.length; at += size) input.write(line.slice(at, at + size))
      input.write('\n')
      await turn()
      t.match(JSON.parse(String(output.read())), { jsonrpc: '2.0', id, error: { code, message } }, line.slice(0, 80))
    }
  }
})

t.test('takes a last line without a line break, if it is whole', async t => {
  for (const [line, expected] of [
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'ping'],
    ['{"jsonrpc":"2.0","id":1,"method":"pi', undefined]
  ] as const) {
    const { input, output, transport } = await opened()
    const taken: unknown[] = []
    let written = ''
    output.on('data', (chunk: Buffer) => {
      written += chunk.toString()
    })
    transport.onmessage = message => {
      taken.push((message as { method?: string }).method)
      transport.send(answer(1)).catch(t.threw)
    }
    input.end(line)
    await transport.closed
    t.strictSame(taken, expected === undefined ? [] : [expected])
    t.match(JSON.parse(written), expected === undefined ? { id: null, error: { code: -32700 } } : answer(1))
  }
})
