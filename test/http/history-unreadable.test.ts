// Every route that reads the history, while that can't be read: refused, and answered again when it can be.
import { join } from 'node:path'
import t from 'tap'
import { breakFolder } from '../log/support/history.ts'
import { bytesOf, check, startServer, TOKEN, type TestServer } from './test-server.ts'

const DETAIL = "The history of the server can't be read; nothing was done. Send the request again in 5 seconds."
const REFUSED = { code: 'NOT_READY', detail: DETAIL, retry: 'after_delay' }

/** The status of the stream of events after this one. */
async function statusOfEvents({ url }: TestServer, last: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream', 'last-event-id': last }
  const stop = new AbortController()
  const { status } = await fetch(`${url}/events`, { headers, signal: stop.signal })
  stop.abort()
  return status
}

t.test('refuses what it would have to answer from a history that cannot be read', async t => {
  const server = await startServer(t, { files: { 'a.txt': 'one\n' } })
  const { body } = await check(t, server, '/changes', {}, 200, {})
  const after = String(body.next_after)
  const headers = { 'idempotency-key': 'twice' }
  const append = { path: 'a.txt', old_text: 'one\n', new_text: 'one\none\n' }
  const made = await server.call('POST', '/edit', { body: append, headers })
  const { edit_id } = made.body
  const requests = [
    ['/history', {}],
    ['/changes', { after }],
    ['/pending', { path: 'a.txt' }],
    ['/blame', { path: 'a.txt' }],
    ['/undo', { edit_id, dry_run: true }],
    ['/undo', { path: 'a.txt', dry_run: true }],
    ['/review', { verdict: 'keep', edit_id }]
  ] as const
  const mend = breakFolder(join(server.stateDir, 'history'))
  for (const [route, request] of requests) await check(t, server, route, request, 503, REFUSED)
  t.equal(await statusOfEvents(server, after), 503)
  const stale = { path: 'a.txt', expected_hash: made.body.hash_before, start_line: 1, end_line: 1, new_text: 'x' }
  await check(t, server, '/edit-lines', stale, 409, { code: 'STALE_FILE', detail: /Line numbers may have moved/ })
  const again = await server.call('POST', '/edit', { body: append, headers })
  t.match([again.status, again.body], [503, REFUSED], 'it may have been made already')
  t.equal(bytesOf(server, 'a.txt'), 'one\none\n')
  mend()
  for (const [route, request] of requests) await check(t, server, route, request, 200, {})
  t.equal(await statusOfEvents(server, after), 200)
  const replayed = await server.call('POST', '/edit', { body: append, headers })
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  t.equal(bytesOf(server, 'a.txt'), 'one\none\n')
})
