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
