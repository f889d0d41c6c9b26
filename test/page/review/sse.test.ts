// Server-sent events, however a stream is cut into chunks.
import t from 'tap'
import { makeEventReader, type ServerEvent } from '../../../page/review/sse.ts'

const STREAM =
  ': \n\nevent: ready\nid: 1\ndata: {}\n\n: heartbeat\n\nevent: edit\r\nid: 2\r\ndata: {"a":\r\ndata: 1}\r\n\r\n' +
  'data:plain\n\nevent: nothing\n\nid: 3\ndata\n\ndata: cut'
const EVENTS: ServerEvent[] = [
  { event: 'ready', id: '1', data: '{}' },
  { event: 'edit', id: '2', data: '{"a":\n1}' },
  { event: 'message', data: 'plain' },
  { event: 'message', id: '3', data: '' }
]

t.strictSame(makeEventReader()(STREAM), EVENTS, 'in one chunk')
for (let size = 1; size < 40; size++) {
  const read = makeEventReader()
  const chunks = STREAM.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
  t.strictSame(chunks.flatMap(read), EVENTS, `in chunks of ${size}`)
}
